import type pg from 'pg';
import type { NewValue } from '../pipeline/labels.ts';
import { inTransaction } from './connection.ts';
import { StoreUnavailableError } from './store.ts';

/** Any number, the same in all replicas: values are accepted one flush at a time, so that the cap holds exactly. */
const LABEL_LOCK = 7_305_002;
/** Events wait for this. */
const ACCEPT_TIMEOUT_MS = 5_000;

/** All accepted values. */
export async function readLabelValues(pool: pg.Pool): Promise<NewValue[]> {
  return (await pool.query<NewValue>('SELECT label, value FROM label_values')).rows;
}

/**
 * Accepts values as long as their label has fewer than `cap`; the earlier in the list, the sooner.
 *
 * @returns all accepted values, old and new
 * @throws StoreUnavailableError
 */
export function acceptLabelValues(pool: pg.Pool, values: readonly NewValue[], cap: number): Promise<NewValue[]> {
  const accepted = inTransaction(pool, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [LABEL_LOCK]);
    await client.query(
      `INSERT INTO label_values (label, value)
       SELECT label, value FROM (
         SELECT label, value, row_number() OVER (PARTITION BY label ORDER BY position)
           + (SELECT count(*) FROM label_values v WHERE v.label = new.label) AS rank
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS new(label, value, position)
         WHERE NOT EXISTS (SELECT FROM label_values v WHERE v.label = new.label AND v.value = new.value)
       ) AS ranked WHERE rank <= $3
       ON CONFLICT DO NOTHING`,
      [values.map((each) => each.label), values.map((each) => each.value), cap],
    );
    return (await client.query<NewValue>('SELECT label, value FROM label_values')).rows;
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error('PostgreSQL did not answer in time')), ACCEPT_TIMEOUT_MS);
  });
  return Promise.race([accepted, late])
    .catch((error: unknown) => {
      throw new StoreUnavailableError('new label values could not be stored', { cause: error });
    })
    .finally(() => clearTimeout(timer));
}
