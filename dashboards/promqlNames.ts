import { METRICS, RECORDING_RULES } from '../contract/metrics.ts';
import { FOREIGN_METRICS } from './foreignMetrics.ts';

/** A series that an expression reads, with the labels that its braces name. */
export interface Selector {
  readonly name: string;
  readonly labels: readonly string[];
}

const WORDS = ['by', 'on', 'or', 'and', 'unless', 'bool', 'offset', 'ignoring', 'without', 'group_left', 'group_right'];

/**
 * The series that a PromQL expression of ours reads. No parser: strings, durations and lists of labels are taken away, and what is
 * left besides functions and keywords are names.
 */
export function selectorsOf(expr: string): Selector[] {
  const bare = expr
    .replace(/"(?:[^"\\]|\\.)*"/g, '""')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\b(by|on|ignoring|without|group_left|group_right)\s*\([^)]*\)/g, ' ');
  const found = bare.matchAll(/(?<![\w:.$])([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(?!\s*[\w(:])/g);
  return [...found]
    .filter(([, name = '']) => !WORDS.includes(name) && name !== 'Inf')
    .map(([, name = '', braces = '']) => ({
      name,
      labels: [...braces.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    }));
}

/** Labels that a known series may be matched by; undefined for one that nobody exports. */
export function labelsOfSeries(series: string): readonly string[] | undefined {
  if ((RECORDING_RULES as readonly string[]).includes(series)) return ['model', 'tier', 'region'];
  for (const metric of Object.values(METRICS)) {
    if (partsOf(metric).includes(series)) return [...metric.labels, 'le'];
  }
  for (const metric of Object.values(FOREIGN_METRICS)) {
    if (partsOf(metric).includes(series)) return [...metric.labels, 'le', 'backend'];
  }
  return undefined;
}

function partsOf({ name, type }: { name: string; type: string }): string[] {
  return type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name];
}
