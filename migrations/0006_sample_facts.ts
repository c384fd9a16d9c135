import { type Kysely, sql } from 'kysely';

/** Facts of a sampled request that panels over days group by or take percentiles of; for the other picks they are null. */
const FACTS = {
  stands_for: ['real', 'Requests of the hour divided by those sampled of it: how many this one stands for.'],
  connection: ['connection', "The client's connection, as in requests, when it was picked."],
  status: ['stream_status', 'How the stream ended, as in requests, when it was picked.'],
  flags: ['smallint', 'Flags, as in requests, when it was picked.'],
  tpot_ms: ['real', 'Time per output token (milliseconds), when it was picked.'],
  first_screen_ms: ['real', 'Arrival of output token 50 (milliseconds), when it was picked.'],
  quantization: ['text', 'Quantisation, as in requests.'],
  decoding: ['text', 'Decoding, as in requests.'],
  temperature: ['real', 'Temperature, as in requests.'],
  sub_stages_ns: ['jsonb', 'Named pieces of work (nanoseconds), as in requests.'],
} as const;

/** Lets panels answer from the sample itself: looking up its requests one by one takes ten times as long. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const names = Object.keys(FACTS);
  const added = Object.entries(FACTS).map(([name, [type]]) => `ADD COLUMN ${name} ${type}`);
  await sql.raw(`ALTER TABLE request_picks ${added.join(', ')}`).execute(db);
  const kept = names.filter((name) => name !== 'stands_for').map((name) => `${name} = r.${name}`);
  // How many an hour had is in the rollups; what they leave out, requests of machines that slept, is few.
  await sql
    .raw(`
    WITH hours AS (
      SELECT hour, sum(n)::real AS requests FROM rollups WHERE grain = 'outcome' AND metric = 'requests' GROUP BY hour
    ), sampled AS (
      SELECT hour, count(*) AS places FROM request_picks WHERE pick = 'sample' GROUP BY hour
    )
    UPDATE request_picks p SET stands_for = greatest(1, requests / places), ${kept.join(', ')}
    FROM requests r, hours h JOIN sampled USING (hour)
    WHERE p.pick = 'sample' AND h.hour = p.hour AND r.trace_id = p.trace_id AND r.day = p.day`)
    .execute(db);
  for (const [name, [, text]] of Object.entries(FACTS))
    await sql`${sql.raw(`COMMENT ON COLUMN request_picks.${name} IS '${text.replaceAll("'", "''")}'`)}`.execute(db);
}
