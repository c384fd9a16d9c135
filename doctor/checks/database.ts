import pg from 'pg';
import { whyUnreachable } from '../ask.ts';
import { type Finding, fault, good } from '../finding.ts';
import type { Target } from '../target.ts';
import { verdictOf } from './clock.ts';

const TIMEOUT_MS = 5_000;
const LEAST_MAJOR = 15;
/** The day that is being dropped may wait for a reader of a long query. */
const LATE_DAYS = 2;

interface Facts {
  readonly major: number;
  readonly now_ms: number;
  readonly has_schema: boolean;
  readonly today: boolean;
  readonly tomorrow: boolean;
  readonly oldest_days: number | null;
  readonly size: string;
}

const FACTS = `
  SELECT current_setting('server_version_num')::int / 10000 AS major,
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms,
    to_regclass('requests') IS NOT NULL AS has_schema,
    to_regclass('requests_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')) IS NOT NULL AS today,
    to_regclass('requests_' || to_char(now() AT TIME ZONE 'UTC' + interval '1 day', 'YYYYMMDD')) IS NOT NULL AS tomorrow,
    (SELECT (now() AT TIME ZONE 'UTC')::date - min(to_date(right(c.relname, 8), 'YYYYMMDD'))
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass('requests')) AS oldest_days,
    pg_size_pretty(pg_database_size(current_database())) AS size`;

/** The database answers, has the schema and the partitions it needs next, and has dropped those it should. Reads only. */
export async function checkDatabase({ databaseUrl, retentionDays }: Target): Promise<Finding> {
  const client = new pg.Client({
    connectionString: databaseUrl!,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    application_name: 'firsttoken doctor',
  });
  // A connection that breaks while nothing is asked would otherwise end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const askedAtMs = Date.now();
    const { rows } = await client.query<Facts>(FACTS);
    return judge(rows[0]!, rows[0]!.now_ms - askedAtMs, retentionDays);
  } catch (error) {
    return fault(
      `The database is not reached: ${whyUnreachable(error)}.`,
      'Is PostgreSQL running, and DATABASE_URL right from here (host, port, user, password, database)?',
    );
  } finally {
    await client.end().catch(() => {});
  }
}

function judge(facts: Facts, clockOffMs: number, retentionDays: number): Finding {
  if (facts.major < LEAST_MAJOR) {
    return fault(`PostgreSQL is version ${facts.major}.`, `Version ${LEAST_MAJOR} or later is needed.`);
  }
  if (!facts.has_schema) {
    return fault(
      'The database has no table requests.',
      'The service makes it at its first start: is this its database?',
    );
  }
  if (!facts.today || !facts.tomorrow) {
    return fault(
      `The partition of ${facts.today ? 'tomorrow' : 'today'} (UTC) is missing.`,
      'The service makes them every hour: is one running on this database, with a role that owns the tables? Its log says why not.',
    );
  }
  if (facts.oldest_days !== null && facts.oldest_days > retentionDays + LATE_DAYS) {
    return fault(
      `The oldest day is ${facts.oldest_days} days old, and ${retentionDays} are to be kept.`,
      "A long query may hold it (pg_stat_activity), or RETENTION_DAYS here is not the service's.",
    );
  }
  const clock = verdictOf('The clock of the database', clockOffMs);
  if (clock.verdict === 'fault') return clock;
  return good(`The database answers, with today's partition and tomorrow's; ${facts.size}.`);
}
