import { MAX_STAGE_NS, MAX_SUB_STAGE_NAME, MAX_SUB_STAGES } from '../../contract/limits.ts';
import { accept, type Result, reject } from '../../contract/rejections.ts';
import { parseServerTiming } from '../../contract/serverTiming.ts';
import {
  NO_SERVER_STAGES,
  SERVER_TTFT_STAGES,
  type ServerStage,
  type ServerStagesNs,
  STAGE_ALIASES,
} from '../../contract/stages.ts';
import { parseTimingTrace, readStamps, type TimingTrace } from '../../contract/timingTrace.ts';
import { cleanText } from './text.ts';

/** The server's account of one request, from its stamps and its `Server-Timing`. */
export interface ServerTimes {
  readonly stampCount: number;
  readonly stagesNs: ServerStagesNs;
  readonly ttftNs: number | null;
  readonly ttftBasis: string | null;
  readonly stageOverflow: boolean;
  readonly subStagesNs: Readonly<Record<string, number>> | null;
}

/**
 * Puts the two sources together: stamps win; `Server-Timing` fills only stages that the stamps leave null, in the order of the
 * stages, and no more than the server TTFT still has uncovered. A given queue is taken out of `first_token`.
 *
 * @param subStagesNs named pieces of work that the record itself brought
 */
export function readServerTimes(
  timingTrace: string | readonly (string | number)[] | null,
  serverTiming: string | null,
  subStagesNs: Readonly<Record<string, number>> | null,
): Result<ServerTimes> {
  let trace: TimingTrace | null = null;
  if (timingTrace !== null) {
    const read = readTrace(timingTrace);
    if (!read.ok) return read;
    trace = read.value;
  }
  const stagesNs: ServerStagesNs = { ...NO_SERVER_STAGES, ...trace?.stagesNs };
  const ttftNs = trace?.ttftNs ?? null;
  if (serverTiming === null && subStagesNs === null) {
    return accept({ ...basis(trace), stagesNs, ttftNs, stageOverflow: false, subStagesNs: null });
  }

  const named = new Map<ServerStage, number>();
  const subStages: Record<string, number> = Object.create(null);
  let subStageCount = 0;
  const addSubStage = (given: string, ns: number): void => {
    const name = cleanText(given);
    if (name === null) return;
    if (!(name in subStages)) {
      if (subStageCount === MAX_SUB_STAGES || name.length > MAX_SUB_STAGE_NAME) return;
      subStageCount++;
    }
    subStages[name] = Math.min((subStages[name] ?? 0) + ns, MAX_STAGE_NS);
  };
  for (const [name, ns] of Object.entries(subStagesNs ?? {})) addSubStage(name, ns);
  for (const entry of serverTiming === null ? [] : parseServerTiming(serverTiming)) {
    if (!entry.measured) continue;
    const ns = Math.min(Math.round(entry.dur * 1e6), MAX_STAGE_NS);
    const stage = STAGE_ALIASES.get(entry.name.toLowerCase());
    if (stage === undefined) addSubStage(entry.name, ns);
    else named.set(stage, Math.min((named.get(stage) ?? 0) + ns, MAX_STAGE_NS));
  }

  // A TTFT that begins at t0 holds the upload already: named beside it, it would be counted twice.
  if (trace?.ttftBasis?.startsWith('t0')) named.delete('receive');
  const stageOverflow = fillStages(stagesNs, named, ttftNs);
  return accept({
    ...basis(trace),
    stagesNs,
    ttftNs,
    stageOverflow,
    subStagesNs: subStageCount > 0 ? { ...subStages } : null,
  });
}

function basis(trace: TimingTrace | null): { stampCount: number; ttftBasis: string | null } {
  return { stampCount: trace?.stampCount ?? 0, ttftBasis: trace?.ttftBasis ?? null };
}

/** Changes `stagesNs`; returns whether something had to be capped. */
function fillStages(stagesNs: ServerStagesNs, named: ReadonlyMap<ServerStage, number>, ttftNs: number | null): boolean {
  let overflow = false;
  const receive = named.get('receive');
  if (stagesNs.receive === null && receive !== undefined) stagesNs.receive = receive;

  let uncovered = ttftNs ?? Number.POSITIVE_INFINITY;
  for (const stage of SERVER_TTFT_STAGES) uncovered -= stagesNs[stage] ?? 0;
  const grant = (claimed: number, most: number): number => {
    if (claimed > most) overflow = true;
    return Math.max(0, Math.min(claimed, most));
  };
  // By definition first_token begins when the KV cache is ready, so it holds the queue: a queue named beside it is a part of it.
  const holdsQueue = stagesNs.first_token !== null || named.has('first_token');
  for (const stage of SERVER_TTFT_STAGES) {
    const claimed = named.get(stage);
    if (claimed === undefined || stagesNs[stage] !== null || (stage === 'queue' && holdsQueue)) continue;
    stagesNs[stage] = grant(claimed, uncovered);
    uncovered -= stagesNs[stage];
  }

  const queue = named.get('queue');
  const firstToken = stagesNs.first_token;
  if (queue !== undefined && firstToken !== null) {
    stagesNs.queue = grant(queue, firstToken);
    stagesNs.first_token = firstToken - stagesNs.queue;
  }
  return overflow;
}

function readTrace(timingTrace: string | readonly (string | number)[]): Result<TimingTrace> {
  if (typeof timingTrace === 'string') return parseTimingTrace(timingTrace);
  if (timingTrace.some((stamp) => Number.isInteger(stamp) && !Number.isSafeInteger(stamp))) return UNSAFE;
  return readStamps(timingTrace.map(String));
}

const UNSAFE = reject(
  'unsafe_integer',
  'A stamp above 2^53 was sent as a JSON number and has lost digits; send the stamps as one string, as in the header.',
);
