import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StreamRecording } from './recording.ts';

const encoder = new TextEncoder();
const event = (body: unknown): string => `data: ${typeof body === 'string' ? body : JSON.stringify(body)}\n\n`;
const delta = (content: string, usage?: object): string => event({ choices: [{ delta: { content } }], usage });
const ROLE = event({ choices: [{ delta: { role: 'assistant', content: '' } }] });
const FINISH = event({ choices: [{ delta: {}, finish_reason: 'stop' }] });
const DONE = event('[DONE]');
const usage = (tokens: number, reasoning?: number): string =>
  event({
    choices: [],
    usage: { completion_tokens: tokens, completion_tokens_details: { reasoning_tokens: reasoning } },
  });

function record(...reads: (readonly [number, string])[]): StreamRecording {
  const recording = new StreamRecording();
  for (const [atMs, text] of reads) recording.read(encoder.encode(text), atMs);
  return recording;
}

describe('StreamRecording', () => {
  it('dates each token-bearing event by its read, and no other', () => {
    const recording = record([100, ROLE], [180.1234, delta('a')], [260, delta('b')], [340, FINISH + usage(2) + DONE]);
    expect(recording.facts()).toEqual({
      ttft_ms: 180.123,
      ttft_visible_ms: 180.123,
      arrivals_ms: [180.123, 260],
      output_tokens: 2,
      output_tokens_source: 'usage',
      coalesced: false,
    });
    expect(recording.outcome(false)).toBe('complete');
  });

  it('tells the first token from the first visible one', () => {
    const reasoning = event({ choices: [{ delta: { reasoning_content: 'hm' } }] });
    const facts = record([50, reasoning], [90, delta('a')], [95, usage(9, 8)]).facts();
    expect(facts).toMatchObject({ ttft_ms: 50, ttft_visible_ms: 90, output_tokens: 9 });
  });

  it('leaves reasoning out that was not streamed', () => {
    expect(record([50, delta('a')], [60, usage(9, 8)]).facts()).toMatchObject({ output_tokens: 1 });
  });

  it('takes the tokens of an event from the growth of the usage', () => {
    const recording = record(
      [100, delta('abcd', { completion_tokens: 4 })],
      [400, delta('ef', { completion_tokens: 6 })],
    );
    expect(recording.facts()).toMatchObject({ chunk_tokens: [4, 2], output_tokens: 6 });
  });

  it('counts events where nobody counted tokens, as in a stream that was left early', () => {
    const recording = record([100, delta('a')], [180, delta('b')]);
    expect(recording.facts()).toMatchObject({ output_tokens: 2, output_tokens_source: 'events' });
    expect(recording.facts()).not.toHaveProperty('chunk_tokens');
    expect(recording.outcome(true)).toBe('aborted');
    expect(recording.outcome(false)).toBe('truncated');
  });

  it('sees that a proxy held the stream back', () => {
    const tokens = Array.from({ length: 5 }, () => delta('a')).join('');
    expect(record([100, ROLE + tokens + FINISH + DONE]).facts().coalesced).toBe(true);
    expect(record([100, delta('a') + delta('b') + delta('c')]).facts().coalesced).toBe(false);
    const pairs = [0, 1, 2, 3].map((n) => [n * 100, delta('a') + delta('b')] as const);
    expect(record(...pairs).facts().coalesced).toBe(false);
  });

  it('says of a stream without a token that it had none', () => {
    const recording = record([100, ROLE + FINISH + DONE]);
    expect(recording.outcome(false)).toBe('no_output');
    expect(recording.facts()).toMatchObject({ ttft_ms: null, ttft_visible_ms: null, arrivals_ms: [] });
  });

  it('knows the same tokens wherever the bytes are cut', () => {
    const bytes = encoder.encode(ROLE + delta('ä') + delta('b') + FINISH + usage(2) + DONE);
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(bytes.length)), (cuts) => {
        const recording = new StreamRecording();
        const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        for (let part = 1; part < edges.length; part++) {
          recording.read(bytes.subarray(edges[part - 1], edges[part]), part);
        }
        const { arrivals_ms: arrivals, output_tokens: tokens } = recording.facts();
        expect(arrivals).toHaveLength(2);
        expect(arrivals).toEqual([...arrivals!].sort((a, b) => a - b));
        expect(tokens).toBe(2);
        expect(recording.outcome(false)).toBe('complete');
      }),
    );
  });
});
