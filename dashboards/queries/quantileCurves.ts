import type { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import type { HistogramDefinition } from '../../contract/metrics.ts';
import { curveQuery } from './prometheusQuery.ts';
import { type QuantileScope, quantile } from './quantile.ts';

const REF_IDS = ['A', 'B', 'C', 'D', 'E', 'F'];

/** One curve per share, named `p95` and so on. */
export function quantileCurves(
  metric: HistogramDefinition,
  shares: readonly number[],
  scope: QuantileScope = {},
): DataqueryBuilder[] {
  return shares.map((share, index) => {
    const refId = REF_IDS[index];
    if (refId === undefined) throw new Error('More curves than letters');
    return curveQuery(refId, quantile(metric, share, scope), percentName(share));
  });
}

/** 0.999 becomes `p99.9`. */
export function percentName(share: number): string {
  return `p${Number((share * 100).toFixed(3))}`;
}
