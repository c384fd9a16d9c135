import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startEmbedded } from '../../ingest/store/embedded.ts';
import { MIGRATIONS, migrate, requireServerVersion } from '../../migrations/migrate.ts';
import { createDatabase, createEmptyDatabase, type TestDatabase } from './database.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await createEmptyDatabase();
});
afterEach(() => database.drop());

async function query<Row extends pg.QueryResultRow>(statement: string, url = database.url): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  return (await client.query<Row>(statement).finally(() => client.end())).rows;
}

test('many replicas start at once on an empty database', async () => {
  await Promise.all(Array.from({ length: 8 }, () => migrate(database.url)));
  const rows = await query<{ name: string }>('SELECT name FROM kysely_migration ORDER BY name');
  expect(rows.map((row) => row.name)).toEqual(Object.keys(MIGRATIONS));
});

test('databases of a new cluster are migrated at once, though they share the role', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-roles-'));
  const server = await startEmbedded({ dataDir });
  try {
    const names = ['one', 'two', 'three', 'four'];
    for (const name of names) await query(`CREATE DATABASE ${name}`, server.url);
    const urls = names.map((name) => server.url.replace(/postgres$/, name));
    await Promise.all(urls.map((url) => migrate(url)));
    const may = "SELECT has_table_privilege('grafana_reader', 'requests', 'SELECT') AS may";
    for (const url of urls) expect(await query(may, url)).toEqual([{ may: true }]);
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true });
  }
});

test('a second run through a pool changes nothing and leaves the pool usable', async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  try {
    await migrate(pool);
    const before = await pool.query('SELECT * FROM kysely_migration');
    await migrate(pool);
    expect((await pool.query('SELECT * FROM kysely_migration')).rows).toEqual(before.rows);
    const locks = await pool.query(`
      SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
      WHERE locktype = 'advisory' AND datname = current_database()`);
    expect(locks.rowCount).toBe(0);
  } finally {
    await pool.end();
  }
});

test('a failing migration is named, with its cause, and leaves nothing behind', async () => {
  const up = async (db: Kysely<unknown>) => {
    await sql`CREATE TABLE half_made (id int)`.execute(db);
    await sql`SELECT 1 / 0`.execute(db);
  };
  const failure = await migrate(database.url, { ...MIGRATIONS, '9999_broken': { up } }).then(null, (error) => error);
  expect(failure).toMatchObject({
    name: 'MigrationError',
    message: expect.stringMatching(/9999_broken.*division by zero/),
    cause: { code: '22012' },
  });
  expect(await query("SELECT to_regclass('half_made') AS made, to_regclass('requests') AS requests")).toEqual([
    { made: null, requests: null },
  ]);
  await migrate(database.url);
});

test('a database of a newer release is refused', async () => {
  await migrate(database.url);
  await query("INSERT INTO kysely_migration VALUES ('9998_from_the_future', '2030-01-01')");
  await expect(migrate(database.url)).rejects.toThrow(/newer release: it has 9998_from_the_future/);
});

test('a server that is too old is refused', () => {
  expect(() => requireServerVersion(150_000)).not.toThrow();
  expect(() => requireServerVersion(140_012)).toThrow('PostgreSQL 15 or later is needed; the server is of version 14.');
});

test('a copy of the template has the schema', async () => {
  const copy = await createDatabase();
  try {
    expect(await query('SELECT count(*)::int AS rows FROM requests', copy.url)).toEqual([{ rows: 0 }]);
  } finally {
    await copy.drop();
  }
});
