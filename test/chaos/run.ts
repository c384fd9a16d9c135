import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../postgres/serviceWait.ts';
import { type Check, checkStore } from './checks.ts';
import { Client } from './client.ts';
import { type FaultName, REPLICA_TRACK } from './faultNames.ts';
import { FAULTS } from './faults.ts';
import { Ledger } from './ledger.ts';
import type { Progress } from './progress.ts';
import { Requests } from './requests.ts';
import { type PlannedFault, planFaults } from './schedule.ts';
import { Violations } from './violations.ts';
import { TOKEN, World } from './world.ts';

export interface RunOptions {
  readonly forMs: number;
  readonly rate: number;
  readonly seed: number;
  readonly short: boolean;
  readonly calm: boolean;
  readonly spool: boolean;
  readonly without: ReadonlySet<FaultName>;
}

/** What a run came to; the report is made of this. */
export interface RunResult {
  readonly options: RunOptions;
  readonly disk: string;
  readonly planned: readonly PlannedFault[];
  readonly ledger: Ledger;
  readonly client: Client;
  readonly replicas: World['replicas'];
  readonly checks: readonly Check[];
  readonly violations: Violations;
  readonly lastedS: number;
  /** From the last fault's end until nothing was owed and the spools were empty; null when that did not come. */
  readonly drainedAfterS: number | null;
  readonly longOutageDrainedAfterS: number | null;
  /** Null when it was removed. */
  readonly folder: string | null;
}

const START_PATIENCE_MS = 60_000;
/** "All in the table within 60 s of its return"; a violation after that, but the checks are made all the same. */
const DRAIN_LIMIT_MS = 60_000;
const DRAIN_PATIENCE_MS = 180_000;
/** No fault takes longer to be mended. */
const MEND_PATIENCE_MS = 60_000;

/** @param stop ends the faults early; all checks are made on what there is */
export async function run(options: RunOptions, progress: Progress, stop: AbortSignal): Promise<RunResult> {
  const violations = new Violations();
  const planned = options.calm ? [] : planFaults({ ...options, replicas: 2 });
  const world = await World.open({
    spool: options.spool,
    movesClock: planned.some(({ name }) => name === 'clock-jump'),
    sharedFolder: options.seed % 2 === 1,
    onViolation: (what) => violations.add(what),
  });
  let keep = true;
  try {
    progress.at('starting');
    await until(
      'both replicas to be there',
      () => world.replicas.every(({ incarnations }) => incarnations.length > 0),
      START_PATIENCE_MS,
    );
    const requests = new Requests(options.seed);
    const ledger = new Ledger();
    const client = new Client({
      requests,
      ledger,
      seed: options.seed,
      rate: options.rate,
      token: TOKEN,
      urls: world.replicas.map(({ url }) => url),
      onRefused: (replica, status, code) => {
        if (!isRightRefusal(world, options, status))
          violations.add(`replica ${world.replicas[replica]!.name}: answered ${status} ${code}`);
      },
    });
    const over = new AbortController();
    const sending = client.run(over.signal, DRAIN_PATIENCE_MS);
    const beganMs = performance.now();
    progress.watch(
      () => `${ledger.requests} requests, ${client.outstanding} events owed, ${violations.count} violations`,
    );
    await breakThings(world, planned, options.forMs, stop, violations, progress);

    progress.at('draining');
    over.abort();
    const mendedMs = performance.now();
    await sending;
    const drained = await until('the spools to be empty', () => world.spoolsAreEmpty(), DRAIN_PATIENCE_MS).then(
      () => performance.now() - mendedMs,
      () => null,
    );
    if (client.outstanding > 0) violations.add('events were never acknowledged', client.outstanding);
    if (drained === null || drained > DRAIN_LIMIT_MS) violations.add('draining took longer than a minute');
    if ((world.drainedAfterMs ?? 0) > DRAIN_LIMIT_MS)
      violations.add('draining after the long outage took longer than a minute');

    progress.at('checking');
    // Counters and rows are compared standing still.
    await Promise.all(world.replicas.map((replica) => replica.leave()));
    const checks = await checkStore(world, requests, ledger);
    keep = violations.count > 0 || checks.some(({ kept }) => !kept);
    return {
      options,
      disk: world.disk.kind,
      planned,
      ledger,
      client,
      replicas: world.replicas,
      checks,
      violations,
      lastedS: (performance.now() - beganMs) / 1_000,
      drainedAfterS: drained === null ? null : drained / 1_000,
      longOutageDrainedAfterS: world.drainedAfterMs === null ? null : world.drainedAfterMs / 1_000,
      folder: keep ? world.folder : null,
    };
  } finally {
    progress.at('stopping');
    await world.close(keep);
  }
}

/** Refusals are right while there is nowhere to put events; never otherwise, and never of another kind. */
function isRightRefusal(world: World, { spool }: RunOptions, status: number): boolean {
  if (status !== 503 && status !== 429) return false;
  if (!spool) return true;
  return world.disk.isFull || (world.disk.kind === 'small spool' && !world.databaseIsThere);
}

async function breakThings(
  world: World,
  planned: readonly PlannedFault[],
  forMs: number,
  stop: AbortSignal,
  violations: Violations,
  progress: Progress,
): Promise<void> {
  const beganMs = performance.now();
  const leftMs = (atMs: number) => Math.max(0, beganMs + atMs - performance.now());
  const asleep = (ms: number) => wait(ms, undefined, { signal: stop }).catch(() => {});
  // Faults of one track never overlap, also when one takes longer to be mended than was planned.
  const tracks = new Map<boolean, Promise<void>>();
  for (const fault of planned) {
    await asleep(leftMs(fault.atMs));
    if (stop.aborted) break;
    const track = REPLICA_TRACK.includes(fault.name);
    const begun = (tracks.get(track) ?? Promise.resolve()).then(async () => {
      if (stop.aborted) return;
      progress.begin(fault.name);
      const mended = FAULTS[fault.name](world, fault).then(
        () => null,
        (error: unknown) => `${fault.name} could not be done: ${error instanceof Error ? error.message : error}`,
      );
      const late = wait(fault.forMs + MEND_PATIENCE_MS, `${fault.name} was not mended in time`, { ref: false });
      const trouble = await Promise.race([mended, late]);
      if (trouble !== null) violations.add(trouble);
      progress.end(fault.name);
    });
    tracks.set(track, begun);
  }
  await asleep(leftMs(forMs));
  await Promise.all(tracks.values());
}
