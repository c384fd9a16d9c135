import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_SOURCES } from '../../ingest/pipeline/traceKey.ts';
import { validateBeacon, validateServerRecord } from '../../ingest/pipeline/validate.ts';
import { validateGatewayLine } from '../../ingest/pipeline/validateGatewayLine.ts';
import { Requests } from './requests.ts';

const AROUND = { receivedAtMs: Date.UTC(2026, 11, 1), traceIds: NO_SOURCES, region: null, carrier: null };

test('every event that a run makes up is a valid one, and says what is expected of its row', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 31), fc.nat(10_000_000), (seed, number) => {
      const requests = new Requests(seed);
      const server = validateServerRecord(requests.event(number, 'server'), AROUND);
      const interim = validateBeacon(requests.event(number, 'interim'), AROUND);
      const final = validateBeacon(requests.event(number, 'final'), AROUND);
      const gateway = validateGatewayLine(requests.event(number, 'gateway'), AROUND.receivedAtMs);
      if (!server.ok || !interim.ok || !final.ok || !gateway.ok) throw new Error('not valid');
      const expected = requests.expected(number);
      expect(server.value.ttftNs).toBe(expected.server['server_ttft_ns']);
      expect(final.value.ttftMs).toBe(interim.value.ttftMs);
      expect(final.value.seq).toBeGreaterThan(interim.value.seq);
      expect(gateway.value.gatewayNs).toBe(expected.gateway['gateway_ns']);
      expect(expected.joined['network_ns']).toBeGreaterThan(0);
      expect(requests.numberOf(requests.traceId(number))).toBe(number);
    }),
  );
});
