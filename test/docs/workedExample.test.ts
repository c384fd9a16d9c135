import { beforeAll, describe, expect, test } from 'vitest';
import { SERVER_TTFT_STAGES } from '../../contract/stages.ts';
import { joinHalf } from '../../ingest/pipeline/join.ts';
import type { RequestRow } from '../../ingest/pipeline/row.ts';
import { NO_SOURCES } from '../../ingest/pipeline/traceKey.ts';
import { type Surroundings, validateBeacon, validateServerRecord } from '../../ingest/pipeline/validate.ts';
import { fencesOf, readText, sectionOf, tableOf } from './markdown.ts';

const section = sectionOf(readText('docs/concepts.md'), 'A worked example');
const SURROUNDINGS: Surroundings = {
  receivedAtMs: Date.UTC(2026, 11, 1),
  traceIds: NO_SOURCES,
  region: null,
  carrier: null,
};

let row: RequestRow;

beforeAll(() => {
  const [server, client] = fencesOf(section).filter(({ language }) => language === 'json');
  const halves = [
    validateServerRecord(JSON.parse(server!.text), SURROUNDINGS),
    validateBeacon(JSON.parse(client!.text), SURROUNDINGS),
  ];
  let joined: RequestRow | null = null;
  for (const half of halves) {
    if (!half.ok) throw new Error(half.rejection.message);
    joined = joinHalf(joined, half.value);
  }
  row = joined!;
});

/** A stage of the row in the table's unit. */
function ms(stage: string): number | null {
  const ns = row[`${stage}_ns` as 'queue_ns'];
  return ns === null ? null : ns / 1e6;
}

describe('the worked example', () => {
  test.each(tableOf(section, 'part'))('%s takes %s ms', (stage, printed) => {
    expect(ms(stage!)).toBe(printed === 'null' ? null : Number(printed));
  });

  test('adds up', () => {
    const inside = [...SERVER_TTFT_STAGES, 'unattributed'].reduce((sum, stage) => sum + (ms(stage) ?? 0), 0);
    expect(inside).toBe(row.server_ttft_ns! / 1e6);
    expect(inside + (ms('receive') ?? 0) + (ms('gateway') ?? 0) + (ms('network') ?? 0)).toBe(row.ttft_ms);
    expect(row.flags).toBe(0);
  });

  test('says the figures that the service computes', () => {
    const prose = section.replaceAll(/\s+/g, ' ');
    expect(prose).toContain(`Server TTFT ${row.server_ttft_ns! / 1e6} (t1 to t6), client TTFT ${row.ttft_ms}`);
    expect(prose).toContain(`= ${row.tpot_ms!.toFixed(2)} ms`);
    expect(prose).toContain(`the longest gap ${row.gap_max_ms} ms`);
    expect(prose).toContain(`a standard deviation of ${row.gap_stddev_ms!.toFixed(2)} ms`);
  });

  test('draws each stage where it lies, one character for 5 ms', () => {
    const drawn = fencesOf(section).at(-1)!.text;
    for (const [stage = '', printed = ''] of tableOf(section, 'part')) {
      const bar = new RegExp(`^${stage} +${printed}  +([#|]+)$`, 'm').exec(drawn)?.[1];
      if (printed === 'null' || printed === '0') expect(bar).toBeUndefined();
      else expect(Math.abs((bar?.length ?? 0) - Number(printed) / 5), stage).toBeLessThanOrEqual(1);
    }
  });
});
