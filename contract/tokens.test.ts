import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSseReader, type SseEvent } from './sse.ts';
import { streamOutcome } from './streamOutcome.ts';
import { TOKEN_PRESETS, type TokenFacts, type TokenPreset, type TokenPresetName } from './tokens.ts';

const eventOf = (data: unknown, event = 'message'): SseEvent => ({
  event,
  data: typeof data === 'string' ? data : JSON.stringify(data),
  id: undefined,
});

/** The facts that are set, in a few letters: token, visible, reasoning, terminator (end), last, error. */
function brief(facts: TokenFacts): string {
  const names = ['token', 'visible', 'reasoning', 'terminator', 'last', 'error'] as const;
  return names.filter((name) => facts[name]).join(' ');
}

const chat = (delta: unknown, rest: object = {}) => ({ choices: [{ index: 0, delta, ...rest }] });

describe('openai-chat', () => {
  test.each<[unknown, string]>([
    [chat({ role: 'assistant', content: '' }), ''],
    [chat({ role: 'assistant' }), ''],
    [chat({ content: null }), ''],
    [chat({ content: 'Yes' }), 'token visible'],
    [chat({ content: ' ' }), 'token visible'],
    [chat({ content: null, reasoning_content: 'Let' }), 'token reasoning'],
    [chat({ content: '', reasoning: ' me' }), 'token reasoning'],
    [chat({ content: [{ type: 'text', text: 'Hi' }] }), 'token visible'],
    [chat({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }), 'token reasoning'],
    [chat({ refusal: 'No' }), 'token visible'],
    [chat({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'get_weather', arguments: '' } }] }), 'token'],
    [chat({ tool_calls: [{ index: 0, function: { arguments: '{"c' } }] }), 'token'],
    [chat({ tool_calls: [{ index: 0, function: { arguments: '' } }] }), ''],
    [chat({ tool_calls: [{ index: 0, custom: { input: 'x' } }] }), 'token'],
    [chat({ function_call: { name: 'f' } }), 'token'],
    [chat({}, { finish_reason: 'stop' }), 'terminator'],
    [chat({ content: '.' }, { finish_reason: 'length' }), 'token visible terminator'],
    [chat({ content: '.' }, { finish_reason: null }), 'token visible'],
    [{ choices: [{ text: 'old' }] }, 'token visible'],
    [{ choices: [] }, ''],
    [{ choices: [], usage: { completion_tokens: 9 } }, ''],
    [{ error: { message: 'x' } }, 'error'],
    [{ error: null, ...chat({ content: 'a' }) }, 'token visible'],
    [chat({}, { finish_reason: 'error' }), 'terminator error'],
    ['[DONE]', 'terminator last'],
    ['{"choi', ''],
    ['', ''],
    ['null', ''],
    ['3', ''],
    [{ choices: 'x' }, ''],
    [{ choices: [null, 1, 'x', { delta: 'y' }, { delta: { tool_calls: [null, 7] } }] }, ''],
  ])('%j', (data, expected) => {
    expect(brief(TOKEN_PRESETS['openai-chat'](eventOf(data)))).toBe(expected);
  });

  test('usage: what was reported, and only that', () => {
    const read = (usage: unknown) => TOKEN_PRESETS['openai-chat'](eventOf({ choices: [], usage })).usage;
    expect(
      read({
        completion_tokens: 9,
        prompt_tokens: 812,
        completion_tokens_details: { reasoning_tokens: 4 },
        prompt_tokens_details: { cached_tokens: 512 },
      }),
    ).toEqual({ outputTokens: 9, reasoningTokens: 4, promptTokens: 812, cachedTokens: 512 });
    expect(read({ completion_tokens: 0 })).toEqual({ outputTokens: 0 });
    expect(read({ completion_tokens: -1, prompt_tokens: 1.5 })).toBeUndefined();
    expect(read({ completion_tokens: 1e12 })).toBeUndefined();
    expect(read(null)).toBeUndefined();
  });

  test('the first token of any kind and the first visible one are two events', () => {
    const stream: [number, string][] = [
      [1000, ': OPENROUTER PROCESSING\n\n'],
      [1500, 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'],
      [2100, 'data: {"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"Let"}}]}\n\n'],
      [2200, 'data: {"choices":[{"index":0,"delta":{"content":"","reasoning_content":" me"}}]}\n\n'],
      [7300, 'data: {"choices":[{"index":0,"delta":{"content":"Yes"}}]}\n\n'],
      [7400, 'data: {"choices":[{"index":0,"delta":{"content":"."}}]}\n\n'],
      [7400, 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'],
    ];
    let now = 0;
    let eventCount = 0;
    const tokensAt: number[] = [];
    const visibleAt: number[] = [];
    const reader = createSseReader((event) => {
      eventCount++;
      const facts = TOKEN_PRESETS['openai-chat'](event);
      if (facts.token) tokensAt.push(now);
      if (facts.visible) visibleAt.push(now);
    });
    for (const [at, text] of stream) {
      now = at;
      reader.push(new TextEncoder().encode(text));
      if (at === 1000) expect(eventCount).toBe(0);
    }
    expect(tokensAt).toEqual([2100, 2200, 7300, 7400]);
    expect(visibleAt[0]).toBe(7300);
  });
});

describe('openai-responses', () => {
  test.each<[object, string]>([
    [{ type: 'response.created', response: { usage: null } }, ''],
    [{ type: 'response.output_text.delta', delta: 'Hi' }, 'token visible'],
    [{ type: 'response.output_text.delta', delta: '' }, ''],
    [{ type: 'response.output_text.done', text: 'Hi' }, ''],
    [{ type: 'response.refusal.delta', delta: 'No' }, 'token visible'],
    [{ type: 'response.reasoning_text.delta', delta: 'Hm' }, 'token reasoning'],
    [{ type: 'response.reasoning_summary_text.delta', delta: 'Hm' }, 'token reasoning'],
    [{ type: 'response.function_call_arguments.delta', delta: '{' }, 'token'],
    [{ type: 'response.output_item.added', item: { type: 'function_call', name: 'f', arguments: '' } }, 'token'],
    [{ type: 'response.output_item.added', item: { type: 'message', content: [] } }, ''],
    [{ type: 'response.incomplete', response: {} }, 'terminator last'],
    [{ type: 'response.failed', response: { error: { message: 'x' } } }, 'last error'],
    [{ type: 'error', message: 'x' }, 'last error'],
    [{ type: { toString: 1, valueOf: 1 } }, ''],
  ])('%j', (data, expected) => {
    expect(brief(TOKEN_PRESETS['openai-responses'](eventOf(data)))).toBe(expected);
  });

  test('the final event brings the usage', () => {
    const response = {
      usage: {
        input_tokens: 812,
        input_tokens_details: { cached_tokens: 512 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 4 },
      },
    };
    const facts = TOKEN_PRESETS['openai-responses'](eventOf({ type: 'response.completed', response }));
    expect(brief(facts)).toBe('terminator last');
    expect(facts.usage).toEqual({ outputTokens: 9, reasoningTokens: 4, promptTokens: 812, cachedTokens: 512 });
  });
});

describe('anthropic', () => {
  const delta = (value: object) => ({ type: 'content_block_delta', index: 0, delta: value });
  const start = (value: object) => ({ type: 'content_block_start', index: 0, content_block: value });
  test.each<[object, string]>([
    [{ type: 'ping' }, ''],
    [start({ type: 'text', text: '' }), ''],
    [start({ type: 'tool_use', id: 't1', name: 'get_weather', input: {} }), 'token'],
    [delta({ type: 'text_delta', text: 'Hi' }), 'token visible'],
    [delta({ type: 'text_delta', text: '' }), ''],
    [delta({ type: 'thinking_delta', thinking: 'Hm' }), 'token reasoning'],
    [delta({ type: 'signature_delta', signature: 'abc' }), ''],
    [delta({ type: 'input_json_delta', partial_json: '' }), ''],
    [delta({ type: 'input_json_delta', partial_json: '{"c' }), 'token'],
    [{ type: 'content_block_stop', index: 0 }, ''],
    [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, 'terminator'],
    [{ type: 'message_stop' }, 'terminator last'],
    [{ type: 'error', error: { type: 'overloaded_error' } }, 'last error'],
  ])('%j', (data, expected) => {
    expect(brief(TOKEN_PRESETS.anthropic(eventOf(data)))).toBe(expected);
  });

  test('the prompt is known at the start, the output only from message_delta on', () => {
    const usage = {
      input_tokens: 300,
      cache_read_input_tokens: 500,
      cache_creation_input_tokens: 12,
      output_tokens: 1,
    };
    expect(TOKEN_PRESETS.anthropic(eventOf({ type: 'message_start', message: { usage } })).usage).toEqual({
      promptTokens: 812,
      cachedTokens: 500,
    });
    expect(TOKEN_PRESETS.anthropic(eventOf({ type: 'message_delta', usage: { output_tokens: 9 } })).usage).toEqual({
      outputTokens: 9,
    });
  });
});

test.each([
  [eventOf('text'), 'token visible'],
  [eventOf(''), ''],
  [eventOf('[DONE]'), 'terminator last'],
  [eventOf('x', 'error'), 'error'],
  [eventOf('{}', 'firsttoken'), ''],
])('raw: %j', (event, expected) => {
  expect(brief(TOKEN_PRESETS.raw(event))).toBe(expected);
});

test('no event can make a preset throw, and what is visible is a token', () => {
  const key = fc.constantFrom(
    ...['choices', 'delta', 'content', 'tool_calls', 'function', 'name', 'type', 'usage', 'error', 'message', 'item'],
  );
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, 0, '', 'content_block_delta', 'x', true),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(key, tie('json'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(fc.oneof(json, fc.string()), fc.constantFrom('message', 'error', 'toString'), (data, event) => {
      for (const preset of Object.values<TokenPreset>(TOKEN_PRESETS)) {
        const facts = preset(eventOf(data, event));
        if (facts.visible || facts.reasoning) expect(facts.token).toBe(true);
      }
    }),
  );
});

test('JSON nested deeper than the call stack is no crash', () => {
  const deep = `{"choices":[{"delta":{"content":${'[{"thinking":'.repeat(20_000)}1${'}]'.repeat(20_000)}}}]}`;
  expect(brief(TOKEN_PRESETS['openai-chat'](eventOf(deep)))).toBe('');
});

describe('how a stream ended', () => {
  function outcome(stream: string, aborted = false, preset: TokenPresetName = 'openai-chat') {
    const seen = { tokenSeen: false, terminatorSeen: false, errorSeen: false, aborted };
    const reader = createSseReader((event) => {
      const facts = TOKEN_PRESETS[preset](event);
      seen.tokenSeen ||= facts.token;
      seen.terminatorSeen ||= facts.terminator;
      seen.errorSeen ||= facts.error;
    });
    reader.push(new TextEncoder().encode(stream));
    reader.end();
    return streamOutcome(seen);
  }
  const token = 'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n';
  const role = 'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n';
  const finish = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n';
  const done = 'data: [DONE]\n\n';
  const error = 'data: {"error":{"message":"x"}}\n\n';

  test.each([
    ['a token, then the end', token, 'truncated'],
    ['an end marker without a finish reason', token + done, 'complete'],
    ['a finish reason without an end marker', token + finish, 'complete'],
    ['an error before the end marker', token + error + done, 'error'],
    ['a role frame only', role + finish + done, 'no_output'],
    ['half an event', 'data: {"choi', 'truncated'],
    ['nothing', '', 'truncated'],
  ])('%s', (_name, stream, status) => {
    expect(outcome(stream)).toBe(status);
  });

  test('leaving before the end marker is an abort, after it is none', () => {
    expect(outcome(token, true)).toBe('aborted');
    expect(outcome('', true)).toBe('aborted');
    expect(outcome(token + done, true)).toBe('complete');
    expect(outcome(error, true)).toBe('error');
  });

  test('the end marker is the last event, though the connection stays open', () => {
    expect(TOKEN_PRESETS['openai-chat'](eventOf('[DONE]')).last).toBe(true);
  });
});
