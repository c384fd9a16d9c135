import { FLAG_BITS } from '../../contract/flags.ts';
import { SERVER_TTFT_STAGES } from '../../contract/stages.ts';
import type { RequestRow } from './row.ts';

/**
 * Works out what follows from both halves together: `network`, `unattributed` and whether the two accounts contradict each other.
 *
 * The whole is the client's TTFT: `network + gateway + receive + (preprocess … send + unattributed)`, the bracket being the
 * server's TTFT. Durations are subtracted from durations; no clock is compared with another. A part is null without all that it
 * is computed from; an unknown `receive` or `gateway` stays inside `network`.
 */
export function attribute(row: RequestRow): void {
  let coveredNs = 0;
  for (const stage of SERVER_TTFT_STAGES) coveredNs += row[`${stage}_ns`] ?? 0;
  const aroundNs = (row.receive_ns ?? 0) + (row.gateway_ns ?? 0);
  const clientTtftNs = clientTtftOf(row);

  row.flags &= ~FLAG_BITS.clock_anomaly;
  row.network_ns = null;
  if (row.server_ttft_ns === null) {
    row.unattributed_ns = clientTtftNs === null ? null : Math.max(0, clientTtftNs - coveredNs - aroundNs);
    return;
  }
  row.unattributed_ns = Math.max(0, row.server_ttft_ns - coveredNs);
  if (clientTtftNs === null) return;
  const networkNs = clientTtftNs - row.server_ttft_ns - aroundNs;
  if (networkNs < 0) row.flags |= FLAG_BITS.clock_anomaly;
  row.network_ns = Math.max(0, networkNs);
}

/** Client TTFT minus server TTFT, in nanoseconds; null without both. Negative where the two accounts contradict each other. */
export function hiddenTaxNs(row: RequestRow): number | null {
  const clientTtftNs = clientTtftOf(row);
  return clientTtftNs === null || row.server_ttft_ns === null ? null : clientTtftNs - row.server_ttft_ns;
}

function clientTtftOf(row: RequestRow): number | null {
  return row.ttft_ms === null ? null : Math.round(row.ttft_ms * 1e6);
}
