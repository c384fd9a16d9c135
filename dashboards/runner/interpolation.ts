import { macroSql } from './sqlMacros.ts';

/**
 * What Grafana does to a query before it is sent, so that tests can run every query as Grafana would: variables first, as text,
 * then the macros of the data source.
 */
export interface Interpolation {
  readonly from: Date;
  readonly to: Date;
  readonly timezone: string;
  /** Selected values; All is the list of all options. */
  readonly variables: Readonly<Record<string, readonly string[]>>;
  /** Width of one pixel's step in seconds; of a panel of a thousand points by default. */
  readonly intervalSeconds?: number;
}

/** @throws Error for a variable, format or macro that is not known here, and then is not known to Grafana either */
export function interpolateSql(rawSql: string, interpolation: Interpolation): string {
  const text = rawSql.replace(/\$\{(\w+)(?::(\w+))?\}/g, (whole, name: string, format?: string) => {
    if (name === '__timezone') return interpolation.timezone;
    const values = interpolation.variables[name];
    // Any other format is unsafe in SQL: see docs/dashboards.md.
    if (!values || format !== 'sqlstring') throw new Error(`Unknown variable or format: ${whole}`);
    return values.map(sqlLiteral).join(',');
  });
  return macroSql(text, { ...interpolation, intervalSeconds: intervalSeconds(interpolation) });
}

/**
 * PromQL, with rates over `rateInterval`, for example `20s`. A variable of several values is escaped for a regular expression, as after
 * `=~"`; one of a single value only as text, as after `="`.
 */
export function interpolatePromql(expr: string, interpolation: Interpolation, rateInterval: string): string {
  const plain = expr.replace(/="\$(\w+)"/g, (whole, name: string) => {
    const [value, ...more] = interpolation.variables[name] ?? [];
    if (value === undefined || more.length > 0) throw new Error(`Not one value: ${whole}`);
    return `="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  });
  return plain.replace(/\$(\w+)/g, (whole, name: string) => {
    if (name === '__range') return `${rangeSeconds(interpolation)}s`;
    if (name === '__interval') return `${intervalSeconds(interpolation)}s`;
    if (name === '__rate_interval') return rateInterval;
    const values = interpolation.variables[name];
    if (!values) throw new Error(`Unknown variable: ${whole}`);
    const escaped = values.map(promqlRegex);
    return escaped.length === 1 ? String(escaped[0]) : `(${escaped.join('|')})`;
  });
}

/** `${name}` in a query of Loki or Tempo: the value as it is. */
export function interpolateText(text: string, { variables }: Interpolation): string {
  return text.replace(/\$\{(\w+)\}/g, (whole, name: string) => {
    const values = variables[name];
    if (values?.length !== 1) throw new Error(`Not one value: ${whole}`);
    return String(values[0]);
  });
}

function rangeSeconds({ from, to }: Interpolation): number {
  return Math.round((to.getTime() - from.getTime()) / 1000);
}

function intervalSeconds(interpolation: Interpolation): number {
  return interpolation.intervalSeconds ?? Math.max(1, Math.round(rangeSeconds(interpolation) / 1000));
}

function sqlLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A value as part of a regular expression inside a PromQL string, whose backslashes count twice. */
function promqlRegex(value: string): string {
  return value.replaceAll('\\', '\\\\\\\\').replace(/[$^*{}[\]'"+?.()|]/g, '\\\\$&');
}
