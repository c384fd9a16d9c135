import { setTimeout as wait } from 'node:timers/promises';
import type { Beacon } from '../contract/beacon.ts';
import type { AcceptedAnswer, ErrorAnswer } from '../contract/request.ts';

/** Attempts for a beacon that could not be handed over: no connection, 429 or 503. Beacons carry `seq`, so repeating one is safe. */
const ATTEMPTS = 4;
const RETRY_AFTER_MS = 500;
const ANSWER_WITHIN_MS = 10_000;

export interface BeaconSender {
  send(beacon: Beacon): Promise<void>;
  /** Traces whose final beacon the service took: durable. */
  readonly finalTraces: number;
  /** Refused beacons by the code of the refusal. */
  readonly rejected: ReadonlyMap<string, number>;
  /** Beacons that never got an answer. */
  readonly lost: number;
}

/** Posts beacons as `navigator.sendBeacon` does: JSON as text/plain, which needs no CORS preflight. */
export function createBeaconSender(publicUrl: string): BeaconSender {
  const rejected = new Map<string, number>();
  let finalTraces = 0;
  let lost = 0;

  const post = (body: string): Promise<Response> =>
    fetch(`${publicUrl}/v1/beacons`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain;charset=UTF-8' },
      body,
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });

  const read = async (response: Response, final: boolean): Promise<void> => {
    const answer = (await response.json()) as Partial<AcceptedAnswer & ErrorAnswer>;
    if (response.status === 202 && answer.accepted === 1) {
      if (final) finalTraces++;
      return;
    }
    const code = answer.rejected?.[0]?.code ?? answer.error?.code ?? `status ${response.status}`;
    rejected.set(code, (rejected.get(code) ?? 0) + 1);
  };

  return {
    async send(beacon) {
      const body = JSON.stringify(beacon);
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        try {
          const response = await post(body);
          const again = response.status === 429 || response.status === 503;
          if (!again || attempt === ATTEMPTS) return await read(response, beacon.status !== 'streaming');
          await response.body?.cancel();
        } catch {
          // No connection, or none that lasted.
        }
        if (attempt < ATTEMPTS) await wait(RETRY_AFTER_MS);
      }
      lost++;
    },
    get finalTraces() {
      return finalTraces;
    },
    rejected,
    get lost() {
      return lost;
    },
  };
}
