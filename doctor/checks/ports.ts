import { METRICS } from '../../contract/metrics.ts';
import { ask } from '../ask.ts';
import { type Finding, fault, good } from '../finding.ts';
import type { Target } from '../target.ts';

const READY_LINE = "The service's log says `ready` with both addresses; PORT, ADMIN_PORT and HOST decide them.";

/** The public port: the service answers there, and it is ours. */
export async function checkPublicPort({ url }: Target): Promise<Finding> {
  const health = await ask(`${url}/healthz`);
  if (health.kind === 'unreachable')
    return fault(`The service is not reached at ${url}: ${health.why}.`, `Is it the right port? ${READY_LINE}`);
  if ((health.json as { alive?: unknown } | undefined)?.alive !== true) {
    return fault(
      `Something answers at ${url}, but it is not this service (GET /healthz: ${health.status}).`,
      `Name the service's own address. ${READY_LINE}`,
    );
  }
  return good(`The service answers at ${url}.`);
}

/** Whether events can be made durable now. */
export async function checkReadiness({ url }: Target): Promise<Finding> {
  const ready = await ask(`${url}/readyz`);
  if (ready.kind === 'unreachable') return fault(`GET /readyz: ${ready.why}.`, "See the service's log.");
  const { spooling } = (ready.json ?? {}) as { spooling?: boolean };
  if (ready.status === 200 && spooling !== true) return good('Events reach PostgreSQL.');
  return fault(
    spooling === true ? 'PostgreSQL is away; events wait on disk.' : 'PostgreSQL is away; posts are answered with 503.',
    'Start it, or mend DATABASE_URL: docs/runbook.md, "PostgreSQL is away".',
  );
}

/** The admin port: the metrics are there. */
export async function checkAdminPort({ adminUrl, url }: Target): Promise<Finding> {
  const metrics = await ask(`${adminUrl}/metrics`);
  if (metrics.kind === 'unreachable') {
    return fault(
      `The metrics are not reached at ${adminUrl}: ${metrics.why}.`,
      `${READY_LINE} Where the port is not published, as in compose, leave it out: --admin none.`,
    );
  }
  if (!metrics.text.includes(`# TYPE ${METRICS.ttft.name} `)) {
    const advice = adminUrl === url ? 'The metrics are on the admin port, not the public one.' : READY_LINE;
    return fault(`${adminUrl}/metrics are not this service's metrics (status ${metrics.status}).`, advice);
  }
  return good(`The metrics answer at ${adminUrl}.`);
}
