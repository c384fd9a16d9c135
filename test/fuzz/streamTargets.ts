import { isDeepStrictEqual } from 'node:util';
import { createSseReader, type SseEvent } from '../../contract/sse.ts';
import { TOKEN_PRESETS } from '../../contract/tokens.ts';
import { readEngineFacts } from '../../middleware/node/engineFacts.ts';
import { STREAMS } from './corpus.ts';
import { chance, pick, upTo } from './draw.ts';
import { expectThat } from './expectThat.ts';
import { mutateBytes } from './mutateBytes.ts';
import { mutateTree } from './mutateTree.ts';
import { NASTY_TEXTS } from './nasty.ts';
import type { FuzzTarget } from './target.ts';

const WORDS: readonly (string | Buffer)[] = [
  ...NASTY_TEXTS,
  'data:',
  'event: firsttoken\n',
  'id: \0\n',
  '\r',
  '\n',
  '\r\n',
  '\n\n',
  ': ',
  'data: [DONE]\n\n',
  Buffer.from([0xe5, 0x8c]),
  Buffer.from([0xf0, 0x9f, 0x8c]),
  Buffer.from([0xff]),
];
/** Small, so that also short streams meet it. */
const MAX_EVENT_CHARACTERS = 300;

/** All events of a stream that comes in pieces of `cut` bytes. */
function read(input: Buffer, cut: number): SseEvent[] {
  const events: SseEvent[] = [];
  const reader = createSseReader((event) => events.push(event), MAX_EVENT_CHARACTERS);
  for (let at = 0; at < input.length; at += cut) reader.push(input.subarray(at, at + cut));
  reader.end();
  return events;
}

const ENGINE_ANSWERS = [
  { metrics: { queue_time_ms: 41.2, time_to_first_token_ms: 80, arrival_time: 1, first_scheduled_time: 2 }, usage: {} },
  { choices: [{ meta_info: { prefill_waiting_latency: 0.1, prefill_launch_latency: 0.2, completion_tokens: 9 } }] },
  { response: { metrics: { queued_ts: 1, scheduled_ts: 2, first_token_ts: 3 } } },
];

export const STREAM_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'event streams',
    weight: 2,
    make(random) {
      const stream = chance(random, 0.3)
        ? Buffer.from(`data: ${mutateTree(streamedJson(pick(random, STREAMS)), random)}\n\n`)
        : Buffer.from(pick(random, STREAMS) + pick(random, STREAMS));
      return mutateBytes(stream, random, WORDS);
    },
    check(input) {
      const whole = read(input, input.length || 1);
      for (const cut of [1, 2, 3, 7, 1 + (input.length >> 1)])
        expectThat(isDeepStrictEqual(read(input, cut), whole), `events depend on the cut of the chunks (${cut})`);
      for (const event of whole) {
        for (const preset of Object.values(TOKEN_PRESETS)) {
          const { tokenCount, usage, visible, reasoning, token } = preset(event);
          expectThat(token || (!visible && !reasoning), 'visible and yet no token');
          for (const count of [tokenCount, usage?.outputTokens, usage?.promptTokens])
            expectThat(count === undefined || (Number.isInteger(count) && count >= 0), 'a count that is none');
        }
      }
    },
  },
  {
    name: "engines' facts",
    weight: 1,
    make: (random) => {
      const text = mutateTree(pick(random, ENGINE_ANSWERS), random);
      return upTo(random, 3) === 0 ? mutateBytes(Buffer.from(text), random, WORDS) : Buffer.from(text);
    },
    check(input) {
      const { queueMs, prefillMs } = readEngineFacts(input.toString('utf8'));
      for (const ms of [queueMs, prefillMs])
        expectThat(ms === undefined || (Number.isFinite(ms) && ms >= 0), 'a time that is none');
    },
  },
];

function streamedJson(stream: string): unknown {
  const json = /data: ?(\{.*\})/.exec(stream)?.[1];
  return json === undefined ? {} : JSON.parse(json);
}
