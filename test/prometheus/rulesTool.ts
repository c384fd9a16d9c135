import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { PAUSED_RULES_FILE, PROMETHEUS_RULES_FILE } from '../../dashboards/config.ts';
import { MissingProgramError } from '../../setup/missingProgramError.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What Prometheus reads, and what it reads once someone switches the paused alerts on. */
export const RULE_FILES = [PROMETHEUS_RULES_FILE, PAUSED_RULES_FILE].map((path) => join(ROOT, path));

/** Figures first: left to itself, promtool goes through groups in any order, and alerts may read the figures of a minute ago. */
const GROUPS = ['firsttoken-figures', 'firsttoken-alerts', 'firsttoken-alerts-paused'];

interface Group {
  readonly name: string;
}

export interface Case {
  readonly input_series: readonly object[];
  readonly promql_expr_test?: readonly object[];
  readonly alert_rule_test?: readonly object[];
}

/** @throws Error with promtool's own words, or with the apt line when it is missing */
export async function promtool(...args: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('promtool', args, { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (cause) {
    const { code, stdout, stderr } = cause as { code?: unknown; stdout?: string; stderr?: string };
    if (code === 'ENOENT') throw new MissingProgramError('promtool');
    throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`, { cause });
  }
}

/** Runs promtool's rule tests against our rule files: one sample a minute, rules evaluated as often. */
export async function testRules(testCase: Case, more: readonly Group[] = []): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'firsttoken-rules-'));
  try {
    const extra = join(folder, 'extra.yaml');
    await writeFile(extra, stringify({ groups: more }));
    const file = join(folder, 'test.yaml');
    const tests = [{ interval: '1m', ...testCase }];
    const rule_files = [...RULE_FILES, ...(more.length > 0 ? [extra] : [])];
    const group_eval_order = [...GROUPS, ...more.map(({ name }) => name)];
    await writeFile(file, stringify({ rule_files, evaluation_interval: '1m', group_eval_order, tests }));
    await promtool('test', 'rules', file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The minutes, of those given, in which an alert fires, as promtool says when told to expect nothing. */
export async function firingMinutes(
  alert: string,
  input_series: readonly object[],
  minutes: readonly number[],
  more: readonly Group[] = [],
): Promise<number[]> {
  const expr = `count(ALERTS{alertname="${alert}", alertstate="firing"})`;
  const promql_expr_test = minutes.map((minute) => ({ expr, eval_time: `${minute}m`, exp_samples: [] }));
  try {
    await testRules({ input_series, promql_expr_test }, more);
    return [];
  } catch (error) {
    const found = [...String(error).matchAll(/time: ((?:\d+h)?(?:\d+m)?(?:\d+s)?),?\s/g)].map(([, at = '']) =>
      minutesOf(at),
    );
    if (found.length === 0) throw error;
    return found;
  }
}

/** `1h23m` or `1h23m0s` in minutes. */
function minutesOf(text: string): number {
  const of = (unit: string) => Number(new RegExp(`(\\d+)${unit}`).exec(text)?.[1] ?? 0);
  return of('h') * 60 + of('m');
}

/** The summary and description with which an alert fires at a minute. */
export async function firingTexts(alert: string, input_series: readonly object[], minute: number): Promise<string> {
  const alert_rule_test = [{ eval_time: `${minute}m`, alertname: alert, exp_alerts: [] }];
  try {
    await testRules({ input_series, alert_rule_test });
  } catch (error) {
    const text = String(error).replace(/^[\s\S]*?got:/, '');
    if (!text.includes('Annotations:')) throw error;
    return text;
  }
  throw new Error(`${alert} does not fire`);
}

export interface Phase {
  readonly minutes: number;
  /** What each minute adds. */
  readonly step: number;
}

/** A counter that grows by another step in each phase, from 0 on. */
export function counter(series: string, ...phases: readonly Phase[]): object {
  let start = 0;
  const values = phases.map(({ minutes, step }) => {
    const text = `${start}+${step}x${minutes - 1}`;
    start += step * minutes;
    return text;
  });
  return { series, values: values.join(' ') };
}

export interface HistogramPhase {
  readonly minutes: number;
  readonly perMinute: number;
  /** Share of the samples within each of the edges. */
  readonly within: readonly number[];
}

/** A histogram with these edges, as they are printed in `le`, whose distribution is another one in each phase. */
export function histogram(
  name: string,
  labels: string,
  edges: readonly string[],
  ...phases: readonly HistogramPhase[]
): object[] {
  const rows = [
    ...edges.map((le) => `_bucket{${labels}, le="${le}"}`),
    `_bucket{${labels}, le="+Inf"}`,
    `_count{${labels}}`,
  ];
  return rows.map((row, index) =>
    counter(
      `${name}${row}`,
      ...phases.map(({ minutes, perMinute, within }) => ({ minutes, step: perMinute * (within[index] ?? 1) })),
    ),
  );
}
