import pg from 'pg';
import { FLAG_BITS, type Flag, flagsOf } from '../contract/flags.ts';
import { STAGES, type Stage } from '../contract/stages.ts';

/** A column of a duration: `unattributed` is what no known stage covers. */
export type Part = Exclude<Stage, 'render'> | 'unattributed';

/** The parts of the client's TTFT, in their order. `render` comes after it. */
export const PARTS: readonly Part[] = [...STAGES.filter((stage) => stage !== 'render'), 'unattributed'];

/** Nanoseconds of each part; null where nothing is known. */
export type PartsNs = Readonly<Record<Part, number | null>>;

/** What the database knows about the requests of a span of time. Milliseconds, and shares from 0 to 1; null without any request. */
export interface Figures {
  /** Requests with a final client half; those with a server half as well; those with the server's own record. */
  readonly finals: number;
  readonly joined: number;
  readonly direct: number;
  readonly ttftP95Ms: number | null;
  readonly ttftP999Ms: number | null;
  readonly ttftOver1sRatio: number | null;
  readonly ttftOver2sRatio: number | null;
  readonly tpotP90Ms: number | null;
  readonly tpotP999Ms: number | null;
  readonly tpotStddevMs: number | null;
  readonly streamGapMaxMs: number | null;
  readonly longestGapMs: number | null;
  /** Mean over joined requests, milliseconds. */
  readonly partsMs: PartsNs;
  readonly slowest: SlowestRequest | null;
}

export interface SlowestRequest {
  readonly traceId: string;
  readonly ttftMs: number;
  readonly model: string | null;
  readonly route: string | null;
  readonly flags: readonly Flag[];
  readonly partsNs: PartsNs;
}

/** Remarks that explain a slow request. */
const TELLING = FLAG_BITS.coalesced | FLAG_BITS.suspended | FLAG_BITS.hidden | FLAG_BITS.clock_anomaly;
const UNSTEADY = FLAG_BITS.coalesced | FLAG_BITS.suspended;

/**
 * The definitions are those of the histograms: server TTFT from the servers' own records; TPOT and gaps once a stream has ended,
 * without those that a proxy held back or whose machine slept; the standard deviation's 95th percentile over streams, and the
 * longest gap's 99th. A `day` is the day of receipt, so nothing of this run lies before its first.
 */
const FIGURES = `
  WITH recent AS (
    SELECT trace_id, model, route, flags, server_source, server_ttft_ns, ttft_ms, tpot_ms, gap_stddev_ms, gap_max_ms,
      ${PARTS.map((part) => `${part}_ns`).join(', ')},
      status <> 'streaming' AS final, server_source = 'direct' AS direct,
      status <> 'streaming' AND flags & ${UNSTEADY} = 0 AS steady,
      status <> 'streaming' AND server_ttft_ns IS NOT NULL AND ttft_ms IS NOT NULL AND flags & ${FLAG_BITS.suspended} = 0 AS whole
    FROM requests
    WHERE day >= ($1::timestamptz AT TIME ZONE 'UTC')::date AND started_at >= $1
  ), slowest AS (
    SELECT * FROM recent WHERE whole AND direct ORDER BY ttft_ms DESC LIMIT 1
  )
  SELECT
    count(*) FILTER (WHERE final)::int AS finals,
    count(*) FILTER (WHERE final AND server_source IS NOT NULL)::int AS joined,
    count(*) FILTER (WHERE final AND direct)::int AS direct,
    percentile_cont(ARRAY[0.95, 0.999]) WITHIN GROUP (ORDER BY server_ttft_ns / 1e6::float8) FILTER (WHERE direct) AS ttft_ms,
    avg((server_ttft_ns > 1e9::float8)::int) FILTER (WHERE direct)::float8 AS over_1s,
    avg((server_ttft_ns > 2e9::float8)::int) FILTER (WHERE direct)::float8 AS over_2s,
    percentile_cont(ARRAY[0.9, 0.999]) WITHIN GROUP (ORDER BY tpot_ms) FILTER (WHERE steady) AS tpot_ms,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY gap_stddev_ms) FILTER (WHERE steady) AS tpot_stddev_ms,
    percentile_cont(0.99) WITHIN GROUP (ORDER BY gap_max_ms) FILTER (WHERE steady) AS stream_gap_max_ms,
    max(gap_max_ms) FILTER (WHERE steady) AS longest_gap_ms,
    (SELECT row_to_json(slowest) FROM slowest) AS slowest,
    ${PARTS.map((part) => meanOf(part)).join(',\n    ')}
  FROM recent`;

/** A part that a request lacks took none of its time; a part that nobody reported stays null. */
function meanOf(part: Part): string {
  return `CASE WHEN count(${part}_ns) > 0 THEN (avg(coalesce(${part}_ns, 0)) FILTER (WHERE whole AND direct) / 1e6)::float8 END AS ${part}`;
}

interface Row extends PartsNs {
  readonly finals: number;
  readonly joined: number;
  readonly direct: number;
  readonly ttft_ms: readonly (number | null)[] | null;
  readonly over_1s: number | null;
  readonly over_2s: number | null;
  readonly tpot_ms: readonly (number | null)[] | null;
  readonly tpot_stddev_ms: number | null;
  readonly stream_gap_max_ms: number | null;
  readonly longest_gap_ms: number | null;
  readonly slowest: { readonly [column: string]: number | string | null } | null;
}

export interface FigureReader {
  /** The database's clock now, the only one that `since` may come from. */
  now(): Promise<Date>;
  read(since: Date): Promise<Figures>;
  close(): Promise<void>;
}

/** Reads the figures over one connection of its own. A lost connection is made again at the next reading. */
export function createFigureReader(databaseUrl: string): FigureReader {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 1,
    application_name: 'firsttoken-demo',
    statement_timeout: 5_000,
    connectionTimeoutMillis: 5_000,
  });
  // An idle connection that breaks would end the process; the next query says what is wrong.
  pool.on('error', () => undefined);
  return {
    async now() {
      const { rows } = await pool.query<{ now: Date }>('SELECT now()');
      return rows[0]!.now;
    },
    async read(since) {
      const { rows } = await pool.query<Row>(FIGURES, [since]);
      return figuresOf(rows[0]!);
    },
    close: () => pool.end(),
  };
}

function figuresOf(row: Row): Figures {
  const { slowest } = row;
  return {
    finals: row.finals,
    joined: row.joined,
    direct: row.direct,
    ttftP95Ms: row.ttft_ms?.[0] ?? null,
    ttftP999Ms: row.ttft_ms?.[1] ?? null,
    ttftOver1sRatio: row.over_1s,
    ttftOver2sRatio: row.over_2s,
    tpotP90Ms: row.tpot_ms?.[0] ?? null,
    tpotP999Ms: row.tpot_ms?.[1] ?? null,
    tpotStddevMs: row.tpot_stddev_ms,
    streamGapMaxMs: row.stream_gap_max_ms,
    longestGapMs: row.longest_gap_ms,
    partsMs: partsOf((part) => row[part]),
    slowest: slowest && {
      traceId: String(slowest['trace_id']).replaceAll('-', ''),
      ttftMs: Number(slowest['ttft_ms']),
      model: slowest['model'] as string | null,
      route: slowest['route'] as string | null,
      flags: flagsOf(Number(slowest['flags']) & TELLING),
      partsNs: partsOf((part) => slowest[`${part}_ns`] as number | null),
    },
  };
}

function partsOf(read: (part: Part) => number | null): PartsNs {
  return Object.fromEntries(PARTS.map((part) => [part, read(part)])) as Record<Part, number | null>;
}
