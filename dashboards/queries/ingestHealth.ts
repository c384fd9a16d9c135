import { type CounterDefinition, METRICS } from '../../contract/metrics.ts';
import { INGEST_JOB } from '../config.ts';
import { FOREIGN_METRICS, type ForeignMetric } from '../foreignMetrics.ts';
import { rateOf } from './quantile.ts';

/** Growth per second of a counter, by some of its labels. */
export function rateBy({ name }: CounterDefinition, ...by: string[]): string {
  return `sum by (${by.join(', ')}) (${rateOf(name)})`;
}

/** Growth per second of a counter, of all replicas. */
export function rateOfAll({ name }: CounterDefinition): string {
  return `sum(${rateOf(name)})`;
}

/** The number of replicas of the ingest that answered the last scrape; 0 where Prometheus knows none. */
export function replicasUp(): string {
  const up = `${FOREIGN_METRICS.up.name}{job="${INGEST_JOB}"}`;
  return `sum(${up}) or vector(0)`;
}

/** A gauge of the process, of each replica. */
export function processGauge({ name }: ForeignMetric): string {
  return `${name}{job="${INGEST_JOB}"}`;
}

/** 1 where every replica reaches PostgreSQL. */
export const EVERY_STORE_UP = `min(${METRICS.storeUp.name})`;
export const SPOOL_BYTES = `sum(${METRICS.spoolBytes.name})`;
export const WAITING_EVENTS = `sum(${METRICS.waitingEvents.name})`;
