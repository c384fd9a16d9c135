import type pg from 'pg';

/** Histograms as text: one line per count, to be compared as a whole. */
export type Lines = string[];

/** One statement; its rows. */
export type Query = <T extends pg.QueryResultRow>(statement: string) => Promise<T[]>;

interface Row {
  readonly hour: string;
  readonly day: string;
  readonly [column: string]: string | number | null;
}

/** `real` columns are read as what they exactly are. */
const ROWS = `
  SELECT to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24') AS hour, to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
    model, region, device::text, route, variant, tier, status::text, flags::int, ttft_ms, tpot_ms::float8, gap_max_ms::float8,
    first_screen_ms::float8, render_p50_ms::float8, server_ttft_ns::float8, gateway_ns::float8, receive_ns::float8,
    preprocess_ns::float8, kv_load_ns::float8, queue_ns::float8, first_token_ns::float8, serialize_ns::float8, send_ns::float8,
    network_ns::float8, render_ns::float8, unattributed_ns::float8
  FROM requests`;

/** What the rollups have to be, worked out from the rows by other code than the service's. */
function recount(rows: readonly Row[], time: 'hour' | 'day'): Lines {
  const counts = new Map<string, number>();
  for (const row of rows) {
    for (const [cell, valueMs] of samplesOf(row)) {
      const line = [row[time], cell, bucket(valueMs)].join(' | ');
      counts.set(line, (counts.get(line) ?? 0) + 1);
    }
  }
  return [...counts].map(([line, n]) => `${line} | ${n}`).sort();
}

function samplesOf(row: Row): [cell: string, valueMs: number][] {
  const flags = Number(row['flags']);
  if (flags & 2) return [];
  const ended = row['status'] !== null && row['status'] !== 'streaming';
  const steady = ended && !(flags & 1);
  const samples: [string, number][] = [];
  const add = (cell: string, value: number | string | null | undefined, unit = 1) => {
    if (typeof value === 'number') samples.push([cell, value / unit]);
  };
  const [model, region, device, route, variant, tier] = ['model', 'region', 'device', 'route', 'variant', 'tier'].map(
    (name) => row[name] ?? 'unknown',
  );
  const client = `model=${model} region=${region} device=${device}`;
  const server = `model=${model} route=${route} variant=${variant} tier=${tier}`;
  const ttft = row['ttft_ms'];
  const tax =
    ttft === null || row['server_ttft_ns'] === null
      ? -1
      : Math.round(Number(ttft) * 1e6) - Number(row['server_ttft_ns']);
  add(`client ttft_client ${client}`, ttft);
  add(`route ttft_client ${server}`, ttft);
  if (steady) add(`client tpot ${client}`, row['tpot_ms']);
  if (steady) add(`route tpot ${server}`, row['tpot_ms']);
  if (steady) add(`client gap_max ${client}`, row['gap_max_ms']);
  if (ended) add(`client first_screen ${client}`, row['first_screen_ms']);
  if (ended) add(`route first_screen ${server}`, row['first_screen_ms']);
  if (ended) add(`client render_lag ${client}`, row['render_p50_ms']);
  if (tax >= 0) add(`client hidden_tax ${client}`, tax, 1e6);
  add(`route ttft_server ${server}`, row['server_ttft_ns'], 1e6);
  for (const stage of ['gateway', 'receive', 'preprocess', 'kv_load', 'queue', 'first_token', 'serialize', 'send'])
    add(`stage stage_duration model=${model} stage=${stage}`, row[`${stage}_ns`], 1e6);
  if (!(flags & 32)) add(`stage stage_duration model=${model} stage=network`, row['network_ns'], 1e6);
  if (ended) add(`stage stage_duration model=${model} stage=render`, row['render_ns'], 1e6);
  if (row['server_ttft_ns'] !== null)
    add(`stage stage_duration model=${model} stage=unattributed`, row['unattributed_ns'], 1e6);
  add(`outcome requests variant=${variant} outcome=${row['status'] ?? 'unknown'} ttft_band=${band(ttft)}`, 0);
  return samples;
}

function band(ttft: string | number | null | undefined): string {
  if (typeof ttft !== 'number') return 'unknown';
  if (ttft <= 100) return 'up_to_100ms';
  if (ttft <= 300) return '100_to_300ms';
  return ttft <= 1000 ? '300_to_1000ms' : 'over_1000ms';
}

function bucket(valueMs: number): number {
  return valueMs < 0.001 ? 0 : 1 + Math.floor(Math.log(valueMs / 0.001) / Math.log(1.02));
}

/** The lines of a view of rollups, in the same form. */
async function read(query: Query, view: string, time: string): Promise<Lines> {
  const dimensions = ['model', 'region', 'device', 'route', 'variant', 'tier', 'stage', 'outcome', 'ttft_band'];
  const cell = dimensions.map((name) => `CASE WHEN ${name} IS NOT NULL THEN '${name}=' || ${name} END`).join(', ');
  const lines = await query<{ line: string }>(
    `SELECT concat_ws(' | ', ${time}, concat_ws(' ', grain, metric, ${cell}), bucket, sum(n)) AS line
     FROM ${view} GROUP BY ${time}, grain, metric, ${dimensions.join(', ')}, bucket HAVING sum(n) <> 0`,
  );
  return lines.map(({ line }) => line).sort();
}

const HOUR = `to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24')`;

/** One way in which rollups are told, beside what the rows come to. */
export interface RecountedRollups {
  readonly view: string;
  readonly told: Lines;
  readonly recounted: Lines;
}

/** Rollups by hour, by day, and as recounted in SQL, each with what they have to be. */
export async function recountRollups(query: Query): Promise<RecountedRollups[]> {
  const rows = await query<Row>(ROWS);
  const hourly = recount(rows, 'hour');
  return [
    { view: 'rollups', told: await read(query, 'rollups', HOUR), recounted: hourly },
    {
      view: 'rollups_daily',
      told: await read(query, 'rollups_daily', `to_char(day, 'YYYY-MM-DD')`),
      recounted: recount(rows, 'day'),
    },
    { view: 'rollups_recounted', told: await read(query, 'rollups_recounted', HOUR), recounted: hourly },
  ];
}
