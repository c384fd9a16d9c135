import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerRecord } from '../../contract/serverRecord.ts';
import { TOKEN_PRESETS, type TokenPreset, type TokenPresetName } from '../../contract/tokens.ts';
import { keepContext, runOutside, runWithin } from './currentRequest.ts';
import type { Description } from './describedFields.ts';
import { RequestFacts } from './requestFacts.ts';
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
  /** Says what the request was; called once when the response is over, so that a parsed body is there. */
  describe?(req: ObservedRequest): Description;
  /** Takes the finished record: once per request, whether it finished, failed or was left by its client. */
  onRecord?(record: ServerRecord): void;
}

/** One request under observation. */
export interface Observation {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** Runs the handler so that `mark`, `span`, `describe` and `currentTraceId` mean this request. */
  run<T>(handler: () => T): T;
}

const DEFAULT_HOLD_MS = 1_000;

const observations = new WeakMap<IncomingMessage, Observation>();

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
  const known = observations.get(req);
  if (known) return known;
  const preset = tokenPreset(options.tokens);
  const holdMs = holdTimeMs(options.holdMs);
  const facts = new RequestFacts(identify(req));

  keepContext(req, facts);
  keepContext(res, facts);
  watchRequest(req, () => facts.stamps.end('receive'));
  watchResponse(req, res, {
    stamps: facts.stamps,
    traceId: facts.identity.given,
    preset,
    holdMs,
    lastEvent: options.factsEvent ? () => (facts.eventGiven ? '' : facts.toEvent()) : undefined,
    onClosed(told) {
      facts.told = told;
      // Whatever delivers the record must not run, or make its sockets, inside the context of this request.
      runOutside(() => {
        const described = guarded('option_failed', () => options.describe?.(req as ObservedRequest));
        const record = guarded('internal', () =>
          facts.toRecord(res.headersSent ? res.statusCode : undefined, described ?? {}),
        );
        if (record) guarded('option_failed', () => options.onRecord?.(record));
      });
    },
  });

  const observation: Observation = { traceId: facts.identity.key, run: (handler) => runWithin(facts, handler) };
  observations.set(req, observation);
  return observation;
}
