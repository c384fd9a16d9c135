import type pg from 'pg';

const MOST_ROWS = 100_000;

export function todaysTable(): string {
  return `requests_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/**
 * How fast PostgreSQL alone takes the final rows into a table with the same columns, checks and key. It reads a file of its own, which is
 * a little faster than psql sending it.
 */
export async function copyRowsPerS(pool: pg.Pool): Promise<number> {
  const table = todaysTable();
  const { rows } = await pool.query<{ folder: string }>(`SELECT current_setting('data_directory') AS folder`);
  const file = `'${rows[0]!.folder}/bench-rows.copy'`;
  await pool.query(`CREATE TABLE IF NOT EXISTS copied (LIKE ${table} INCLUDING ALL)`);
  const made = await pool.query(`COPY (SELECT * FROM ${table} LIMIT ${MOST_ROWS}) TO ${file} (FORMAT binary)`);
  await pool.query('TRUNCATE copied');
  const beganMs = performance.now();
  await pool.query(`COPY copied FROM ${file} (FORMAT binary)`);
  const elapsedS = (performance.now() - beganMs) / 1e3;
  await pool.query('TRUNCATE copied');
  return made.rowCount! / elapsedS;
}
