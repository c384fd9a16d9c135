import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as tick, setTimeout as wait } from 'node:timers/promises';
import { type Generated, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbedded } from '../../ingest/store/embedded.ts';
import { currentTraceId, observe, traceComment, withTraceComment } from '../../middleware/node/index.ts';
import { commentedPg } from '../../middleware/node/sqlComments.ts';
import { TraceCommentPlugin } from '../../middleware/node/traceCommentPlugin.ts';

const A = 'a'.repeat(32);
const B = 'b'.repeat(32);
const commentOf = (id: string) => `/* trace_id='${id}' */`;

let dataDir: string;
let server: EmbeddedPostgres;
let pool: pg.Pool;
let marker = 0;

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-comments-'));
  server = await startEmbedded({ dataDir });
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query('ALTER SYSTEM SET log_min_duration_statement = 0');
  await client.query('CREATE TABLE notes (id serial PRIMARY KEY, text text NOT NULL)');
  await client.query('SELECT pg_reload_conf()');
  await client.end();
});
afterAll(async () => {
  await lastConnectionsEnded();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});
beforeEach(() => {
  marker++;
  pool = commentedPg(new pg.Pool({ connectionString: server.url, max: 2 }));
});
afterEach(() => pool.end());

/** A pool has ended before its connections have, and a server that stops would tell them. */
async function lastConnectionsEnded(): Promise<void> {
  const client = new pg.Client(server.url);
  await client.connect();
  const others = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
  while ((await client.query(others)).rowCount !== 0) await wait(10);
  await client.end();
}

/** Runs work inside a request that a client has named; what is no id is not taken. */
function inRequest<T>(traceId: string, work: () => T): T {
  const req = new IncomingMessage(new Socket());
  req.headers = { 'x-trace-id': traceId };
  req.rawHeaders = ['X-Trace-ID', traceId];
  return observe(req, new ServerResponse(req)).run(work);
}

/** The server's line about a statement that has `text` in it: once it is there, which is soon after the answer. */
async function logLine(text: string): Promise<string> {
  for (;;) {
    // A statement of several lines stays one entry; its further lines begin with a tab.
    const log = (await readFile(path.join(dataDir, 'postgres.log'), 'utf8')).replaceAll('\n\t', ' ');
    const line = log
      .split('\n')
      .find((each) => each.includes('duration:') && /(statement|execute)/.test(each) && each.includes(text));
    if (line !== undefined) return line;
    await wait(20);
  }
}

test('a plain text, values and a config each have the comment in the log, and their results as without', async () => {
  const asked = [
    (name: string) => pool.query(`SELECT 1 AS ${name}`),
    (name: string) => pool.query(`SELECT $1::int AS ${name}`, [1]),
    (name: string) => pool.query({ text: `SELECT $1::int AS ${name}`, values: [1], rowMode: 'array' as const }),
    (name: string) => pool.query(`SELECT 1 AS ${name};`, []),
    (name: string) => pool.query(`SELECT 1 AS ${name} -- a remark`),
    (name: string) => pool.query(`SELECT 1 AS ${name} /* another remark */`),
  ];
  for (const [at, ask] of asked.entries()) {
    const name = `plain_${marker}_${at}`;
    const { rows, rowCount } = await inRequest(A, () => ask(name));
    expect([Object.values(rows[0]), rowCount]).toEqual([[1], 1]);
    expect(await logLine(name)).toMatch(new RegExp(`${name}.* /\\* trace_id='${A}' \\*/$`));
  }
});

test('several statements in one text: the line has the comment, all results come', async () => {
  const name = `several_${marker}`;
  const results = await inRequest(A, () => pool.query(`SELECT 1 AS ${name}; SELECT 2 AS ${name};`));
  expect((results as unknown as pg.QueryResult[]).map(({ rows }) => rows[0][name])).toEqual([1, 2]);
  expect(await logLine(name)).toContain(commentOf(A));
});

test('values that look like the end of a comment change nothing', async () => {
  const value = `*/ ' ; DROP TABLE notes; -- ${commentOf(B)}`;
  const name = `value_${marker}`;
  const { rows } = await inRequest(A, () => pool.query(`SELECT $1::text AS ${name}`, [value]));
  expect(rows).toEqual([{ [name]: value }]);
  expect(await logLine(name)).toContain(`AS ${name} ${commentOf(A)}`);
});

test.each(['x*/ DROP TABLE notes; /*', "' OR 1=1", '\u5317', 'a'.repeat(500)])(
  'an id of %j never reaches a statement as it is',
  async (id) => {
    await inRequest(id, async () => {
      expect(traceComment()).toMatch(/^\/\* trace_id='[0-9a-f]{32}' \*\/$/);
      expect((await pool.query('SELECT count(*)::int AS n FROM notes')).rows).toHaveLength(1);
    });
  },
);

test('what cannot be parsed stays an error', async () => {
  for (const broken of ['SELECT 1 /* open', "SELECT 'open", 'SELECT "open', 'SELECT $$open', "SELECT E'open\\"]) {
    await inRequest(A, () => expect(pool.query(broken)).rejects.toThrow(/unterminated/));
  }
});

test('a statement with a name stays as it is, and is prepared once', async () => {
  const client = await pool.connect();
  try {
    const named = { name: `named_${marker}`, text: `SELECT $1::int AS named_${marker}`, values: [1] };
    for (const id of [A, B]) {
      expect((await inRequest(id, () => client.query(named))).rows).toEqual([{ [named.name]: 1 }]);
    }
    const prepared = await client.query('SELECT statement FROM pg_prepared_statements WHERE name = $1', [named.name]);
    expect(prepared.rows).toEqual([{ statement: named.text }]);
  } finally {
    client.release();
  }
});

test('outside a request no comment, and a request that waits for a client keeps its own id', async () => {
  const clients = [await pool.connect(), await pool.connect()];
  const name = `waits_${marker}`;
  const asked = [
    pool.query(`SELECT 1 AS ${name}_outside`),
    inRequest(A, () => pool.query(`SELECT 1 AS ${name}_a`)),
    inRequest(B, async () => {
      const client = await pool.connect();
      await client.query(`SELECT 1 AS ${name}_b`);
      client.release();
    }),
    inRequest(
      B,
      () =>
        new Promise<void>((resolve, reject) => {
          pool.connect((error, client, release) => {
            if (error || !client) return reject(error);
            expect(currentTraceId()).toBe(B);
            client.query(`SELECT 1 AS ${name}_called`, (failure: Error) => {
              release();
              if (failure) reject(failure);
              else resolve();
            });
          });
        }),
    ),
  ];
  // The clients are given back in another request, whose id none of those may get.
  inRequest('c'.repeat(32), () => {
    for (const client of clients) client.release();
  });
  await Promise.all(asked);
  expect(await logLine(`${name}_outside`)).not.toContain('trace_id');
  expect(await logLine(`${name}_a`)).toContain(commentOf(A));
  expect(await logLine(`${name}_b`)).toContain(commentOf(B));
  expect(await logLine(`${name}_called`)).toContain(commentOf(B));
});

test('a client alone, wrapped twice, has one comment; objects and callbacks work', async () => {
  const client = commentedPg(commentedPg(new pg.Client(server.url)));
  await client.connect();
  const name = `client_${marker}`;
  const config = { text: `SELECT 1 AS ${name}` };
  const rows = await inRequest(
    A,
    () => new Promise((resolve) => client.query(config, (_error, result) => resolve(result.rows))),
  );
  expect(rows).toEqual([{ [name]: 1 }]);
  expect(config).toEqual({ text: `SELECT 1 AS ${name}` });
  expect((await logLine(name)).match(/trace_id/g)).toHaveLength(1);
  class Statement {
    get text() {
      return `SELECT $1::int AS ${name}_of_class`;
    }
    get values() {
      return [7];
    }
  }
  expect((await inRequest(A, () => client.query(new Statement()))).rows).toEqual([{ [`${name}_of_class`]: 7 }]);
  const query = new pg.Query(`SELECT 1 AS ${name}_submitted`);
  inRequest(A, () => client.query(query));
  await once(query as never, 'end');
  expect(await logLine(`${name}_submitted`)).not.toContain('trace_id');
  await client.end();
});

test('the comment of an earlier request is replaced, and empty texts stay empty', () => {
  const text = inRequest(A, () => withTraceComment('SELECT 1'));
  expect(text).toBe(`SELECT 1 ${commentOf(A)}`);
  expect(inRequest(A, () => withTraceComment(text))).toBe(text);
  expect(inRequest(B, () => withTraceComment(text))).toBe(`SELECT 1 ${commentOf(B)}`);
  expect(withTraceComment(text)).toBe(text);
  expect(inRequest(A, () => withTraceComment(' '))).toBe(' ');
  expect(traceComment()).toBe('');
});

interface Tables {
  notes: { id: Generated<number>; text: string };
}

test('Kysely: every kind of query has the comment once, with and without a commented pool', async () => {
  for (const under of [pool, new pg.Pool({ connectionString: server.url, max: 1 })]) {
    const db = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: under }),
      plugins: [new TraceCommentPlugin()],
    });
    const name = `kysely_${marker}_${under === pool}`;
    const text = `${name} */ '`;
    await inRequest(A, async () => {
      await tick();
      const { id } = await db.insertInto('notes').values({ text }).returning('id').executeTakeFirstOrThrow();
      const found = await db
        .selectFrom('notes')
        .select([sql<string>`text`.as(`${name}_selected`)])
        .where('id', '=', id)
        .forUpdate()
        .execute();
      expect(found).toEqual([{ [`${name}_selected`]: text }]);
      const changed = await db
        .updateTable('notes')
        .set({ text: `${text}2` })
        .where('id', '=', id)
        .executeTakeFirst();
      expect(changed.numUpdatedRows).toBe(1n);
      const raw = await sql<{
        n: number;
      }>`SELECT ${id}::int + ${1} AS n, '${sql.raw(name)}_raw' WHERE 1 = ${1}`.execute(db);
      expect(raw.rows).toMatchObject([{ n: id + 1 }]);
      const gone = await db.deleteFrom('notes').where('id', '=', id).executeTakeFirst();
      expect(gone.numDeletedRows).toBe(1n);
      await db.transaction().execute((trx) =>
        trx
          .selectFrom('notes')
          .select([sql`1`.as(`${name}_in_transaction`)])
          .execute(),
      );
    });
    for (const each of ['_selected', '_raw', '_in_transaction']) {
      const line = await logLine(name + each);
      expect(line.match(/trace_id/g)).toHaveLength(1);
      expect(line).toContain(commentOf(A));
    }
    expect(db.selectFrom('notes').selectAll().compile().sql).toBe('select * from "notes"');
    const compiled = inRequest(A, () => [
      db.insertInto('notes').values({ text: 'x' }).returning('id').compile().sql,
      db.updateTable('notes').set({ text: 'x' }).compile().sql,
      db.deleteFrom('notes').compile().sql,
      db.mergeInto('notes').using('notes as other', 'other.id', 'notes.id').whenMatched().thenDelete().compile().sql,
      db.schema.dropTable('notes').compile().sql,
    ]);
    expect(compiled.map((each) => each.endsWith(commentOf(A)))).toEqual([true, true, true, true, false]);
    if (under !== pool) await db.destroy();
  }
});
