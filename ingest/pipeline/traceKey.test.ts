import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { TraceIdFormat } from '../../contract/traceId.ts';
import { NO_SOURCES, readKey, type TraceIdSources, traceKeyOf } from './traceKey.ts';

interface Spelling {
  readonly name: string;
  readonly given: string;
  readonly format?: TraceIdFormat;
  readonly key: string;
  readonly ref: string | null;
}

const fixtures: { readonly valid: readonly Spelling[]; readonly invalid: readonly Omit<Spelling, 'key' | 'ref'>[] } =
  JSON.parse(readFileSync(new URL('../../contract/fixtures/trace-ids.json', import.meta.url), 'utf8'));

test.each(fixtures.valid)('$name: $given', ({ given, format = 'default', key, ref }) => {
  expect(readKey(given, format)).toEqual({ ok: true, value: { key, ref } });
});

test.each(fixtures.invalid)('refused: $name', ({ given, format = 'default' }) => {
  expect(traceKeyOf(given, format, NO_SOURCES)).toMatchObject({ ok: false, rejection: { code: 'invalid_trace_id' } });
});

describe('sources', () => {
  const BODY = 'b'.repeat(32);
  const X_TRACE_ID = 'C'.repeat(32);
  const PARENT = 'd'.repeat(32);
  const X_REQUEST_ID = 'e'.repeat(32);
  const all: TraceIdSources = {
    xTraceId: X_TRACE_ID,
    traceparent: `00-${PARENT}-b7ad6b7169203331-01`,
    xRequestId: X_REQUEST_ID,
    ambiguous: false,
  };
  const keyOf = (body: unknown, headers: TraceIdSources) => {
    const read = traceKeyOf(body, 'default', headers);
    return read.ok ? read.value.key : read.rejection.code;
  };

  test('body, X-Trace-ID, traceparent, X-Request-ID, in this order', () => {
    expect(keyOf(BODY, all)).toBe(BODY);
    expect(keyOf(null, all)).toBe('c'.repeat(32));
    expect(keyOf(undefined, { ...all, xTraceId: null })).toBe(PARENT);
    expect(keyOf(null, { ...all, xTraceId: null, traceparent: null })).toBe(X_REQUEST_ID);
    expect(keyOf(null, NO_SOURCES)).toBe('missing_field');
  });

  test('an invalid header counts as absent', () => {
    expect(keyOf(null, { ...all, xTraceId: '-' })).toBe(PARENT);
    expect(keyOf(null, { ...all, xTraceId: '', traceparent: '00-nonsense' })).toBe(X_REQUEST_ID);
    expect(keyOf(null, { ...all, xTraceId: '-', traceparent: '', xRequestId: '0' })).toBe('missing_field');
  });

  test('an invalid id of the body counts alone', () => {
    for (const wrong of ['-', '', 5, {}, [BODY], true]) expect(keyOf(wrong, all)).toBe('invalid_trace_id');
  });

  test('a header on two lines is no id, but does not stop the next', () => {
    expect(keyOf(null, { ...all, xTraceId: null, ambiguous: true })).toBe(PARENT);
    expect(keyOf(null, { ...NO_SOURCES, ambiguous: true })).toBe('ambiguous_header');
    expect(keyOf(BODY, { ...NO_SOURCES, ambiguous: true })).toBe(BODY);
  });

  test('the spelling of a header is kept where it differs', () => {
    expect(traceKeyOf(null, 'default', all)).toMatchObject({ value: { ref: X_TRACE_ID } });
    expect(traceKeyOf(null, 'default', { ...all, xTraceId: null })).toMatchObject({ value: { ref: null } });
  });
});
