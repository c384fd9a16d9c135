import { ask } from '../ask.ts';
import { type Finding, fault, good, skipped } from '../finding.ts';
import type { Target } from '../target.ts';

/** Asks as a browser does before it posts a beacon from a page of this origin. */
export async function checkOrigin({ url, origin }: Target): Promise<Finding> {
  const headers = { origin: origin!, 'access-control-request-method': 'POST' };
  const answer = await ask(`${url}/v1/beacons`, { method: 'OPTIONS', headers });
  if (answer.kind === 'unreachable') return fault(`OPTIONS /v1/beacons: ${answer.why}.`, "See the service's log.");
  if (answer.status === 403) {
    return fault(
      `Pages of ${origin} may not post beacons.`,
      `Add it to BEACON_ORIGINS (scheme, host and port, without a path) and restart the service.`,
    );
  }
  const allowed = answer.headers.get('access-control-allow-origin');
  if (answer.status !== 204 || allowed !== origin) {
    return fault(
      `A browser's question for ${origin} is answered with ${answer.status} and Access-Control-Allow-Origin: ${allowed ?? '(none)'}.`,
      'A proxy before the service answers or changes OPTIONS: let it pass them on as they are.',
    );
  }
  return good(`Pages of ${origin} may post beacons.`);
}

/** Asks the application as a browser does, where page and application have different origins. */
export async function checkAppOrigin({ origin, app }: Target): Promise<Finding> {
  if (new URL(app!.url).origin === origin) return skipped('Page and application share an origin: nothing to allow.');
  const answer = await ask(app!.url, {
    method: 'OPTIONS',
    headers: {
      origin: origin!,
      'access-control-request-method': app!.body === null ? 'GET' : 'POST',
      'access-control-request-headers': 'x-trace-id, traceparent',
    },
  });
  if (answer.kind === 'unreachable')
    return fault(`OPTIONS of the application: ${answer.why}.`, 'Start it, or mend --app.');
  const list = (answer.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/\s*,\s*/);
  const missing = ['x-trace-id', 'traceparent'].filter((name) => !list.includes(name) && !list.includes('*'));
  if (!answer.headers.has('access-control-allow-origin') || missing.length > 0) {
    return fault(
      `The application does not let pages of ${origin} send ${missing.join(' and ') || 'requests'}.`,
      'Its answer to OPTIONS needs Access-Control-Allow-Origin, and Access-Control-Allow-Headers: x-trace-id, traceparent (docs/browser.md).',
    );
  }
  return good(`The application lets pages of ${origin} send the trace id.`);
}
