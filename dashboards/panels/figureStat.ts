import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ReduceDataOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { FIGURES, type Figure, figureExpression } from '../queries/figures.ts';
import { variableMatchers } from '../queries/matchers.ts';
import { instantQuery } from '../queries/prometheusQuery.ts';

export interface StatText {
  readonly title: string;
  /** What it is, what good looks like, and what to do when it does not. */
  readonly description: string;
  readonly unit: string;
}

/**
 * A figure over the dashboard's time range: with the default hour the recording rule's own value, and a number from the second
 * scrape on, where the rule would still wait for its next evaluation. The comparison drops NaN, which means no traffic.
 */
export function figureStat(figure: Figure, text: StatText): PanelBuilder {
  const matchers = variableMatchers(FIGURES[figure].metric);
  const expr = `${figureExpression(figure, { window: '$__range', matchers })} >= 0`;
  return numberStat(text, instantQuery(expr));
}

/** One number. */
export function numberStat({ title, description, unit }: StatText, target: Builder<Dataquery>): PanelBuilder {
  return new PanelBuilder()
    .title(title)
    .description(description)
    .unit(unit)
    .noValue('no data')
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .textMode(BigValueTextMode.Value)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false))
    .withTarget(target);
}
