import pg from 'pg';
import { type EmbeddedPostgres, startEmbedded } from '../../ingest/store/embedded.ts';

/** How PostgreSQL is ended: waiting for nobody, without a checkpoint, or not asked at all. */
export type Ending = 'fast' | 'immediate' | 'kill';

/** A real PostgreSQL that a run ends and starts again, always on one port. */
export interface ChaosDatabase {
  /** A superuser's address, past all proxies. */
  readonly url: string;
  end(how: Ending): Promise<void>;
  start(): Promise<void>;
  /** Process ids of the services' connections. */
  backends(): Promise<number[]>;
  query<T extends pg.QueryResultRow>(statement: string, values?: readonly unknown[]): Promise<T[]>;
  close(): Promise<void>;
}

export async function openDatabase(dataDir: string): Promise<ChaosDatabase> {
  let server: EmbeddedPostgres | null = await startEmbedded({ dataDir });
  const { url, port } = server;

  const query = async <T extends pg.QueryResultRow>(statement: string, values: readonly unknown[] = []) => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => {});
    await client.connect();
    return (await client.query<T>(statement, [...values]).finally(() => client.end())).rows;
  };
  return {
    url,
    query,
    async end(how) {
      const ending = server;
      server = null;
      if (ending === null) return;
      if (how === 'fast') return ending.stop();
      process.kill(ending.pid, how === 'kill' ? 'SIGKILL' : 'SIGQUIT');
      await ending.exited;
    },
    async start() {
      server ??= await startEmbedded({ dataDir, choosePort: async () => port });
    },
    async backends() {
      const rows = await query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'firsttoken%' AND pid <> pg_backend_pid() ORDER BY pid`,
      );
      return rows.map(({ pid }) => pid);
    },
    async close() {
      await server?.stop();
      server = null;
    },
  };
}
