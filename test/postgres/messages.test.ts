import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newRow, type RequestRow } from '../../ingest/pipeline/row.ts';
import { COLUMNS, writeColumn } from '../../ingest/store/columns.ts';
import { connectWriter, disconnect, type WriterConnection } from '../../ingest/store/connection.ts';
import { runGroup } from '../../ingest/store/group.ts';
import { createDatabase, type TestDatabase } from './database.ts';

/** Values of each column, as PostgreSQL has them when it is done with the array; of our own types every word. */
const VALUES: Partial<Record<string, fc.Arbitrary<unknown>>> = {
  'smallint[]': fc.integer({ min: -32_768, max: 32_767 }),
  'integer[]': fc.integer({ min: -2_147_483_648, max: 2_147_483_647 }),
  'bigint[]': fc.maxSafeInteger(),
  'double precision[]': fc.double({ noNaN: true, min: -86_400_000, max: 86_400_000 }),
  'real[]': fc.float({ noNaN: true, min: -86_400_000, max: 86_400_000 }),
  'boolean[]': fc.boolean(),
  // PostgreSQL knows no NUL and no half of a pair; both are cleaned before.
  'text[]': fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
  'uuid[]': fc.uuid().map((uuid) => uuid.replaceAll('-', '')),
  'date[]': fc
    .date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
};
const columns = COLUMNS.filter(({ name }) => name !== 'sub_stages_ns' && name !== 'parent_span_id');
const named = (name: string) => columns.find((column) => column.name === name)!;
const OF_EACH_TYPE = [
  'trace_id',
  'day',
  'server_ttft_ns',
  'ttft_ms',
  'seq',
  'tpot_ms',
  'flags',
  'settled',
  'model',
].map(named);

let database: TestDatabase;
let writer: WriterConnection;
beforeAll(async () => {
  database = await createDatabase();
  const texts = OF_EACH_TYPE.map(({ name, arrayType }) => [
    name,
    `SELECT to_json(u) FROM unnest($1::${arrayType}) AS u`,
  ]);
  writer = await connectWriter(database.url, {
    ...Object.fromEntries(texts),
    fails: 'SELECT 1 / length(($1::text[])[1])',
    one: 'SELECT 1, NULL',
  });
});
afterAll(async () => {
  await disconnect(writer.client);
  await database.drop();
});

test.each(OF_EACH_TYPE.map((column) => [column.arrayType, column] as const))(
  'PostgreSQL reads the values of %s that were written',
  async (arrayType, column) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(VALUES[arrayType]!), { minLength: 1, maxLength: 20 }), async (values) => {
        const rows = values.map(
          (value): RequestRow => ({
            ...newRow({ traceId: '', startedAtMs: 0 }),
            [column.name]: value,
          }),
        );
        const { client, messages } = writer;
        messages.clear();
        messages.bind(column.name, 1);
        writeColumn(messages, column, rows);
        messages.execute();
        messages.sync();
        const [answer] = await runGroup(client, messages);
        const read = answer!.rows.map(([json]) => (json === null ? null : (JSON.parse(json!) as unknown)));
        const expected = values.every((value) => value === null) ? [] : values;
        const own = (value: unknown) =>
          column.name === 'trace_id' && value !== null ? (value as string).replaceAll('-', '') : value;
        const single = (value: unknown) =>
          arrayType === 'real[]' && value !== null ? Math.fround(value as number) : value;
        expect(read.map(own).map(single)).toEqual(expected.map((value) => (value === 0 ? 0 : value)));
      }),
      { numRuns: 50 },
    );
  },
);

test('a group answers statement by statement, and goes no further than the first that fails', async () => {
  const { client, messages } = writer;
  const add = (name: string, ...texts: string[]) => {
    messages.bind(name, texts.length);
    for (const text of texts) messages.texts([text]);
    messages.execute();
  };
  messages.clear();
  add('one');
  add('fails', 'x');
  messages.sync();
  expect(await runGroup(client, messages)).toEqual([
    { rows: [['1', null]], command: 'SELECT 1' },
    { rows: [['1']], command: 'SELECT 1' },
  ]);

  messages.clear();
  add('fails', '');
  add('one');
  messages.sync();
  await expect(runGroup(client, messages)).rejects.toMatchObject({ code: '22012' });

  // The connection is good for more.
  messages.clear();
  add('one');
  messages.sync();
  expect(await runGroup(client, messages)).toHaveLength(1);
});

test('a group on a connection that breaks fails', async () => {
  const other = await connectWriter(database.url, { sleep: 'SELECT pg_sleep(60)' });
  other.messages.clear();
  other.messages.bind('sleep', 0);
  other.messages.execute();
  other.messages.sync();
  const answered = runGroup(other.client, other.messages);
  other.client.connection.stream.destroy();
  await expect(answered).rejects.toThrow();
  await disconnect(other.client);
});

test('a statement that cannot be prepared is told when connecting', async () => {
  await expect(connectWriter(database.url, { wrong: 'SELECT nothing' })).rejects.toMatchObject({ code: '42703' });
});
