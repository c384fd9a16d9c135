import pg from 'pg';
import type { SqlAnswer } from './postgresFrames.ts';
import type { Series } from './prometheusFrames.ts';

const READER = 'grafana_reader';
const SQL_WITHIN_MS = 10_000;
const PROMQL_WITHIN_MS = 10_000;
/** Panels ask at once; a pool as small as this keeps them from being in the way of what is measured. */
const CONNECTIONS = 4;
/** Every panel asks for its variables' options. */
const REMEMBER_MS = 5_000;

/** SQLSTATE of a statement that was cut off. */
const QUERY_CANCELED = '57014';

export interface SqlSource {
  /** One statement, read-only, with the rights of the dashboards' role where the database's user may take them. */
  sql(statement: string): Promise<SqlAnswer>;
  /** The same, remembered for seconds. */
  remembered(statement: string): Promise<SqlAnswer>;
  close(): Promise<void>;
}

export function openSqlSource(databaseUrl: string): SqlSource {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: CONNECTIONS,
    application_name: 'firsttoken dashboards',
  });
  // Idle connections that break are replaced by the next use.
  pool.on('error', () => {});
  const kept = new Map<string, { readonly atMs: number; readonly answer: Promise<SqlAnswer> }>();

  const sql = async (statement: string): Promise<SqlAnswer> => {
    const client = await pool.connect();
    try {
      await client.query(`BEGIN READ ONLY; SET LOCAL statement_timeout = ${SQL_WITHIN_MS}; SAVEPOINT began`);
      // A user of the operator's own who is no member of the role: what it may read is theirs to say.
      await client.query(`SET LOCAL ROLE ${READER}`).catch(() => client.query('ROLLBACK TO began'));
      // This way of asking takes one statement only.
      return await client.query({ text: statement, queryMode: 'extended' } as pg.QueryConfig);
    } catch (error) {
      if ((error as { code?: string }).code !== QUERY_CANCELED) throw error;
      throw new Error(`This takes longer than ${SQL_WITHIN_MS / 1_000} s: choose a shorter range of time.`, {
        cause: error,
      });
    } finally {
      await client.query('ROLLBACK').then(
        () => client.release(),
        (error: Error) => client.release(error),
      );
    }
  };
  return {
    sql,
    remembered(statement) {
      const nowMs = Date.now();
      for (const [key, { atMs }] of kept) if (nowMs - atMs > REMEMBER_MS) kept.delete(key);
      const known = kept.get(statement);
      if (known !== undefined) return known.answer;
      const answer = sql(statement);
      kept.set(statement, { atMs: nowMs, answer });
      answer.catch(() => kept.delete(statement));
      return answer;
    },
    close: () => pool.end(),
  };
}

/** Asks Prometheus' HTTP API. @throws Error with Prometheus' own words */
export async function askPrometheus<T>(
  baseUrl: string,
  path: string,
  parameters: Record<string, string> = {},
): Promise<T> {
  const answer = await fetch(`${baseUrl}/api/v1/${path}?${new URLSearchParams(parameters)}`, {
    signal: AbortSignal.timeout(PROMQL_WITHIN_MS),
  });
  const { data, error } = (await answer.json()) as { data?: T; error?: string };
  if (data === undefined) throw new Error(`Prometheus: ${error ?? answer.status}`);
  return data;
}

export async function promql(
  baseUrl: string,
  path: string,
  parameters: Record<string, string>,
): Promise<readonly Series[]> {
  return (await askPrometheus<{ result: readonly Series[] }>(baseUrl, path, parameters)).result;
}
