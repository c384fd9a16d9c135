import {
  FIRST_TOKEN_EVENT,
  FIRST_VISIBLE_TOKEN_EVENT,
  PLACEMENT_INFERRED,
  REQUESTS_SERVICE,
  ROOT_SPAN,
  SPAN_ATTRIBUTES,
  SPAN_OPERATION,
  SPAN_STAGES,
  type SpanStage,
} from '../../contract/spans.ts';
import type { RequestRow } from '../pipeline/row.ts';
import { asciiJson } from './asciiJson.ts';
import { booleanAttribute, rootAttributes, textAttribute } from './attributes.ts';
import { failureOf } from './failure.ts';
import { type PlacedRequest, type PlacedStage, placeStages } from './placeStages.ts';
import { spanIdOf } from './spanId.ts';

/*
 * OTLP/HTTP's JSON, written by hand: the SDK's way (an object per span, then one per attribute, then the text) costs several times as
 * much; docs/traces.md has the figures. Ids are hex and 64-bit numbers decimal strings, as the protocol asks.
 * Nanoseconds since 1970 pass 2^53, so they are added as BigInt; offsets stay far below it.
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */

const INTERNAL = 1;
const CLIENT = 3;
const ERROR = 2;
/** Sampled; and it is known whether the parent is of another process: not so for a stage … */
const LOCAL_PARENT = 0x101;
/** … and so for a root that names the caller's span. */
const REMOTE_PARENT = 0x301;

const BEGIN = '"startTimeUnixNano":"';
const END = '","endTimeUnixNano":"';
/** From the id of a stage's span to its start. */
const STAGE_PARTS = Object.fromEntries(
  SPAN_STAGES.map((stage) => [stage, `","name":"${stage}","kind":${INTERNAL},${BEGIN}`]),
) as Record<SpanStage, string>;
/** From the end of a stage's span on. */
const STAGE_TAILS = Object.fromEntries(
  SPAN_STAGES.map((stage) => [
    stage,
    `","attributes":[${textAttribute(SPAN_ATTRIBUTES.stage, stage)},` +
      textAttribute(SPAN_ATTRIBUTES.placement, PLACEMENT_INFERRED),
  ]),
) as Record<SpanStage, string>;
const CLAMPED = `,${booleanAttribute(SPAN_ATTRIBUTES.clamped, true)}`;

const ENVELOPE_HEAD =
  `{"resourceSpans":[{"resource":{"attributes":[${textAttribute('service.name', REQUESTS_SERVICE)}]},` +
  `"scopeSpans":[{"scope":{"name":"${REQUESTS_SERVICE}"},"spans":[`;
const ENVELOPE_TAIL = ']}]}]}';

/**
 * One export request of traces that {@link encodeTrace} made, all of which is ASCII: written piece by piece, they never become one long
 * text in between.
 */
export function encodeRequest(traces: readonly string[]): Buffer {
  let length = ENVELOPE_HEAD.length + ENVELOPE_TAIL.length + Math.max(0, traces.length - 1);
  for (const trace of traces) length += trace.length;
  const bytes = Buffer.allocUnsafe(length);
  let at = bytes.write(ENVELOPE_HEAD, 'latin1');
  for (const [index, trace] of traces.entries()) {
    if (index > 0) at += bytes.write(',', at, 'latin1');
    at += bytes.write(trace, at, 'latin1');
  }
  bytes.write(ENVELOPE_TAIL, at, 'latin1');
  return bytes;
}

/**
 * The spans of one request as the elements of an OTLP/JSON list: the root, then one child for each known stage.
 *
 * @param before the request as it was exported earlier: then only the children that it lacked are written, and no root; there must be
 *   at least one
 */
export function encodeTrace(row: RequestRow, before: RequestRow | null = null): string {
  const placed = placeStages(row);
  const startNs = BigInt(Math.round(row.started_at)) * 1_000_000n;
  const start = String(startNs);
  const rootId = spanIdOf(row.trace_id, ROOT_SPAN);
  let spans = before === null ? encodeRoot(row, rootId, startNs, placed) : '';
  const head = `{"traceId":"${row.trace_id}","parentSpanId":"${rootId}","flags":${LOCAL_PARENT},"spanId":"`;
  let begin = start;
  for (const each of placed.stages) {
    const { stage } = each;
    // Each stage begins where the one before it ends.
    const end = String(startNs + BigInt(each.offsetNs + each.lengthNs));
    if (before === null || before[`${stage}_ns`] === null) {
      if (spans !== '') spans += ',';
      spans += head + spanIdOf(row.trace_id, stage) + STAGE_PARTS[stage] + begin + END + end + STAGE_TAILS[stage];
      spans += each.clamped || stage === 'unattributed' ? `${remarks(row, each)}]}` : ']}';
    }
    begin = end;
  }
  return spans;
}

function encodeRoot(row: RequestRow, rootId: string, startNs: bigint, placed: PlacedRequest): string {
  const name = row.model === null ? SPAN_OPERATION : `${SPAN_OPERATION} ${row.model}`;
  const failure = failureOf(row);
  const events = [
    event(FIRST_TOKEN_EVENT, startNs, row.ttft_ms),
    event(FIRST_VISIBLE_TOKEN_EVENT, startNs, row.ttft_visible_ms),
  ].filter((each) => each !== null);
  const parent =
    row.parent_span_id === null
      ? `,"flags":${LOCAL_PARENT}`
      : `,"parentSpanId":"${row.parent_span_id}","flags":${REMOTE_PARENT}`;
  return (
    `{"traceId":"${row.trace_id}","spanId":"${rootId}"${parent},"name":${asciiJson(name)},"kind":${CLIENT}` +
    `,${BEGIN}${startNs}${END}${startNs + BigInt(placed.rootLengthNs)}` +
    `","attributes":[${rootAttributes(row, placed.rootClamped)}]` +
    (events.length > 0 ? `,"events":[${events.join(',')}]` : '') +
    (failure === null ? '' : `,"status":{"code":${ERROR},"message":"${failure}"}`) +
    '}'
  );
}

/** What is unexplained is shown with the stamps that it lies between. */
function remarks(row: RequestRow, { stage, clamped }: PlacedStage): string {
  const between = stage === 'unattributed' ? row.ttft_basis : null;
  return (between === null ? '' : `,${textAttribute(SPAN_ATTRIBUTES.ttftBasis, between)}`) + (clamped ? CLAMPED : '');
}

function event(name: string, startNs: bigint, ms: number | null): string | null {
  return ms === null ? null : `{"timeUnixNano":"${startNs + BigInt(Math.round(ms * 1e6))}","name":"${name}"}`;
}
