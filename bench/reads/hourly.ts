import { rollupsByHour } from '../../dashboards/queries/rankedRollups.ts';
import { interpolateSql } from '../../dashboards/runner/interpolation.ts';
import { type Figure, ratios } from '../figure.ts';
import { median } from '../middleware/statistics.ts';
import { readCold } from './coldRead.ts';
import type { History } from './history.ts';

const within = ({ from, to }: History): string => `BETWEEN '${from.toISOString()}' AND '${to.toISOString()}'`;

/** Client TTFT p75 and p95 by hour × region × device, from the rollups, in the way of the panels. */
function rollupsSql({ from, to }: History): string {
  const hours = rollupsByHour(
    {
      grain: 'client',
      metrics: ['ttft_client'],
      by: { hour: 'hour', region: 'region', device: 'device' },
      variables: [],
    },
    { p75: 0.75, p95: 0.95 },
  );
  const sql = `WITH ${hours} SELECT hour, region, device, p75, p95 FROM hours`;
  return interpolateSql(sql, { from, to, timezone: 'UTC', variables: {} });
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
