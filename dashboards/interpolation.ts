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
}

/** @throws Error for a variable, format or macro that is not known here, and then is not known to Grafana either */
export function interpolateSql(rawSql: string, { from, to, timezone, variables }: Interpolation): string {
  const text = rawSql.replace(/\$\{(\w+)(?::(\w+))?\}/g, (whole, name: string, format?: string) => {
    if (name === '__timezone') return timezone;
    const values = variables[name];
    if (!values || format !== 'sqlstring') throw new Error(`Unknown variable or format: ${whole}`);
    return values.map(sqlLiteral).join(',');
  });
  // Grafana's own expression for macros: the argument ends at the first closing parenthesis.
  return text.replace(/\$(__\w+)\(([^)]*)\)/g, (whole, macro: string, column: string) => {
    const [start, end] = [sqlLiteral(from.toISOString()), sqlLiteral(to.toISOString())];
    if (macro === '__timeFilter') return `${column} BETWEEN ${start} AND ${end}`;
    if (macro === '__timeFrom') return start;
    if (macro === '__timeTo') return end;
    throw new Error(`Unknown macro: ${whole}`);
  });
}

/** PromQL, with rates over `rateInterval`, for example `20s`. */
export function interpolatePromql(expr: string, { from, to, variables }: Interpolation, rateInterval: string): string {
  const range = `${Math.round((to.getTime() - from.getTime()) / 1000)}s`;
  return expr.replace(/\$(\w+)/g, (whole, name: string) => {
    if (name === '__range') return range;
    if (name === '__rate_interval') return rateInterval;
    const values = variables[name];
    if (!values) throw new Error(`Unknown variable: ${whole}`);
    const escaped = values.map(promqlRegex);
    return escaped.length === 1 ? String(escaped[0]) : `(${escaped.join('|')})`;
  });
}

function sqlLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A value as part of a regular expression inside a PromQL string, whose backslashes count twice. */
function promqlRegex(value: string): string {
  return value.replaceAll('\\', '\\\\\\\\').replace(/[$^*{}[\]'"+?.()|]/g, '\\\\$&');
}
