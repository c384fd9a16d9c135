export interface MacroRange {
  readonly from: Date;
  readonly to: Date;
  readonly intervalSeconds: number;
}

type Macro = (argument: string, range: MacroRange) => string;

const literal = (date: Date): string => `'${date.toISOString()}'`;
const epoch = (date: Date): number => Math.floor(date.getTime() / 1000);

/** The macros of Grafana's PostgreSQL data source that panels use or may want; all times are UTC. */
const MACROS: Readonly<Record<string, Macro>> = {
  __time: (column) => `${column} AS "time"`,
  __timeEpoch: (column) => `extract(epoch from ${column}) as "time"`,
  __timeFilter: (column, { from, to }) => `${column} BETWEEN ${literal(from)} AND ${literal(to)}`,
  __timeFrom: (_, { from }) => literal(from),
  __timeTo: (_, { to }) => literal(to),
  __timeGroup: timeGroup,
  __timeGroupAlias: (argument) => `${timeGroup(argument)} AS "time"`,
  __unixEpochFrom: (_, { from }) => String(epoch(from)),
  __unixEpochTo: (_, { to }) => String(epoch(to)),
  __unixEpochFilter: (column, { from, to }) => `${column} >= ${epoch(from)} AND ${column} <= ${epoch(to)}`,
};

/** @throws Error for a macro that is not known here */
export function macroSql(sql: string, range: MacroRange): string {
  const intervals = sql
    .replaceAll('$__interval_ms', String(range.intervalSeconds * 1000))
    .replaceAll('$__interval', `${range.intervalSeconds}s`);
  // Grafana's own expression for macros: the argument ends at the first closing parenthesis.
  return intervals.replace(/\$(__\w+)\(([^)]*)\)/g, (whole, name: string, argument: string) => {
    const macro = MACROS[name];
    if (!macro) throw new Error(`Unknown macro: ${whole}`);
    return macro(argument, range);
  });
}

/** `$__timeGroup(column, '5m')`. A third argument fills gaps after the query and does not change the SQL. */
function timeGroup(argument: string): string {
  const [column = '', width = ''] = argument.split(',').map((part) => part.trim().replaceAll("'", ''));
  const seconds = secondsOf(width);
  return `floor(extract(epoch from ${column})/${seconds})*${seconds}`;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function secondsOf(width: string): number {
  const match = /^(\d+)([smhd])$/.exec(width);
  const unit = UNIT_SECONDS[match?.[2] ?? ''];
  if (!match || unit === undefined) throw new Error(`Unknown width of a group: ${width}`);
  return Number(match[1]) * unit;
}
