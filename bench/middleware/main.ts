/**
 * What the Node middleware costs: `npm run bench:middleware [-- --rounds=10 --json]`. The app with and without it run side by side
 * in processes of their own, and take turns in every round, so that each ratio is of two neighbours in time.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { takeArguments } from '../../commandLine/command.ts';
import { showWaiting } from '../../commandLine/waiting.ts';
import { Child } from './child.ts';
import type { LoadResult } from './measure.ts';
import { type FirstTokens, printTable, type Row, rowsOf, type Turn } from './report.ts';
import { ofEach, orderOfTurn, VARIANTS, type Variant } from './variants.ts';

/** Turns are short: what disturbs the machine for a second disturbs all variants. */
const ANSWERS_PER_TURN = 24;
const CONCURRENCY = 12;
const PAUSE_MS = 1;
const TOKENS = 200;
/** What runs once a request is compiled only after thousands of them; before, it costs several times as much. */
const WARM_UP = { kind: 'load', answers: 4_000, concurrency: 4, pauseMs: 0, tokens: 4 } as const;
const FIRST_TOKENS_PER_ROUND = 40;
const TURNS_PER_ROUND = 4;

const LEAST_ROUNDS = 5;
const COMMAND = {
  name: 'npm run bench:middleware',
  summary: 'Measures what the Node middleware costs: an app with and without it, side by side.',
  options: {
    rounds: {
      value: '<n>',
      help: `how often everything is measured, ${LEAST_ROUNDS} or more (10)`,
      read(text: string): number {
        if (/^\d{1,4}$/.test(text) && Number(text) >= LEAST_ROUNDS) return Number(text);
        throw new RangeError(`a whole number, ${LEAST_ROUNDS} or more`);
      },
    },
    json: { help: 'the figures as JSON' },
  },
  exitCodes: { 0: 'measured, whether the goals are met or not', 1: 'a part broke' },
} as const;

const options = takeArguments(COMMAND);
const rounds = options.rounds ?? 10;
const waiting = showWaiting('warming up');

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

async function measureRound(): Promise<{ turns: Turn[]; firstTokens: FirstTokens[] }> {
  const turns: Turn[] = [];
  for (let turn = 0; turn < TURNS_PER_ROUND; turn++) {
    const costs = {} as Record<Variant, Awaited<ReturnType<typeof measureTurn>>>;
    for (const variant of orderOfTurn(turn)) costs[variant] = await measureTurn(variant);
    const bytes = new Set(VARIANTS.map((variant) => costs[variant].bytes));
    if (bytes.size > 1) throw new Error(`the bodies differ in length: ${[...bytes].join(', ')}`);
    turns.push(ofEach((variant) => ({ ...costs[variant], cpuUs: costs[variant].cpuUs / ANSWERS_PER_TURN })));
  }
  const { firstTokens } = await client.ask<{ firstTokens: FirstTokens[] }>({
    kind: 'firstToken',
    ports,
    requests: FIRST_TOKENS_PER_ROUND,
    tokens: TOKENS,
  });
  return { turns, firstTokens };
}

for (const variant of VARIANTS) await client.ask({ ...WARM_UP, port: ports[variant] });
await measureRound();
const turns: Turn[] = [];
const firstTokens: FirstTokens[] = [];
for (let round = 0; round < rounds; round++) {
  waiting.at(`round ${round + 1} of ${rounds}`);
  const measured = await measureRound();
  turns.push(...measured.turns);
  firstTokens.push(...measured.firstTokens);
}

const rows: Row[] = rowsOf(turns, firstTokens);
waiting.end();
if (options.json) console.log(JSON.stringify({ node: process.version, rounds, rows }, null, 2));
else printTable(rows);

for (const child of [client, ...Object.values(servers)]) await child.stop();
ingest.closeAllConnections();
ingest.close();
await rm(built, { recursive: true });
