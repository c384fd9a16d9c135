import { type Figure, ratios } from '../figure.ts';
import { median } from '../middleware/statistics.ts';
import { readCold } from './coldRead.ts';
import type { History } from './history.ts';

const within = ({ from, to }: History): string => `BETWEEN '${from.toISOString()}' AND '${to.toISOString()}'`;

/** Client TTFT p75 and p95 by hour × region × device, from the rollups. */
function rollupsSql(history: History): string {
  return `SELECT hour, region, device, p[1] AS p75, p[2] AS p95
FROM (
  SELECT hour, region, device, rollup_percentiles('{0.75,0.95}', array_agg(bucket), array_agg(n)) AS p
  FROM rollups
  WHERE grain = 'client' AND metric = 'ttft_client' AND hour ${within(history)}
  GROUP BY hour, region, device
) AS cells`;
}

/** The same from the requests. */
function rowsSql(history: History): string {
  return `SELECT date_trunc('hour', started_at, 'UTC') AS hour, region, device,
  percentile_cont(0.75) WITHIN GROUP (ORDER BY ttft_ms) AS p75, percentile_cont(0.95) WITHIN GROUP (ORDER BY ttft_ms) AS p95
FROM requests
WHERE started_at ${within(history)} AND ttft_ms IS NOT NULL AND flags & 2 = 0
GROUP BY 1, 2, 3`;
}

/** How long the figure by hour takes, and how much longer from the requests, in turns. */
export async function hourlyFigures(history: History, rounds: number, say: (step: string) => void): Promise<Figure[]> {
  const rollupMs: number[] = [];
  const rowMs: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    say(`p75 and p95 by hour, region and device, round ${round} of ${rounds}`);
    const fromRollups = await readCold(history.url, rollupsSql(history));
    const fromRows = await readCold(history.url, rowsSql(history));
    if (round === 0) continue;
    rollupMs.push(fromRollups.tookMs);
    rowMs.push(fromRows.tookMs);
  }
  return [
    {
      id: 'reads/hourly',
      what: 'p75 and p95 by hour × region × device',
      baseline: '',
      unit: 'ms',
      rounds: rollupMs,
      goal: { is: 'at most', value: 150 },
    },
    {
      id: 'reads/hourly-against-rows',
      what: 'the same, how many times as fast',
      baseline: 'percentile_cont on the requests',
      unit: '×',
      rounds: ratios(rowMs, rollupMs),
      goal: { is: 'at least', value: 50, aim: 200 },
      raw: { 'from rollups ms': median(rollupMs), 'from requests ms': median(rowMs) },
    },
  ];
}
