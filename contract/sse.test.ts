import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSseReader, type SseEvent } from './sse.ts';

const encoder = new TextEncoder();

function read(chunks: readonly Uint8Array[], maxEventCharacters?: number): SseEvent[] {
  const events: SseEvent[] = [];
  const reader = createSseReader((event) => events.push(event), maxEventCharacters);
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return events;
}

const bytesOf = (text: string): Uint8Array => encoder.encode(text);
const dataOf = (events: readonly SseEvent[]): string[] => events.map(({ data }) => data);

/** Whole, cut once at every byte, and byte by byte; all must agree. */
function readEveryWay(bytes: Uint8Array, maxEventCharacters?: number): SseEvent[] {
  const whole = read([bytes], maxEventCharacters);
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(read([bytes.subarray(0, cut), bytes.subarray(cut)], maxEventCharacters)).toEqual(whole);
  }
  const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
  expect(read(single, maxEventCharacters)).toEqual(whole);
  return whole;
}

test('a CRLF cut between two chunks is one line end', () => {
  const chunks = ['data: A\r\n', 'data: B\r', '\ndata: C\r\n', '\r\n'];
  expect(dataOf(read(chunks.map(bytesOf)))).toEqual(['A\nB\nC']);
  expect(dataOf(readEveryWay(bytesOf(chunks.join(''))))).toEqual(['A\nB\nC']);
});

test('a character cut between chunks survives, and its event exists only with its blank line', () => {
  const chunks = [
    '646174613a207b2263686f69636573223a5b7b2264656c7461223a7b22636f6e74656e74223a22e5',
    '8c97f09f',
    '8c8d227d7d5d7d0a0a',
  ].map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));
  const seenAfter: number[] = [];
  const events: SseEvent[] = [];
  const reader = createSseReader((event) => events.push(event));
  for (const chunk of chunks) {
    reader.push(chunk);
    seenAfter.push(events.length);
  }
  expect(seenAfter).toEqual([0, 0, 1]);
  expect(dataOf(events)).toEqual(['{"choices":[{"delta":{"content":"\u5317\u{1F30D}"}}]}']);
  readEveryWay(Uint8Array.from(Buffer.concat(chunks)));
});

test.each([
  ['data:{"choices":\ndata:[{"delta":{"content":"Hi"}}]}\n\n', ['{"choices":\n[{"delta":{"content":"Hi"}}]}']],
  ['data:  x\n\n', [' x']],
  ['data\n\n', ['']],
  ['data\ndata\n\n', ['\n']],
  [': comment\n\n:\n\n', []],
  ['event: x\n\ndata: 1\n\n', ['1']],
  ['\uFEFFdata: 1\n\n\uFEFFdata: 2\n\n', ['1']],
  ['data: half', []],
  ['data: half\n', []],
  ['data: a\r\rdata: b\r\r', ['a', 'b']],
  ['data: a\n\r\ndata: b\r\n\n', ['a', 'b']],
  ['unknown: 1\nretry: 3\nDATA: 2\ndata : 3\ndata: 4\n\n', ['4']],
])('%j', (text, expected) => {
  expect(dataOf(readEveryWay(bytesOf(text)))).toEqual(expected);
});

test('types are per event, ids last until the next, an id with NUL is none', () => {
  expect(readEveryWay(bytesOf('data:1\n\nevent:ping\nid:7\ndata:2\n\nid:\0x\ndata:3\n\nid\ndata:4\n\n'))).toEqual([
    { event: 'message', data: '1', id: undefined },
    { event: 'ping', data: '2', id: '7' },
    { event: 'message', data: '3', id: '7' },
    { event: 'message', data: '4', id: '' },
  ]);
});

test.each(['\n\n', '\r\r', '\r\n\r\n', '\r\n\r', '\n\r'])('dispatches at once after %j', (ending) => {
  const events: SseEvent[] = [];
  const reader = createSseReader((event) => events.push(event));
  for (const byte of bytesOf(`data: 1${ending}`)) reader.push(Uint8Array.of(byte));
  expect(dataOf(events)).toEqual(['1']);
  reader.push(bytesOf('\ndata: 2\n\n'));
  expect(dataOf(events)).toEqual(['1', '2']);
});

test('an event over the limit is dropped up to its blank line, wherever it is cut', () => {
  const text = `data: ${'x'.repeat(40)}\ndata: y\n\ndata: ok\n\n${'data: 12345678\n'.repeat(5)}\ndata: ok\r\n\r\n:${'c'.repeat(40)}\n\ndata: z\n\n`;
  expect(dataOf(readEveryWay(bytesOf(text), 32))).toEqual(['ok', 'ok', 'z']);
});

test('an endless line keeps no more than the limit', () => {
  const events: SseEvent[] = [];
  const reader = createSseReader((event) => events.push(event), 1_000);
  const chunk = bytesOf('data: '.padEnd(100_000, 'x'));
  for (let sent = 0; sent < 100; sent++) reader.push(chunk);
  reader.push(bytesOf('\n\ndata: after\n\n'));
  expect(dataOf(events)).toEqual(['after']);
});

test('after the end a reader starts afresh', () => {
  const events: SseEvent[] = [];
  const reader = createSseReader((event) => events.push(event));
  reader.push(bytesOf('data: half\r'));
  reader.end();
  reader.push(bytesOf('\ndata: whole\n\n'));
  expect(dataOf(events)).toEqual(['whole']);
});

test('a reader used inside the callback of another one disturbs nothing', () => {
  const inner: SseEvent[] = [];
  const events: SseEvent[] = [];
  const reader = createSseReader((event) => {
    events.push(event);
    createSseReader((each) => inner.push(each)).push(bytesOf('data: inner\n\n'));
  });
  reader.push(bytesOf('data: 1\n\ndata: 2\n\ndata: 3\n\n'));
  expect(dataOf(events)).toEqual(['1', '2', '3']);
  expect(inner).toHaveLength(3);
});

const piece = fc.constantFrom(
  ...[
    '\r',
    '\n',
    '\r\n',
    'data',
    'data:',
    'data: ',
    'event: ',
    'id: ',
    ':',
    ' ',
    'x',
    '\u5317',
    '\u{1F30D}',
    '\uFEFF',
    '\0',
  ],
);

test('any text gives the same events, however it is cut', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), fc.integer({ min: 1, max: 12 }), (pieces, limit) => {
      readEveryWay(bytesOf(pieces.join('')));
      readEveryWay(bytesOf(pieces.join('')), limit);
    }),
    { numRuns: 150 },
  );
});

test('any bytes, also broken UTF-8, give the same events, however they are cut', () => {
  const byte = fc.oneof(fc.constantFrom(0x0a, 0x0d, 0xe5, 0x8c, 0xf0, 0xef, 0xbb, 0xbf), fc.nat(255));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 30 }), (tail) => {
      readEveryWay(Uint8Array.from([...bytesOf('data:'), ...tail, 0x0a, 0x0a]));
    }),
    { numRuns: 150 },
  );
});

test('events that were written are read back', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((text) => !/[\r\n\uFEFF]/.test(text));
  const ending = fc.constantFrom('\r', '\n', '\r\n');
  fc.assert(
    fc.property(fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 4 }), ending, (events, end) => {
      const text = events.map((lines) => `${lines.map((each) => `data: ${each}${end}`).join('')}${end}`).join('');
      expect(dataOf(read([bytesOf(text)]))).toEqual(events.map((lines) => lines.join('\n')));
    }),
  );
});
