import { anyText } from '../../commandLine/command.ts';
import { FAULT_NAMES, type FaultName } from './faultNames.ts';

/** What of a run's length `--short` asks for: each fault once, in about 35 s of faults. */
export const SHORT_MINUTES = 0.6;
const MAX_MINUTES = 24 * 60;
const MAX_RATE = 5_000;
const MAX_SEED = 2 ** 32 - 1;

function readMinutes(text: string): number {
  const minutes = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (minutes >= 0.5 && minutes <= MAX_MINUTES) return minutes;
  throw new RangeError(`minutes from 0.5 to ${MAX_MINUTES}`);
}

function readWhole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new RangeError(`a whole number from ${least} to ${most}`);
  };
}

function readFaults(text: string): readonly FaultName[] {
  const names = text.split(',');
  const known = names.filter((name): name is FaultName => (FAULT_NAMES as readonly string[]).includes(name));
  if (known.length === names.length) return known;
  throw new RangeError(`names out of ${FAULT_NAMES.join(', ')}, comma-separated`);
}

export const COMMAND = {
  name: 'npm run chaos',
  summary: `Breaks the running service on purpose while counting: two ingest processes over one PostgreSQL, a client that remembers every
acknowledged event, and faults by a random schedule. At the end each acknowledged event has to be stored once, with its values, the
rollups have to equal a recount, and the counters must not exceed the rows. The report goes to standard output as Markdown.`,
  options: {
    minutes: { value: '<n>', help: 'how long faults happen (10)', read: readMinutes },
    rate: { value: '<n>', help: `events a second, up to ${MAX_RATE} (500)`, read: readWhole(1, MAX_RATE) },
    seed: {
      value: '<n>',
      help: 'whole number that schedule and events follow from (7): equal seeds make equal schedules',
      read: readWhole(0, MAX_SEED),
    },
    short: { help: 'each fault once, in under a minute; --minutes is not read' },
    calm: { help: 'no faults at all: a soak that shows the slope of memory' },
    without: { value: '<faults>', help: 'faults that are left out, comma-separated', read: readFaults },
    'without-spool': {
      help: 'SPOOL_MAX_BYTES=0: refusals while PostgreSQL is away are right then',
    },
    report: { value: '<file>', help: 'write the report there instead', read: anyText },
  },
  environment: 'TMPDIR holds the data of the run, which are removed unless something was violated.',
  exitCodes: { 0: 'every promise was kept', 1: 'one was not, or the run could not be made' },
} as const;
