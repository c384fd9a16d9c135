import type { EndpointResult } from './endpoints.ts';
import type { Failure, ParserResult } from './parsers.ts';

export interface FuzzRun {
  readonly seed: number;
  readonly parsers: ParserResult;
  /** Null when no service was started. */
  readonly endpoints: EndpointResult | null;
  readonly failures: readonly Failure[];
  /** Where the failed inputs lie, in the order of the failures. */
  readonly files: readonly string[];
  readonly lastedS: number;
}

/** The run on one page of Markdown. */
export function reportOf({ seed, parsers, endpoints, failures, files, lastedS }: FuzzRun): string {
  const inputs = parsers.targets.reduce((sum, target) => sum + target.inputs, endpoints?.inputs ?? 0);
  const statuses = [...(endpoints?.statuses ?? [])].sort(([one], [other]) => one - other);
  return [
    `# Fuzz: ${failures.length} failures of ${inputs} inputs`,
    '',
    `Seed ${seed}, ${lastedS.toFixed(0)} s, Node ${process.version}.`,
    '',
    '| reader | inputs | slowest, ms |',
    '|---|---|---|',
    ...parsers.targets.map((target) => `| ${target.name} | ${target.inputs} | ${target.slowestMs.toFixed(1)} |`),
    ...(endpoints === null
      ? []
      : [
          `| the addresses of a running service | ${endpoints.inputs} | ${endpoints.slowestMs.toFixed(0)} (its event loop) |`,
        ]),
    ...(statuses.length === 0
      ? []
      : [
          '',
          `Answers (0: closed without one): ${statuses.map(([status, times]) => `${times} × ${status}`).join(', ')}.`,
        ]),
    ...(failures.length === 0
      ? []
      : [
          '',
          ...failures.map(({ target, message }, index) => `- ${target}: ${message} (\`--replay ${files[index]}\`)`),
        ]),
    '',
  ].join('\n');
}
