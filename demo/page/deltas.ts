import { createSseReader } from '../../contract/sse.ts';

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string; readonly reasoning_content?: string } }[];
}

/**
 * The text of a stream of OpenAI chat completions, as a page reads it: it does not know that it is measured.
 *
 * @param onToken told when a piece of text arrived, by `performance.now()`
 */
export function readDeltas(onToken: (at: number) => void): TransformStream<Uint8Array, string> {
  let out: TransformStreamDefaultController<string>;
  const reader = createSseReader(({ data }) => {
    if (data === '[DONE]') return;
    const delta = (JSON.parse(data) as Chunk).choices?.[0]?.delta;
    const text = delta?.content || delta?.reasoning_content;
    if (!text) return;
    onToken(performance.now());
    out.enqueue(text);
  });
  return new TransformStream({
    start(controller) {
      out = controller;
    },
    transform: (bytes) => reader.push(bytes),
  });
}
