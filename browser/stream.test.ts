import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { READ_AHEAD_BYTES, watchBody } from './stream.ts';

type Over = [how: string, error?: unknown];

function watch(body: ReadableStream<Uint8Array>, leaves = false) {
  const arrived: Uint8Array[] = [];
  const over: Over[] = [];
  const watched = watchBody(
    body,
    (bytes) => void arrived.push(bytes.slice()),
    (how, error) => {
      over.push(error === undefined ? [how] : [how, error]);
      return leaves;
    },
  );
  return { watched, arrived, over };
}

function manual(type?: 'bytes') {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const cancelled: unknown[] = [];
  const source = {
    type,
    start: (given: ReadableStreamDefaultController<Uint8Array>) => {
      controller = given;
    },
    cancel: (reason: unknown) => void cancelled.push(reason),
  };
  const body = new ReadableStream<Uint8Array>(source as UnderlyingDefaultSource<Uint8Array>);
  return { body, controller, cancelled };
}

const bytes = (...values: number[]): Uint8Array<ArrayBuffer> => Uint8Array.from(values);

test.each([undefined, 'bytes'] as const)('passes chunks on as they are (%s)', async (type) => {
  const { body, controller } = manual(type);
  const { watched, over } = watch(body);
  const reader = watched.getReader();
  controller.enqueue(bytes(1, 2));
  controller.enqueue(bytes(3));
  controller.close();
  expect((await reader.read()).value).toEqual(bytes(1, 2));
  expect((await reader.read()).value).toEqual(bytes(3));
  expect(await reader.read()).toEqual({ done: true, value: undefined });
  expect(over).toEqual([['end']]);
});

test('a reader with a buffer of its own finds a byte stream, up to the end', async () => {
  const { body, controller } = manual('bytes');
  const reader = watch(body).watched.getReader({ mode: 'byob' });
  controller.enqueue(bytes(1, 2, 3));
  expect((await reader.read(new Uint8Array(2))).value).toEqual(bytes(1, 2));
  expect((await reader.read(new Uint8Array(2))).value).toEqual(bytes(3));
  const last = reader.read(new Uint8Array(2));
  controller.close();
  expect((await last).done).toBe(true);
});

test('what is no byte stream is made into none, and may hold anything', async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue('text');
      controller.enqueue(undefined);
      controller.close();
    },
  });
  const { watched } = watch(body as ReadableStream<Uint8Array>);
  expect(() => watched.getReader({ mode: 'byob' })).toThrow(TypeError);
  const seen: unknown[] = [];
  for await (const chunk of watched) seen.push(chunk);
  expect(seen).toEqual(['text', undefined]);
});

test('bytes are seen when they arrive, though the app does not read', async () => {
  const { body, controller } = manual();
  const { arrived } = watch(body);
  controller.enqueue(bytes(1));
  await vi.waitFor(() => expect(arrived).toEqual([bytes(1)]));
  controller.enqueue(bytes(2));
  await vi.waitFor(() => expect(arrived).toEqual([bytes(1), bytes(2)]));
});

test('an app that does not read holds its source back', async () => {
  const CHUNK = 16_384;
  let pulled = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(CHUNK));
      },
    },
    { highWaterMark: 0 },
  );
  const reader = watch(body).watched.getReader();
  await vi.waitFor(() => expect(pulled).toBe(READ_AHEAD_BYTES / CHUNK));
  await new Promise((resolve) => setImmediate(resolve));
  expect(pulled).toBe(READ_AHEAD_BYTES / CHUNK);
  await reader.read();
  await vi.waitFor(() => expect(pulled).toBe(READ_AHEAD_BYTES / CHUNK + 1));
  await reader.cancel();
});

test.each([undefined, 'bytes'] as const)('a break reaches the app after what had arrived (%s)', async (type) => {
  const { body, controller } = manual(type);
  const { watched, arrived, over } = watch(body);
  const failure = new TypeError('network error');
  controller.enqueue(bytes(1));
  controller.enqueue(bytes(2));
  await vi.waitFor(() => expect(arrived.length).toBe(2));
  controller.error(failure);
  await vi.waitFor(() => expect(over).toContainEqual(['break', failure]));
  const reader = watched.getReader();
  expect((await reader.read()).value).toEqual(bytes(1));
  expect((await reader.read()).value).toEqual(bytes(2));
  await expect(reader.read()).rejects.toBe(failure);
});

test('an abort reaches the app at once, before what it has not read', async () => {
  const { body, controller } = manual();
  const { watched, arrived, over } = watch(body, true);
  controller.enqueue(bytes(1));
  await vi.waitFor(() => expect(arrived.length).toBe(1));
  const reason = new DOMException('stop', 'AbortError');
  controller.error(reason);
  await vi.waitFor(() => expect(over).toContainEqual(['break', reason]));
  await new Promise((resolve) => setImmediate(resolve));
  await expect(watched.getReader().read()).rejects.toBe(reason);
});

test('a break is noticed while nothing is read and nothing more is read ahead', async () => {
  const { body, controller } = manual();
  const { over, arrived } = watch(body);
  controller.enqueue(new Uint8Array(READ_AHEAD_BYTES));
  await vi.waitFor(() => expect(arrived.length).toBe(1));
  controller.error(new Error('reset'));
  await vi.waitFor(() => expect(over).toEqual([['break', new Error('reset')]]));
});

test.each([undefined, 'bytes'] as const)('cancelling cancels the source with the same reason (%s)', async (type) => {
  const { body, cancelled } = manual(type);
  const { watched, over } = watch(body);
  await watched.cancel('enough');
  expect(cancelled).toEqual(['enough']);
  expect(over[0]).toEqual(['abort']);
});

test('cancelling fails as the source fails to be cancelled', async () => {
  const body = new ReadableStream<Uint8Array>({
    cancel() {
      throw new Error('no');
    },
  });
  await expect(watch(body).watched.cancel()).rejects.toThrow('no');
});

test('a body that is being read is refused, and stays as it is', () => {
  const { body } = manual();
  const reader = body.getReader();
  expect(() => watch(body)).toThrow(TypeError);
  reader.releaseLock();
  expect(body.locked).toBe(false);
});

test('whatever arrives leaves unchanged', async () => {
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(chunks, fc.constantFrom(undefined, 'bytes' as const), async (sent, type) => {
      const { body, controller } = manual(type);
      const { watched, arrived } = watch(body);
      for (const chunk of sent) controller.enqueue(chunk.slice());
      controller.close();
      const seen: Uint8Array[] = [];
      for await (const chunk of watched) seen.push(chunk);
      expect(seen).toEqual(sent);
      expect(arrived).toEqual(sent);
    }),
    { numRuns: 60 },
  );
});
