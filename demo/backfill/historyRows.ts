import { LABELS_OF_PLANS } from '../plan.ts';

/** What says of each such row that nobody ever sent it. */
export const SYNTHETIC = 'synthetic history';

/** A regional bad hour: links to this region are four times as slow. */
const BAD_REGION = 'ap-south';
const BAD_HOUR_UTC = 14;
/** A job of the night makes the database slow. */
const SLOW_DB_HOUR_UTC = 3;

/** One of these by a number from 0 to 1, each as often as its weight says. */
function weighted(draw: string, choices: readonly (readonly [string, number])[]): string {
  const total = choices.reduce((sum, [, weight]) => sum + weight, 0);
  let upTo = 0;
  const cases = choices.map(([value, weight]) => {
    upTo += weight;
    return `WHEN ${draw} < ${upTo / total} THEN '${value}'`;
  });
  return `CASE ${cases.slice(0, -1).join(' ')} ELSE '${choices.at(-1)![0]}' END`;
}

/** Log-normal, by its median and the ratio of its 90th percentile to that. */
function spread(medianMs: number, p90Ratio: number): string {
  const sigma = Math.log(p90Ratio) / 1.2816;
  // Box and Muller: PostgreSQL 15 has no normal draws of its own.
  return `${medianMs} * exp(${sigma.toFixed(4)} * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))`;
}

const [MODEL, ROUTE, VARIANT, TIER, REGION] = [
  LABELS_OF_PLANS.model,
  LABELS_OF_PLANS.route,
  LABELS_OF_PLANS.variant,
  LABELS_OF_PLANS.tier,
  LABELS_OF_PLANS.region,
].map((values) => values.map((value, at) => [value, values.length - at] as const));

/**
 * Inserts the requests of one hour, with both halves, settled. Draws follow from the seed that the session has set. The load of an hour
 * lengthens its queue.
 *
 * $1: hour, $2: how many, $3: load (1 is the mean of a day), $4: begin of ids, $5: whether it is the bad hour of its region,
 * $6: latest start
 */
export const INSERT_HOUR = `
  WITH drawn AS (
    SELECT i, $1::timestamptz + least(random() * interval '1 hour', $6::timestamptz - $1::timestamptz) AS started_at,
      random() AS m, random() AS ro, random() AS va, random() AS ti, random() AS re, random() AS de, random() AS en, random() AS q,
      ${spread(0.3, 2)} AS receive, ${spread(280, 1.5)} AS preprocess, ${spread(139, 1.5)} AS kv_load,
      ${spread(40, 4)} AS waited, ${spread(25, 1.7)} AS forward, ${spread(6, 2)} AS serialize, ${spread(0.02, 2)} AS send,
      ${spread(24, 2)} AS gateway, ${spread(60, 2.5)} AS network, ${spread(8, 2)} AS render, ${spread(80, 1.18)} AS tpot,
      ${spread(45, 1.9)} AS tokens, ${spread(90, 3)} AS chars, ${spread(420, 1.6)} AS query
    FROM generate_series(1, $2::integer) AS i
  ), labelled AS (
    SELECT *, ${weighted('m', MODEL!)} AS model, ${weighted('ro', ROUTE!)} AS route, ${weighted('va', VARIANT!)} AS variant,
      ${weighted('ti', TIER!)} AS tier, ${weighted('re', REGION!)} AS region,
      ${weighted('de', [
        ['desktop', 55],
        ['mobile', 35],
        ['tablet', 10],
      ])} AS device,
      ${weighted('en', [
        ['complete', 93],
        ['aborted', 4],
        ['truncated', 2],
        ['error', 1],
      ])} AS status,
      greatest(2, least(4000, tokens))::integer AS output_tokens,
      CASE WHEN extract(hour FROM $1::timestamptz AT TIME ZONE 'UTC') = ${SLOW_DB_HOUR_UTC} AND q > 0.4 THEN query END AS db,
      CASE WHEN q < 0.2 THEN 0 ELSE waited * greatest(1, $3::float8 ^ 3) END AS queue
    FROM drawn
  ), timed AS (
    SELECT *, round(receive * 1e6)::bigint AS receive_ns, round((preprocess + coalesce(db, 0)) * 1e6)::bigint AS preprocess_ns,
      round(kv_load * 1e6)::bigint AS kv_load_ns, round(least(queue, 600000) * 1e6)::bigint AS queue_ns,
      round(forward * 1e6)::bigint AS first_token_ns, round(serialize * 1e6)::bigint AS serialize_ns, round(send * 1e6)::bigint AS send_ns,
      round(gateway * 1e6)::bigint AS gateway_ns, round(render * 1e6)::bigint AS render_ns,
      round(network * CASE WHEN $5 AND region = '${BAD_REGION}' THEN 4 ELSE 1 END * CASE WHEN device = 'mobile' THEN 2 ELSE 1 END * 1e6)::bigint AS network_ns
    FROM labelled
  ), summed AS (
    SELECT *, preprocess_ns + kv_load_ns + queue_ns + first_token_ns + serialize_ns + send_ns AS server_ttft_ns FROM timed
  ), ended AS (
    SELECT *, (server_ttft_ns + receive_ns + gateway_ns + network_ns) / 1e6 AS ttft_ms FROM summed
  )
  INSERT INTO requests (trace_id, started_at, updated_at, day, receive_ns, preprocess_ns, kv_load_ns, queue_ns, first_token_ns,
    serialize_ns, send_ns, server_ttft_ns, unattributed_ns, gateway_ns, network_ns, render_ns, ttft_ms, ttft_visible_ms, end_ms, seq,
    output_tokens, prompt_tokens, cached_tokens, prompt_chars, server_output_tokens, tpot_ms, gap_max_ms, gap_mean_ms, gap_stddev_ms,
    first20_mean_ms, window10_stddev_max_ms, first_screen_ms, render_p50_ms, render_max_ms, status, output_tokens_source, device, connection,
    server_source, server_status, gateway_status, batch_size, direct_fields, stamp_count, settled, ttft_basis, model, route, variant, tier,
    backend, region, quantization, decoding, call_id, sub_stages_ns)
  SELECT md5($4 || i)::uuid, started_at, started_at + interval '1 minute', (started_at AT TIME ZONE 'UTC')::date,
    receive_ns, preprocess_ns, kv_load_ns, queue_ns, first_token_ns, serialize_ns, send_ns, server_ttft_ns, 0, gateway_ns, network_ns, render_ns,
    ttft_ms, ttft_ms, ttft_ms + tpot * (output_tokens - 1), 1,
    output_tokens, greatest(1, chars / 4)::integer, (chars / 8)::integer, least(chars, 100000)::integer, output_tokens, tpot,
    tpot * (2 + 3 * q), tpot, tpot * (0.2 + 0.4 * q), tpot * 1.02, tpot * (0.4 + 0.6 * q), CASE WHEN output_tokens >= 50 THEN ttft_ms + tpot * 49 END,
    render, render * 3, status::stream_status, 'usage', device::device,
    (CASE device WHEN 'mobile' THEN CASE WHEN q < 0.3 THEN '5g' WHEN q < 0.9 THEN '4g' ELSE '3g' END WHEN 'desktop' THEN
      CASE WHEN q < 0.4 THEN 'ethernet' ELSE 'wifi' END ELSE 'wifi' END)::connection,
    'direct', 200, 200, (1 + 7 * q)::smallint, 31, 7, true, 't1-t6', model, route, variant, tier, 'gpu-0' || (1 + i % 4), region, variant,
    CASE WHEN q < 0.3 THEN 'sampling' ELSE 'greedy' END, '${SYNTHETIC}',
    CASE WHEN db IS NOT NULL THEN jsonb_build_object('db', round(db * 1e6)::bigint) END
  FROM ended`;

/** Arrivals of some of a day's synthetic streams. $1: day, $2: share */
export const INSERT_ARRIVALS = `
  INSERT INTO request_arrivals (trace_id, day, arrivals_ms, chunk_tokens)
  SELECT trace_id, day,
    (SELECT array_agg((ttft_ms + tpot_ms * (n - 1) * (0.98 + 0.04 * random()))::real ORDER BY n) FROM generate_series(1, output_tokens) AS n),
    array_fill(1::smallint, ARRAY[output_tokens])
  FROM requests WHERE day = $1 AND call_id = '${SYNTHETIC}' AND random() < $2
  ON CONFLICT DO NOTHING`;

export function isBadHour(hour: Date): boolean {
  // Once in three days.
  return hour.getUTCHours() === BAD_HOUR_UTC && Math.floor(hour.getTime() / 86_400_000) % 3 === 0;
}
