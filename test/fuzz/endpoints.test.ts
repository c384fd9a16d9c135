import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../postgres/database.ts';
import { query } from '../postgres/service.ts';
import { send } from '../postgres/serviceHttp.ts';
import { endProcess, type ServiceProcess, spawnService } from '../postgres/serviceProcess.ts';
import { fuzzEndpoints, watchStalls } from './endpoints.ts';
import { LARGEST_BODIES } from './largestBodies.ts';
import { MAX_STALL_MS } from './parsers.ts';

const TOKEN = 'write-token-of-the-tests';
/** A hundredth of what `npm run fuzz` sends. */
const INPUTS = 1_500;

let database: TestDatabase;
let service: ServiceProcess;
beforeAll(async () => {
  database = await createDatabase();
  service = spawnService({ DATABASE_URL: database.url, INGEST_TOKEN: TOKEN, BEACON_RATE: '0' });
});
afterAll(async () => {
  await endProcess(service);
  await database.drop();
});

test(`${INPUTS} made-up requests over real connections: no 5xx, no stall, no echo, no error, no exit`, async () => {
  const urls = await service.ready();
  const { failures, statuses } = await fuzzEndpoints({ ...urls, token: TOKEN, inputs: INPUTS, seed: 1 });
  expect(failures.map(({ message, input }) => `${message}: ${input.toString('base64')}`)).toEqual([]);
  expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
  expect(service.stderr()).toBe('');
  expect([service.child.exitCode, service.child.signalCode]).toEqual([null, null]);
  // Far from all of it was refused at the door.
  expect(statuses.get(202)).toBeGreaterThan(INPUTS / 10);
  const [stored] = await query<{ rows: number; keys: number }>(
    database.url,
    'SELECT count(*)::int AS rows, count(DISTINCT trace_id)::int AS keys FROM requests',
  );
  expect(stored!.rows).toBe(stored!.keys);
  expect(stored!.rows).toBeGreaterThan(50);
});

test.each(LARGEST_BODIES)('a body full of %s: answered, and nobody else waits for it', async (_, body) => {
  const { publicUrl, adminUrl } = await service.ready();
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const stalls = watchStalls(adminUrl);
  for (const path of ['/v1/beacons', '/v1/server-timings', '/v1/gateway-logs', '/v1/logs']) {
    let stallMs = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 3 && stallMs > MAX_STALL_MS; tries += 1) {
      await stalls.longestMs();
      const plain = await send(`${publicUrl}${path}`, { headers, body });
      const gzip = { ...headers, 'content-encoding': 'gzip' };
      const packed = await send(`${publicUrl}${path}`, { headers: gzip, body: gzipSync(body, { level: 1 }) });
      expect([200, 202, 400, 413], path).toContain(plain.status);
      expect(packed.status).toBe(plain.status);
      stallMs = Math.min(stallMs, await stalls.longestMs());
    }
    expect(stallMs, path).toBeLessThanOrEqual(MAX_STALL_MS);
  }
});
