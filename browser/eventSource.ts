import { FIRSTTOKEN_EVENT } from '../contract/tokens.ts';
import { observeStream, type TraceOptions } from './index.ts';

export interface EventSourceOptions extends TraceOptions {
  /** Named events that bear tokens or end the answer, besides `message`. */
  readonly eventNames?: readonly string[] | undefined;
  /** `performance.now()` just before the source was made. Default: now. */
  readonly startedAt?: number;
}

/** An event source does not say which events came in one read; so near to each other no model makes them. */
const TOGETHER_MS = 1;

/**
 * Observes the first connection of an event source. It can send no header: its id is the `trace_id` that the app put into its
 * address. A reconnection is another request, under an id that is taken; it ends the record and is not observed.
 *
 * @returns the source itself. Never throws.
 */
export function observeEventSource<S extends EventSource>(source: S, options: EventSourceOptions = {}): S {
  try {
    const traceId = options.traceId ?? new URL(source.url).searchParams.get('trace_id');
    const record = observeStream({ startedAt: performance.now(), ...options, traceId }, TOGETHER_MS);
    if (!record) return source;
    record.url = source.url;
    for (const name of ['message', FIRSTTOKEN_EVENT, ...(options.eventNames ?? [])]) {
      source.addEventListener(name, ({ type, data, lastEventId }: MessageEvent) =>
        record.take({ event: type, data, id: lastEventId }, performance.now()),
      );
    }
    let opened = false;
    source.addEventListener('open', () => {
      opened = true;
    });
    // The end of an answer and a break look alike from here.
    source.addEventListener('error', () => record.end(opened ? 'end' : 'error'));
    const { close } = source;
    source.close = () => {
      record.end('abort');
      close.call(source);
    };
  } catch {
    // An old or a foreign event source: it stays as it is.
  }
  return source;
}
