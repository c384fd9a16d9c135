import { randomStream } from '../../demo/random.ts';
import { BODY_TARGETS } from './bodyTargets.ts';
import { assertCleanPrototypes } from './prototypes.ts';
import { REQUEST_TARGETS } from './requestTargets.ts';
import { STREAM_TARGETS } from './streamTargets.ts';
import type { FuzzTarget } from './target.ts';
import { TEXT_TARGETS } from './textTargets.ts';

export const TARGETS: readonly FuzzTarget[] = [...BODY_TARGETS, ...TEXT_TARGETS, ...STREAM_TARGETS, ...REQUEST_TARGETS];

/** Nothing that one input makes the service do may hold up all others for longer. */
export const MAX_STALL_MS = 200;
/** Processor time, since a busy machine is not the reader's fault; and a collection of garbage comes once: only what is slow each time is slow. */
const SLOW_TRIES = 3;
const MAX_FAILURES = 20;
const BREATHE_EVERY = 500;

/** An input that broke a promise. */
export interface Failure {
  readonly target: string;
  readonly message: string;
  readonly input: Buffer;
}

export interface TargetResult {
  readonly name: string;
  readonly inputs: number;
  readonly slowestMs: number;
}

export interface ParserResult {
  readonly targets: readonly TargetResult[];
  readonly failures: readonly Failure[];
}

export interface ParserOptions {
  readonly inputs: number;
  readonly seed: number;
  readonly onProgress?: (done: number) => void;
}

/** Gives made-up inputs to every reader, in proportion to its weight. */
export async function fuzzParsers({ inputs, seed, onProgress }: ParserOptions): Promise<ParserResult> {
  const weights = TARGETS.reduce((sum, { weight }) => sum + weight, 0);
  const results: TargetResult[] = [];
  const failures: Failure[] = [];
  let done = 0;
  for (const target of TARGETS) {
    const random = randomStream(seed, target.name);
    const share = Math.ceil((inputs * target.weight) / weights);
    let slowestMs = 0;
    for (let index = 0; index < share && failures.length < MAX_FAILURES; index += 1) {
      const input = target.make(random);
      const { failure, tookMs } = await checkOne(target, input);
      slowestMs = Math.max(slowestMs, tookMs);
      if (failure !== null) failures.push(failure);
      done += 1;
      if (index % BREATHE_EVERY !== 0) continue;
      onProgress?.(done);
      await new Promise(setImmediate);
    }
    results.push({ name: target.name, inputs: share, slowestMs });
  }
  return { targets: results, failures };
}

export async function checkOne(
  target: FuzzTarget,
  input: Buffer,
): Promise<{ failure: Failure | null; tookMs: number }> {
  let tookMs = Number.POSITIVE_INFINITY;
  try {
    for (let tries = 0; tries < SLOW_TRIES && tookMs > MAX_STALL_MS; tries += 1) {
      const began = process.cpuUsage();
      const checking = target.check(input);
      if (checking !== undefined) await checking;
      const { user, system } = process.cpuUsage(began);
      tookMs = Math.min(tookMs, (user + system) / 1_000);
    }
    assertCleanPrototypes();
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { failure: { target: target.name, message, input }, tookMs: 0 };
  }
  const stalled = tookMs > MAX_STALL_MS;
  return { failure: stalled ? { target: target.name, message: `took ${tookMs.toFixed(0)} ms`, input } : null, tookMs };
}
