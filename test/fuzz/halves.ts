import { MAX_OFFSET_MS, MAX_STAGE_NS, MAX_TEXT_LENGTH } from '../../contract/limits.ts';
import { ROLLUP_GRAINS } from '../../contract/rollups.ts';
import { SERVER_STAGES } from '../../contract/stages.ts';
import { encodeTrace } from '../../ingest/export/encodeTrace.ts';
import { EXAMPLE_KEY, exampleClient, exampleServer } from '../../ingest/pipeline/exampleHalves.ts';
import type { GatewayHalf, Half } from '../../ingest/pipeline/half.ts';
import { joinHalf } from '../../ingest/pipeline/join.ts';
import { bucketRow, combinationKey, combinationOf, newRowBuckets } from '../../ingest/pipeline/rollupSamples.ts';
import type { RequestRow } from '../../ingest/pipeline/row.ts';
import { COLUMNS, writeColumn } from '../../ingest/store/columns.ts';
import { Messages } from '../../ingest/store/messages.ts';
import { expectThat } from './expectThat.ts';

const INT32_END = 2 ** 31;
const INT16_END = 2 ** 15;
const SMALLINTS = ['server_status', 'gateway_status', 'batch_size', 'flags', 'stamp_count'] as const;
const INTEGER = /tokens$|^seq$|^top_k$|^prompt_chars$/;
const CLIENT_TIMES = ['ttft_ms', 'ttft_visible_ms', 'end_ms'] as const;

/** Rows in which a half may find its request: none, one other half, all of them. */
const EXAMPLE_ROWS: readonly (RequestRow | null)[] = (() => {
  const server = exampleServer({ model: 'm', sub_stages: { db: 1 } });
  const client = exampleClient({ seq: 1, ttft_ms: 100, end_ms: 900, arrivals_ms: [100, 200], status: 'streaming' });
  const gateway: GatewayHalf = {
    kind: 'gateway',
    key: EXAMPLE_KEY,
    ref: null,
    receivedAtMs: client.receivedAtMs,
    startedAtMs: null,
    startedAtReplaced: false,
    gatewayNs: 5_000_000,
    requestMs: 1_000,
    status: 200,
  };
  const whole = joinHalf(joinHalf(joinHalf(null, server), client), gateway);
  return [null, joinHalf(null, server), joinHalf(null, client), whole];
})();

/**
 * Sends a half that passed the checks all the way that it would go, short of PostgreSQL: into rows in every state, their columns,
 * their rollups, their trace, the spool and back. What the table would refuse is a fault of the checks.
 */
export function exerciseHalf(half: Half): void {
  expectThat(/^[0-9a-f]{32}$/.test(half.key) && !/^0+$/.test(half.key), 'the key is no key');
  const spooled = JSON.parse(JSON.stringify(half)) as Half;
  for (const earlier of EXAMPLE_ROWS) {
    const row = joinHalf(copyOf(earlier), half);
    checkRow(row);
    const drained = joinHalf(copyOf(earlier), spooled);
    expectThat(encoded(row) === encoded(drained), 'the spool changes a half');
  }
}

function copyOf(row: RequestRow | null): RequestRow | null {
  return row === null ? null : { ...row };
}

const messages = new Messages();

/** As it goes to PostgreSQL. */
function encoded(row: RequestRow): string {
  messages.clear();
  for (const column of COLUMNS) writeColumn(messages, column, [row]);
  return messages.written().toString('latin1');
}

/** The conditions of the table, and the rest of a row's way. */
function checkRow(row: RequestRow): void {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'number') {
      // Engines say -1 for "all".
      const least = name === 'top_k' ? -1 : 0;
      expectThat(Number.isFinite(value) && value >= least, `${name} is negative or not finite`);
      expectThat(!name.endsWith('_ns') || Number.isSafeInteger(value), `${name} is no whole number`);
      expectThat(!INTEGER.test(name) || (Number.isInteger(value) && value < INT32_END), `${name} does not fit`);
    } else if (typeof value === 'string') {
      expectThat(value.isWellFormed() && !value.includes('\0'), `${name} cannot be stored`);
      expectThat(value.length <= MAX_TEXT_LENGTH || [...value].length <= MAX_TEXT_LENGTH, `${name} is too long`);
    }
  }
  for (const name of SMALLINTS) {
    const value = row[name] ?? 0;
    expectThat(Number.isInteger(value) && value < INT16_END, `${name} does not fit`);
  }
  for (const stage of SERVER_STAGES) expectThat((row[`${stage}_ns`] ?? 0) <= MAX_STAGE_NS, `${stage} is too long`);
  for (const name of CLIENT_TIMES) expectThat((row[name] ?? 0) <= MAX_OFFSET_MS, `${name} is too long`);
  for (const tokens of row.chunk_tokens ?? []) expectThat(tokens < INT16_END, 'a chunk has too many tokens');
  for (const [name, ns] of Object.entries(row.sub_stages_ns ?? {})) {
    expectThat(name.isWellFormed() && !name.includes('\0'), 'the name of a sub-stage cannot be stored');
    expectThat(Number.isSafeInteger(ns) && ns >= 0, 'a sub-stage is no duration');
  }
  expectThat((row.status === null) === (row.seq === null), 'a client half without its seq');
  bucketRow(row, BUCKETS);
  for (const grain of GRAINS) combinationKey(combinationOf(grain, row));
  JSON.parse(`[${encodeTrace(row)}]`);
}

const BUCKETS = newRowBuckets();
const GRAINS = Object.keys(ROLLUP_GRAINS) as (keyof typeof ROLLUP_GRAINS)[];
