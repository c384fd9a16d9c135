import { execFile } from 'node:child_process';
import net, { type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type IngestDouble, startIngestDouble } from './ingestDouble.ts';
import { createSender, type Sender, type SenderSettings } from './sender.ts';

let ingest: IngestDouble;
let sender: Sender | undefined;
beforeEach(async () => {
  ingest = await startIngestDouble();
});
afterEach(async () => {
  await sender?.close(0);
  sender = undefined;
  await ingest.close();
});

function start(settings: Partial<SenderSettings> = {}): Sender {
  sender = createSender({ ingestUrl: ingest.url, token: 'write-token', gatherMs: 1, retryMs: () => 1, ...settings });
  return sender;
}

const record = (number: number) => ({ trace_id: String(number).padStart(32, 'a'), timing_trace: '1,2,3,4,5,6,7' });
const send = (count: number): void => {
  for (let number = 0; number < count; number++) sender!.send(record(number));
};
const idsOf = (records: readonly { trace_id: string }[]): number[] =>
  records.map(({ trace_id: id }) => Number(id.replaceAll('a', '')));

test('posts NDJSON with the token', async () => {
  start({ ingestUrl: `${ingest.url}/prefix/` });
  send(3);
  await sender!.close();
  expect(ingest.posts).toHaveLength(1);
  expect(ingest.posts[0]).toMatchObject({
    path: '/prefix/v1/server-timings',
    headers: { authorization: 'Bearer write-token', 'content-type': 'application/x-ndjson' },
    records: [0, 1, 2].map(record),
  });
  expect(sender!.stats).toEqual({ sent: 3, dropped: 0, failed: 0, waiting: 0 });
});

test('without a token sends no Authorization', async () => {
  start({ token: undefined });
  send(1);
  await sender!.close();
  expect(ingest.posts[0]?.headers).not.toHaveProperty('authorization');
});

test('at most 500 records and 512 KiB a post, in order', async () => {
  start();
  send(1_201);
  await sender!.close();
  expect(ingest.posts.map(({ records }) => records.length)).toEqual([500, 500, 201]);
  expect(idsOf(ingest.records)).toEqual(Array.from({ length: 1_201 }, (_, number) => number));
  ingest.posts.length = 0;

  start();
  for (let number = 0; number < 200; number++) sender!.send({ ...record(number), server_timing: 'x'.repeat(8_000) });
  await sender!.close();
  expect(ingest.posts.length).toBeGreaterThan(2);
  for (const { bytes } of ingest.posts) expect(bytes).toBeLessThanOrEqual(524_288);
});

test.each([429, 503, 500])('%i, then 202: sent once, after what Retry-After says', async (status) => {
  const asked: unknown[] = [];
  start({
    retryMs: (failures, retryAfter) => {
      asked.push([failures, retryAfter]);
      return 1;
    },
  });
  ingest.answer = () =>
    ingest.posts.length < 3 ? { status, headers: { 'Retry-After': '7' }, body: '{}' } : { status: 202 };
  send(2);
  await ingest.until(() => ingest.records.length === 2);
  expect(asked).toEqual([
    [1, '7'],
    [2, '7'],
  ]);
  await sender!.close();
  expect(ingest.posts).toHaveLength(3);
  expect(sender!.stats).toEqual({ sent: 2, dropped: 0, failed: 0, waiting: 0 });
});

test.each([400, 401, 413])('%i is not tried again', async (status) => {
  start();
  ingest.answer = () => (ingest.posts.length < 2 ? { status, body: '{"error":{}}' } : { status: 202 });
  send(2);
  await ingest.until(() => ingest.posts.length === 1);
  send(1);
  await sender!.close();
  expect(sender!.stats).toEqual({ sent: 1, dropped: 0, failed: 2, waiting: 0 });
});

test('single rejected records are counted', async () => {
  start();
  ingest.answer = () => ({
    status: 202,
    body: '{"accepted":2,"rejected":[{"index":1,"code":"invalid_field","message":""}]}',
  });
  send(3);
  await sender!.close();
  expect(sender!.stats).toEqual({ sent: 2, dropped: 0, failed: 1, waiting: 0 });
});

test('while the ingest is away the queue keeps the newest, and they arrive when it is back', async () => {
  ingest.answer = () => ({ status: 503, body: '' });
  start({ maxWaiting: 100 });
  send(1);
  await ingest.until(() => ingest.posts.length > 2);
  send(1_000);
  expect(sender!.stats).toEqual({ sent: 0, dropped: 901, failed: 0, waiting: 100 });
  ingest.answer = () => ({ status: 202 });
  await sender!.close();
  expect(sender!.stats).toEqual({ sent: 100, dropped: 901, failed: 0, waiting: 0 });
  expect(idsOf(ingest.records)).toEqual([0, ...Array.from({ length: 99 }, (_, at) => 901 + at)]);
});

test('a hanging ingest is given up after the time-out, and asked again', async () => {
  start({ timeoutMs: 20 });
  ingest.answer = () => (ingest.posts.length < 3 ? null : { status: 202 });
  send(1);
  await ingest.until(() => ingest.records.length === 1);
  expect(ingest.posts).toHaveLength(3);
});

test('an answer cut off in the middle is tried again', async () => {
  let connections = 0;
  const cutting = net.createServer((socket) => {
    connections++;
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end('HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\nhalf'));
  });
  await new Promise<void>((resolve) => cutting.listen(0, '127.0.0.1', resolve));
  const twice = new Promise<void>((resolve) => cutting.on('connection', () => connections > 1 && resolve()));
  start({ ingestUrl: `http://127.0.0.1:${(cutting.address() as AddressInfo).port}` });
  send(1);
  await twice;
  await sender!.close(0);
  await new Promise((resolve) => cutting.close(resolve));
  expect(sender!.stats).toMatchObject({ sent: 0, dropped: 1 });
});

test('close gives up at its deadline, and twice is no harm', async () => {
  start({ timeoutMs: 60_000 });
  ingest.answer = () => null;
  send(2);
  await ingest.until(() => ingest.posts.length === 1);
  await Promise.all([sender!.close(20), sender!.close(20)]);
  expect(sender!.stats).toEqual({ sent: 0, dropped: 2, failed: 0, waiting: 0 });
  sender!.send(record(9));
  expect(sender!.stats.dropped).toBe(3);
});

test.each(['', 'localhost:8080', 'ftp://x', '/v1'])('refuses the URL %j', (ingestUrl) => {
  expect(() => createSender({ ingestUrl })).toThrow(TypeError);
});

test('refuses a token that cannot stand in a header, without repeating it', () => {
  expect(() => createSender({ ingestUrl: ingest.url, token: 'secret\n' })).toThrow(/^(?!.*secret).*Authorization/s);
});

test('keeps no process alive, and warns once', async () => {
  const program = `
    import { createSender } from './sender.ts';
    const sender = createSender({ ingestUrl: ${JSON.stringify(ingest.url)}, gatherMs: 0, retryMs: () => 1 });
    sender.send({ trace_id: 'a' });
    process.stdin.resume().on('end', () => sender.send({ trace_id: 'b' }));`;
  ingest.answer = () => (ingest.posts.length < 4 ? { status: 503, body: '' } : null);
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const run = promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], { cwd });
  // Four answers of 503, then one that never comes: the process ends all the same once nothing else keeps it.
  await ingest.until(() => ingest.posts.length >= 4);
  run.child.stdin?.end();
  const { stderr } = await run;
  expect(stderr.match(/FIRSTTOKEN_INGEST_UNREACHABLE/g)).toHaveLength(1);
}, 20_000);
