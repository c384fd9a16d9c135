import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmbedded } from '../../ingest/store/embedded.ts';
import { expectExactRollups } from './rollupRecount.ts';
import { openService, query, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { asRole, statementsOf } from './shippedRoles.ts';

const PASSWORD = `it's "one"`;

const as = (url: string, role: string): string => asRole(url, role, PASSWORD);

let service: RunningService;
let superuser: string;
let ingestUrl: string;
let readerUrl: string;
const key = traceId();
const closers: (() => Promise<unknown>)[] = [];

/** A cluster as compose makes it: a superuser's private table, the roles of the scripts, and a service that runs as its own role. */
beforeAll(async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-privilege-'));
  closers.push(() => rm(dataDir, { recursive: true }));
  const server = await startEmbedded({ dataDir });
  closers.push(() => server.stop());
  for (const script of ['grafana-reader.sh', 'ingest-role.sh'])
    await query(server.url, await statementsOf(script, PASSWORD));
  await query(server.url, 'CREATE TABLE private (secret text)');
  superuser = new URL(server.url).username;
  ingestUrl = as(server.url, 'firsttoken_ingest');
  readerUrl = as(server.url, 'grafana_reader');
  service = await openService({ databaseUrl: ingestUrl });
  closers.push(() => service.stop());
  expect((await service.postTimings(serverRecord({ trace_id: key }))).status).toBe(202);
  expect((await service.postBeacons(beacon({ trace_id: key }))).status).toBe(202);
}, 60_000);
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

test('a service whose role owns nothing but its tables does all of its work', async () => {
  expect((await service.read(key)).json).toMatchObject({ joined: true });
  expect(await expectExactRollups(ingestUrl)).toBeGreaterThan(0);
  const owners = await query(
    ingestUrl,
    "SELECT DISTINCT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname <> 'private'",
  );
  expect(owners).toEqual([{ owner: 'firsttoken_ingest' }]);
  expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
});

const DENIED =
  /permission denied|must be (owner|superuser|member)|only roles with|read-only transaction|not permitted/i;

describe("the ingest's role can do nothing else", () => {
  test.each([
    'SELECT * FROM private',
    "INSERT INTO private VALUES ('x')",
    'DROP TABLE private',
    'CREATE ROLE intruder',
    'ALTER ROLE superuser PASSWORD NULL',
    'CREATE DATABASE intruder',
    'SET ROLE superuser',
    "SELECT pg_read_file('postgresql.conf')",
    "COPY requests TO PROGRAM 'cat'",
    'SELECT rolpassword FROM pg_authid',
    'CREATE EXTENSION file_fdw',
    'ALTER SYSTEM SET fsync = off',
    'SELECT pg_reload_conf()',
  ])('%s', async (statement) => {
    await expect(query(ingestUrl, statement.replace('superuser', superuser))).rejects.toThrow(DENIED);
  });
});

describe('grafana_reader reads', () => {
  test('every table and view of the schema', async () => {
    const relations = await query<{ name: string }>(
      ingestUrl,
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') AND relname NOT LIKE 'kysely%' AND relname <> 'private'",
    );
    expect(relations.length).toBeGreaterThan(10);
    for (const { name } of relations) await query(readerUrl, `SELECT count(*) FROM ${name}`);
  });

  test.each([
    "UPDATE requests SET model = 'x'",
    'DELETE FROM requests',
    'TRUNCATE requests',
    "INSERT INTO label_values (label, value) VALUES ('model', 'x')",
    'DELETE FROM rollup_hours',
    'DROP TABLE requests',
    'CREATE TABLE mine (n int)',
    'CREATE TEMP TABLE mine (n int)',
    'ALTER TABLE requests ADD COLUMN mine int',
    'SELECT * FROM private',
    'SELECT * FROM requests FOR UPDATE',
    'SET ROLE firsttoken_ingest',
    "SELECT pg_read_file('postgresql.conf')",
  ])('and nothing more, also with its own default taken off: %s', async (statement) => {
    const client = new pg.Client(readerUrl);
    await client.connect();
    try {
      await expect(client.query(statement)).rejects.toThrow(DENIED);
      await client.query('SET default_transaction_read_only = off');
      // A temporary table is the session's own and gone with it.
      if (!statement.includes('TEMP')) await expect(client.query(statement)).rejects.toThrow(DENIED);
    } finally {
      await client.end();
    }
  });
});
