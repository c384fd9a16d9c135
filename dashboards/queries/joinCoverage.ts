import { METRICS } from '../../contract/metrics.ts';

/** Share from 0 to 1 of the settled requests with a client half that have a server half too, over `window`. */
export function joinCoverage(window: string): string {
  const { name } = METRICS.settled;
  const joined = `sum(rate(${name}{client="yes", server=~"direct|echo"}[${window}]))`;
  return `${joined} / sum(rate(${name}{client="yes"}[${window}]))`;
}
