import type { HistogramDefinition } from '../../contract/metrics.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { Floor } from './alert.ts';
import { MIN_REQUESTS_PER_HOUR } from './thresholds.ts';

/** As many samples in the past hour as a percentile needs to rest on, per combination of labels. */
export function enoughOf({ name }: HistogramDefinition, ...on: string[]): Floor {
  return { on, condition: `sum by (${on.join(', ')}) (increase(${name}_count[1h])) >= ${MIN_REQUESTS_PER_HOUR}` };
}

/** As many joined or unjoined requests of clients in the past hour. */
export const ENOUGH_SETTLED: Floor = {
  on: [],
  condition: `sum(increase(${METRICS.settled.name}{client="yes"}[1h])) >= ${MIN_REQUESTS_PER_HOUR}`,
};

/** Events came until a quarter of an hour ago. */
export const EVENTS_BEFORE: Floor = {
  on: [],
  condition: `sum(increase(${METRICS.events.name}[1h] offset 15m)) >= ${MIN_REQUESTS_PER_HOUR}`,
};
