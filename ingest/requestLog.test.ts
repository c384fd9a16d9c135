import { expect, test } from 'vitest';
import { createLog } from './log.ts';
import { newRow, type RequestRow } from './pipeline/row.ts';
import { createRequestLog } from './requestLog.ts';

const IDENTITY = { traceId: 'a'.repeat(32), startedAtMs: 0 };

function linesOf(which: 'none' | 'slow' | 'all', row: Partial<RequestRow>, before: Partial<RequestRow> | null = null) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', (line) => lines.push(JSON.parse(line)));
  const whole = (part: Partial<RequestRow>) => ({ ...newRow(IDENTITY), ...part }) as RequestRow;
  createRequestLog(log, which)?.(before && whole(before), whole({ settled: true, ...row }));
  return lines;
}

test('one line when a request settles, with its id and its figures', () => {
  const [line, ...others] = linesOf('all', { ttft_ms: 412, server_ttft_ns: 300e6, status: 'complete', model: 'llama' });
  expect(others).toEqual([]);
  expect(line).toMatchObject({
    level: 'info',
    service: 'ingest',
    message: 'request settled',
    trace_id: 'a'.repeat(32),
    ttft_client_ms: 412,
    ttft_server_ms: 300,
    status: 'complete',
  });
});

test('none before, none again, none where none are wanted', () => {
  expect(linesOf('all', { settled: false })).toEqual([]);
  expect(linesOf('all', {}, { settled: true })).toEqual([]);
  expect(linesOf('none', { ttft_ms: 9_000 })).toEqual([]);
});

test('of the slow ones: slower than a second by whoever knows, or failed', () => {
  expect(linesOf('slow', { ttft_ms: 900, status: 'complete' })).toEqual([]);
  expect(linesOf('slow', { ttft_ms: 900, status: 'aborted' })).toEqual([]);
  expect(linesOf('slow', { ttft_ms: 1_001, status: 'complete' })).toHaveLength(1);
  expect(linesOf('slow', { server_ttft_ns: 1_001e6 })).toHaveLength(1);
  expect(linesOf('slow', { ttft_ms: 10, status: 'truncated' })).toHaveLength(1);
});
