import { randomBytes } from 'node:crypto';
import { ask } from '../ask.ts';
import { type Finding, fault, good } from '../finding.ts';
import type { Target } from '../target.ts';

/** Reads a request that nobody made: 404 with a right token, 401 with a wrong one, and nothing is written. */
export async function checkToken({ url, token }: Target): Promise<Finding> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const answer = await ask(`${url}/v1/requests/${randomBytes(16).toString('hex')}`, { headers });
  if (answer.kind === 'unreachable') return fault(`GET /v1/requests: ${answer.why}.`, "See the service's log.");
  if (answer.status === 401) {
    return token === null
      ? fault(
          'The service wants a write token, and none was given.',
          'Set INGEST_TOKEN as the service has it, or --token.',
        )
      : fault(
          'The write token is refused.',
          "It must be one of the service's INGEST_TOKEN; senders with this one get 401 too.",
        );
  }
  if (answer.status === 404) {
    return good(token === null ? 'The service wants no token.' : 'The write token is accepted.');
  }
  return fault(
    `GET /v1/requests answers ${answer.status}.`,
    answer.status === 503
      ? 'PostgreSQL is away.'
      : 'Something between here and the service answers in its place: name its own address.',
  );
}
