import { cpus, loadavg } from 'node:os';
import type { RunResult } from './run.ts';

/** A new process grows until its heap has found its size. */
const WARM_UP_S = 60;
const LEAST_S = 120;

/** Whether every promise was kept. */
export function isKept({ checks, violations }: RunResult): boolean {
  return violations.count === 0 && checks.every(({ kept }) => kept);
}

/** The run on one page of Markdown. */
export function reportOf(result: RunResult): string {
  const { options, ledger, client, checks, violations, replicas } = result;
  const { sent, acknowledged } = ledger.count();
  const { posts, repeats, latenciesMs } = client.statistics;
  const incarnations = replicas.flatMap((replica) => replica.incarnations);
  return [
    `# Chaos: ${isKept(result) ? 'every promise was kept' : 'PROMISES WERE BROKEN'}`,
    '',
    `\`${commandOf(result)}\` on Node ${process.version}, ${cpus().length} processors, load ${loadavg()[0]!.toFixed(1)}; ` +
      `${minutes(result.lastedS)} in all. Two replicas, ${options.seed % 2 === 1 ? 'one folder for both spools' : 'each with a folder of its own'}; ` +
      `disk: ${result.disk}; spool: ${options.spool ? 'on' : 'off'}.`,
    '',
    '| promise | | found |',
    '|---|---|---|',
    ...checks.map(({ promise, kept, found }) => `| ${promise} | ${kept ? 'kept' : '**broken**'} | ${found} |`),
    `| ${refusalPromise(result)}; no unexpected exit; all drained within a minute | ${violations.count === 0 ? 'kept' : '**broken**'} | ${violations.count} violations |`,
    ...(violations.count > 0 ? ['', ...[...violations.kinds].map(([what, times]) => `- ${times} × ${what}`)] : []),
    '',
    '| figure | |',
    '|---|---|',
    `| requests; events sent, acknowledged | ${ledger.requests}; ${sent}, ${acknowledged} |`,
    `| events a second, asked for and acknowledged over the whole run | ${options.rate}, ${(acknowledged / result.lastedS).toFixed(0)} |`,
    `| posts; events told again after their acknowledgement | ${posts}; ${repeats} |`,
    `| answers (0: none, the connection broke) | ${statusesOf(result)} |`,
    `| time to an acknowledgement, P50, P99, longest (ms) | ${[0.5, 0.99, 1].map((p) => quantile(latenciesMs, p).toFixed(0)).join(', ')} |`,
    `| nothing owed and spools empty after the last fault | ${seconds(result.drainedAfterS)} |`,
    ...(result.longOutageDrainedAfterS === null
      ? []
      : [`| spools empty after PostgreSQL was away for 60 s | ${seconds(result.longOutageDrainedAfterS)} |`]),
    `| processes; starts refused while PostgreSQL was away | ${incarnations.length}; ${replicas.reduce((sum, { startsRefused }) => sum + startsRefused, 0)} |`,
    `| most memory of a process | ${megabytes(Math.max(...incarnations.map(({ maxBytes }) => maxBytes)))} |`,
    `| slope of memory of processes that lived long enough | ${slopesOf(result)} |`,
    `| longest standstill of an event loop | ${(Math.max(...incarnations.map(({ lagMaxS }) => lagMaxS)) * 1_000).toFixed(0)} ms (SIGSTOP counts) |`,
    `| errors in the logs | ${logErrorsOf(result)} |`,
    '',
    `Faults (times): ${faultsOf(result)}.`,
    ...(result.folder === null ? [] : ['', `The data of the run were kept in ${result.folder}.`]),
    '',
  ].join('\n');
}

function commandOf({ options }: RunResult): string {
  return [
    'npm run chaos --',
    options.short ? '--short' : `--minutes ${options.forMs / 60_000}`,
    `--rate ${options.rate} --seed ${options.seed}`,
    ...(options.calm ? ['--calm'] : []),
    ...(options.spool ? [] : ['--without-spool']),
    ...(options.without.size > 0 ? [`--without ${[...options.without].join()}`] : []),
  ].join(' ');
}

function refusalPromise({ options }: RunResult): string {
  return options.spool ? 'no refusal while the spool has room' : 'no refusal but 503 and 429';
}

function statusesOf({ client }: RunResult): string {
  return [...client.statistics.statuses]
    .sort()
    .map(([status, times]) => `${times} × ${status}`)
    .join(', ');
}

function faultsOf({ planned }: RunResult): string {
  const times = new Map<string, number>();
  for (const { name } of planned) times.set(name, (times.get(name) ?? 0) + 1);
  return times.size === 0 ? 'none' : [...times].map(([name, n]) => `${name} ${n}`).join(', ');
}

function logErrorsOf({ replicas }: RunResult): string {
  const errors = new Map<string, number>();
  for (const { logErrors } of replicas)
    for (const [message, times] of logErrors) errors.set(message, (errors.get(message) ?? 0) + times);
  return [...errors].map(([message, times]) => `${times} × ${message}`).join(', ') || 'none';
}

function slopesOf({ replicas }: RunResult): string {
  const slopes = replicas.flatMap(({ incarnations }) =>
    incarnations.flatMap((each) => {
      const slope = each.memorySlope(WARM_UP_S, LEAST_S);
      return slope === null ? [] : [`${megabytes(slope)} an hour (${minutes(each.livedS)})`];
    }),
  );
  return slopes.join(', ') || 'none did';
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

function seconds(value: number | null): string {
  return value === null ? 'never' : `${value.toFixed(1)} s`;
}

function minutes(valueS: number): string {
  return `${Math.floor(valueS / 60)} min ${Math.round(valueS % 60)} s`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
