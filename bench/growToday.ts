import type pg from 'pg';

/** The vacuum that so many inserts call for takes as long as they did, and would come in the midst of what is measured. */
const NO_VACUUM_OF_INSERTS = 'autovacuum_vacuum_insert_threshold = -1';
/** As many as there are cores to draw rows on. */
const AT_ONCE = 2;
const CHUNK = 250_000;
const SEED_ROWS = 5_000;
/** What second halves leave of a page's free space, and splits of an index that random keys grow. */
const FULL_PERCENT = 70;
const TABLES = [
  // Joined and settled: nothing is due for them any more.
  { table: 'requests', seeds: 'settled AND status IS NOT NULL AND server_source IS NOT NULL', instead: {} },
  // Their index is what grows under batches; short lists spare gigabytes that nobody reads.
  { table: 'request_arrivals', seeds: 'true', instead: { arrivals_ms: `'{150,190,240}'`, chunk_tokens: 'NULL' } },
] as const;

/**
 * Copies rows of today under new keys until there are so many. The partition is off its table meanwhile and has no key, which is built
 * at the end: far faster, and as full as keys that come one by one would leave it.
 */
export async function growToday(pool: pg.Pool, rows: number, say: (step: string) => void): Promise<void> {
  await setForAll(pool, `max_wal_size = '256GB'`, `checkpoint_timeout = '1d'`);
  try {
    await growTables(pool, rows, say);
  } finally {
    await resetForAll(pool, 'max_wal_size', 'checkpoint_timeout');
    say('a checkpoint');
    await pool.query('CHECKPOINT');
  }
}

/**
 * A checkpoint in between would have every page of the table written whole into the log again, compressed, when the key's making first
 * looks at it: pages have checksums.
 */
async function setForAll(pool: pg.Pool, ...settings: string[]): Promise<void> {
  for (const setting of settings) await pool.query(`ALTER SYSTEM SET ${setting}`);
  await pool.query('SELECT pg_reload_conf()');
}

async function resetForAll(pool: pg.Pool, ...names: string[]): Promise<void> {
  for (const name of names) await pool.query(`ALTER SYSTEM RESET ${name}`);
  await pool.query('SELECT pg_reload_conf()');
}

async function growTables(pool: pg.Pool, rows: number, say: (step: string) => void): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  for (const { table, seeds, instead } of TABLES) {
    const name = `${table}_${day.replaceAll('-', '')}`;
    const there = Number((await pool.query(`SELECT count(*) FROM ${name}`)).rows[0].count);
    const names = await columnsOf(pool, name);
    const values = names.map((column) => (instead as Record<string, string>)[column] ?? column);
    await pool.query(`ALTER TABLE ${table} DETACH PARTITION ${name}`);
    await pool.query(`ALTER TABLE ${name} DROP CONSTRAINT ${name}_pkey`);
    const { storage } = (
      await pool.query('SELECT reloptions AS storage FROM pg_class WHERE oid = $1::regclass', [name])
    ).rows[0] as { storage: string[] | null };
    await pool.query(
      `ALTER TABLE ${name} SET (fillfactor = ${table === 'requests' ? FULL_PERCENT : 100}, ${NO_VACUUM_OF_INSERTS}),
       ADD CONSTRAINT of_today CHECK (day >= '${day}' AND day < '${dayAfter(day)}')`,
    );
    const seeded = await pool.query(`CREATE TABLE seeds AS SELECT * FROM ${name} WHERE ${seeds} LIMIT ${SEED_ROWS}`);
    const copies = Math.ceil(CHUNK / seeded.rowCount!);
    let [left, done] = [rows - there, there];
    const work = async (): Promise<void> => {
      while (left > 0) {
        const chunk = Math.min(CHUNK, left);
        left -= chunk;
        await pool.query(
          `INSERT INTO ${name} (trace_id, ${names.join(', ')}) SELECT gen_random_uuid(), ${values.join(', ')}
           FROM generate_series(1, ${copies}), seeds LIMIT ${chunk}`,
        );
        done += chunk;
        say(`${done.toLocaleString('en')} rows of ${table}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    await pool.query('DROP TABLE seeds');
    await pool.query(`ALTER TABLE ${name} ${storage === null ? 'RESET (fillfactor)' : `SET (${storage.join(', ')})`}`);
    say(`the key of ${rows.toLocaleString('en')} rows of ${table}`);
    await addKey(pool, name);
    await pool.query(
      `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${day}') TO ('${dayAfter(day)}')`,
    );
    await pool.query(`ALTER TABLE ${name} DROP CONSTRAINT of_today`);
    await pool.query(`ANALYZE ${name}`);
  }
}

async function columnsOf(pool: pg.Pool, table: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'trace_id'`,
    [table],
  );
  return rows.map(({ name }) => name);
}

async function addKey(pool: pg.Pool, name: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`SET maintenance_work_mem = '1GB'`);
    await client.query(
      `ALTER TABLE ${name} ADD CONSTRAINT ${name}_pkey PRIMARY KEY (trace_id, day) WITH (fillfactor = ${FULL_PERCENT})`,
    );
  } finally {
    client.release(true);
  }
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}
