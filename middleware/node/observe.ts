import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerRecord } from '../../contract/serverRecord.ts';
import { TOKEN_PRESETS, type TokenPreset, type TokenPresetName } from '../../contract/tokens.ts';
import { keepContext, runOutside, runWithin } from './currentRequest.ts';
import type { Description } from './describedFields.ts';
import { type MarkedStage, RequestFacts } from './requestFacts.ts';
import { identify } from './traceIdentity.ts';
import { guarded } from './warnings.ts';
import { watchRequest } from './watchRequest.ts';
import { watchResponse } from './watchResponse.ts';

/** A request with whatever a framework hung on it by the time the response has finished (`body`, `originalUrl` …). */
// biome-ignore lint/suspicious/noExplicitAny: what frameworks add has no type here, and `unknown` would make `describe` unusable.
export type ObservedRequest = IncomingMessage & { readonly [added: string]: any };

export interface ObserveOptions {
  /** Which events of a stream bear a token: a preset, or the app's own function. Default `openai-chat`. */
  tokens?: TokenPresetName | TokenPreset | undefined;
  /**
   * Milliseconds that the start of a response may wait for the first chunk, so that the header tells more stamps. Default 1000;
   * 0 leaves the start to Node.
   */
  holdMs?: number | undefined;
  /**
   * Whether to write the stamps as the last event of each event stream, named `firsttoken`, for pages that read with
   * `EventSource`. Not behind an answer that stops inside an event, that promised its length, that wrote `factsEvent()` itself, or
   * whose client has left. Default false: no body is changed.
   */
  factsEvent?: boolean | undefined;
  /**
   * Whether `mark`, `span`, `describe` and `currentTraceId` find the request that runs, by an `AsyncLocalStorage`. Default true.
   * False saves what that costs (see the README); the methods of `observationOf(req)` are there in any case.
   */
  context?: boolean | undefined;
  /** Says what the request was; called once when the response is over, so that a parsed body is there. */
  describe?: ((req: ObservedRequest) => Description) | undefined;
  /** Takes the finished record: once per request, whether it finished, failed or was left by its client. */
  onRecord?: ((record: ServerRecord) => void) | undefined;
}

/** One request under observation. */
export interface Observation {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** Runs the handler so that `mark`, `span`, `describe` and `currentTraceId` mean this request. */
  run<T>(handler: () => T): T;
  /** As the functions of the same names, for this request. */
  mark(stage: MarkedStage): boolean;
  span<T>(name: string, run: () => T): T;
  describe(fields: Description): void;
  factsEvent(): string;
}

const DEFAULT_HOLD_MS = 1_000;

/** On the request: a `WeakMap` of all that run would cost every garbage collection. */
const OBSERVATION = Symbol('firsttoken.observation');
type Known = IncomingMessage & { [OBSERVATION]?: RequestObservation };

/** @throws TypeError that names a wrong option */
export function tokenPreset(tokens: ObserveOptions['tokens'] = 'openai-chat'): TokenPreset {
  if (typeof tokens === 'function') return tokens;
  if (Object.hasOwn(TOKEN_PRESETS, tokens)) return TOKEN_PRESETS[tokens];
  throw new TypeError(`tokens must be a function or one of ${Object.keys(TOKEN_PRESETS).join(', ')}`);
}

/** @throws TypeError that names a wrong option */
export function holdTimeMs(holdMs: ObserveOptions['holdMs'] = DEFAULT_HOLD_MS): number {
  if (Number.isFinite(holdMs) && holdMs >= 0 && holdMs < 2 ** 31) return holdMs;
  throw new TypeError('holdMs must be a number of milliseconds, 0 or more');
}

/**
 * Observes one request of a `node:http` server. Call it first of all: t0 is taken here. Both objects are watched, neither is
 * consumed or changed in what it sends but for the headers `X-Trace-ID` and `X-Timing-Trace`. A second call for the same request
 * gives the first observation.
 *
 * @throws TypeError that names a wrong option
 */
export function observe(req: IncomingMessage, res: ServerResponse, options: ObserveOptions = {}): Observation {
  const known = (req as Known)[OBSERVATION];
  if (known) return known;
  const preset = tokenPreset(options.tokens);
  const holdMs = holdTimeMs(options.holdMs);
  const facts = new RequestFacts(identify(req));
  const observation = new RequestObservation(req, res, facts, options);
  if (observation.hasContext) {
    keepContext(req, facts);
    keepContext(res, facts);
  }
  watchRequest(req, facts.stamps);
  watchResponse(req, res, { facts, preset, holdMs, addsEvent: options.factsEvent === true, watcher: observation });
  (req as Known)[OBSERVATION] = observation;
  return observation;
}

/** The observation of a request that the middleware has seen; undefined for one that it has not. */
export function observationOf(req: IncomingMessage): Observation | undefined {
  return (req as Known)[OBSERVATION];
}

class RequestObservation implements Observation {
  readonly hasContext: boolean;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #facts: RequestFacts;
  readonly #options: ObserveOptions;

  constructor(req: IncomingMessage, res: ServerResponse, facts: RequestFacts, options: ObserveOptions) {
    this.#req = req;
    this.#res = res;
    this.#facts = facts;
    this.#options = options;
    this.hasContext = options.context !== false;
  }

  get traceId(): string {
    return this.#facts.identity.key;
  }

  run<T>(handler: () => T): T {
    return this.hasContext ? runWithin(this.#facts, handler) : handler();
  }

  mark(stage: MarkedStage): boolean {
    return this.#facts.stamps.end(stage);
  }

  span<T>(name: string, run: () => T): T {
    return this.#facts.span(name, run);
  }

  describe(fields: Description): void {
    this.#facts.describe(fields);
  }

  factsEvent(): string {
    this.#facts.eventGiven = true;
    return this.#facts.toEvent();
  }

  /** Called once when the response has finished or its connection has closed. */
  onClosed(): void {
    // Whatever delivers the record must not run, or make its sockets, inside the context of this request.
    if (this.hasContext) runOutside(() => this.#deliver());
    else this.#deliver();
  }

  #deliver(): void {
    const { describe, onRecord } = this.#options;
    const described = describe && guarded('option_failed', () => describe(this.#req as ObservedRequest));
    const status = this.#res.headersSent ? this.#res.statusCode : undefined;
    const record = guarded('internal', () => this.#facts.toRecord(status, described));
    if (record && onRecord) guarded('option_failed', () => onRecord(record));
  }
}
