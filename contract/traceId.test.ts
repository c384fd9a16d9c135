import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSpanId, parseTraceId, parseTraceparent, type TraceIdFormat } from './traceId.ts';

interface Case {
  readonly name: string;
  readonly given: string;
  readonly format?: TraceIdFormat;
}

const fixtures: {
  readonly valid: readonly (Case & {
    readonly kind: 'hex' | 'text';
    readonly key: string;
    readonly ref: string | null;
  })[];
  readonly invalid: readonly Case[];
  readonly traceparent_valid: readonly (Case & { readonly trace_id: string; readonly parent_id: string })[];
  readonly traceparent_invalid: readonly Case[];
} = JSON.parse(readFileSync(new URL('./fixtures/trace-ids.json', import.meta.url), 'utf8'));

describe('trace ids', () => {
  test.each(fixtures.valid)('$name: $given', ({ given, format, kind, key }) => {
    const read = parseTraceId(given, format);
    expect(read).toEqual({ ok: true, value: kind === 'hex' ? { kind, key } : { kind, text: given } });
    if (kind === 'text') expect(createHash('sha256').update(given).digest('hex').slice(0, 32)).toBe(key);
  });

  test.each(fixtures.invalid)('refused: $name', ({ given, format }) => {
    expect(parseTraceId(given, format)).toMatchObject({ ok: false, rejection: { code: 'invalid_trace_id' } });
  });

  const formats = fc.constantFrom<TraceIdFormat>('default', 'datadog');
  const hex = (digits: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: digits, maxLength: digits });

  test('any text is read or refused, and a text id is the whole text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 140 }), formats, (text, format) => {
        const read = parseTraceId(text, format);
        if (!read.ok) expect(read.rejection.code).toBe('invalid_trace_id');
        else if (read.value.kind === 'text') expect(read.value.text).toBe(text);
        else expect(read.value.key).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
      }),
    );
  });

  test('a key reads as itself, in each format', () => {
    fc.assert(
      fc.property(hex(32), formats, (given, format) => {
        const read = parseTraceId(given, format);
        if (!read.ok) expect(given).toMatch(/^0+$/);
        else if (read.value.kind === 'hex') expect(parseTraceId(read.value.key, format)).toEqual(read);
        else throw new Error('32 hex digits are a key');
      }),
    );
  });

  test('no spelling of hex changes, drops or moves a digit', () => {
    const spellings = fc.oneof(
      hex(32),
      hex(16),
      fc.tuple(hex(8), hex(4), hex(4), hex(4), hex(12)).map((parts) => parts.join('-')),
      fc.tuple(hex(8), hex(24)).map(([time, rest]) => `1-${time}-${rest}`),
    );
    fc.assert(
      fc.property(spellings, (given) => {
        const read = parseTraceId(given);
        if (!read.ok || read.value.kind !== 'hex') {
          expect(given).toMatch(/^(1-)?[0-]+$/);
          return;
        }
        const digits = given.replace(/^1-/, '').replaceAll('-', '').toLowerCase();
        expect(read.value.key).toBe(digits.padStart(32, '0'));
      }),
    );
  });
});

describe('traceparent', () => {
  test.each(fixtures.traceparent_valid)('$name: $given', ({ given, trace_id: traceId, parent_id: parentId }) => {
    expect(parseTraceparent(given)).toEqual({ ok: true, value: { traceId, parentId } });
  });

  test.each(fixtures.traceparent_invalid)('refused: $name', ({ given }) => {
    expect(parseTraceparent(given)).toMatchObject({ ok: false, rejection: { code: 'invalid_trace_id' } });
  });

  test('any text is read or refused', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        parseTraceparent(text);
      }),
    );
  });
});

test('span ids: 16 lower-case hex digits, not all zero', () => {
  expect(isSpanId('00f067aa0ba902b7')).toBe(true);
  for (const wrong of [
    '',
    '0'.repeat(16),
    '00F067AA0BA902B7',
    '00f067aa0ba902b',
    '00f067aa0ba902b70',
    '00f067aa0ba902b7\n',
  ])
    expect(isSpanId(wrong), wrong).toBe(false);
});
