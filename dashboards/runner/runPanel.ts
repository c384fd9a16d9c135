import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { SCRAPE_INTERVAL_SECONDS } from '../config.ts';
import type { Frame } from './frame.ts';
import { type Interpolation, interpolatePromql, interpolateSql } from './interpolation.ts';
import { type SqlAnswer, tableFrame } from './postgresFrames.ts';
import { heatmapFrame, labelTable, type Series, seriesFrames } from './prometheusFrames.ts';

/** Where a panel's queries are sent. */
export interface Sources {
  /** Runs one statement, with the rights of the dashboards' role. */
  readonly sql?: (statement: string) => Promise<SqlAnswer>;
  /** Asks Prometheus' HTTP API: `query` or `query_range`. */
  readonly promql?: (path: string, parameters: Record<string, string>) => Promise<readonly Series[]>;
  /** Seconds between scrapes, from which the shortest rate follows; that of the shipped configuration by default. */
  readonly scrapeSeconds?: number;
}

/** A target of a panel as its JSON has it; Loki's and Tempo's have neither `rawSql` nor one of Prometheus' fields. */
export interface Target {
  readonly refId: string;
  readonly datasource: { readonly type: string; readonly uid: string };
  readonly rawSql?: string;
  readonly expr?: string;
  readonly instant?: boolean;
  readonly format?: string;
  readonly legendFormat?: string;
}

export function targetsOf(panel: Panel): readonly Target[] {
  return (panel.targets ?? []) as unknown as readonly Target[];
}

/**
 * Runs every target of a panel as Grafana does and returns the frames that the panel gets. Our panels have no transformations, whose
 * code is Grafana's own: queries yield what is shown.
 *
 * @throws Error for a target without a source, a transformation, and with the source's own words for a query that fails
 */
export async function runPanel(panel: Panel, interpolation: Interpolation, sources: Sources): Promise<Frame[]> {
  if (panel.transformations?.length) throw new Error(`Transformations are not run here: ${panel.title}`);
  const frames: Frame[] = [];
  for (const target of targetsOf(panel)) frames.push(...(await runTarget(panel, target, interpolation, sources)));
  return frames;
}

async function runTarget(
  panel: Panel,
  target: Target,
  interpolation: Interpolation,
  sources: Sources,
): Promise<Frame[]> {
  if (target.rawSql !== undefined) {
    if (!sources.sql) throw new Error(`No database for ${panel.title}`);
    return [tableFrame(target.refId, await sources.sql(interpolateSql(target.rawSql, interpolation)))];
  }
  if (target.datasource.type !== 'prometheus' || target.expr === undefined || !sources.promql) {
    throw new Error(`No source for ${panel.title}: ${target.datasource.type}`);
  }
  const { step, rateInterval } = steps(panel, interpolation, sources.scrapeSeconds ?? SCRAPE_INTERVAL_SECONDS);
  const query = interpolatePromql(target.expr, { ...interpolation, intervalSeconds: step }, `${rateInterval}s`);
  const [start, end] = [interpolation.from, interpolation.to].map((at) => String(at.getTime() / 1000)) as [
    string,
    string,
  ];
  if (target.instant) {
    const series = await sources.promql('query', { query, time: end });
    return target.format === 'table'
      ? [labelTable(target.refId, series)]
      : seriesFrames(target.refId, target.legendFormat ?? '', series);
  }
  const series = await sources.promql('query_range', { query, start, end, step: String(step) });
  return target.format === 'heatmap'
    ? [heatmapFrame(target.refId, series)]
    : seriesFrames(target.refId, target.legendFormat ?? '', series);
}

/** As Grafana chooses them: a step of at least the panel's own, and a rate that spans the step and four scrapes. */
function steps(
  panel: Panel,
  { from, to }: Interpolation,
  scrapeSeconds: number,
): { step: number; rateInterval: number } {
  const points = panel.maxDataPoints ?? 1000;
  const least = /^(\d+)([sm])$/.exec(panel.interval ?? '');
  const leastSeconds = least ? Number(least[1]) * (least[2] === 'm' ? 60 : 1) : scrapeSeconds;
  const step = Math.max(leastSeconds, Math.ceil((to.getTime() - from.getTime()) / 1000 / points));
  return { step, rateInterval: Math.max(step + scrapeSeconds, 4 * scrapeSeconds) };
}
