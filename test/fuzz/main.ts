import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { anyText, runCommand } from '../../commandLine/command.ts';
import { showWaiting } from '../../commandLine/waiting.ts';
import { startEmbedded } from '../../ingest/store/embedded.ts';
import { endProcess, spawnService } from '../postgres/serviceProcess.ts';
import { type EndpointResult, fuzzEndpoints } from './endpoints.ts';
import { checkOne, type Failure, fuzzParsers, TARGETS } from './parsers.ts';
import { reportOf } from './report.ts';

const TOKEN = 'write-token-of-the-fuzz-run';
/** Of all inputs, those that go over real HTTP. */
const HTTP_SHARE = 0.1;
const MAX_INPUTS = 1_000_000_000;
const MAX_SEED = 2 ** 32 - 1;

function readWhole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new RangeError(`a whole number from ${least} to ${most}`);
  };
}

const COMMAND = {
  name: 'npm run fuzz',
  summary: `Gives made-up inputs to every reader of the service (nine tenths) and, over real HTTP and raw connections, to every address of a
running one (a tenth). Golden payloads are changed in their structure and in their bytes. Nothing may fail, stall the event loop for
over 200 ms, repeat its input, or change what all objects share.`,
  options: {
    inputs: { value: '<n>', help: 'how many (1000000)', read: readWhole(1, MAX_INPUTS) },
    seed: { value: '<n>', help: 'whole number that all inputs follow from (1)', read: readWhole(0, MAX_SEED) },
    'parsers-only': { help: 'no running service' },
    replay: { value: '<file>', help: 'gives the one input of this file to every reader', read: anyText },
  },
  environment: 'TMPDIR holds the data of the run, and keeps the inputs that failed.',
  exitCodes: { 0: 'nothing failed', 1: 'something did' },
} as const;

await runCommand(COMMAND, async ({ inputs = 1_000_000, seed = 1, replay, 'parsers-only': parsersOnly }) => {
  if (replay !== undefined) return replayOne(await readFile(replay));
  const beganMs = performance.now();
  const waiting = showWaiting('reading');
  const overHttp = parsersOnly ? 0 : Math.ceil(inputs * HTTP_SHARE);
  const parsers = await fuzzParsers({
    inputs: inputs - overHttp,
    seed,
    onProgress: (done) => waiting.at(`${done} of ${inputs} inputs`),
  });
  const endpoints =
    overHttp === 0
      ? null
      : await withService(overHttp, seed, (done) => waiting.at(`${inputs - overHttp + done} of ${inputs} inputs`));
  waiting.end();
  const failures = [...parsers.failures, ...(endpoints?.failures ?? [])];
  const files = await keep(failures);
  process.stdout.write(
    reportOf({ seed, parsers, endpoints, failures, files, lastedS: (performance.now() - beganMs) / 1_000 }),
  );
  return failures.length === 0 ? 0 : 1;
});

async function withService(inputs: number, seed: number, onProgress: (done: number) => void): Promise<EndpointResult> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-fuzz-'));
  const database = await startEmbedded({ dataDir });
  const service = spawnService({
    DATABASE_URL: database.url,
    DATA_DIR: path.join(dataDir, 'spool'),
    INGEST_TOKEN: TOKEN,
    BEACON_RATE: '0',
  });
  try {
    const urls = await service.ready();
    const result = await fuzzEndpoints({ ...urls, token: TOKEN, inputs, seed, onProgress });
    const failures = [...result.failures, ...failuresOf(service)];
    return { ...result, failures };
  } finally {
    await endProcess(service);
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** What the service itself had to say. */
function failuresOf({ child, log, stderr }: ReturnType<typeof spawnService>): Failure[] {
  const said = log.filter(({ level }) => level === 'error').map((line) => JSON.stringify(line));
  if (child.exitCode !== null || child.signalCode !== null) said.push(`the service ended: ${stderr()}`);
  return said.map((message) => ({ target: 'log', message, input: Buffer.alloc(0) }));
}

/** Writes the inputs that failed where `--replay` finds them. */
async function keep(failures: readonly Failure[]): Promise<string[]> {
  if (failures.length === 0) return [];
  const folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-fuzz-failures-'));
  return Promise.all(
    failures.map(async ({ input }, index) => {
      const file = path.join(folder, `${index}.bin`);
      await writeFile(file, input);
      return file;
    }),
  );
}

async function replayOne(input: Buffer): Promise<number> {
  let failed = 0;
  for (const target of TARGETS) {
    const { failure, tookMs } = await checkOne(target, input);
    if (failure !== null) failed += 1;
    process.stdout.write(`${target.name}: ${failure?.message ?? `well, in ${tookMs.toFixed(1)} ms`}\n`);
  }
  return failed === 0 ? 0 : 1;
}
