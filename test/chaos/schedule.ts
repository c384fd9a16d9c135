import { drawExponential, type Random, randomStream } from '../../demo/random.ts';
import { DATABASE_TRACK, type FaultName, LONG_OUTAGE_MS, REPLICA_TRACK } from './faultNames.ts';

/** One fault of a run. */
export interface PlannedFault {
  readonly name: FaultName;
  /** From the start of the run. */
  readonly atMs: number;
  readonly forMs: number;
  /** Which replica it befalls, where it befalls one. */
  readonly replica: number;
  /** A draw of its own, for what else there is to choose. */
  readonly draw: number;
}

export interface ScheduleOptions {
  readonly seed: number;
  readonly forMs: number;
  readonly replicas: number;
  /** Each fault once and quickly. */
  readonly short: boolean;
  readonly without: ReadonlySet<FaultName>;
}

interface Pace {
  readonly meanGapMs: number;
  readonly leastMs: number;
  readonly meanMs: number;
  readonly mostMs: number;
}

const LONG: Pace = { meanGapMs: 5_000, leastMs: 500, meanMs: 5_000, mostMs: 40_000 };
/** A fault ends this long before the faults are over, at the latest. */
const TAIL_MS = 1_000;

/** All faults of a run, by time. Decks of each track's faults are dealt until the time is up, so none stays out for long. */
export function planFaults(options: ScheduleOptions): PlannedFault[] {
  const tracks = [REPLICA_TRACK, DATABASE_TRACK].map((names) => names.filter((name) => !options.without.has(name)));
  const planned = tracks.flatMap((names, track) =>
    planTrack(names, paceOf(options, names.length), options, randomStream(options.seed, `faults ${track}`)),
  );
  return planned.sort((one, other) => one.atMs - other.atMs);
}

/** A short run shares its time out equally, so that every fault of the track has its turn. */
function paceOf({ short, forMs }: ScheduleOptions, faults: number): Pace {
  if (!short) return LONG;
  const turnMs = (forMs - TAIL_MS) / Math.max(1, faults);
  return { meanGapMs: turnMs * 0.15, leastMs: turnMs * 0.3, meanMs: turnMs * 0.4, mostMs: turnMs * 0.55 };
}

function planTrack(
  names: readonly FaultName[],
  pace: Pace,
  { forMs, replicas, short, without }: ScheduleOptions,
  random: Random,
): PlannedFault[] {
  const planned: PlannedFault[] = [];
  if (names.length === 0) return planned;
  const endMs = forMs - TAIL_MS;
  // Halfway, and with a minute to drain after it.
  const withOutage = !short && !without.has('long-outage') && names.includes('database-refused');
  const outageAtMs = withOutage && forMs >= 4 * LONG_OUTAGE_MS ? forMs * 0.5 : Number.POSITIVE_INFINITY;
  let deck: FaultName[] = [];
  let outageDone = outageAtMs === Number.POSITIVE_INFINITY;
  let atMs = Math.min(pace.meanGapMs, 2_000);
  for (;;) {
    if (!outageDone && atMs >= outageAtMs) {
      outageDone = true;
      planned.push({ name: 'long-outage', atMs, forMs: LONG_OUTAGE_MS, replica: 0, draw: random() });
      atMs += LONG_OUTAGE_MS + pace.meanGapMs;
      continue;
    }
    if (deck.length === 0) {
      if (short && planned.length > 0) break;
      deck = shuffled(names, random);
    }
    const lastsMs = Math.min(pace.mostMs, pace.leastMs + drawExponential(random, pace.meanMs - pace.leastMs));
    if (!short && atMs + lastsMs > endMs) break;
    planned.push({
      name: deck.pop()!,
      atMs: Math.round(atMs),
      forMs: Math.round(lastsMs),
      replica: Math.floor(random() * replicas),
      draw: random(),
    });
    const gapMs = Math.min(drawExponential(random, pace.meanGapMs), 4 * pace.meanGapMs);
    // In a short run each turn has its share of the time, whatever was drawn.
    atMs = short ? (endMs / names.length) * planned.length + pace.meanGapMs / 2 : atMs + lastsMs + gapMs;
  }
  return planned;
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const deck = [...items];
  for (let last = deck.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [deck[last], deck[other]] = [deck[other]!, deck[last]!];
  }
  return deck;
}
