import { readAnthropic, readOpenAiChat, readOpenAiResponses, type TokenUsage } from '../../contract/tokens.ts';
import type { AnswerFacts, AnswerReader } from './answerReader.ts';
import { type EngineFacts, mayHoldEngineFacts, readEngineFacts } from './engineFacts.ts';

/** A longer answer is not searched: it would have to be kept, and parsed while other requests wait (64 KiB take about 0.3 ms). */
export const MAX_JSON_ANSWER_BYTES = 65_536;

/** A whole answer as JSON: its first byte is its first token, its usage is read when it is over. */
export function jsonAnswer(): AnswerReader {
  let parts: Buffer[] | undefined = [];
  let bytes = 0;
  return {
    read(chunk, encoding) {
      if (parts === undefined) return true;
      // Copied: bytes may be used again once they are written. Strings of ASCII and more have at least as many bytes as characters.
      const part = bytes + chunk.length > MAX_JSON_ANSWER_BYTES ? undefined : copyOf(chunk, encoding);
      bytes += part?.length ?? 0;
      if (part === undefined || bytes > MAX_JSON_ANSWER_BYTES) parts = undefined;
      else parts.push(part);
      return true;
    },
    get goesOn() {
      return parts !== undefined;
    },
    finish() {
      const json = Buffer.concat(parts ?? []).toString();
      parts = undefined;
      return factsOf(json);
    },
  };
}

const copyOf = (chunk: string | Uint8Array, encoding: BufferEncoding): Buffer =>
  typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk);

function factsOf(json: string): AnswerFacts {
  const engine: EngineFacts = mayHoldEngineFacts(json) ? readEngineFacts(json) : {};
  return { usage: { ...engine.usage, ...(json.includes('"usage"') && usageOf(json)) }, engine };
}

/**
 * The APIs count under different names. Each preset reads its own from the event of a stream that would have told it; what else
 * stands in the answer is left out, so that no text is parsed twice.
 */
function usageOf(json: string): TokenUsage | undefined {
  let body: { object?: unknown; type?: unknown; usage?: unknown } | null;
  try {
    body = JSON.parse(json);
  } catch {
    return undefined;
  }
  const usage = body?.usage;
  if (typeof usage !== 'object' || usage === null) return undefined;
  const event = (told: object) => ({ event: 'message', data: JSON.stringify(told), id: undefined });
  if (body?.object === 'response') {
    return readOpenAiResponses(event({ type: 'response.completed', response: { usage } })).usage;
  }
  if (body?.type === 'message') return readAnthropic(event({ type: 'message_delta', usage })).usage;
  return readOpenAiChat(event({ usage })).usage;
}
