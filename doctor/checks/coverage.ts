import { METRICS } from '../../contract/metrics.ts';
import { ask } from '../ask.ts';
import { type Finding, fault, good, skipped } from '../finding.ts';
import type { Target } from '../target.ts';

/** With fewer, one closed page decides. */
const LEAST_SETTLED = 10;
/** As the alert JoinCoverageLow. */
const LEAST_SHARE = 0.9;

/** What share of the client halves found a server half, since the service has been running. */
export async function checkCoverage({ adminUrl }: Target): Promise<Finding> {
  const answer = await ask(`${adminUrl}/metrics`);
  if (answer.kind === 'unreachable') return skipped('The metrics are not reached.');
  return judgeCoverage(answer.text);
}

/** @param exposition the service's metrics, in the text format */
export function judgeCoverage(exposition: string): Finding {
  let joined = 0;
  let clientOnly = 0;
  let serverOnly = 0;
  for (const line of exposition.split('\n')) {
    if (!line.startsWith(`${METRICS.settled.name}{`)) continue;
    const count = Number(/\} (\S+)/.exec(line)?.[1]);
    const hasServer = !line.includes('server="none"');
    if (!line.includes('client="yes"')) serverOnly += hasServer ? count : 0;
    else if (hasServer) joined += count;
    else clientOnly += count;
  }
  const clients = joined + clientOnly;
  if (clients < LEAST_SETTLED) {
    return skipped(
      `Only ${clients} requests with a client half have settled since the start: too few to judge their joining.`,
    );
  }
  const share = `${Math.floor((100 * joined) / clients)} % of the client halves found their server half (${joined} of ${clients}).`;
  if (joined / clients >= LEAST_SHARE) return good(share);
  const advice =
    serverOnly >= clientOnly / 2
      ? `${serverOnly} server halves came alone as well: both sides report, under different ids. Let the page send X-Trace-ID and the server use it (docs/faq.md).`
      : 'Servers report too little: is the middleware on every route and backend, with a token that is accepted? See docs/runbook.md, "Coverage is low".';
  return fault(share, advice);
}
