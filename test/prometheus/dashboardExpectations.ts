import { METRICS } from '../../contract/metrics.ts';
import { SERVER_TTFT_STAGES, STAGES } from '../../contract/stages.ts';
import {
  FIRST_TOKEN,
  GPU_BACKEND,
  INGEST_HEALTH,
  STAGES_PAGE,
  VARIANTS,
  WHERE_AND_WHEN,
} from '../../dashboards/config.ts';
import { atMost, expectedQuantile, PER_SCRAPE, VALUES } from './dashboardExposition.ts';

/** A series' last value by its name; `near` for rates per second, which follow the scrape's own clock. */
export type Expected = Readonly<Record<string, number | Near>>;

export interface Near {
  readonly near: number;
  /** Once for every model that is chosen. */
  readonly perModel?: boolean;
}

const over = (bound: number) => 1 - atMost(bound) / PER_SCRAPE;

function quantiles(
  metric: { readonly buckets: readonly number[] },
  shares: Readonly<Record<string, number>>,
): Expected {
  return Object.fromEntries(
    Object.entries(shares).map(([name, share]) => [name, expectedQuantile(share, metric.buckets)]),
  );
}

const first = FIRST_TOKEN.panelIds;
const where = WHERE_AND_WHEN.panelIds;
const gpu = GPU_BACKEND.panelIds;
const ingest = INGEST_HEALTH.panelIds;
/** Stands for the address of the test's target, whose port is any free one. */
export const INSTANCE = 'the instance';

function ofBackends(values: Readonly<Record<string, number>>): Expected {
  return Object.fromEntries(
    VALUES.backend.flatMap((backend) => Object.entries(values).map(([name, value]) => [`${name}${backend}`, value])),
  );
}

const P50_TO_P999 = { p50: 0.5, p95: 0.95, p99: 0.99, 'p99.9': 0.999 };

/** Of every panel that asks Prometheus, by dashboard and panel; a stat's only series has the name `value`. */
export const EXPECTED: Readonly<Record<string, Readonly<Record<number, Expected>>>> = {
  [FIRST_TOKEN.uid]: {
    // Worked out by hand, so that the function above is held against something: 90 of 100 samples are within 1.
    [first.ttftP95]: { value: 1.25 },
    [first.ttftOver1sRatio]: { value: 0.1 },
    [first.ttftP999]: { value: 1 + (0.5 * 9.9) / 10 },
    [first.tpotP90]: { value: 1 },
    [first.tpotStddev]: { value: 1 + (1.5 * 5) / 10 },
    [first.streamGapMax]: { value: 1 + (0.5 * 9) / 10 },
    [first.ttftServerCurves]: quantiles(METRICS.ttft, P50_TO_P999),
    [first.ttftClientCurves]: quantiles(METRICS.ttftClient, P50_TO_P999),
    [first.ttftOverRatios]: { 'over 1 s': 0.1, 'over 2 s': over(2) },
    [first.tpotCurves]: quantiles(METRICS.tpot, { p50: 0.5, p90: 0.9, p99: 0.99 }),
    [first.hiddenTax]: quantiles(METRICS.hiddenTax, { p50: 0.5, p95: 0.95 }),
    [first.firstScreen]: quantiles(METRICS.firstScreen, { p50: 0.5, p95: 0.95 }),
    [first.joinCoverage]: { joined: 0.9 },
  },
  [STAGES_PAGE.uid]: {
    // Both models, and 50 s in a stage per scrape, which is a second long.
    [STAGES_PAGE.panelIds.shares]: Object.fromEntries(
      STAGES.filter((stage) => stage !== 'render').map((stage) => [stage, { near: 50, perModel: true }]),
    ),
    [STAGES_PAGE.panelIds.inference]: {
      'model inference': 1 / SERVER_TTFT_STAGES.length,
      'the rest': 1 - 1 / SERVER_TTFT_STAGES.length,
    },
    ...Object.fromEntries(
      STAGES.map((_, index) => [
        STAGES_PAGE.firstStagePanelId + index,
        quantiles(METRICS.stageDuration, { p50: 0.5, p95: 0.95, p99: 0.99 }),
      ]),
    ),
  },
  [VARIANTS.uid]: {
    [VARIANTS.panelIds.ttft]: quantiles(METRICS.ttft, { 'A p50': 0.5, 'A p95': 0.95, 'B p50': 0.5, 'B p95': 0.95 }),
    [VARIANTS.panelIds.tpot]: quantiles(METRICS.tpot, { 'A p50': 0.5, 'A p90': 0.9, 'B p50': 0.5, 'B p90': 0.9 }),
  },
  [GPU_BACKEND.uid]: {
    [gpu.idleButSlow]: { 'gpu-01': 1.25, 'gpu-02': 1.25 },
    [gpu.ttft]: { 'gpu-01': 1.25, 'gpu-02': 1.25 },
    [gpu.gpuUtil]: ofBackends({ '': 25 }),
    [gpu.engineActive]: ofBackends({ '': 0.2 }),
    // Of 120 s that each scrape adds, 30 are idle.
    [gpu.hostCpu]: ofBackends({ '': 0.75 }),
    [gpu.engineTtft]: ofBackends({ 'vLLM ': 1.25, 'SGLang ': 1.25 }),
    [gpu.requests]: ofBackends({
      'vLLM running ': 12.5,
      'vLLM waiting ': 12.5,
      'SGLang running ': 12.5,
      'SGLang waiting ': 12.5,
    }),
    [gpu.kvCache]: ofBackends({ 'vLLM ': 0.5, 'SGLang ': 0.75 }),
    [gpu.cacheHits]: ofBackends({ 'vLLM ': 1, 'SGLang ': 0.6 }),
  },
  [INGEST_HEALTH.uid]: {
    [ingest.up]: { value: 1 },
    [ingest.storeUp]: { value: 12.5 },
    [ingest.spool]: { value: 12.5 },
    [ingest.coverage]: { value: 0.9 },
    [ingest.events]: { beacon: { near: 90 } },
    [ingest.rejected]: { 'beacon malformed_json': { near: 90 } },
    [ingest.commit]: quantiles(METRICS.commit, { p50: 0.5, p99: 0.99 }),
    [ingest.waiting]: { events: 12.5 },
    [ingest.retries]: { malformed_json: { near: 90 } },
    [ingest.coverageCurve]: { direct: { near: 90 } },
    [ingest.lag]: { [INSTANCE]: 12.5 },
    [ingest.memory]: { [`process ${INSTANCE}`]: 12.5, [`heap ${INSTANCE}`]: 12.5 },
    [ingest.overflow]: { 'ttft_seconds model': { near: 90 } },
    [ingest.anomalies]: { requests: { near: 90 } },
  },
  [WHERE_AND_WHEN.uid]: {
    [where.renderLag]: quantiles(METRICS.renderLag, { mobile: 0.95 }),
    [where.regions]: quantiles(METRICS.ttftClient, { eu: 0.95 }),
  },
};
