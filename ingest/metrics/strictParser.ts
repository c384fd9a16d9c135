import type { ExpositionFormat } from './exposition.ts';

/** Only tests read metrics. Written from the formats' grammars and not from our writer, and it forgives nothing. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly exemplar?: {
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
    readonly atSeconds: number;
  };
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly samples: Sample[];
}

const LABELS = '(?:[a-zA-Z_]\\w*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"(?:,(?=[a-zA-Z_]))?)*';
const NUMBER = '[-+]?(?:\\d+(?:\\.\\d+)?(?:e[-+]?\\d+)?|Inf)|NaN';
const SAMPLE = new RegExp(
  `^([a-zA-Z_:][\\w:]*)(?:\\{(${LABELS})\\})? (${NUMBER})(?: # \\{(${LABELS})\\} (${NUMBER}) (\\d+(?:\\.\\d+)?))?$`,
);
const HEADER = /^# (HELP|TYPE|UNIT) ([a-zA-Z_:][\w:]*) (.+)$/;
const HELP = { text: /^(?:[^\\]|\\[\\n])*$/, openmetrics: /^(?:[^\\"]|\\[\\n"])*$/ };
const SUFFIXES: Readonly<Record<ExpositionFormat, Readonly<Record<string, readonly string[]>>>> = {
  text: { counter: [''], gauge: [''], histogram: ['_bucket', '_sum', '_count'] },
  openmetrics: { counter: ['_total'], gauge: [''], histogram: ['_bucket', '_sum', '_count'] },
};

/** Every family by name. Throws at the first line that the format does not allow, and at a series or family that comes twice. */
export function parseStrictly(exposition: string, format: ExpositionFormat): Map<string, Family> {
  const end = format === 'openmetrics' ? '\n# EOF\n' : '\n';
  if (!exposition.endsWith(end)) throw new Error(`does not end with ${JSON.stringify(end)}`);
  const families = new Map<string, Family>();
  const series = new Set<string>();
  let family: Family | undefined;
  let help: string | undefined;
  for (const line of exposition.slice(0, -end.length).split('\n')) {
    const refuse = (why: string) => new Error(`${why}: ${line}`);
    const [, keyword, name, rest] = HEADER.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (!HELP[format].test(rest!)) throw refuse('badly escaped help');
      help = name;
    } else if (keyword === 'TYPE') {
      if (help !== name || families.has(name!) || !SUFFIXES[format][rest!]) throw refuse('bad family');
      family = { name: name!, type: rest!, samples: [] };
      families.set(name!, family);
    } else if (keyword === 'UNIT') {
      if (format === 'text' || family?.name !== name || !name!.endsWith(`_${rest}`)) throw refuse('bad unit');
    } else {
      const sample = parseSample(line);
      if (!sample || !family) throw refuse('no sample');
      if (sample.exemplar && !(format === 'openmetrics' && sample.name.endsWith('_bucket')))
        throw refuse('exemplar here');
      if (!SUFFIXES[format][family.type]!.some((suffix) => sample.name === family!.name + suffix))
        throw refuse('bad name');
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (series.has(key)) throw refuse('comes twice');
      series.add(key);
      family.samples.push(sample);
    }
  }
  return families;
}

function parseSample(line: string): Sample | undefined {
  const [, name, labels, value, exemplarLabels, exemplarValue, at] = SAMPLE.exec(line) ?? [];
  if (name === undefined) return undefined;
  const sample = { name, labels: parseLabels(labels), value: parseNumber(value!) };
  if (exemplarLabels === undefined) return sample;
  const exemplar = { labels: parseLabels(exemplarLabels), value: parseNumber(exemplarValue!), atSeconds: Number(at) };
  return { ...sample, exemplar };
}

function parseLabels(text = ''): Record<string, string> {
  const pairs = [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => {
    return [name!, value!.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))] as const;
  });
  if (new Set(pairs.map(([name]) => name)).size < pairs.length) throw new Error(`a label comes twice: ${text}`);
  return Object.fromEntries(pairs);
}

function parseNumber(text: string): number {
  return Number(text.replace('Inf', 'Infinity'));
}
