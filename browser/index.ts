/** What a web page or a Node client adds to measure the streamed answers that it reads. */
export type { SseEvent } from '../contract/sse.ts';
export type { TokenFacts } from '../contract/tokens.ts';
export { flush, markRendered, observeStream, type StreamOptions } from './follow.ts';
export { observeResponse } from './observeResponse.ts';
export { type About, configure, type Settings, type TokensOf, type TraceOptions } from './settings.ts';
export type { StreamRecord } from './streamRecord.ts';
export { tracedFetch } from './tracedFetch.ts';
