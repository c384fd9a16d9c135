/**
 * What the Node middleware costs: `npm run bench:middleware [-- --rounds=7 --json]`. The app with and without it run side by side
 * in processes of their own, and take turns in every round, so that each ratio is of two neighbours in time.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { Child } from './child.ts';
import type { LoadResult } from './measure.ts';
import { printTable, type Round, type Row, rowsOf, type Sample } from './report.ts';
import { median } from './statistics.ts';
import { VARIANTS, type Variant } from './variants.ts';

/** A round is many short turns: what disturbs the machine for a second disturbs all variants. */
const TURNS = 6;
const ANSWERS_PER_TURN = 24;
const CONCURRENCY = 12;
const PAUSE_MS = 1;
const TOKENS = 200;
/** What runs once a request is compiled only after thousands of them; before, it costs several times as much. */
const WARM_UP = { kind: 'load', answers: 4_000, concurrency: 4, pauseMs: 0, tokens: 4 } as const;
const FIRST_TOKEN_REQUESTS = 100;

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, json: { type: 'boolean', default: false } },
});
const rounds = Number(options.rounds);
if (!Number.isInteger(rounds) || rounds < 5) throw new TypeError('--rounds must be a whole number, 5 or more');

const ingest = http.createServer((req, res) => req.resume().on('end', () => res.writeHead(202).end('{}')));
await new Promise<void>((resolve) => ingest.listen(0, '127.0.0.1', resolve));
const ingestUrl = `http://127.0.0.1:${(ingest.address() as AddressInfo).port}`;

// As an app is built for production: under tsx each function gets its name when it is made, so also those made per request.
const built = await mkdtemp(path.join(tmpdir(), 'firsttoken-bench-'));
await build({
  entryPoints: ['server.ts', 'client.ts'].map((file) => path.join(import.meta.dirname, file)),
  bundle: true,
  platform: 'node',
  format: 'esm',
  outdir: built,
  outExtension: { '.js': '.mjs' },
});

const servers = {} as Record<Variant, Child>;
const ports = {} as Record<Variant, number>;
for (const variant of VARIANTS) {
  servers[variant] = new Child(path.join(built, 'server.mjs'), variant, ingestUrl);
  ports[variant] = (await servers[variant].next<{ port: number }>()).port;
}
const client = new Child(path.join(built, 'client.mjs'));

const cpuUsOf = async (variant: Variant) => (await servers[variant].ask<{ cpuUs: number }>({ kind: 'cpu' })).cpuUs;

async function measureTurn(variant: Variant): Promise<LoadResult & { cpuUs: number }> {
  const before = await cpuUsOf(variant);
  const result = await client.ask<LoadResult>({
    kind: 'load',
    port: ports[variant],
    answers: ANSWERS_PER_TURN,
    concurrency: CONCURRENCY,
    pauseMs: PAUSE_MS,
    tokens: TOKENS,
  });
  return { ...result, cpuUs: (await cpuUsOf(variant)) - before };
}

async function measureRound(): Promise<Round> {
  const turns: Record<Variant, Awaited<ReturnType<typeof measureTurn>>[]> = { plain: [], context: [], timed: [] };
  for (let turn = 0; turn < TURNS; turn++) {
    const order = turn % 2 === 0 ? VARIANTS : VARIANTS.toReversed();
    for (const variant of order) turns[variant].push(await measureTurn(variant));
  }
  const bytes = new Set(Object.values(turns).flatMap((each) => each.map((turn) => turn.bytes)));
  if (bytes.size > 1) throw new Error(`the bodies differ in length: ${[...bytes].join(', ')}`);
  const { firstTokenUs } = await client.ask<{ firstTokenUs: Record<Variant, number> }>({
    kind: 'firstToken',
    ports,
    requests: FIRST_TOKEN_REQUESTS,
    tokens: TOKENS,
  });
  const sample = (variant: Variant): Sample => ({
    cpuUs: turns[variant].reduce((sum, { cpuUs }) => sum + cpuUs, 0) / (TURNS * ANSWERS_PER_TURN),
    answerUs: median(turns[variant].map(({ answerUs }) => answerUs)),
    firstTokenUs: firstTokenUs[variant],
  });
  return { plain: sample('plain'), context: sample('context'), timed: sample('timed') };
}

for (const variant of VARIANTS) await client.ask({ ...WARM_UP, port: ports[variant] });
await measureRound();
const measured: Round[] = [];
for (let round = 0; round < rounds; round++) measured.push(await measureRound());

const rows: Row[] = rowsOf(measured);
if (options.json) console.log(JSON.stringify({ node: process.version, rounds, rows }, null, 2));
else printTable(rows, rounds);

for (const child of [client, ...Object.values(servers)]) await child.stop();
ingest.closeAllConnections();
ingest.close();
await rm(built, { recursive: true });
