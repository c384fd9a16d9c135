import { parseStrictly } from '../../ingest/metrics/strictParser.ts';

/** The counters that are held against the rows at the end. */
export const COUNTED = ['ttft_seconds_count', 'ttft_client_seconds_count', 'streams_total'] as const;
export type Counted = (typeof COUNTED)[number];

interface MemorySample {
  readonly atS: number;
  readonly bytes: number;
}

/** One life of one service process, as a Prometheus that scrapes it every second would know it. */
export class Incarnation {
  readonly replica: string;
  readonly pid: number;
  readonly #counters = new Map<Counted, number>();
  readonly #memory: MemorySample[] = [];
  #spoolBytes = Number.NaN;
  #lagMaxS = 0;

  constructor(replica: string, pid: number) {
    this.replica = replica;
    this.pid = pid;
  }

  get spoolBytes(): number {
    return this.#spoolBytes;
  }

  /** The longest that the event loop was seen to stand still, seconds. */
  get lagMaxS(): number {
    return this.#lagMaxS;
  }

  get livedS(): number {
    const [first, last] = [this.#memory[0], this.#memory.at(-1)];
    return first && last ? last.atS - first.atS : 0;
  }

  get maxBytes(): number {
    return this.#memory.reduce((most, { bytes }) => Math.max(most, bytes), 0);
  }

  /** The value at the last scrape; what came after it is lost with a process that is killed. */
  counted(name: Counted): number {
    return this.#counters.get(name) ?? 0;
  }

  /** Takes one exposition; anything that no parser of Prometheus would take throws. */
  read(exposition: string): void {
    const sums = new Map<string, number>();
    for (const family of parseStrictly(exposition, 'text').values())
      for (const { name, value } of family.samples) sums.set(name, (sums.get(name) ?? 0) + value);
    for (const name of COUNTED) this.#counters.set(name, sums.get(name) ?? 0);
    this.#spoolBytes = sums.get('firsttoken_spool_bytes') ?? 0;
    this.#lagMaxS = Math.max(this.#lagMaxS, sums.get('nodejs_eventloop_lag_max_seconds') ?? 0);
    const bytes = sums.get('process_resident_memory_bytes');
    if (bytes !== undefined) this.#memory.push({ atS: performance.now() / 1_000, bytes });
  }

  /**
   * How memory grew, bytes per hour, by least squares over all samples after the first `warmUpS` seconds: a new process grows until its
   * heap has found its size.
   *
   * @returns null for a life that is too short to tell
   */
  memorySlope(warmUpS: number, leastS: number): number | null {
    const beganS = (this.#memory[0]?.atS ?? 0) + warmUpS;
    const samples = this.#memory.filter(({ atS }) => atS >= beganS);
    const [first, last] = [samples[0], samples.at(-1)];
    if (!first || !last || last.atS - first.atS < leastS) return null;
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const [meanAtS, meanBytes] = [mean(samples.map(({ atS }) => atS)), mean(samples.map(({ bytes }) => bytes))];
    let [above, below] = [0, 0];
    for (const { atS, bytes } of samples) {
      above += (atS - meanAtS) * (bytes - meanBytes);
      below += (atS - meanAtS) ** 2;
    }
    return (above / below) * 3_600;
  }
}
