import type { Figures } from './figures.ts';

/** Below it, the demo has failed. */
export const MIN_JOINED_SHARE = 0.99;

export interface RunResult {
  /** Requests whose final beacon the service acknowledged. */
  readonly acknowledged: number;
  readonly figures: Figures;
  readonly rejected: ReadonlyMap<string, number>;
  /** Beacons that never got an answer. */
  readonly lostBeacons: number;
}

export function rejectedCount(rejected: ReadonlyMap<string, number>): number {
  return [...rejected.values()].reduce((sum, count) => sum + count, 0);
}

/** Joined requests among those with a final client half, 0 to 1; null when there is none. */
export function joinedShare({ finals, joined }: Pick<Figures, 'finals' | 'joined'>): number | null {
  return finals === 0 ? null : joined / finals;
}

/** What went wrong, a line each; none when all is well. */
export function faultsOf({ acknowledged, figures, rejected, lostBeacons }: RunResult): string[] {
  const faults: string[] = [];
  const share = joinedShare(figures);
  if (acknowledged === 0)
    faults.push('no request was finished and acknowledged: let it run longer, or look at the rejections');
  // Acknowledged means durable, so that each must be found again.
  if (figures.finals < acknowledged) {
    faults.push(
      `${acknowledged - figures.finals} of ${acknowledged} acknowledged requests are missing in the database`,
    );
  }
  if (share !== null && share < MIN_JOINED_SHARE) {
    const missing = figures.finals - figures.joined;
    faults.push(
      `only ${percent(share)} of the finished requests were joined (${missing} have no server half); at least 99 % should be`,
    );
  }
  if (rejected.size > 0) {
    const reasons = [...rejected].map(([code, count]) => `${code} ${count} times`).join(', ');
    faults.push(`the service rejected ${rejectedCount(rejected)} reports: ${reasons}`);
  }
  if (lostBeacons > 0) faults.push(`${lostBeacons} beacons got no answer from the service`);
  return faults;
}

/** Rounded down: what is not quite all must not read as all. */
export function percent(share: number, digits = 2): string {
  const scale = 10 ** digits;
  return `${(Math.floor(share * 100 * scale + 1e-9) / scale).toFixed(digits)} %`;
}
