import { recountRollups } from '../postgres/rollupLines.ts';
import { COUNTED, type Counted } from './incarnation.ts';
import type { Ledger } from './ledger.ts';
import { type ExpectedRow, HALVES, type Requests } from './requests.ts';
import type { World } from './world.ts';

/** One promise, and whether it was kept. */
export interface Check {
  readonly promise: string;
  readonly kept: boolean;
  /** What was found, in a few words. */
  readonly found: string;
}

/** One row of `requests` with the columns that are checked. */
export type StoredRow = Readonly<Record<string, string | number | null>>;

/** Whole numbers that would come as text are read as numbers. All values that are sent fit their columns exactly. */
const ROWS = `
  SELECT r.trace_id::text, r.server_source::text, r.server_ttft_ns::float8, r.receive_ns::float8, r.preprocess_ns::float8,
    r.kv_load_ns::float8, r.first_token_ns::float8, r.serialize_ns::float8, r.send_ns::float8, r.network_ns::float8, r.model,
    r.cached_tokens, r.backend, r.status::text, r.seq, r.ttft_ms, r.end_ms, r.output_tokens, r.device::text, r.call_id,
    r.gateway_ns::float8, r.gateway_request_ms::float8, r.gateway_status::int, cardinality(a.arrivals_ms) AS arrivals
  FROM requests r LEFT JOIN request_arrivals a ON a.trace_id = r.trace_id AND a.day = r.day`;

/** Which counter counts which rows, at most. */
const ROWS_OF: Readonly<Record<Counted, string>> = {
  ttft_seconds_count: `server_source = 'direct' AND server_ttft_ns IS NOT NULL`,
  ttft_client_seconds_count: 'ttft_ms IS NOT NULL',
  streams_total: `status IS NOT NULL`,
};

/** Holds the database against what the client remembers. The services must have drained, and stand still. */
export async function checkStore(world: World, requests: Requests, ledger: Ledger): Promise<Check[]> {
  return [
    ...checkRows(await world.database.query<StoredRow>(ROWS), requests, ledger),
    ...(await checkRollups(world)),
    ...(await checkCounters(world)),
  ];
}

/** All of the table against all that was acknowledged. */
export function checkRows(stored: readonly StoredRow[], requests: Requests, ledger: Ledger): Check[] {
  const rows = new Map<number, StoredRow>();
  const found = { strangers: 0, twice: 0, unsent: 0, lost: 0, wrong: 0, acknowledged: 0 };
  let firstLost = '';
  let firstWrong = '';
  for (const row of stored) {
    const number = requests.numberOf(String(row['trace_id']));
    if (number === undefined || number >= ledger.requests) found.strangers += 1;
    else if (rows.has(number)) found.twice += 1;
    else rows.set(number, row);
  }
  for (let number = 0; number < ledger.requests; number += 1) {
    const row = rows.get(number);
    for (const half of HALVES) {
      const isThere = row !== undefined && isStored(row, half);
      // An interim beacon leaves no trace of its own under a final one.
      if (isThere && half !== 'interim' && !ledger.wasSent(number, half)) found.unsent += 1;
      if (!ledger.isAcknowledged(number, half)) continue;
      found.acknowledged += 1;
      if (isThere) continue;
      found.lost += 1;
      firstLost ||= ` (first: ${half} of ${requests.traceId(number)})`;
    }
    const wrong = row === undefined ? [] : wrongFields(row, requests.expected(number));
    if (wrong.length === 0) continue;
    found.wrong += 1;
    firstWrong ||= ` (first: ${requests.traceId(number)}, ${wrong.join(', ')})`;
  }
  return [
    {
      promise: 'every acknowledged event is stored',
      kept: found.lost === 0,
      found: `${found.acknowledged} acknowledged, ${found.lost} lost${firstLost}`,
    },
    {
      promise: 'with the values that were sent, and joined right',
      kept: found.wrong === 0,
      found: `${rows.size} rows, ${found.wrong} wrong${firstWrong}`,
    },
    { promise: 'no key has two rows', kept: found.twice === 0, found: `${found.twice} too many` },
    {
      promise: 'nothing is stored that was not sent',
      kept: found.strangers + found.unsent === 0,
      found: `${found.strangers} rows, ${found.unsent} halves`,
    },
  ];
}

function isStored(row: StoredRow, half: string): boolean {
  if (half === 'server') return row['server_source'] === 'direct';
  if (half === 'gateway') return row['gateway_status'] !== null;
  return half === 'interim' ? row['status'] !== null : row['status'] !== null && row['status'] !== 'streaming';
}

/** Names of the columns that are not as they must be, of those that the halves in the row decide. */
function wrongFields(row: StoredRow, expected: ExpectedRow): string[] {
  const server = isStored(row, 'server');
  const final = isStored(row, 'final');
  const gateway = isStored(row, 'gateway');
  const known = {
    ...(server ? expected.server : {}),
    ...(final ? expected.final : {}),
    ...(gateway ? expected.gateway : {}),
    ...(server && final && gateway ? expected.joined : {}),
  };
  return Object.entries(known).flatMap(([column, value]) => {
    const stored = row[column];
    return stored === value ? [] : [`${column} ${stored} for ${value}`];
  });
}

async function checkRollups(world: World): Promise<Check[]> {
  const views = await recountRollups(world.database.query);
  return views.map(({ view, told, recounted }) => {
    const right = new Set(recounted);
    const wrong = told.filter((line) => !right.has(line)).length + Math.abs(told.length - recounted.length);
    return {
      promise: `${view} equals a recount of the rows`,
      kept: wrong === 0,
      found: `${recounted.length} counts, ${wrong} wrong`,
    };
  });
}

/** What a Prometheus that scraped every process once a second has seen in all. */
async function checkCounters(world: World): Promise<Check[]> {
  const incarnations = world.replicas.flatMap((replica) => replica.incarnations);
  const checks: Check[] = [];
  for (const name of COUNTED) {
    const counted = incarnations.reduce((sum, incarnation) => sum + incarnation.counted(name), 0);
    const [rows] = await world.database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM requests WHERE ${ROWS_OF[name]}`,
    );
    checks.push({
      promise: `${name} of all processes is at most the rows`,
      kept: counted <= rows!.n,
      found: `${counted} of ${rows!.n}`,
    });
  }
  return checks;
}
