import type { Connection, Device } from '../contract/beacon.ts';
import {
  between,
  drawInteger,
  drawLogNormal,
  drawWeighted,
  fitLogNormal,
  type LogNormal,
  type Random,
  randomStream,
} from './random.ts';
import { type ScenarioName, scenarioOf, scenarioWeights } from './scenarios.ts';

/**
 * Everything about one simulated request. It follows from seed, number and pulse alone, so that client, gateway and backend, which
 * run in two processes, each compute it and need not send it around.
 */
export interface RequestPlan {
  readonly index: number;
  /** It starts while a pulse of load lasts. */
  readonly pulse: boolean;
  readonly scenario: ScenarioName;
  readonly model: string;
  readonly route: string;
  readonly variant: string;
  readonly tier: string;
  readonly region: string;
  readonly backend: string;
  readonly device: Device;
  readonly connection: Connection;
  readonly promptChars: number;
  /** Share of the prompt's tokens that the prefix cache holds. */
  readonly cachedShare: number;
  /** Time until the connection stands, from the click on; 0 unless mobile. */
  readonly connectMs: number;
  readonly gatewayHoldMs: number;
  readonly buffered: boolean;
  readonly parseMs: number;
  /** The whole stage, parsing included, the slow query excluded. */
  readonly preprocessMs: number;
  readonly dbMs: number | null;
  readonly kvLoadMs: number;
  readonly queueMs: number;
  readonly firstForwardMs: number;
  readonly serializeMs: number;
  readonly batchSize: number;
  readonly outputTokens: number;
  /** How many of them, at the beginning, are reasoning. */
  readonly reasoningTokens: number;
  readonly tokensPerEvent: number;
  /** Mean time per output token. */
  readonly tokenMs: number;
  readonly interruption: 'abort' | 'cut' | 'hide' | null;
  /** Token-bearing events that pass before the interruption. */
  readonly interruptAfterEvents: number;
}

// 10th and 90th percentiles, as measured on services of this kind.
const PARSE_MS = between(8, 35);
const PREPROCESS_MS = between(186, 420);
const KV_LOAD_MS = between(92, 210);
// A fifth of the requests finds a free slot; with these draws for the others, the 90th percentile of all is 180 ms.
const NO_QUEUE_SHARE = 0.2;
const QUEUE_MS = fitLogNormal(['p10', 8], ['p875', 180]);
const FIRST_FORWARD_MS = between(15, 42);
const SERIALIZE_MS = between(3, 12);
const GATEWAY_HOLD_MS = between(12, 48);
const MOBILE_CONNECT_MS = between(120, 350);
const TOKEN_MS = between(68, 94);
const OUTPUT_TOKENS = between(20, 80);

const MODELS = [
  { name: 'llama-3-70b', weight: 5, pace: 1.06 },
  { name: 'qwen3-32b', weight: 3, pace: 0.98 },
  { name: 'mistral-small', weight: 2, pace: 0.85 },
] as const;
const ROUTES = [
  ['/api/chat', 6],
  ['/api/summarize', 2],
  ['/api/agent', 2],
] as const;
const VARIANTS = [
  ['fp16', 6],
  ['int4', 4],
] as const;
const TIERS = [
  ['normal', 8],
  ['vip', 2],
] as const;
const REGIONS = [
  ['eu-west', 5],
  ['us-east', 3],
  ['ap-south', 2],
] as const;
const CONNECTIONS = {
  desktop: [
    ['ethernet', 4],
    ['wifi', 6],
  ],
  mobile: [
    ['4g', 6],
    ['5g', 3],
    ['3g', 1],
  ],
  tablet: [
    ['wifi', 8],
    ['4g', 2],
  ],
} as const satisfies Partial<Record<Device, readonly (readonly [Connection, number])[]>>;
const DEVICE_WEIGHTS = [
  ['desktop', 55],
  ['mobile', 35],
  ['tablet', 10],
] as const;

/** All values that plans have for a label. */
export const LABELS_OF_PLANS = {
  model: MODELS.map(({ name }) => name),
  route: ROUTES.map(([name]) => name),
  variant: VARIANTS.map(([name]) => name),
  tier: TIERS.map(([name]) => name),
  region: REGIONS.map(([name]) => name),
} as const;

export function planRequest(seed: number, index: number, pulse: boolean): RequestPlan {
  const purpose = (name: string): Random => randomStream(seed, `${name} ${index}`);

  const scenarioName = drawWeighted(purpose('scenario'), scenarioWeights(pulse));
  const scenario = scenarioOf(scenarioName);

  const who = purpose('who');
  const model = drawWeighted(
    who,
    MODELS.map((each) => [each, each.weight] as const),
  );
  const variant = drawWeighted(who, VARIANTS);
  const route = drawWeighted(who, ROUTES);
  const device = drawWeighted(who, DEVICE_WEIGHTS);

  const stages = purpose('stages');
  const draw = (usual: LogNormal, unusual?: LogNormal): number => drawLogNormal(stages, unusual ?? usual);
  const parseMs = draw(PARSE_MS);

  const output = purpose('output');
  const tokensPerEvent = scenario.tokensPerEvent ?? 1;
  const outputTokens = drawOutputTokens(output);
  const events = Math.ceil(outputTokens / tokensPerEvent);

  return {
    index,
    pulse,
    scenario: scenarioName,
    model: model.name,
    route,
    variant,
    tier: drawWeighted(who, TIERS),
    region: drawWeighted(who, REGIONS),
    backend: `gpu-0${drawInteger(who, 1, 4)}`,
    device,
    connection: drawWeighted(who, CONNECTIONS[device] as readonly (readonly [Connection, number])[]),
    promptChars: drawPromptChars(purpose('prompt')),
    cachedShare: scenario.kvLoadMs ? 0 : who(),
    connectMs: device === 'mobile' ? drawLogNormal(purpose('connect'), MOBILE_CONNECT_MS) : 0,
    gatewayHoldMs: drawLogNormal(purpose('gateway'), GATEWAY_HOLD_MS),
    buffered: scenario.buffered ?? false,
    parseMs,
    preprocessMs: Math.max(parseMs, draw(PREPROCESS_MS, scenario.preprocessMs)),
    dbMs: scenario.dbMs ? draw(scenario.dbMs) : null,
    kvLoadMs: draw(KV_LOAD_MS, scenario.kvLoadMs),
    queueMs: scenario.queueMs || stages() >= NO_QUEUE_SHARE ? draw(QUEUE_MS, scenario.queueMs) : 0,
    firstForwardMs: draw(FIRST_FORWARD_MS, scenario.firstForwardMs),
    serializeMs: draw(SERIALIZE_MS),
    batchSize: scenario.batchSize ?? drawInteger(stages, 1, 4),
    outputTokens,
    reasoningTokens: route === '/api/agent' && output() < 0.5 ? Math.floor(outputTokens / 4) : 0,
    tokensPerEvent,
    tokenMs: drawLogNormal(output, TOKEN_MS) * model.pace * (variant === 'int4' ? 0.9 : 1.05),
    interruption: scenario.interruption ?? null,
    interruptAfterEvents: Math.max(1, Math.floor(events * (0.2 + 0.5 * output()))),
  };
}

/** A fifth short, three fifths middling, a fifth long: under 50, 50 to 200, over 200 characters. */
function drawPromptChars(random: Random): number {
  const [from, to] = drawWeighted(random, [
    [[8, 49], 20],
    [[50, 200], 60],
    [[201, 2_400], 20],
  ]);
  return drawInteger(random, from!, to!);
}

/** Mostly 20 to 80, so that a run of half a minute shows complete streams; now and then a long answer. */
function drawOutputTokens(random: Random): number {
  if (random() < 0.03) return drawInteger(random, 121, 150);
  return Math.min(100, Math.max(8, Math.round(drawLogNormal(random, OUTPUT_TOKENS))));
}
