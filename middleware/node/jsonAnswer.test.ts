import { expect, test } from 'vitest';
import { jsonAnswer, MAX_JSON_ANSWER_BYTES } from './jsonAnswer.ts';

function told(...chunks: (string | Uint8Array)[]) {
  const answer = jsonAnswer();
  for (const chunk of chunks) expect(answer.read(chunk, 'utf8')).toBe(true);
  return answer.finish();
}

test.each<[string, object, object]>([
  [
    'chat completions',
    {
      choices: [{ message: { content: 'Hi' } }],
      usage: { prompt_tokens: 8, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 4 } },
    },
    { promptTokens: 8, outputTokens: 9, cachedTokens: 4 },
  ],
  [
    'responses',
    { object: 'response', usage: { input_tokens: 8, output_tokens: 9 } },
    { promptTokens: 8, outputTokens: 9 },
  ],
  [
    'messages',
    { type: 'message', usage: { input_tokens: 8, cache_read_input_tokens: 4, output_tokens: 9 } },
    { promptTokens: 12, cachedTokens: 4, outputTokens: 9 },
  ],
  ["SGLang's generate", { text: 'Hi', meta_info: { completion_tokens: 9 } }, { outputTokens: 9 }],
  ['an answer without usage', { a: 1 }, {}],
  ['usage of something else', { usage: { disk: '3 GB' } }, {}],
  ['usage of null', { usage: null }, {}],
])('the usage of %s', (_name, body, usage) => {
  const json = JSON.stringify(body);
  expect(told(json).usage).toEqual(usage);
  const bytes = Buffer.from(json);
  expect(told(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))).usage).toEqual(usage);
});

test("an engine's times", () => {
  const metrics = { queue_time_ms: 12.5, time_to_first_token_ms: 85 };
  expect(told(JSON.stringify({ usage: { completion_tokens: 9 }, metrics }))).toEqual({
    usage: { outputTokens: 9 },
    engine: { queueMs: 12.5, prefillMs: 85 },
  });
});

test('a body that does not parse tells nothing', () => {
  for (const json of ['{"usage":{', '', 'null', '"usage"', '[{"usage":{"completion_tokens":1}}]']) {
    expect(told(json)).toEqual({ usage: {}, engine: {} });
  }
});

test('a long body is given up, and let go', () => {
  const usage = '{"usage":{"completion_tokens":9},"text":"';
  const fits = `${usage}${'x'.repeat(MAX_JSON_ANSWER_BYTES - usage.length - 2)}"}`;
  expect(told(fits).usage).toEqual({ outputTokens: 9 });
  expect(told(`${fits.slice(0, -2)}x"}`).usage).toEqual({});
  // Each of these characters takes three bytes.
  expect(told(`${usage}${'北'.repeat(30_000)}"}`).usage).toEqual({});
  const answer = jsonAnswer();
  answer.read(fits, 'utf8');
  expect(answer.goesOn).toBe(true);
  answer.read('x', 'utf8');
  expect(answer.goesOn).toBe(false);
});

test('bytes that are used again after they were written were copied', () => {
  const bytes = Buffer.from('{"usage":{"completion_tokens":9}}');
  const answer = jsonAnswer();
  answer.read(bytes, 'utf8');
  bytes.fill(0);
  expect(answer.finish().usage).toEqual({ outputTokens: 9 });
});
