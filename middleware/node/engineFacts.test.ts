import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_SERVER_TIMING_LENGTH } from '../../contract/limits.ts';
import { mayHoldEngineFacts, readEngineFacts, withEngineFacts } from './engineFacts.ts';

test.each<[string, object, object]>([
  [
    'vLLM with per-request metrics',
    {
      metrics: {
        time_to_first_token_ms: 85.2,
        generation_time_ms: 1240.5,
        queue_time_ms: 12.3,
        mean_itl_ms: 9.1,
        tokens_per_second: 103.2,
      },
    },
    { queueMs: 12.3, prefillMs: 85.2 },
  ],
  [
    'the same with what it does not know',
    { metrics: { time_to_first_token_ms: null, queue_time_ms: 0 } },
    { queueMs: 0 },
  ],
  [
    "vLLM's V0 engine",
    {
      metrics: {
        arrival_time: 1000,
        last_token_time: 1002,
        first_scheduled_time: 1000.25,
        first_token_time: 1000.75,
        time_in_queue: 0.25,
        finished_time: 1002,
      },
    },
    { queueMs: 250, prefillMs: 500 },
  ],
  [
    "vLLM's V1 engine, whose arrival is of another clock",
    { metrics: { arrival_time: 1.7e9, queued_ts: 1000, scheduled_ts: 1000.25, first_token_ts: 1000.75 } },
    { queueMs: 250, prefillMs: 500 },
  ],
  ['a stamp not taken', { metrics: { queued_ts: 0, scheduled_ts: 1000.25, first_token_ts: 0 } }, {}],
  [
    'SGLang',
    {
      meta_info: {
        queue_time: 0.25,
        prefill_waiting_latency: 0.001,
        prefill_launch_latency: 0.002,
        forward_entry_time: 1000,
        prefill_finished_time: 1000.5,
        completion_tokens: 9,
        prompt_tokens: 8,
        cached_tokens: 4,
      },
    },
    { queueMs: 250, prefillMs: 500, usage: { outputTokens: 9, promptTokens: 8, cachedTokens: 4 } },
  ],
  [
    'an older SGLang',
    { choices: [{ meta_info: { queue_time: 0.25, prefill_launch_delay: 0.125, prefill_launch_latency: 0.375 } }] },
    { queueMs: 250, prefillMs: 500, usage: {} },
  ],
  ['nonsense', { metrics: { queue_time_ms: -1, time_to_first_token_ms: 'soon' } }, {}],
  ['a time beyond the longest stage', { metrics: { queue_time_ms: 3_600_001 } }, {}],
  ['metrics of something else', { metrics: { loss: 0.1 } }, {}],
])('%s', (_name, body, facts) => {
  const json = JSON.stringify(body);
  expect(mayHoldEngineFacts(json)).toBe(true);
  expect(readEngineFacts(json)).toEqual(facts);
  expect(mayHoldEngineFacts(JSON.stringify({ text: json }))).toBe(false);
});

test('whatever stands there, nothing throws and no time is outside its bounds', () => {
  const named = fc.constantFrom(
    'metrics',
    'meta_info',
    'choices',
    'response',
    'queue_time',
    'queue_time_ms',
    'queued_ts',
  );
  const body = fc.dictionary(named, fc.oneof(fc.jsonValue(), fc.dictionary(named, fc.jsonValue())));
  fc.assert(
    fc.property(
      fc.oneof(
        body.map((each) => JSON.stringify(each)),
        fc.string(),
      ),
      (json) => {
        const { queueMs = 0, prefillMs = 0 } = readEngineFacts(json);
        for (const ms of [queueMs, prefillMs]) expect(ms >= 0 && ms <= 3_600_000).toBe(true);
      },
    ),
  );
});

test.each<[string | undefined, object, string | undefined]>([
  [undefined, {}, undefined],
  ['db;dur=1', {}, 'db;dur=1'],
  [undefined, { queueMs: 12.5 }, 'queue;dur=12.5'],
  // The first token's stage holds the queue.
  [undefined, { queueMs: 12.5, prefillMs: 85.25 }, 'queue;dur=12.5, first_token;dur=97.75'],
  [undefined, { prefillMs: 85.123_456 }, 'first_token;dur=85.123'],
  ['db;dur=1', { queueMs: 2 }, 'db;dur=1, queue;dur=2'],
  ['Queue;dur=1, PREFILL;dur=3', { queueMs: 2, prefillMs: 4 }, 'Queue;dur=1, PREFILL;dur=3'],
  ['x'.repeat(MAX_SERVER_TIMING_LENGTH - 5), { queueMs: 2 }, 'x'.repeat(MAX_SERVER_TIMING_LENGTH - 5)],
])('beside %j, %j becomes %j', (described, facts, value) => {
  expect(withEngineFacts(described, facts)).toBe(value);
});
