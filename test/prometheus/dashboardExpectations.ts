import { METRICS } from '../../contract/metrics.ts';
import { SERVER_TTFT_STAGES, STAGES } from '../../contract/stages.ts';
import { FIRST_TOKEN, STAGES_PAGE, VARIANTS, WHERE_AND_WHEN } from '../../dashboards/config.ts';
import { atMost, expectedQuantile, PER_SCRAPE } from './dashboardExposition.ts';

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
  [WHERE_AND_WHEN.uid]: {
    [where.renderLag]: quantiles(METRICS.renderLag, { mobile: 0.95 }),
    [where.regions]: quantiles(METRICS.ttftClient, { eu: 0.95 }),
  },
};
