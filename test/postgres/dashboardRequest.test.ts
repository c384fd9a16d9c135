import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flagsOf } from '../../contract/flags.ts';
import { STAGES } from '../../contract/stages.ts';
import { REQUEST } from '../../dashboards/config.ts';
import { oneRequest } from '../../dashboards/oneRequest.ts';
import { knownRowsOf } from '../../dashboards/runner/frame.ts';
import { interpolateText } from '../../dashboards/runner/interpolation.ts';
import { runPanel, targetsOf } from '../../dashboards/runner/runPanel.ts';
import { NO_SOURCES, traceKeyOf } from '../../ingest/pipeline/traceKey.ts';
import { createDashboardDatabase, type DashboardDatabase, interpolationWith, panelsOf } from './dashboardDatabase.ts';
import { hex, logId, type Stored, sampleRequests } from './dashboardSample.ts';

const stored = sampleRequests();
const dashboard = oneRequest();
const ids = REQUEST.panelIds;
/** One has every part, another was named by its app and is known by its server only. */
const whole = stored.find((row) => row.arrivals_ms && row.chunk_tokens && row.sub_stages_ns) as Stored;
const uncounted = stored.find((row) => row.arrivals_ms && !row.chunk_tokens) as Stored;
const named: Stored = {
  ...(stored.find((row) => row.status === null) as Stored),
  trace_id: keyOf('chatcmpl-of/the/test'),
  trace_ref: 'chatcmpl-of/the/test',
};
let database: DashboardDatabase;

beforeAll(async () => {
  database = await createDashboardDatabase();
  await database.fill([...stored, named]);
});
afterAll(() => database?.drop());

function keyOf(text: string): string {
  const read = traceKeyOf(text, 'default', NO_SOURCES);
  if (!read.ok) throw new Error(text);
  return read.value.key;
}

const variablesFor = (typed: string) => database.optionsOf(dashboard, { trace_id: [typed] });

async function rows(id: number, typed: string): Promise<Record<string, unknown>[]> {
  const panel = panelsOf(dashboard).find((each) => each.id === id) as Panel;
  const frames = await runPanel(panel, interpolationWith(await variablesFor(typed)), database.sources);
  return frames.flatMap(knownRowsOf);
}

const withDashes = (key: string) => key.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

test.each([
  hex(whole),
  hex(whole).toUpperCase(),
  withDashes(hex(whole)),
  `1-${hex(whole).slice(0, 8)}-${hex(whole).slice(8)}`,
  hex(whole).slice(16),
  'chatcmpl-abc123',
  "it's",
])('%s is read as the ingest reads it', async (typed) => {
  const { trace_key } = await variablesFor(typed);
  expect(trace_key).toEqual([keyOf(typed)]);
});

test.each([
  ['its key', () => hex(whole)],
  ['its key with blanks around it', () => `  ${hex(whole)} `],
  ['a UUID', () => withDashes(hex(whole))],
])('the facts are found by %s', async (_, typed) => {
  const found = await rows(ids.facts, typed());
  const facts = Object.fromEntries(found.map((row) => [row['fact'], row['value']]));
  expect(facts).toMatchObject({ 'trace id': hex(whole), device: whole.device ?? expect.anything() });
  expect(facts['TTFT, client']).toBe(`${Number(whole.ttft_ms).toFixed(1)} ms`);
  expect(facts['flags']).toBe(whole.flags === 0 ? undefined : flagsOf(whole.flags).join(', '));
  expect(Object.keys(facts)).not.toContain('call_id');
  expect(new Set(found.map((row) => row['trace_id']))).toEqual(new Set([hex(whole)]));
  expect(new Set(found.map((row) => row['log_id']))).toEqual(new Set([logId(whole)]));
});

test('an id of an app is found by its text', async () => {
  const found = await rows(ids.facts, 'chatcmpl-of/the/test');
  expect(found.find((row) => row['fact'] === 'id as it was spelled')?.['value']).toBe('chatcmpl-of/the/test');
  // A spelling that a link would read anew is left to the key.
  expect(found[0]?.['log_id']).toBe(keyOf('chatcmpl-of/the/test'));
});

test('the stages are those of the row', async () => {
  const [row] = await rows(ids.stages, hex(whole));
  for (const stage of [...STAGES, 'unattributed'] as const) {
    if (stage === 'render') continue;
    const ns = whole[`${stage}_ns`];
    expect(row?.[stage], stage).toBe(ns === null ? null : Number(ns) / 1e6);
  }
  expect(row?.['request']).toBe(`TTFT ${Number(whole.ttft_ms).toFixed(1)} ms`);
});

test('the sub-stages are those of the row, the longest first', async () => {
  const expected = Object.entries(whole.sub_stages_ns ?? {})
    .map(([name, ns]) => ({ name, duration: ns / 1e6 }))
    .sort((a, b) => b.duration - a.duration);
  expect(await rows(ids.subStages, hex(whole))).toEqual(expected);
});

describe('tokens', () => {
  test('arrive as they were counted', async () => {
    expect(await rows(ids.arrivals, hex(whole))).toEqual([
      { arrival: 250, tokens: 1 },
      { arrival: 300.5, tokens: 5 },
      { arrival: 500, tokens: 9 },
      { arrival: 500, tokens: 11 },
    ]);
  });
  test('are one an event where nobody counted', async () => {
    expect((await rows(ids.arrivals, hex(uncounted))).map((row) => row['tokens'])).toEqual([1, 2, 3, 4]);
  });
  test('have gaps between them', async () => {
    expect(await rows(ids.gaps, hex(whole))).toEqual([
      { arrival: 300.5, gap: 50.5 },
      { arrival: 500, gap: 199.5 },
      { arrival: 500, gap: 0 },
    ]);
  });
});

test.each(['', 'nobody', "x' OR 'a'='a"])('%o finds nothing', async (typed) => {
  for (const id of [ids.facts, ids.stages, ids.subStages, ids.arrivals, ids.gaps])
    expect(await rows(id, typed)).toEqual([]);
});

test('trace and logs are asked for by the id as they spell it', async () => {
  const named = stored.find((row) => row.trace_ref?.startsWith('chatcmpl-')) as Stored;
  const interpolation = interpolationWith(await variablesFor(hex(named)));
  const targetOf = (id: number) => targetsOf(panelsOf(dashboard).find((each) => each.id === id) as Panel)[0];
  const trace = targetOf(ids.trace) as unknown as { query: string };
  expect(interpolateText(trace.query, interpolation)).toBe(hex(named));
  expect(interpolateText(targetOf(ids.logs)?.expr ?? '', interpolation)).toBe(
    `{service_name=~\`..*\`} | trace_id=\`${hex(named)}\` or trace_id=\`${named.trace_ref}\``,
  );
});
