import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newRow } from '../pipeline/row.ts';
import { asciiJson } from './asciiJson.ts';
import { encodeRequest, encodeTrace } from './encodeTrace.ts';
import { spanIdOf } from './spanId.ts';

const KEY = '4bf92f3577b34da6a3ce929d0e0e4736';

interface Encoded {
  spanId: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}
function encoded(...traces: string[]): Encoded[] {
  return JSON.parse(encodeRequest(traces).toString('utf8')).resourceSpans[0].scopeSpans[0].spans;
}

test('span ids are the beginning of the SHA-256 of key and stage', () => {
  for (const stage of ['root', 'queue', 'unattributed'] as const) {
    const digest = createHash('sha256').update(`${KEY}${stage}`).digest();
    expect(spanIdOf(KEY, stage)).toBe(digest.subarray(0, 8).toString('hex'));
  }
});

test('times are exact to the nanosecond, far beyond what a number holds', () => {
  const row = { ...newRow({ traceId: KEY, startedAtMs: 1_785_491_532_400 }), queue_ns: 1, send_ns: 3_600_000_000_000 };
  expect(encoded(encodeTrace(row)).map((span) => [span.name, span.startTimeUnixNano, span.endTimeUnixNano])).toEqual([
    ['chat', '1785491532400000000', '1785495132400000001'],
    ['queue', '1785491532400000000', '1785491532400000001'],
    ['send', '1785491532400000001', '1785495132400000001'],
  ]);
});

test('an end before the start: a zero that is marked', () => {
  const row = {
    ...newRow({ traceId: KEY, startedAtMs: 1_785_491_532_400 }),
    status: 'error' as const,
    seq: 1,
    end_ms: -1.5,
  };
  const [root] = encoded(encodeTrace(row));
  expect(root).toMatchObject({ startTimeUnixNano: '1785491532400000000', endTimeUnixNano: '1785491532400000000' });
  expect(root!.attributes).toContainEqual({ key: 'firsttoken.clamped', value: { boolValue: true } });
});

test('several traces, or none, are one request', () => {
  const row = newRow({ traceId: KEY, startedAtMs: 0 });
  expect(encoded(encodeTrace(row), encodeTrace(row))).toHaveLength(2);
  expect(encoded()).toEqual([]);
});

describe('text from outside', () => {
  test('comes through whatever it is, as ASCII', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(asciiJson(text)).toMatch(/^[ -~]*$/);
        expect(JSON.parse(asciiJson(text))).toBe(text);
      }),
    );
  });

  test('in all places where there is some', () => {
    const odd = 'a "b" \\ \n ü 模型 😀';
    const row = {
      ...newRow({ traceId: KEY, startedAtMs: 0 }),
      model: odd,
      route: odd,
      tier: odd,
      sub_stages_ns: { [odd]: 5 },
    };
    const [root] = encoded(encodeTrace(row));
    expect(root!.name).toBe(`chat ${odd}`);
    const values = Object.fromEntries(root!.attributes.map(({ key, value }) => [key, value]));
    expect(values).toMatchObject({
      'gen_ai.request.model': { stringValue: odd },
      'http.route': { stringValue: odd },
      'firsttoken.tier': { stringValue: odd },
      [`firsttoken.sub_stage_ns.${odd}`]: { intValue: '5' },
    });
  });
});
