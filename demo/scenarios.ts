import { between, fitLogNormal, type LogNormal } from './random.ts';

/**
 * One kind of request: what is unusual about it. Durations are milliseconds; the two numbers of `between` are the 10th and the 90th
 * percentile.
 */
export interface Scenario {
  /** One line for people: what happens, and where it shows. */
  readonly about: string;
  /** How often it happens, against the weights of the others. */
  readonly weight: number;
  /** How often while a pulse of load lasts; as otherwise when absent. */
  readonly weightInPulse?: number;
  readonly preprocessMs?: LogNormal;
  readonly kvLoadMs?: LogNormal;
  readonly queueMs?: LogNormal;
  readonly firstForwardMs?: LogNormal;
  /** A database query while the prompt is built: sub-stage `db`. */
  readonly dbMs?: LogNormal;
  readonly batchSize?: number;
  readonly tokensPerEvent?: number;
  /** The gateway collects the whole answer and passes it on at its end. */
  readonly buffered?: boolean;
  /** What breaks into the running stream after some events. */
  readonly interruption?: 'abort' | 'cut' | 'hide';
}

export const SCENARIOS = {
  normal: {
    about: 'Everything as usual.',
    weight: 58,
  },
  slow_preprocess: {
    about: 'Building and tokenising the prompt takes a second: preprocess leads.',
    weight: 6,
    preprocessMs: between(700, 1_600),
  },
  cold_kv: {
    about: 'The prefix cache has nothing, all is loaded anew: kv_load leads, cached_tokens is 0.',
    weight: 6,
    kvLoadMs: between(450, 1_300),
  },
  queue_burst: {
    about: "The engine's slots are taken, above all while a pulse of load lasts: queue leads.",
    weight: 2,
    weightInPulse: 30,
    queueMs: between(400, 1_800),
  },
  batch_of_8: {
    about: 'Batches of 8: a faster typical first forward pass than batches of 2, and a far longer tail.',
    weight: 4,
    batchSize: 8,
    firstForwardMs: fitLogNormal(['p50', 410], ['p99', 2_100]),
  },
  batch_of_2: {
    about: 'Batches of 2: a slower typical first forward pass, and hardly any tail.',
    weight: 4,
    batchSize: 2,
    firstForwardMs: fitLogNormal(['p50', 480], ['p99', 620]),
  },
  slow_db: {
    about: 'A query in the middle of preprocess is slow: sub-stage db explains it.',
    weight: 5,
    dbMs: between(350, 1_100),
  },
  buffering_proxy: {
    about: 'The gateway holds the answer back to its end: flag coalesced, all of it lands in network.',
    weight: 2,
    buffered: true,
  },
  speculative: {
    about: 'Speculative decoding: four tokens an event; TPOT counts tokens, gaps count events.',
    weight: 5,
    tokensPerEvent: 4,
  },
  user_abort: {
    about: 'The user stops the answer midway: status aborted.',
    weight: 3,
    interruption: 'abort',
  },
  cut_stream: {
    about: 'The connection breaks without a terminator: status truncated.',
    weight: 1,
    interruption: 'cut',
  },
  hidden_page: {
    about: 'The page goes to the background midway: an interim beacon, then the final one.',
    weight: 4,
    interruption: 'hide',
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;

export const SCENARIO_NAMES = Object.keys(SCENARIOS) as readonly ScenarioName[];

export function scenarioOf(name: ScenarioName): Scenario {
  return SCENARIOS[name];
}

/** Names and weights, at rest or while a pulse of load lasts. */
export function scenarioWeights(pulse: boolean): (readonly [ScenarioName, number])[] {
  return SCENARIO_NAMES.map((name) => {
    const { weight, weightInPulse } = scenarioOf(name);
    return [name, pulse ? (weightInPulse ?? weight) : weight];
  });
}
