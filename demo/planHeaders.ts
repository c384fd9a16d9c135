import type { IncomingHttpHeaders } from 'node:http';
import { planRequest, type RequestPlan } from './plan.ts';

const INDEX = 'x-demo-request';
const PULSE = 'x-demo-pulse';

/** How a request tells gateway and backend which one it is, so that each can draw its part. */
export function planHeaders({ index, pulse }: RequestPlan): Record<string, string> {
  return { [INDEX]: String(index), [PULSE]: pulse ? '1' : '0' };
}

/** The plan of the request with these headers; a request without them, such as one by hand, gets the first plan. */
export function planFromHeaders(seed: number, headers: IncomingHttpHeaders): RequestPlan {
  const index = Number(headers[INDEX] ?? 0);
  return planRequest(seed, Number.isSafeInteger(index) ? index : 0, headers[PULSE] === '1');
}
