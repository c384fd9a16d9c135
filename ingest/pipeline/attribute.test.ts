import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FLAG_BITS } from '../../contract/flags.ts';
import { SERVER_TTFT_STAGES } from '../../contract/stages.ts';
import { attribute, hiddenTaxNs } from './attribute.ts';
import { newRow, type RequestRow } from './row.ts';

function rowOf(fields: Partial<RequestRow>): RequestRow {
  const row = { ...newRow({ traceId: 'a'.repeat(32), startedAtMs: 0 }), ...fields };
  attribute(row);
  return row;
}

const isAnomaly = (row: RequestRow) => (row.flags & FLAG_BITS.clock_anomaly) !== 0;

describe('both halves', () => {
  test('the worked example: 19 ns of server in 412.3 ms of client', () => {
    const row = rowOf({
      ttft_ms: 412.3,
      server_ttft_ns: 19,
      receive_ns: 2,
      preprocess_ns: 3,
      kv_load_ns: 5,
      first_token_ns: 1,
      serialize_ns: 7,
      send_ns: 3,
    });
    expect(row).toMatchObject({ network_ns: 412_299_979, unattributed_ns: 0, flags: 0 });
    expect(hiddenTaxNs(row)).toBe(412_299_981);
  });

  test('a held-back stream: the difference is the network', () => {
    expect(rowOf({ ttft_ms: 2_760, server_ttft_ns: 500e6 })).toMatchObject({
      network_ns: 2_260e6,
      unattributed_ns: 500e6,
    });
  });

  test('receive and gateway are taken out of the network, as far as they are known', () => {
    const both = { ttft_ms: 100, server_ttft_ns: 50e6 };
    expect(rowOf({ ...both, receive_ns: 10e6 }).network_ns).toBe(40e6);
    expect(rowOf({ ...both, receive_ns: 10e6, gateway_ns: 15e6 }).network_ns).toBe(25e6);
    expect(rowOf(both).network_ns).toBe(50e6);
  });

  test('a client sooner than its server: 0 and flagged', () => {
    const row = rowOf({ ttft_ms: 10, server_ttft_ns: 20e6 });
    expect(row).toMatchObject({ network_ns: 0, unattributed_ns: 20e6 });
    expect(isAnomaly(row)).toBe(true);
    expect(hiddenTaxNs(row)).toBe(-10e6);
  });

  test('no network at all is no anomaly', () => {
    const row = rowOf({ ttft_ms: 30, server_ttft_ns: 20e6, receive_ns: 10e6 });
    expect(row.network_ns).toBe(0);
    expect(isAnomaly(row)).toBe(false);
  });

  test('the flag goes when better facts come', () => {
    const row = rowOf({ ttft_ms: 10, server_ttft_ns: 20e6, flags: FLAG_BITS.hidden });
    row.server_ttft_ns = 5e6;
    attribute(row);
    expect(row).toMatchObject({ flags: FLAG_BITS.hidden, network_ns: 5e6 });
  });
});

describe('one half', () => {
  test('a server alone: its own account, no network', () => {
    expect(rowOf({ server_ttft_ns: 20, kv_load_ns: 5, receive_ns: 100 })).toMatchObject({
      network_ns: null,
      unattributed_ns: 15,
    });
  });

  test('a client alone: all of it is unattributed', () => {
    expect(rowOf({ ttft_ms: 100 })).toMatchObject({ network_ns: null, unattributed_ns: 100e6 });
  });

  test('a client and a server without a TTFT: less what is known, at least 0', () => {
    const named = { first_token_ns: 60e6, receive_ns: 5e6, gateway_ns: 1e6 };
    expect(rowOf({ ttft_ms: 100, ...named })).toMatchObject({ network_ns: null, unattributed_ns: 34e6 });
    expect(rowOf({ ttft_ms: 50, ...named })).toMatchObject({ network_ns: null, unattributed_ns: 0 });
  });

  test('nothing known: null, not 0', () => {
    expect(rowOf({ first_token_ns: 5 })).toMatchObject({ network_ns: null, unattributed_ns: null });
    expect(hiddenTaxNs(rowOf({ ttft_ms: 5 }))).toBeNull();
    expect(hiddenTaxNs(rowOf({ server_ttft_ns: 5 }))).toBeNull();
  });
});

test('the parts are the client TTFT to the nanosecond; under an anomaly, the server TTFT and what is around it', () => {
  const ns = fc.option(fc.nat(2_000_000_000));
  const stages = fc.record({
    preprocess_ns: ns,
    kv_load_ns: ns,
    queue_ns: ns,
    first_token_ns: ns,
    serialize_ns: ns,
    send_ns: ns,
  });
  const around = fc.record({ receive_ns: ns, gateway_ns: ns });
  const ttftMs = fc.double({ min: 0, max: 86_400_000, noNaN: true });
  fc.assert(
    fc.property(stages, around, ttftMs, fc.nat(2_000_000_000), (within, outside, ttft_ms, uncovered) => {
      const covered = SERVER_TTFT_STAGES.reduce((sum, stage) => sum + (within[`${stage}_ns`] ?? 0), 0);
      const row = rowOf({ ...within, ...outside, ttft_ms, server_ttft_ns: covered + uncovered });
      expect(row.unattributed_ns).toBe(uncovered);
      const aroundNs = (row.receive_ns ?? 0) + (row.gateway_ns ?? 0);
      const whole = row.network_ns! + aroundNs + covered + row.unattributed_ns!;
      expect(row.network_ns).toBeGreaterThanOrEqual(0);
      if (isAnomaly(row)) {
        expect(whole).toBe(row.server_ttft_ns! + aroundNs);
        expect(whole).toBeGreaterThan(Math.round(ttft_ms * 1e6));
      } else expect(whole).toBe(Math.round(ttft_ms * 1e6));
    }),
    { numRuns: 500 },
  );
});
