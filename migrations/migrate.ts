import { Kysely, type Migration, Migrator, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import * as requests from './0001_requests.ts';
import * as rollups from './0002_rollups.ts';
import * as connectionSplit from './0003_connection_split.ts';
import * as requestPicks from './0004_request_picks.ts';
import * as rollupSums from './0005_rollup_sums.ts';
import * as sampleFacts from './0006_sample_facts.ts';
import { MigrationError } from './migrationError.ts';

/** Every migration, in order. A list and not a scan of the folder: a missing file is then a compile error. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001_requests': requests,
  '0002_rollups': rollups,
  '0003_connection_split': connectionSplit,
  '0004_request_picks': requestPicks,
  '0005_rollup_sums': rollupSums,
  '0006_sample_facts': sampleFacts,
};

/** Any number that no other user of the database locks. */
const MIGRATION_LOCK = 7_206_431_908_114_217n;
const OLDEST_SERVER_VERSION = 150_000;
const MIGRATION_TABLE = 'kysely_migration';

/**
 * Brings the database's schema up to date. Many replicas may call it at once: one works, the others wait and find nothing to do.
 * Throws MigrationError, which names the migration that failed and rolls all of them back.
 *
 * Needs a session of its own for the lock: with a transaction-pooling proxy give the server's direct address.
 */
export async function migrate(
  database: pg.Pool | string,
  migrations: Readonly<Record<string, Migration>> = MIGRATIONS,
): Promise<void> {
  if (typeof database !== 'string') {
    const client = await database.connect();
    // Destroyed and not given back: with the session go its lock and its settings.
    return run(client, migrations).finally(() => client.release(true));
  }
  const client = new pg.Client({ connectionString: database, application_name: 'firsttoken migrate' });
  await client.connect();
  await run(client, migrations).finally(() => client.end());
}

export function requireServerVersion(versionNumber: number): void {
  if (versionNumber >= OLDEST_SERVER_VERSION) return;
  const version = versionNumber >= 100_000 ? Math.floor(versionNumber / 10_000) : versionNumber;
  throw new MigrationError(`PostgreSQL 15 or later is needed; the server is of version ${version}.`);
}

async function run(client: pg.ClientBase, migrations: Readonly<Record<string, Migration>>): Promise<void> {
  const { rows } = await client.query<{ version: number }>(
    "SELECT current_setting('server_version_num')::int AS version",
  );
  requireServerVersion(rows[0]!.version);
  // A role's time limits are meant for queries: neither waiting for another replica nor building an index is one.
  await client.query('SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0');
  await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
  const db = kyselyOn(client);
  await refuseNewer(db, Object.keys(migrations));
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
    migrationTableName: MIGRATION_TABLE,
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === 'Error')?.migrationName;
  const cause = error instanceof Error ? error.message : String(error);
  throw new MigrationError(
    failed ? `Migration ${failed} failed, nothing was changed: ${cause}` : `Migrating failed: ${cause}`,
    {
      cause: error,
    },
  );
}

async function refuseNewer(db: Kysely<unknown>, known: readonly string[]): Promise<void> {
  const table = await sql<{ oid: number | null }>`SELECT to_regclass(${MIGRATION_TABLE})::oid AS oid`.execute(db);
  if (table.rows[0]?.oid == null) return;
  const { rows } = await sql<{ name: string }>`SELECT name FROM ${sql.table(MIGRATION_TABLE)} ORDER BY name`.execute(
    db,
  );
  const unknown = rows.map((row) => row.name).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new MigrationError(
    `The database was migrated by a newer release: it has ${unknown.join(', ')}, this release knows nothing after ` +
      `${known.at(-1)}. Start the newer release, or restore a copy of the database from before.`,
  );
}

/** Kysely on the one session that holds the lock: it never gets a second. */
function kyselyOn(client: pg.ClientBase): Kysely<unknown> {
  const session = { query: client.query.bind(client), release: () => undefined };
  return new Kysely({
    dialect: new PostgresDialect({ pool: { connect: async () => session, end: async () => undefined } }),
  });
}
