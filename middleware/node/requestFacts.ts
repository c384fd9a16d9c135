import { MAX_STAGE_NS, MAX_SUB_STAGE_NAME, MAX_SUB_STAGES } from '../../contract/limits.ts';
import type { ServerRecord } from '../../contract/serverRecord.ts';
import { FIRSTTOKEN_EVENT } from '../../contract/tokens.ts';
import { type AnswerFacts, NOTHING_TOLD } from './answerReader.ts';
import { checkedDescription, type Description } from './describedFields.ts';
import { withEngineFacts } from './engineFacts.ts';
import { nowNs, Stamps } from './stamps.ts';
import type { TraceIdentity } from './traceIdentity.ts';

/** All that becomes known of one request while it runs. */
export class RequestFacts {
  readonly stamps = new Stamps();
  readonly identity: TraceIdentity;
  /** What the answer itself told. */
  told: AnswerFacts = NOTHING_TOLD;
  /** Whether the facts have been given to the app as an event: then they are not sent a second time. */
  eventGiven = false;
  readonly #startedAt = new Date();
  readonly #subStagesNs = new Map<string, number>();
  #description: Description = {};

  constructor(identity: TraceIdentity) {
    this.identity = identity;
  }

  /** Later fields replace earlier ones. */
  describe(fields: Description): void {
    this.#description = { ...this.#description, ...fields };
  }

  /** Starts a named piece of work; the function returned ends it. Pieces of one name are added up. */
  startSubStage(name: string): () => void {
    const startedNs = nowNs();
    return () => {
      const known = this.#subStagesNs.get(name);
      if (known === undefined && this.#subStagesNs.size >= MAX_SUB_STAGES) return;
      if (name.length === 0 || name.length > MAX_SUB_STAGE_NAME) return;
      this.#subStagesNs.set(name, Math.min((known ?? 0) + Number(nowNs() - startedNs), MAX_STAGE_NS));
    };
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
  toRecord(status: number | undefined, described: Description): ServerRecord {
    const { outputTokens, promptTokens, cachedTokens } = this.told.usage;
    const checked = checkedDescription({ ...described, ...this.#description });
    const serverTiming = withEngineFacts(checked.server_timing ?? undefined, this.told.engine);
    return {
      trace_id: this.identity.given,
      timing_trace: this.stamps.toString(),
      started_at: this.#startedAt.toISOString(),
      ...(outputTokens !== undefined && { output_tokens: outputTokens }),
      ...(promptTokens !== undefined && { prompt_tokens: promptTokens }),
      ...(cachedTokens !== undefined && { cached_tokens: cachedTokens }),
      ...checked,
      ...(serverTiming !== undefined && { server_timing: serverTiming }),
      ...(this.#subStagesNs.size > 0 && { sub_stages: Object.fromEntries(this.#subStagesNs) }),
      ...(status !== undefined && { status }),
      ...(this.identity.parentSpanId !== undefined && { parent_span_id: this.identity.parentSpanId }),
    };
  }
}
