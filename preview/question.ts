import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { panelOf } from './dashboards.ts';

/** What the page may ask: which panel of which dashboard, over which time, with which values of the dashboard's own variables. */
export interface Question {
  readonly dashboard: Dashboard;
  /** Null: the dashboard's variables. */
  readonly panel: Panel | null;
  readonly from: Date;
  readonly to: Date;
  readonly timezone: string;
  readonly chosen: Readonly<Record<string, readonly string[]>>;
}

/** What was asked makes no sense; the message repeats nothing of it. */
export class QuestionError extends Error {
  override readonly name = 'QuestionError';
}

const RELATIVE = /^now(?:-(\d{1,4})([smhd]))?$/;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MAX_RANGE_MS = 100 * UNIT_MS.d;
const MAX_VALUES = 200;
const MAX_LENGTH = 512;

/** @throws QuestionError */
export function readQuestion(
  body: unknown,
  dashboards: ReadonlyMap<string, Dashboard>,
  nowMs: number = Date.now(),
): Question {
  const asked = objectOf(body);
  const dashboard = typeof asked['uid'] === 'string' ? dashboards.get(asked['uid']) : undefined;
  if (dashboard === undefined) throw new QuestionError('there is no such dashboard');
  const { panel: id } = asked;
  const panel = typeof id === 'number' ? (panelOf(dashboard, id) ?? null) : null;
  if (id !== undefined && panel === null) throw new QuestionError('the dashboard has no such panel');
  const [from, to] = [timeOf(asked['from'], nowMs), timeOf(asked['to'], nowMs)];
  if (from >= to || to - from > MAX_RANGE_MS) throw new QuestionError('the range of time must be 1 ms to 100 days');
  return {
    dashboard,
    panel,
    from: new Date(from),
    to: new Date(to),
    timezone: timezoneOf(asked['timezone']),
    chosen: chosenOf(asked['variables'] ?? {}, dashboard),
  };
}

function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new QuestionError('no JSON object');
  return value as Record<string, unknown>;
}

function timeOf(value: unknown, nowMs: number): number {
  const text = String(value);
  const [found, count, unit] = RELATIVE.exec(text) ?? [];
  if (found !== undefined) return count ? nowMs - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS] : nowMs;
  if (!/^\d{12,14}$/.test(text)) throw new QuestionError('times are now, now-6h, or epoch milliseconds');
  return Number(text);
}

function timezoneOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[A-Za-z0-9_+/-]{1,64}$/.test(value)) return 'UTC';
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}

function chosenOf(value: unknown, dashboard: Dashboard): Record<string, string[]> {
  const chosen: Record<string, string[]> = {};
  for (const [name, values] of Object.entries(objectOf(value))) {
    const variable = dashboard.templating?.list?.find((each) => each.name === name);
    // A link may carry variables of the dashboard it comes from.
    if (variable === undefined || variable.hide === 2) continue;
    if (!Array.isArray(values) || values.length > MAX_VALUES || !values.every(isValue))
      throw new QuestionError(`the values of a variable are at most ${MAX_VALUES} texts`);
    chosen[name] = values;
  }
  return chosen;
}

function isValue(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_LENGTH && !value.includes('\0');
}
