import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import pg from 'pg';
import type { Interpolation } from '../../dashboards/runner/interpolation.ts';
import { interpolateSql } from '../../dashboards/runner/interpolation.ts';
import { type Sources, targetsOf } from '../../dashboards/runner/runPanel.ts';
import { readVariables } from '../../dashboards/runner/variables.ts';
import { FROM, insertRequests, isoDay, type Stored, TIMEZONE, TO } from './dashboardSample.ts';
import { createDatabase } from './database.ts';

type Variables = Readonly<Record<string, readonly string[]>>;

/** Some days' partitions, and the role with which Grafana reads. */
export interface DashboardDatabase {
  readonly client: pg.Client;
  readonly url: string;
  /** Rows, and the label values that the operator has accepted. */
  fill(rows: readonly Stored[]): Promise<void>;
  /**
   * The dashboard's query variables, as the dashboard itself reads them: all options where several can be chosen, else the first.
   * `typed` are the values of its text boxes.
   */
  optionsOf(dashboard: Dashboard, typed?: Variables): Promise<Record<string, string[]>>;
  /** Runs a panel's SQL over the sample's time range. */
  query(rawSql: string, variables: Variables): Promise<pg.QueryResult<Record<string, unknown>>>;
  /** For the panel runner. */
  readonly sources: Sources;
  drop(): Promise<void>;
}

export const interpolationWith = (variables: Variables): Interpolation => ({
  from: FROM,
  to: TO,
  timezone: TIMEZONE,
  variables,
});

const DAYS = ['01', '07', '08', '09', '10', '11', '12', '13', '20'].map((day) => `2026-03-${day}`);
const LABELS = {
  model: ['llama-3.1', "o'brien"],
  route: ['/api/chat', '/api/a"b'],
  variant: ['fp16', 'int4'],
  tier: ['normal', 'vip'],
  region: ['eu-west', 'ap'],
  backend: ['gpu-01', 'gpu-02'],
};

export async function createDashboardDatabase(): Promise<DashboardDatabase> {
  const database = await createDatabase();
  const client = new pg.Client(database.url);
  await client.connect();
  for (const day of DAYS) {
    const next = isoDay(new Date(Date.parse(day) + 24 * 3_600_000));
    for (const table of ['requests', 'request_arrivals']) {
      const name = `${table}_${day.replaceAll('-', '')}`;
      await client.query(`CREATE TABLE ${name} PARTITION OF ${table} FOR VALUES FROM ('${day}') TO ('${next}')`);
    }
  }

  /** As Grafana does: with the role that may only read. */
  async function read(statement: string): Promise<pg.QueryResult<Record<string, unknown>>> {
    await client.query('BEGIN');
    try {
      await client.query('SET LOCAL ROLE grafana_reader');
      return await client.query(statement);
    } finally {
      await client.query('ROLLBACK');
    }
  }

  return {
    client,
    url: database.url,
    async fill(rows) {
      await insertRequests(client, rows);
      for (const [label, values] of Object.entries(LABELS)) {
        await client.query('INSERT INTO label_values (label, value) SELECT $1, unnest($2::text[])', [label, values]);
      }
      await client.query('ANALYZE requests');
    },
    async optionsOf(dashboard, typed = {}) {
      const variables = await readVariables(dashboard, typed, interpolationWith({}), read);
      return Object.fromEntries(variables.map(({ name, values }) => [name, [...values]]));
    },
    query: (rawSql, variables) => read(interpolateSql(rawSql, interpolationWith(variables))),
    sources: { sql: read },
    async drop() {
      await client.end();
      await database.drop();
    },
  };
}

export interface SqlTarget {
  readonly title: string;
  readonly panel: Panel;
  readonly rawSql: string;
}

export function sqlTargetsOf(dashboard: Dashboard): SqlTarget[] {
  return panelsOf(dashboard).flatMap((panel) =>
    targetsOf(panel).flatMap(({ rawSql }) =>
      rawSql === undefined ? [] : [{ title: panel.title ?? '', panel, rawSql }],
    ),
  );
}

export function panelsOf(dashboard: Dashboard): Panel[] {
  return (dashboard.panels ?? []).filter((panel): panel is Panel => panel.type !== 'row');
}
