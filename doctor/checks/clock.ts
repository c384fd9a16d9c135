import { ask } from '../ask.ts';
import { type Finding, fault, good, skipped } from '../finding.ts';
import type { Target } from '../target.ts';

/** Beyond this, requests stand visibly beside their log lines, and a page that looks at "the last minutes" misses some. */
const TOLERATED_MS = 5_000;
/** `Date` has whole seconds. */
const RESOLUTION_MS = 1_000;

/** Compares the service's clock with this machine's, by the `Date` of an answer. */
export async function checkClock({ url }: Target): Promise<Finding> {
  const answer = await ask(`${url}/healthz`);
  const date = answer.kind === 'answered' ? answer.headers.get('date') : null;
  if (answer.kind === 'unreachable' || date === null) return skipped('The answer of the service has no Date.');
  const offMs = clockOffMs(Date.parse(date), answer.askedAtMs, answer.answeredAtMs);
  return verdictOf('The clock of the service', offMs);
}

/** How far a clock that showed `shownMs` (whole seconds) at some moment of the exchange was certainly off; 0 where it may be right. */
export function clockOffMs(shownMs: number, askedAtMs: number, answeredAtMs: number): number {
  if (shownMs > answeredAtMs) return shownMs - answeredAtMs;
  return Math.min(0, shownMs + RESOLUTION_MS - askedAtMs);
}

export function verdictOf(whose: string, offMs: number): Finding {
  if (Math.abs(offMs) <= TOLERATED_MS) return good(`${whose} agrees with this machine's.`);
  const seconds = Math.round(Math.abs(offMs) / 1_000);
  return fault(
    `${whose} is ${seconds} s ${offMs > 0 ? 'ahead of' : 'behind'} this machine's.`,
    'Run a time service (chrony, systemd-timesyncd) on both. Durations are right all the same; only the places of requests in time are off.',
  );
}
