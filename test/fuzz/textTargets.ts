import { parseUpstreamStatus, parseUpstreamTimes } from '../../contract/gatewayLog.ts';
import { MAX_SERVER_TIMING_LENGTH, MAX_STAGE_NS } from '../../contract/limits.ts';
import { parseServerTiming } from '../../contract/serverTiming.ts';
import { parseTimingTrace, STAMPED_STAGES } from '../../contract/timingTrace.ts';
import { parseTraceparent } from '../../contract/traceId.ts';
import type { Random } from '../../demo/random.ts';
import { readServerTimes } from '../../ingest/pipeline/serverStages.ts';
import { readKey } from '../../ingest/pipeline/traceKey.ts';
import { SERVER_TIMINGS, TIMING_TRACES, TRACE_IDS, TRACEPARENTS } from './corpus.ts';
import { chance, pick } from './draw.ts';
import { expectThat } from './expectThat.ts';
import { mutateBytes } from './mutateBytes.ts';
import { NASTY_NUMBERS, NASTY_TEXTS } from './nasty.ts';
import { checkRefusal } from './refusals.ts';
import type { FuzzTarget } from './target.ts';

const WORDS = [...NASTY_TEXTS, ...NASTY_NUMBERS, ',', ';', '=', '"', '\\', ':', '-', ' ', '\t', 'dur', 'desc', '0'];

function textOf(seeds: readonly string[]): (random: Random) => Buffer {
  return (random) => {
    const text = chance(random, 0.1) ? pick(random, NASTY_TEXTS) : pick(random, seeds);
    return mutateBytes(Buffer.from(text), random, WORDS);
  };
}

export const TEXT_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'X-Timing-Trace',
    weight: 2,
    make: textOf(TIMING_TRACES),
    check(input) {
      const text = input.toString('latin1');
      const trace = checkRefusal(parseTimingTrace(text));
      if (trace === undefined) return;
      const stamps = text.split(',').map((stamp) => BigInt(stamp.trim()));
      expectThat(stamps.length === 7, 'not seven stamps');
      for (const [index, stage] of STAMPED_STAGES.entries()) {
        const ns = trace.stagesNs[stage];
        const [from, to] = [stamps[index]!, stamps[index + 1]!];
        expectThat(ns === (from === 0n || to === 0n ? null : Number(to - from)), `${stage} is wrong`);
        expectThat(ns === null || (ns >= 0 && ns <= MAX_STAGE_NS), `${stage} is out of bounds`);
      }
      expectThat(trace.ttftNs === null || trace.ttftNs >= 0, 'a negative TTFT');
    },
  },
  {
    name: 'Server-Timing',
    weight: 2,
    make: textOf(SERVER_TIMINGS),
    check(input) {
      const text = input.toString('latin1').slice(0, 2 * MAX_SERVER_TIMING_LENGTH);
      for (const { name, dur, measured } of parseServerTiming(text)) {
        expectThat(name !== '' && Number.isFinite(dur), 'an entry without name or with no number');
        expectThat(!measured || dur >= 0, 'a negative measurement');
      }
      checkRefusal(readServerTimes(null, text, null));
    },
  },
  {
    name: 'trace ids',
    weight: 2,
    make: textOf(TRACE_IDS),
    check(input) {
      for (const text of [input.toString('latin1'), input.toString('utf8')]) {
        for (const format of ['default', 'datadog'] as const) {
          const key = checkRefusal(readKey(text, format));
          if (key === undefined) continue;
          expectThat(/^[0-9a-f]{32}$/.test(key.key) && !/^0+$/.test(key.key), 'a key that is none');
          expectThat(key.ref === null ? key.key === text : key.ref === text, 'the spelling was not kept');
          const again = checkRefusal(readKey(key.key, 'default'));
          expectThat(again?.key === key.key, 'a key does not lead to itself');
        }
      }
    },
  },
  {
    name: 'traceparent',
    weight: 1,
    make: textOf(TRACEPARENTS),
    check(input) {
      const parent = checkRefusal(parseTraceparent(input.toString('latin1')));
      if (parent === undefined) return;
      expectThat(/^(?!0{32})[0-9a-f]{32}$/.test(parent.traceId), 'a trace id that is none');
      expectThat(/^(?!0{16})[0-9a-f]{16}$/.test(parent.parentId), 'a parent that is none');
    },
  },
  {
    name: "nginx's times",
    weight: 1,
    make: textOf(['0.010, 0.200', '-', '0.002, -, 0.150', '0.001, 0.002 : 0.003', '"0.004"', '502, -, 200']),
    check(input) {
      const text = input.toString('utf8');
      for (const ms of parseUpstreamTimes(text)?.flat() ?? [])
        expectThat(ms === null || (Number.isSafeInteger(ms) && ms >= 0), 'a time that is none');
      const status = parseUpstreamStatus(text);
      expectThat(status === null || (status >= 100 && status <= 599), 'a status that is none');
    },
  },
];
