import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { readConfig } from '../../ingest/config.ts';
import { createLog } from '../../ingest/log.ts';
import { type Service, startService } from '../../ingest/service.ts';
import { createDatabase } from './database.ts';
import { type Answer, ndjson, type Sent, send } from './serviceHttp.ts';

export const TOKEN = 'write-token-of-the-tests';
export const AUTHORIZED = { authorization: `Bearer ${TOKEN}` } as const;

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [fact: string]: unknown;
}

/** A service of this process on free ports, and the ways to talk to it. */
export interface RunningService extends Service {
  readonly log: readonly LogLine[];
  send(path: string, sent?: Sent): Promise<Answer>;
  /** Posts with the write token, as NDJSON. */
  postTimings(...events: readonly object[]): Promise<Answer>;
  /** Posts as a browser does, as plain text. */
  postBeacons(...events: readonly object[]): Promise<Answer>;
  /** `GET /v1/requests/:trace_id` with the write token. */
  read(traceId: string): Promise<Answer>;
}

export interface ServiceOptions {
  /** On top of free ports, one token and no rate limit. */
  readonly env?: NodeJS.ProcessEnv;
  /** SQL for the database's clock. */
  readonly now?: string;
  /** Another instance's database; without it a new one is made, which goes with this instance. */
  readonly databaseUrl?: string;
}

export async function openService({ env = {}, now, databaseUrl }: ServiceOptions = {}): Promise<RunningService> {
  const database = databaseUrl === undefined ? await createDatabase() : null;
  const log: LogLine[] = [];
  const dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-service-'));
  const clean = () => rm(dataDir, { recursive: true, force: true });
  const config = readConfig({
    DATA_DIR: dataDir,
    PORT: '0',
    ADMIN_PORT: '0',
    DATABASE_URL: databaseUrl ?? database!.url,
    INGEST_TOKEN: TOKEN,
    BEACON_RATE: '0',
    ...env,
  });
  let service: Service;
  try {
    const write = (line: string) => void log.push(JSON.parse(line) as LogLine);
    service = await startService(config, createLog('debug', write), now);
  } catch (error) {
    await database?.drop();
    await clean();
    throw error;
  }
  const url = (at: string) => `${service.publicUrl}${at}`;
  return {
    ...service,
    log,
    send: (at, sent) => send(url(at), sent),
    postTimings: (...events) =>
      send(url('/v1/server-timings'), {
        headers: { ...AUTHORIZED, 'content-type': 'application/x-ndjson' },
        body: ndjson(events),
      }),
    postBeacons: (...events) =>
      send(url('/v1/beacons'), { headers: { 'content-type': 'text/plain;charset=UTF-8' }, body: ndjson(events) }),
    read: (traceId) => send(url(`/v1/requests/${encodeURIComponent(traceId)}`), { method: 'GET', headers: AUTHORIZED }),
    async stop() {
      await service.stop();
      await database?.drop();
      await clean();
    },
  };
}

/** One statement on a connection of its own. */
export async function query<T extends pg.QueryResultRow = Record<string, unknown>>(
  databaseUrl: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<T[]> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  return (await client.query<T>(statement, [...values]).finally(() => client.end())).rows;
}
