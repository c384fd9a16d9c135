import { type Kysely, sql } from 'kysely';

const COMMENTS: readonly (readonly [string, string])[] = [
  [
    'TABLE request_picks',
    'Requests of each closed hour that panels over days show: the slowest, those with the longest gaps, and a sample. The rest of them is in requests.',
  ],
  ['COLUMN request_picks.hour', 'Hour in UTC in which the request started.'],
  ['COLUMN request_picks.pick', 'What it was picked as: slowest, longest_gap or sample.'],
  ['COLUMN request_picks.place', 'Its place among those of the hour, from 1; of a sample, a random one.'],
  ['COLUMN request_picks.trace_id', 'Key of the request, as in requests.'],
  ['COLUMN request_picks.day', 'Day of the request, as in requests.'],
  ['COLUMN request_picks.started_at', 'Start of the request.'],
  ['COLUMN request_picks.ttft_ms', 'Client time to first token (milliseconds), when it was picked.'],
  ['COLUMN request_picks.gap_max_ms', 'Longest gap (milliseconds), when it was picked.'],
  ['COLUMN request_picks.model', 'Model, as in requests.'],
  ['COLUMN request_picks.route', 'Route, as in requests.'],
  ['COLUMN request_picks.variant', 'Variant, as in requests.'],
  ['COLUMN request_picks.tier', 'Tier, as in requests.'],
  ['COLUMN request_picks.region', 'Region, as in requests.'],
  ['COLUMN request_picks.device', 'Device, as in requests.'],
  ['TABLE request_picks_progress', 'One row: how far the picks are made.'],
  ['COLUMN request_picks_progress.only_row', 'Always true.'],
  [
    'COLUMN request_picks_progress.picked_before',
    'Hours that begin before this are picked; later requests are read from requests.',
  ],
];

/** The slowest requests, the longest gaps and a sample of each hour. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE request_picks (
      hour timestamptz NOT NULL,
      pick text NOT NULL CONSTRAINT known_pick CHECK (pick IN ('slowest', 'longest_gap', 'sample')),
      place smallint NOT NULL CONSTRAINT places_from_1 CHECK (place >= 1),
      trace_id uuid NOT NULL,
      day date NOT NULL,
      started_at timestamptz NOT NULL,
      ttft_ms double precision,
      gap_max_ms real,
      model text,
      route text,
      variant text,
      tier text,
      region text,
      device device,
      PRIMARY KEY (pick, hour, place),
      CONSTRAINT whole_hour CHECK (extract(epoch FROM hour) % 3600 = 0)
    )`.execute(db);
  await sql`
    CREATE TABLE request_picks_progress (
      only_row boolean PRIMARY KEY DEFAULT true CONSTRAINT one_row CHECK (only_row),
      picked_before timestamptz NOT NULL
    )`.execute(db);
  await sql`INSERT INTO request_picks_progress (picked_before) VALUES ('-infinity')`.execute(db);
  for (const [object, text] of COMMENTS)
    await sql`${sql.raw(`COMMENT ON ${object} IS '${text.replaceAll("'", "''")}'`)}`.execute(db);
  await sql`
    DO $$ BEGIN
      IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'grafana_reader') THEN
        GRANT SELECT ON request_picks, request_picks_progress TO grafana_reader;
      END IF;
    END $$`.execute(db);
}
