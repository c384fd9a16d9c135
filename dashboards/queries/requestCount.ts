import { inScope } from './requestsFilter.ts';

/** Requests that started in the time range, whichever halves they have. */
export function requestCountSql(): string {
  return `SELECT count(*) AS requests
FROM requests
WHERE ${inScope()}`;
}
