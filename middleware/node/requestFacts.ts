import { MAX_STAGE_NS, MAX_SUB_STAGE_NAME, MAX_SUB_STAGES } from '../../contract/limits.ts';
import type { ServerRecord } from '../../contract/serverRecord.ts';
import type { StampedStage } from '../../contract/timingTrace.ts';
import { FIRSTTOKEN_EVENT } from '../../contract/tokens.ts';
import { type AnswerFacts, NOTHING_TOLD } from './answerReader.ts';
import { elapsedNs, readClock } from './clock.ts';
import { checkedDescription, type Description } from './describedFields.ts';
import { withEngineFacts } from './engineFacts.ts';
import { Stamps } from './stamps.ts';
import type { TraceIdentity } from './traceIdentity.ts';

/** Stages whose end only the app or its engine knows. */
export type MarkedStage = Extract<StampedStage, 'preprocess' | 'kv_load' | 'first_token'>;

type Draft = { -readonly [Field in keyof ServerRecord]: ServerRecord[Field] };

/** All that becomes known of one request while it runs. */
export class RequestFacts {
  readonly stamps = new Stamps();
  readonly identity: TraceIdentity;
  /** What the answer itself told. */
  told: AnswerFacts = NOTHING_TOLD;
  /** Whether the facts have been given to the app as an event: then they are not sent a second time. */
  eventGiven = false;
  readonly #startedAtMs = Date.now();
  #subStagesNs: Map<string, number> | undefined;
  #description: Description | undefined;

  constructor(identity: TraceIdentity) {
    this.identity = identity;
  }

  /** Later fields replace earlier ones. */
  describe(fields: Description): void {
    this.#description = { ...this.#description, ...fields };
  }

  /** Measures a named piece of work; see `span` in currentRequest.ts. */
  span<T>(name: string, run: () => T): T {
    const startedAt = readClock();
    const end = (): void => this.#addSubStage(name, elapsedNs(startedAt, readClock()));
    let result: T;
    try {
      result = run();
    } catch (error) {
      end();
      throw error;
    }
    if (isThenable(result)) return Promise.resolve(result).finally(end) as T;
    end();
    return result;
  }

  /** The stamps so far as a server-sent event. */
  toEvent(): string {
    const data = { trace_id: this.identity.given, timing_trace: this.stamps.toString() };
    return `event: ${FIRSTTOKEN_EVENT}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  /**
   * @param status HTTP status of the response; undefined where none was sent
   * @param described what the app's `describe` option says; what it said during the request wins
   */
  toRecord(status: number | undefined, described: Description | undefined): ServerRecord {
    const { usage, engine } = this.told;
    const record: Draft = {
      trace_id: this.identity.given,
      timing_trace: this.stamps.toString(),
      started_at: new Date(this.#startedAtMs).toISOString(),
    };
    if (usage.outputTokens !== undefined) record.output_tokens = usage.outputTokens;
    if (usage.promptTokens !== undefined) record.prompt_tokens = usage.promptTokens;
    if (usage.cachedTokens !== undefined) record.cached_tokens = usage.cachedTokens;
    if (described || this.#description) {
      Object.assign(record, checkedDescription({ ...described, ...this.#description }));
    }
    const serverTiming = withEngineFacts(record.server_timing ?? undefined, engine);
    if (serverTiming !== undefined) record.server_timing = serverTiming;
    if (this.#subStagesNs) record.sub_stages = Object.fromEntries(this.#subStagesNs);
    if (status !== undefined) record.status = status;
    if (this.identity.parentSpanId !== undefined) record.parent_span_id = this.identity.parentSpanId;
    return record;
  }

  /** Pieces of one name are added up. */
  #addSubStage(name: string, durationNs: number): void {
    if (name.length === 0 || name.length > MAX_SUB_STAGE_NAME) return;
    this.#subStagesNs ??= new Map();
    const known = this.#subStagesNs.get(name);
    if (known === undefined && this.#subStagesNs.size >= MAX_SUB_STAGES) return;
    this.#subStagesNs.set(name, Math.min((known ?? 0) + durationNs, MAX_STAGE_NS));
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
