import crypto from 'node:crypto';
import type { ROOT_SPAN, SpanStage } from '../../contract/spans.ts';

/** Hex digits of a span id. */
const DIGITS = 16;

/** One call is half as dear as an object that is fed and asked; it came with Node 20.12. */
const sha256: (text: string) => string =
  typeof crypto.hash === 'function'
    ? (text) => crypto.hash('sha256', text)
    : (text) => crypto.createHash('sha256').update(text).digest('hex');

/**
 * The id of one span: the first 8 bytes of the SHA-256 of key and stage, written one after the other. Whoever exports a request
 * again, another replica too, thereby repeats its spans and makes no new ones.
 */
export function spanIdOf(key: string, stage: SpanStage | typeof ROOT_SPAN): string {
  return sha256(key + stage).slice(0, DIGITS);
}
