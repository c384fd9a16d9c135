import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from './database.ts';
import { query, TOKEN } from './service.ts';
import { serverRecord, traceId } from './serviceEvents.ts';
import { ndjson, send } from './serviceHttp.ts';
import { endProcess, type ServiceProcess, spawnService } from './serviceProcess.ts';

const PER_POST = 500;
/** Room for about eight bodies. */
const MAX_BYTES_IN_FLIGHT = 2_097_152;
/** These saturate it. */
const STEADY_CONNECTIONS = 10;
const FLOODING_CONNECTIONS = 200;
const POSTS = 60;
const LEAST_GOODPUT = 0.5;
const MAX_GROWTH = 1.5;

let database: TestDatabase;
let service: ServiceProcess;
beforeEach(async () => {
  database = await createDatabase();
  service = spawnService({
    DATABASE_URL: database.url,
    INGEST_TOKEN: TOKEN,
    MAX_BYTES_IN_FLIGHT: String(MAX_BYTES_IN_FLIGHT),
  });
});
afterEach(async () => {
  await endProcess(service);
  await database.drop();
});

interface Taken {
  readonly postsPerSecond: number;
  /** Statuses of what was refused; 0 where the connection broke. */
  readonly statuses: ReadonlySet<number>;
  readonly taken: number;
}

/** Posts on so many connections without pause, a refused body again and again, until enough were taken: each has events of its own. */
async function post(url: string, connections: number): Promise<Taken> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/x-ndjson' };
  const statuses = new Set<number>();
  // Made before: to make them meanwhile would keep the flood from being one.
  const bodies = Array.from({ length: POSTS + connections }, () =>
    ndjson(Array.from({ length: PER_POST }, () => serverRecord({ trace_id: traceId() }))),
  );
  let posts = 0;
  const began = performance.now();
  const run = async (): Promise<void> => {
    let body = bodies.pop()!;
    while (posts < POSTS) {
      const status = await send(`${url}/v1/server-timings`, { headers, body }).then(
        (answer) => answer.status,
        // Whoever still writes when the refusal comes may see a reset instead.
        () => 0,
      );
      if (status === 202) {
        posts += 1;
        body = bodies.pop()!;
      } else {
        statuses.add(status);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, run));
  const seconds = (performance.now() - began) / 1_000;
  return { postsPerSecond: posts / seconds, statuses, taken: posts };
}

/** The most memory that the process ever had resident, bytes. */
async function peakBytes(): Promise<number> {
  const status = await readFile(`/proc/${service.child.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1_024;
}

test('20 times the connections that saturate it: memory stays, the work goes on, nothing taken is lost', async () => {
  const { publicUrl } = await service.ready();
  const steady = await post(publicUrl, STEADY_CONNECTIONS);
  const peakBefore = await peakBytes();

  const flood = await post(publicUrl, FLOODING_CONNECTIONS);
  // How many are refused, and how many wait in the system's own queue, is the machine's affair.
  expect([...flood.statuses].filter((status) => status !== 503 && status !== 0)).toEqual([]);
  expect(flood.postsPerSecond).toBeGreaterThan(LEAST_GOODPUT * steady.postsPerSecond);
  expect(await peakBytes()).toBeLessThan(MAX_GROWTH * peakBefore);
  expect((await send(`${publicUrl}/readyz`, { method: 'GET' })).status).toBe(200);

  const [row] = await query<{ rows: number }>(database.url, 'SELECT count(*)::int AS rows FROM requests');
  expect(row!.rows).toBeGreaterThanOrEqual((steady.taken + flood.taken) * PER_POST);
}, 120_000);
