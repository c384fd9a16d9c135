import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_EVENTS } from '../../contract/limits.ts';
import { parseBody } from './body.ts';

/** What each event of a body is: its value, or the code of its refusal. */
function eventsOf(body: string | Buffer): unknown {
  const parsed = parseBody(Buffer.from(body as string));
  if (!parsed.ok) return parsed.rejection.code;
  return parsed.value.map((event) => ('rejection' in event ? event.rejection.code : event.value));
}

describe('one JSON value', () => {
  test.each<[string, string, unknown]>([
    ['an object', '{"a":1}', [{ a: 1 }]],
    ['an object and a line end', '{"a":1}\r\n', [{ a: 1 }]],
    ['an object over several lines', '{\n  "a":\n 1\n}\n', [{ a: 1 }]],
    ['an array', '[{"a":1},{"a":2}]', [{ a: 1 }, { a: 2 }]],
    ['an array and line ends', '[{"a":1},{"a":2}]\n\n', [{ a: 1 }, { a: 2 }]],
    ['an array over several lines', '[\n{"a":1},\n{"a":2}\n]', [{ a: 1 }, { a: 2 }]],
    ['an array after a blank line', '\n[{"a":1}]\n', [{ a: 1 }]],
    ['an array of what are no events', '[1,null,"x",[]]', [1, null, 'x', []]],
    ['an empty array', '[]', []],
    ['a byte order mark', '\uFEFF{"a":1}', [{ a: 1 }]],
    ['a number', '5', [5]],
    ['null', 'null', [null]],
  ])('%s', (_name, body, events) => {
    expect(eventsOf(body)).toEqual(events);
  });

  test.each(['', ' ', '\n', '\r\n\t', '{"v":1', '{"a":NaN}', "{'a':1}", '{"a":1}}', 'hello', '\0', '[{"a":1},'])(
    '%j is no JSON',
    (body) => {
      expect(eventsOf(body)).toBe('malformed_json');
    },
  );
});

describe('one value a line', () => {
  test.each<[string, string, unknown]>([
    ['lines', '{"a":1}\n{"a":2}\n', [{ a: 1 }, { a: 2 }]],
    ['CRLF and no end', '{"a":1}\r\n{"a":2}', [{ a: 1 }, { a: 2 }]],
    ['blank lines are skipped and have no index', '\n{"a":1}\n\n \t\r\n{"a":2}\n\n', [{ a: 1 }, { a: 2 }]],
    ['a bad line in the middle', '{"a":1}\n{"a":\n{"a":3}', [{ a: 1 }, 'malformed_json', { a: 3 }]],
    ['a bad line first', 'oops\n{"a":2}\n{"a":3}', ['malformed_json', { a: 2 }, { a: 3 }]],
    ['a bad line last', '{"a":1}\n{"a":2', [{ a: 1 }, 'malformed_json']],
    ['only bad lines', 'a\nb', ['malformed_json', 'malformed_json']],
    ['an array in a line is one event', '{"a":1}\n[{"a":2}]', [{ a: 1 }, [{ a: 2 }]]],
  ])('%s', (_name, body, events) => {
    expect(eventsOf(body)).toEqual(events);
  });

  test('a line that is not UTF-8 is refused alone', () => {
    const body = Buffer.concat([
      Buffer.from('{"a":1}\n\n{"a":"'),
      Buffer.from([0xe5, 0x8c]),
      Buffer.from('"}\n{"a":3}\n'),
    ]);
    expect(eventsOf(body)).toEqual([{ a: 1 }, 'malformed_json', { a: 3 }]);
    expect(eventsOf(Buffer.from([0xff]))).toEqual(['malformed_json']);
  });
});

test('as many events as allowed, and one more', () => {
  const event = '{"a":1}';
  for (const body of [(n: number) => `[${Array(n).fill(event)}]`, (n: number) => `${event}\n`.repeat(n)]) {
    expect(eventsOf(body(MAX_EVENTS))).toHaveLength(MAX_EVENTS);
    expect(eventsOf(body(MAX_EVENTS + 1))).toBe('too_many_events');
  }
  expect(eventsOf(`\n${`${event}\n\n`.repeat(MAX_EVENTS)}`)).toHaveLength(MAX_EVENTS);
});

test('deep nesting neither throws nor takes long', () => {
  const started = performance.now();
  for (const body of ['['.repeat(500_000), '{"a":'.repeat(200_000), `${'['.repeat(300_000)}${']'.repeat(300_000)}`])
    expect(() => eventsOf(body)).not.toThrow();
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('any bytes are parsed or refused', () => {
  const pieces = fc
    .constantFrom('{"a":1}', '\n', '\r\n', ' ', '[', ']', ',', '"', '\uFEFF', 'x', '{}')
    .map((text) => Buffer.from(text));
  const bytes = fc.uint8Array({ maxLength: 6 }).map((each) => Buffer.from(each));
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, bytes), { maxLength: 12 }), (parts) => {
      const events = eventsOf(Buffer.concat(parts));
      expect(Array.isArray(events) || events === 'malformed_json').toBe(true);
    }),
  );
});

test('lines keep their order and index, whatever blank and bad ones stand between', () => {
  const line = fc.oneof(
    fc.nat().map((value) => ({ text: `{"a":${value}}`, event: { a: value } })),
    fc.constantFrom('{', 'nope', '"', '{"a":1}{"a":2}').map((text) => ({ text, event: 'malformed_json' })),
    fc.constantFrom('', ' ', '\t', '\r').map((text) => ({ text, event: null })),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      const expected = lines.flatMap(({ event }) => (event === null ? [] : [event]));
      // Alone, a value is a body of its own, and nothing is no body.
      fc.pre(expected.length > 1);
      expect(eventsOf(lines.map(({ text }) => text).join('\n'))).toEqual(expected);
    }),
  );
});

test('of a million lines no more are looked at than there may be events, whatever their bytes', () => {
  const lines = (line: string) => Buffer.from(line.repeat(500_000), 'latin1');
  expect(eventsOf(lines('1\n'))).toBe('too_many_events');
  const { user } = process.cpuUsage();
  expect(eventsOf(lines('\xff\n'))).toBe('too_many_events');
  // Splitting all of them first took a quarter of a second.
  expect(process.cpuUsage().user - user).toBeLessThan(150_000);
});
