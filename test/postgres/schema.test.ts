import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { describeSchema } from '../../migrations/describeSchema.ts';
import { dumpSchema, firstDifference, SCHEMA_FILE } from '../../migrations/dump.ts';
import { createDatabase, createEmptyDatabase } from './database.ts';

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  return work(client).finally(() => client.end());
}

test('migrations/schema.sql is what the migrations make', async () => {
  const difference = firstDifference(await readFile(SCHEMA_FILE, 'utf8'), await dumpSchema());
  expect(difference, `run npm run schema; it differs in ${difference}`).toBeUndefined();
});

test('the description says all that makes the schema: run on an empty database, it is described alike', async () => {
  const [migrated, copied] = [await createDatabase(), await createEmptyDatabase()];
  try {
    const described = await withClient(migrated.url, describeSchema);
    const again = await withClient(copied.url, async (client) => {
      await client.query(described);
      return describeSchema(client);
    });
    expect(again).toBe(described);
  } finally {
    await Promise.all([migrated.drop(), copied.drop()]);
  }
});

test('partitions, the tables of Kysely and other schemas are left out', async () => {
  const database = await createDatabase();
  try {
    await withClient(database.url, async (client) => {
      const before = await describeSchema(client);
      await client.query(`
        CREATE TABLE requests_today PARTITION OF requests FOR VALUES FROM ('2026-01-01') TO ('2026-01-02');
        CREATE SCHEMA other;
        CREATE TABLE other.thing ()`);
      expect(await describeSchema(client)).toBe(before);
      expect(before).not.toContain('kysely');
    });
  } finally {
    await database.drop();
  }
});

test('storage, identity, generated columns, triggers and sequences are described', async () => {
  const database = await createEmptyDatabase();
  try {
    await withClient(database.url, async (client) => {
      await client.query(`
        CREATE SEQUENCE tickets CYCLE;
        CREATE TABLE a (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text COLLATE "C",
          twice bigint GENERATED ALWAYS AS (length(body) * 2) STORED,
          ticket bigint DEFAULT nextval('tickets')) WITH (fillfactor = 70);
        ALTER TABLE a ALTER body SET STORAGE EXTERNAL;
        CREATE FUNCTION rows_of_a() RETURNS bigint LANGUAGE sql STABLE RETURN (SELECT count(*) FROM a);
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
        CREATE TRIGGER refusing BEFORE DELETE ON a FOR EACH ROW EXECUTE FUNCTION refuse();
        COMMENT ON FUNCTION rows_of_a IS 'it''s a count';`);
      const described = await describeSchema(client);
      for (const part of [
        'id bigint GENERATED ALWAYS AS IDENTITY NOT NULL',
        'ALTER TABLE a ALTER COLUMN body SET STORAGE EXTERNAL;',
        'body text COLLATE "C"',
        'twice bigint GENERATED ALWAYS AS ((length(body) * 2)) STORED',
        "ticket bigint DEFAULT nextval('tickets'::regclass)",
        'WITH (fillfactor=70)',
        'CREATE SEQUENCE tickets AS bigint INCREMENT 1',
        'CREATE TRIGGER refusing BEFORE DELETE ON a FOR EACH ROW EXECUTE FUNCTION refuse();',
        "COMMENT ON FUNCTION rows_of_a() IS 'it''s a count';",
      ])
        expect(described).toContain(part);
      await client.query('DROP TABLE a CASCADE; DROP FUNCTION refuse; DROP SEQUENCE tickets');
      await client.query(described);
      expect(await describeSchema(client)).toBe(described);
    });
  } finally {
    await database.drop();
  }
});

test('a stale file is told by its first difference', () => {
  expect(firstDifference('a\nb\n', 'a\nb\n')).toBeUndefined();
  expect(firstDifference('a\nb\n', 'a\nc\n')).toBe('line 2:\n- b\n+ c');
  expect(firstDifference('', 'a\n')).toBe('line 1:\n- \n+ a');
});
