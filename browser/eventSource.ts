import { FIRSTTOKEN_EVENT } from '../contract/tokens.ts';
import { observeStream, type StreamRecord, type TraceOptions } from './index.ts';

export interface EventSourceOptions extends TraceOptions {
  /** Named events that bear tokens or end the answer, besides `message`. */
  readonly eventNames?: readonly string[] | undefined;
  /** `performance.now()` just before the source was made. Default: now. */
  readonly startedAt?: number;
}

/** An event source does not say which events came in one read; so near to each other no model makes them. */
const TOGETHER_MS = 1;

/**
 * Observes an event source. It can send no header: its id is the `trace_id` that the app put into its address. A reconnection asks again at
 * the same address, so it is another attempt of the same call: under a new id, with the first one as its `call_id` unless the app names one.
 * Its times count from the break, for since then its user has waited.
 *
 * @returns the source itself. Never throws.
 */
export function observeEventSource<S extends EventSource>(source: S, options: EventSourceOptions = {}): S {
  try {
    const traceId = options.traceId ?? new URL(source.url).searchParams.get('trace_id');
    const begin = (
      id: string | null | undefined,
      startedAt: number,
      callId = options.callId,
    ): StreamRecord | undefined => {
      const record = observeStream({ ...options, startedAt, traceId: id, callId }, TOGETHER_MS);
      if (record) record.url = source.url;
      return record;
    };
    let record = begin(traceId, options.startedAt ?? performance.now(), options.callId ?? traceId ?? undefined);
    if (!record) return source;
    const callId = record.callId ?? record.traceId;
    for (const name of ['message', FIRSTTOKEN_EVENT, ...(options.eventNames ?? [])]) {
      source.addEventListener(name, ({ type, data, lastEventId }: MessageEvent) =>
        record?.take({ event: type, data, id: lastEventId }, performance.now()),
      );
    }
    let opened = false;
    let brokenAt: number | undefined;
    source.addEventListener('open', () => {
      opened = true;
      // Only now: a reconnection that is refused is how a server ends one for good.
      if (brokenAt !== undefined) record = begin(undefined, brokenAt, callId);
      brokenAt = undefined;
    });
    source.addEventListener('error', () => {
      brokenAt ??= performance.now();
      // The end of an answer and a break look alike from here.
      record?.end(opened ? 'end' : 'error');
    });
    const { close } = source;
    source.close = () => {
      record?.end('abort');
      close.call(source);
    };
  } catch {
    // An old or a foreign event source: it stays as it is.
  }
  return source;
}
