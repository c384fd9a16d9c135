import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';
import type { Description } from './describedFields.ts';
import type { MarkedStage, RequestFacts } from './requestFacts.ts';

const storage = new AsyncLocalStorage<RequestFacts | undefined>();

export const runWithin = <T>(facts: RequestFacts, run: () => T): T => storage.run(facts, run);
/** Not `exit`: up to Node 22 that takes the hooks of the whole process away and puts them back, which costs 30 µs. */
export const runOutside = <T>(run: () => T): T => storage.run(undefined, run);

const CONTEXT = Symbol('firsttoken.context');
type Emit = EventEmitter['emit'];
interface Kept extends EventEmitter {
  [CONTEXT]: { readonly facts: RequestFacts; readonly emit: Emit };
}

function emitWithin(this: Kept, ...args: Parameters<Emit>): boolean {
  const { facts, emit } = this[CONTEXT];
  // Most events have no listener, and many are emitted by what the handler does itself.
  if (this.listenerCount(args[0]) === 0 || storage.getStore() === facts) return emit.apply(this, args);
  return storage.run(facts, () => emit.apply(this, args));
}

/**
 * Listeners of a request and its response are called from the socket, where the context of the request is lost (`'end'` of the
 * body, `'drain'`, `'close'`). This gives it back to them.
 */
export function keepContext(emitter: EventEmitter, facts: RequestFacts): void {
  const kept = emitter as Kept;
  kept[CONTEXT] = { facts, emit: emitter.emit };
  kept.emit = emitWithin;
}

/**
 * A stage of the current request ends now: its stamp (t2, t3 or t4) is taken, once.
 *
 * @returns whether it was taken; not outside a request, a second time, or after a later stage ended
 */
export function mark(stage: MarkedStage): boolean {
  return storage.getStore()?.stamps.end(stage) ?? false;
}

/**
 * Measures a named piece of work inside the current request (`db`, `retrieval` …). Pieces of one name are added up, at most 16
 * names are kept; outside a request it just runs.
 *
 * @returns what `run` returns; where that is a thenable, a promise that settles alike
 */
export function span<T>(name: string, run: () => T): T {
  const facts = storage.getStore();
  return facts ? facts.span(name, run) : run();
}

/** Says what the current request is: model, route, tier … Later values replace earlier ones; nothing happens outside a request. */
export function describe(fields: Description): void {
  storage.getStore()?.describe(fields);
}

/**
 * The trace id of the current request as 32 lower-case hex digits, safe in a log line and an SQL comment; undefined outside a
 * request.
 */
export function currentTraceId(): string | undefined {
  return storage.getStore()?.identity.key;
}

/**
 * The stamps so far of the current request as a server-sent event, for pages that read the stream with `EventSource` and so see no
 * header: write it last. No `onmessage` handler sees it. Empty outside a request.
 */
export function factsEvent(): string {
  const facts = storage.getStore();
  if (!facts) return '';
  facts.eventGiven = true;
  return facts.toEvent();
}
