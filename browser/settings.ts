import type { Beacon } from '../contract/beacon.ts';
import type { SseEvent } from '../contract/sse.ts';
import type { TokenFacts } from '../contract/tokens.ts';

/** What the page knows about a request; the names and limits of the beacon. */
export type About = Partial<
  Pick<Beacon, 'model' | 'route' | 'variant' | 'tier' | 'prompt_tokens' | 'prompt_chars' | 'region' | 'device'>
>;

/** Says what an event of a stream says; nothing said is false. */
export interface TokensOf {
  (event: SseEvent): Partial<TokenFacts>;
  /** The stream has no end marker: it is complete when its connection ends cleanly. */
  readonly cleanEnd?: boolean;
}

/** What can be said for one call. */
export interface TraceOptions {
  /** Describes the request; what the server itself reports wins. */
  readonly about?: About | undefined;
  /** Which events bear a token: a preset, or a function of the app. Default: OpenAI chat completions. */
  readonly tokensOf?: TokensOf | undefined;
  /** The id of this HTTP attempt. Default: one that the request's headers already bear, else a new one. */
  readonly traceId?: string | null | undefined;
  /** Shared by all attempts of one call. Default: the request's `Idempotency-Key`. */
  readonly callId?: string | undefined;
  /** By which an abort is told from a break. Default: the request's own signal. */
  readonly signal?: AbortSignal | null | undefined;
  /** When a token counts as painted: with the next frame, or with the next frame after `markRendered()`. Default `auto`. */
  readonly render?: 'auto' | 'manual' | undefined;
  /** Sees each beacon as it is sent. */
  readonly onBeacon?: ((beacon: Beacon) => void) | undefined;
}

/** What holds for all calls of a page or process. */
export interface Settings extends TraceOptions {
  /** Where beacons go. Default in a page: `/v1/beacons` of its own origin; elsewhere none, and nothing is measured. */
  readonly endpoint?: string | undefined;
  /** Share of the requests that are measured, 0 to 1, decided by the trace id. Default 1. */
  readonly sampleRate?: number | undefined;
  /** Other origins than the page's own that get the trace headers, such as `https://api.example`. */
  readonly propagateTo?: readonly string[] | undefined;
  /** What does the fetching. Default: `globalThis.fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

let settings: Settings = { endpoint: globalThis.document && '/v1/beacons' };

/** Sets what holds for all later calls. A second call adds to the first. */
export function configure(changes: Settings): void {
  settings = optionsOf(changes);
}

/** What holds for one call: its own options over those of the page. */
export function optionsOf<T extends TraceOptions>(options?: T): Settings & T {
  return { ...settings, ...(options as T), about: { ...settings.about, ...options?.about } };
}
