import { MAX_BODY_BYTES, MAX_EVENTS } from '../../contract/limits.ts';
import type { Result } from '../../contract/rejections.ts';
import type { Random } from '../../demo/random.ts';
import { parseBody } from '../../ingest/pipeline/body.ts';
import type { Half } from '../../ingest/pipeline/half.ts';
import { linesOfOtlpLogs } from '../../ingest/pipeline/otlpLogs.ts';
import { NO_SOURCES } from '../../ingest/pipeline/traceKey.ts';
import { validateBeacon, validateServerRecord } from '../../ingest/pipeline/validate.ts';
import { validateGatewayLine } from '../../ingest/pipeline/validateGatewayLine.ts';
import { BEACONS, GATEWAY_LINES, OTLP_LOGS, SERVER_RECORDS } from './corpus.ts';
import { chance, pick, upTo } from './draw.ts';
import { expectThat } from './expectThat.ts';
import { exerciseHalf } from './halves.ts';
import { mutateBytes } from './mutateBytes.ts';
import { mutateTree } from './mutateTree.ts';
import { NASTY_NUMBERS, NASTY_TEXTS } from './nasty.ts';
import { checkRefusal } from './refusals.ts';
import type { FuzzTarget } from './target.ts';

/** As received with the golden payloads, so that their stated starts are credible. */
const RECEIVED_AT_MS = 1_785_491_532_000;
const AROUND = { receivedAtMs: RECEIVED_AT_MS, traceIds: NO_SOURCES, region: null, carrier: null };

/** What stands between values, and what looks as if it did. */
export const JSON_WORDS: readonly (string | Buffer)[] = [
  ...NASTY_TEXTS.map((text) => JSON.stringify(text)),
  ...NASTY_NUMBERS,
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\u0000',
  '\\ud800',
  '\\',
  '\n',
  '\r\n',
  '{"__proto__":{"polluted":1}}',
  '"constructor":{"prototype":{"polluted":1}}',
  '/*',
  '//',
  'NaN',
  "'",
  Buffer.from([0xff, 0xfe]),
  Buffer.from([0xc0, 0x80]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xef, 0xbb, 0xbf]),
  Buffer.from([0]),
];

/** One body: one value, an array or lines, changed in its structure, in its bytes, or in both. */
export function makeBody(seeds: readonly unknown[], random: Random): Buffer {
  const values = Array.from({ length: chance(random, 0.7) ? 1 : 1 + upTo(random, 5) }, () =>
    chance(random, 0.8) ? mutateTree(pick(random, seeds), random) : JSON.stringify(pick(random, seeds)),
  );
  let text = values.length === 1 ? values[0]! : chance(random, 0.5) ? values.join('\n') : `[${values.join()}]`;
  // Now and then as long as a body may be.
  if (chance(random, 0.0005)) text = `${text}\n`.repeat(Math.ceil(MAX_BODY_BYTES / (text.length + 1)));
  const bytes = Buffer.from(text);
  return chance(random, 0.15) ? mutateBytes(bytes, random, JSON_WORDS) : bytes;
}

function eventsTarget(
  name: string,
  weight: number,
  seeds: readonly unknown[],
  validate: (value: unknown) => Result<Half>,
): FuzzTarget {
  return {
    name,
    weight,
    make: (random) => makeBody(seeds, random),
    check(input) {
      const events = checkRefusal(parseBody(input)) ?? [];
      expectThat(events.length <= MAX_EVENTS, 'too many events');
      let exercised = 0;
      for (const event of events) {
        if (!('value' in event)) continue;
        const half = checkRefusal(validate(event.value));
        // Of thousands that are alike, a few are enough.
        if (half !== undefined && exercised++ < 8) exerciseHalf(half);
      }
    },
  };
}

export const BODY_TARGETS: readonly FuzzTarget[] = [
  eventsTarget('beacons', 4, BEACONS, (value) => validateBeacon(value, AROUND)),
  eventsTarget('server records', 4, SERVER_RECORDS, (value) => validateServerRecord(value, AROUND)),
  eventsTarget('gateway lines', 2, GATEWAY_LINES, (value) => validateGatewayLine(value, RECEIVED_AT_MS)),
  {
    name: 'OTLP logs',
    weight: 1,
    make: (random) => makeBody(OTLP_LOGS, random),
    check(input) {
      const events = checkRefusal(parseBody(input)) ?? [];
      const [first] = events;
      if (first === undefined || !('value' in first)) return;
      for (const line of checkRefusal(linesOfOtlpLogs(first.value)) ?? []) {
        const half = 'value' in line ? checkRefusal(validateGatewayLine(line.value, RECEIVED_AT_MS)) : undefined;
        if (half !== undefined) exerciseHalf(half);
      }
    },
  },
];
