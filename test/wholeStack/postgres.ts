import { mkdir } from 'node:fs/promises';
import pg from 'pg';
import { startEmbedded } from '../../ingest/store/embedded.ts';
import { query } from '../postgres/service.ts';
import { asRole, statementsOf } from '../postgres/shippedRoles.ts';
import { compose } from '../stack/composeFile.ts';

export interface StackPostgres {
  /** The superuser's, of the database "firsttoken". */
  readonly url: string;
  urlOf(role: string, password: string): string;
  stop(): Promise<void>;
}

/** Settings that compose gives PostgreSQL, by name. */
export function shippedSettings(): Record<string, string> {
  const flags = (compose.services['postgres']?.command ?? []).filter((flag) => flag.startsWith('-c'));
  return Object.fromEntries(flags.map((flag) => flag.slice(2).split('=') as [string, string]));
}

/** A PostgreSQL with compose's settings and roles, in which only the folder of its logs is another. */
export async function startStackPostgres(
  dataDir: string,
  logFolder: string,
  secrets: Readonly<Record<string, string>>,
): Promise<StackPostgres> {
  await mkdir(dataDir);
  const first = await startEmbedded({ dataDir });
  try {
    await query(first.url, 'CREATE DATABASE firsttoken');
    for (const [name, value] of Object.entries({ ...shippedSettings(), log_directory: logFolder })) {
      await query(first.url, `ALTER SYSTEM SET ${name} = ${pg.escapeLiteral(value)}`);
    }
  } finally {
    await first.stop();
  }
  // The logging collector comes with a start only.
  const server = await startEmbedded({ dataDir });
  const address = new URL(server.url);
  address.pathname = 'firsttoken';
  try {
    for (const [script, password] of [
      ['ingest-role.sh', 'INGEST_PG_PASSWORD'],
      ['grafana-reader.sh', 'GRAFANA_PG_PASSWORD'],
      ['demo-app.sh', 'DEMO_PG_PASSWORD'],
    ] as const) {
      await query(address.href, await statementsOf(script, secrets[password]!));
    }
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { url: address.href, urlOf: (role, password) => asRole(address.href, role, password), stop: server.stop };
}
