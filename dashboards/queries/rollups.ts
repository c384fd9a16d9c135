import { OTHER_LABEL, UNKNOWN_LABEL } from '../../contract/metrics.ts';
import {
  ROLLUP_GRAINS,
  type RollupDimension,
  type RollupGrainName,
  type RollupMetric,
} from '../../contract/rollups.ts';
import type { Dimension } from '../variables/dimensions.ts';
import { reference } from '../variables/reference.ts';

export interface RollupScope {
  readonly grain: RollupGrainName;
  readonly metrics: readonly RollupMetric[];
  /** Dimensions of the grain that are variables of the dashboard. */
  readonly variables: readonly (RollupDimension & Dimension)[];
  readonly more?: string;
  /** Whether there is to be anything at all; asked once. */
  readonly when?: string;
}

/** Hours that touch the dashboard's time range: a rollup knows no minutes. */
export const IN_HOURS = `hour BETWEEN date_trunc('hour', $__timeFrom()::timestamptz) AND $__timeTo()`;

/** Dimensions of closed lists, every value of which is offered. */
const CLOSED: readonly RollupDimension[] = ['device', 'stage', 'outcome', 'ttft_band'];

/** The variable's value that a cell belongs to. Rollups keep words as they were said; what is not accepted is `other` to the metrics. */
export function rollupLabelOf(dimension: RollupDimension): string {
  if (CLOSED.includes(dimension)) return dimension;
  return `CASE WHEN ${isOwnLabel(dimension)} THEN ${dimension} ELSE '${OTHER_LABEL}' END`;
}

function isOwnLabel(dimension: RollupDimension): string {
  return `${dimension} = '${UNKNOWN_LABEL}' OR ${dimension} IN (SELECT value FROM label_values WHERE label = '${dimension}')`;
}

/** That no other word of the dimension has the same label. */
export function isItsOnlyWord(dimension: RollupDimension): string {
  return CLOSED.includes(dimension) ? 'true' : `(${isOwnLabel(dimension)})`;
}

/** Conditions of a WHERE on `rollups`. */
export function rollupConditions(scope: RollupScope): string {
  return [IN_HOURS, ...cellConditions(scope)].join('\n    AND ');
}

/** Those of them that a cell decides, whatever the hour. */
export function cellConditions({ grain, metrics, variables, more, when }: RollupScope): string[] {
  const dimensions: readonly string[] = ROLLUP_GRAINS[grain].dimensions;
  for (const variable of variables) {
    if (!dimensions.includes(variable)) throw new Error(`The rollups by ${grain} know no ${variable}`);
  }
  return [
    ...(when === undefined ? [] : [when]),
    `grain = '${grain}'`,
    `metric IN (${metrics.map((each) => `'${each}'`).join(', ')})`,
    ...variables.map((each) => `(${rollupLabelOf(each)}) IN (${reference(`${each}:sqlstring`)})`),
    ...(more === undefined ? [] : [more]),
  ];
}
