import pg from 'pg';

const READER = 'grafana_reader';

export interface ColdAnswer {
  /** From sending the statement to having read all of its rows; planning is in it, connecting is not. */
  readonly tookMs: number;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Runs one statement as a dashboard does after it was not looked at for a while: on a new connection, which has no plan and no catalogue
 * in memory, with the rights of the dashboards' role. PostgreSQL's and the system's pages are as the runs before left them.
 */
export async function readCold(url: string, statement: string): Promise<ColdAnswer> {
  const client = new pg.Client({ connectionString: url, options: '-c timezone=UTC' });
  await client.connect();
  try {
    await client.query(`SET ROLE ${READER}`);
    const beganMs = performance.now();
    const { rows } = await client.query<Record<string, unknown>>(statement);
    return { tookMs: performance.now() - beganMs, rows };
  } finally {
    await client.end();
  }
}
