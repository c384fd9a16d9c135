import type pg from 'pg';
import { FLAG_BITS } from '../../contract/flags.ts';
import { WATERFALL_PARTS } from '../../dashboards/queries/slowestRequests.ts';
import type { Dimension } from '../../dashboards/variables/dimensions.ts';

/** Midnight lies inside. */
export const FROM = new Date('2026-03-09T20:00:00Z');
export const TO = new Date('2026-03-10T12:00:00Z');
/** The viewer's, whose hours differ from the database's; without summer time. */
export const TIMEZONE = 'Asia/Tokyo';
const TIMEZONE_HOURS = 9;
const HOUR_MS = 3_600_000;
const UNREGISTERED = 'nobody registered this';

/** A row as the test knows it; columns that no panel reads are left out. */
export interface Stored extends Record<`${(typeof WATERFALL_PARTS)[number]}_ns`, number | null> {
  trace_id: string;
  started_at: Date;
  day: string;
  server_ttft_ns: number | null;
  ttft_ms: number | null;
  tpot_ms: number | null;
  gap_max_ms: number | null;
  prompt_chars: number | null;
  prompt_tokens: number | null;
  output_tokens: number | null;
  status: string | null;
  seq: number | null;
  server_source: string | null;
  flags: number;
  model: string | null;
  route: string | null;
  variant: string | null;
  tier: string | null;
  region: string | null;
  device: string | null;
  connection: string | null;
  backend: string | null;
  quantization: string | null;
  decoding: string | null;
  temperature: number | null;
  batch_size: number | null;
  first_screen_ms: number | null;
  sub_stages_ns: Record<string, number> | null;
  arrivals_ms: number[] | null;
  chunk_tokens: number[] | null;
  trace_ref: string | null;
}

/** Several hundred requests of every kind, the same ones in every run. */
export function sampleRequests(): Stored[] {
  const random = randomNumbers(20260310);
  const pick = <T>(...values: T[]): T => values[Math.floor(random() * values.length)] as T;
  return Array.from({ length: 600 }, (_, index) => {
    // One in ten starts outside the range; 7 ms apart, so that no two start at once.
    // A third of them in one hour, so that a cell of the tables by hour has enough.
    const within = random() < 0.33 ? random() * HOUR_MS : random() * (TO.getTime() - FROM.getTime());
    const start = index % 10 === 0 ? TO.getTime() + 60_000 : FROM.getTime() + within;
    const startedAt = new Date(Math.floor(start / 1000) * 1000 + index);
    const hasClient = random() < 0.9;
    const hasServer = !hasClient || random() < 0.8;
    const part = () => Math.floor(random() * 400) * 250_000;
    const serverParts = {
      preprocess: part(),
      kv_load: pick(null, part()),
      queue: pick(null, part()),
      first_token: part() * 3,
      serialize: part(),
      send: part(),
      unattributed: part(),
    };
    const serverTtft = Object.values(serverParts).reduce<number>((sum, ns) => sum + (ns ?? 0), 0);
    const outside = { gateway: pick(null, part()), receive: pick(null, part()), network: part() * pick(1, 5) };
    const whole = Object.values(outside).reduce<number>((sum, ns) => sum + (ns ?? 0), serverTtft);
    return {
      trace_id: Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join(''),
      started_at: startedAt,
      // Some are received on the next day, some a little before their claimed start.
      day: isoDay(new Date(startedAt.getTime() + pick(-4 * 60_000, 0, 0, 20 * HOUR_MS))),
      gateway_ns: hasServer ? outside.gateway : null,
      receive_ns: hasServer ? outside.receive : null,
      preprocess_ns: hasServer ? serverParts.preprocess : null,
      kv_load_ns: hasServer ? serverParts.kv_load : null,
      queue_ns: hasServer ? serverParts.queue : null,
      first_token_ns: hasServer ? serverParts.first_token : null,
      serialize_ns: hasServer ? serverParts.serialize : null,
      send_ns: hasServer ? serverParts.send : null,
      unattributed_ns: hasServer ? serverParts.unattributed : null,
      network_ns: hasServer && hasClient ? outside.network : null,
      server_ttft_ns: hasServer ? serverTtft : null,
      ttft_ms: hasClient ? whole / 1e6 : null,
      tpot_ms: hasClient ? pick(null, Math.floor(random() * 800) / 4) : null,
      // Unique, so that there is one longest.
      gap_max_ms: hasClient ? pick(null, index + Math.floor(random() * 8) / 8) : null,
      prompt_chars: pick(null, Math.floor(random() * 400)),
      prompt_tokens: pick(null, Math.floor(random() * 100)),
      output_tokens: pick(null, Math.floor(random() * 100)),
      status: hasClient ? pick('complete', 'complete', 'aborted', 'streaming') : null,
      seq: hasClient ? 1 : null,
      server_source: hasServer ? pick('direct', 'echo') : null,
      flags: pick(0, 0, 0, FLAG_BITS.coalesced, FLAG_BITS.suspended, FLAG_BITS.hidden | FLAG_BITS.first_tokens_unknown),
      model: pick('llama-3.1', "o'brien", UNREGISTERED, null),
      route: pick('/api/chat', '/api/a"b', null),
      variant: pick('fp16', 'int4', null),
      tier: pick('normal', 'vip', null),
      region: pick('eu-west', 'eu-west', 'eu-west', 'ap', null),
      device: pick('mobile', 'mobile', 'desktop', 'tablet', null),
      connection: hasClient ? pick('4g', 'wifi', null) : null,
      backend: pick('gpu-01', 'gpu-02', null),
      quantization: pick('int4', 'none', null),
      decoding: pick('greedy', 'sampling', null),
      temperature: pick(0, 0.25, 0.75, 1.5, null),
      batch_size: hasServer ? pick(1, 2, 8, null) : null,
      first_screen_ms: hasClient ? pick(null, Math.floor(random() * 20_000) / 4) : null,
      sub_stages_ns: hasServer ? pick(null, { db: part(), auth: part() }, { db: part() }) : null,
      arrivals_ms: hasClient && index % 3 === 0 ? [250, 300.5, 500, 500] : null,
      chunk_tokens: hasClient && index % 6 === 0 ? [1, 4, 4, 2] : null,
      trace_ref: pick(null, `chatcmpl-${index}`, `a&b%${index}`),
    };
  });
}

export async function insertRequests(client: pg.Client, rows: readonly Stored[]): Promise<void> {
  const columns = Object.keys(rows[0] as Stored).filter((column) => !LISTS.has(column));
  const fields = columns.map((column) => `sample.${column}`).join(', ');
  await client.query(
    `INSERT INTO requests (${columns.join(', ')}, updated_at)
     SELECT ${fields}, sample.started_at FROM json_populate_recordset(NULL::requests, $1) AS sample`,
    [JSON.stringify(rows)],
  );
  await client.query(
    `INSERT INTO request_arrivals
     SELECT * FROM json_populate_recordset(NULL::request_arrivals, $1) WHERE arrivals_ms IS NOT NULL`,
    [JSON.stringify(rows)],
  );
}

/** They stand in a table of their own. */
const LISTS: ReadonlySet<string> = new Set(['arrivals_ms', 'chunk_tokens']);

export function inRange(row: Stored): boolean {
  return row.started_at >= FROM && row.started_at <= TO;
}

/** In the hours that touch the range, of which the rollups know nothing finer. */
export function inWholeHours(row: Stored): boolean {
  return row.started_at >= FROM && row.started_at.getTime() < TO.getTime() + HOUR_MS;
}

export function labelOf(row: Stored, dimension: Dimension): string {
  const value = row[dimension];
  if (value === null) return 'unknown';
  return value === UNREGISTERED ? 'other' : value;
}

export function steady(row: Stored): boolean {
  return !(row.flags & (FLAG_BITS.coalesced | FLAG_BITS.suspended));
}

export function tenSlowest(rows: readonly Stored[]): Stored[] {
  return rows
    .filter((row) => row.ttft_ms !== null && row.server_source !== null && !(row.flags & FLAG_BITS.suspended))
    .sort((a, b) => Number(b.ttft_ms) - Number(a.ttft_ms) || hex(a).localeCompare(hex(b)))
    .slice(0, 10);
}

export function dominant(row: Stored): [part: string, ns: number] {
  let largest: [string, number] = ['', -1];
  for (const part of WATERFALL_PARTS) {
    const ns = row[`${part}_ns`];
    if (ns !== null && ns > largest[1]) largest = [part, ns];
  }
  return largest;
}

export const hex = (row: Stored) => row.trace_id;
export const logId = (row: Stored) => (row.trace_ref?.startsWith('chatcmpl-') ? row.trace_ref : row.trace_id);
export const isoDay = (at: Date) => at.toISOString().slice(0, 10);
export const localHour = (row: Stored) => (row.started_at.getUTCHours() + TIMEZONE_HOURS) % 24;

/** Interpolated between the two nearest ranks, as the SQL standard's percentile_cont. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = (sorted.length - 1) * share;
  const below = sorted[Math.floor(rank)] as number;
  const above = sorted[Math.ceil(rank)] as number;
  return below + (above - below) * (rank - Math.floor(rank));
}

/** The lowest value that at least this share of the values does not exceed, as the SQL standard's percentile_disc. */
export function nearestRank(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] as number;
}

/** Numbers from 0 to 1: mulberry32, so that a failure can be repeated. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
