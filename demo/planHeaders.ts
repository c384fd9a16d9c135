import type { IncomingHttpHeaders } from 'node:http';
import { planRequest, type RequestPlan } from './plan.ts';
import { SCENARIO_NAMES } from './scenarios.ts';

const INDEX = 'x-demo-request';
const PULSE = 'x-demo-pulse';
/** For a request by hand: the next plan of this kind. */
const SCENARIO = 'x-demo-scenario';

/** How a request tells gateway and backend which one it is, so that each can draw its part. */
export function planHeaders({ index, pulse }: RequestPlan): Record<string, string> {
  return { [INDEX]: String(index), [PULSE]: pulse ? '1' : '0' };
}

/** The plan of the request with these headers; a request without them, such as one by hand, gets the first plan. */
export function planFromHeaders(seed: number, headers: IncomingHttpHeaders): RequestPlan {
  const given = Number(headers[INDEX] ?? 0);
  const pulse = headers[PULSE] === '1';
  const scenario = SCENARIO_NAMES.find((name) => name === headers[SCENARIO]);
  for (let index = Number.isSafeInteger(given) ? given % 2 ** 31 : 0; ; index++) {
    const plan = planRequest(seed, index, pulse);
    if (scenario === undefined || plan.scenario === scenario) return plan;
  }
}
