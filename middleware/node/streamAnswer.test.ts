import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSseReader } from '../../contract/sse.ts';
import { TOKEN_PRESETS, type TokenPreset, type TokenUsage } from '../../contract/tokens.ts';
import { StreamAnswer } from './streamAnswer.ts';

const { 'openai-chat': chat, raw, anthropic, 'openai-responses': responses } = TOKEN_PRESETS;

/** Reads everything, which is what the fast way must agree with. */
function readAll(bytes: Uint8Array, preset: TokenPreset): TokenUsage {
  let usage: TokenUsage = {};
  const reader = createSseReader((event) => {
    usage = { ...usage, ...preset(event).usage };
  });
  reader.push(bytes);
  return usage;
}

const token = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}],"usage":null}';
const counted = (tokens: number, space = '') =>
  `data: {"choices":[],"usage":${space}{"prompt_tokens":8,"completion_tokens":${tokens}}}`;
const quoted = `data: ${JSON.stringify({ choices: [{ delta: { content: 'the "usage": {} of a 北京 fork' } }] })}`;
const event = fc.oneof(
  fc.constantFrom(token, quoted, ': comment', 'data: [DONE]', 'event: x\ndata: {"usage":', '', 'data'),
  fc.tuple(fc.nat(1000), fc.constantFrom('', ' ', ' \t')).map(([tokens, space]) => counted(tokens, space)),
);
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const stream = fc
  .array(fc.tuple(event, lineEnd), { maxLength: 12 })
  .map((events) => events.map(([text, end]) => text.replaceAll('\n', end) + end + end).join(''));

test('usage is the same as if all events were read, however the stream is cut and whatever it is written as', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(200), { maxLength: 20 }), fc.boolean(), (text, cuts, asText) => {
      const bytes = Buffer.from(text);
      const answer = new StreamAnswer(chat);
      const pieces: Buffer[] = [];
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        pieces.push(bytes.subarray(at, at + cut));
        at += cut;
      }
      for (const piece of pieces.filter(({ length }) => length > 0)) {
        const whole = piece.toString();
        // A half character cannot be written as text.
        const writable = asText && Buffer.from(whole).equals(piece);
        if (writable) answer.read(whole, 'utf8');
        else answer.read(new Uint8Array(piece), 'utf8');
      }
      expect(answer.finish().usage).toEqual(readAll(bytes, chat));
    }),
    { numRuns: 500 },
  );
});

test('one event a chunk, the usual way', () => {
  for (const write of [(text: string) => text, (text: string) => Buffer.from(text)]) {
    const answer = new StreamAnswer(chat);
    expect(answer.read(write('data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n'), 'utf8')).toBe(false);
    for (let at = 0; at < 5; at++) expect(answer.read(write(`${token}\n\n`), 'utf8')).toBe(true);
    answer.read(write(`${counted(7)}\n\n`), 'utf8');
    answer.read(write('data: [DONE]\n\n'), 'utf8');
    expect(answer.finish()).toEqual({ usage: { outputTokens: 7, promptTokens: 8 }, engine: {} });
  }
});

test('the usage at the end of a long stream is found, however its text is cut', () => {
  const long = `${token}\n\n`.repeat(100);
  fc.assert(
    fc.property(fc.nat(1000), fc.integer({ min: 7, max: 60 }), fc.nat(60), (tokens, size, first) => {
      const text = `${long}${counted(tokens)}\n\ndata: [DONE]\n\n`;
      const answer = new StreamAnswer(chat);
      answer.read(`${token}\n\n`, 'utf8');
      for (let at = first; at < text.length; at += size) answer.read(text.slice(at, at + size), 'utf8');
      expect(answer.finish().usage).toEqual({ outputTokens: tokens, promptTokens: 8 });
    }),
  );
});

test('texts, then bytes: what was kept is read before them', () => {
  const answer = new StreamAnswer(chat);
  answer.read(`${token}\n\n`, 'utf8');
  answer.read(`${counted(7)}\n\n`, 'utf8');
  answer.read(`${token}\n\n${counted(8).slice(0, 40)}`, 'utf8');
  answer.read(Buffer.from(`${counted(8).slice(40)}\n\n`), 'utf8');
  answer.read(`${token}\n\n`, 'utf8');
  expect(answer.finish().usage).toEqual({ outputTokens: 8, promptTokens: 8 });
});

test('text in another encoding is read as the bytes that it becomes', () => {
  const answer = new StreamAnswer(chat);
  answer.read(Buffer.from(`${token}\n\n`).toString('hex'), 'hex');
  answer.read(Buffer.from(`${counted(7)}\n\n`).toString('base64'), 'base64');
  expect(answer.finish().usage).toEqual({ outputTokens: 7, promptTokens: 8 });
});

test("an app's own function gets every event", () => {
  const seen: string[] = [];
  const answer = new StreamAnswer(({ data }) => {
    seen.push(data);
    return { token: true, visible: true, reasoning: false, terminator: false, last: false, error: false };
  });
  for (const data of ['a', 'b', 'c']) answer.read(`data: ${data}\n\n`, 'utf8');
  expect(seen).toEqual(['a', 'b', 'c']);
});

test.each<[string, TokenPreset, string[], object]>([
  [
    "vLLM's metrics in the chunk of the usage",
    chat,
    [
      token,
      'data: {"choices":[],"usage":{"completion_tokens":9},"metrics":{"queue_time_ms":12.5,"time_to_first_token_ms":85}}',
      'data: [DONE]',
    ],
    { usage: { outputTokens: 9 }, engine: { queueMs: 12.5, prefillMs: 85 } },
  ],
  [
    "vLLM's metrics in the response that is complete",
    responses,
    [
      'data: {"type":"response.output_text.delta","delta":"Hi"}',
      'data: {"type":"response.completed","response":{"usage":{"output_tokens":9},"metrics":{"queue_time_ms":1}}}',
    ],
    { usage: { outputTokens: 9 }, engine: { queueMs: 1 } },
  ],
  [
    "SGLang's facts, which each event repeats",
    raw,
    [1, 2, 3].map(
      (tokens) => `data: {"text":"x","meta_info":{"completion_tokens":${tokens},"prompt_tokens":5,"queue_time":0.25}}`,
    ),
    {
      usage: { outputTokens: 3, promptTokens: 5 },
      engine: { queueMs: 250, usage: { outputTokens: 3, promptTokens: 5 } },
    },
  ],
  [
    'usage told in two parts',
    anthropic,
    [
      'data: {"type":"message_start","message":{"usage":{"input_tokens":5}}}',
      'data: {"type":"content_block_delta","delta":{"text":"Hi"}}',
      'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}',
      'data: {"type":"message_stop"}',
    ],
    { usage: { promptTokens: 5, outputTokens: 4 }, engine: {} },
  ],
])('%s', (_name, preset, events, told) => {
  const answer = new StreamAnswer(preset);
  for (const each of events) answer.read(`${each}\n\n`, 'utf8');
  expect(answer.finish()).toEqual(told);
});

test("an app's own function gets the same events as from the reader of all that the standard allows", () => {
  const named = fc.constantFrom('id: 7\ndata: x', 'event: e\ndata: y', 'data:  two spaces', 'data', 'data: a\ndata: b');
  const text = fc
    .tuple(fc.constantFrom('', '\uFEFF'), fc.array(fc.tuple(fc.oneof(event, named), lineEnd)))
    .map(([mark, events]) => mark + events.map(([each, end]) => each.replaceAll('\n', end) + end + end).join(''));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 5 }), (chunks) => {
      const [seen, expected]: [unknown[], unknown[]] = [[], []];
      const answer = new StreamAnswer((each) => {
        seen.push(each);
        return { token: true, visible: true, reasoning: false, terminator: false, last: false, error: false };
      });
      const reader = createSseReader((each) => void expected.push(each));
      for (const chunk of chunks) {
        answer.read(chunk, 'utf8');
        reader.push(Buffer.from(chunk));
      }
      expect(seen).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});
