import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../ingest/config.ts';
import { createLog } from '../../ingest/log.ts';
import { type Service, startService } from '../../ingest/service.ts';
import { until } from '../postgres/serviceWait.ts';
import { commandsOf } from './commands.ts';
import { fencesOf, findDocuments, ROOT, readText } from './markdown.ts';

const run = promisify(execFile);
const TOKEN = 'choose-a-token';

let folder: string;
let service: Service;
let app: http.Server;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-commands-'));
  // For root: a folder that PostgreSQL's user cannot enter would have its data kept elsewhere.
  await chmod(folder, 0o755);
  const config = readConfig({ PORT: '0', ADMIN_PORT: '0', DATA_DIR: path.join(folder, '.data'), INGEST_TOKEN: TOKEN });
  service = await startService(
    config,
    createLog('error', () => {}),
  );
  app = http.createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: {"choices":[{"delta":{"content":"One"}}]}\n\ndata: [DONE]\n\n');
  });
  await once(app.listen(0, '127.0.0.1'), 'listening');
}, 60_000);

afterAll(async () => {
  await service?.stop();
  app?.closeAllConnections();
  app?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}, 30_000);

/** Addresses of the documents, as they are here. */
function here(command: string): string {
  const { port } = app.address() as AddressInfo;
  return command
    .replaceAll('http://127.0.0.1:8080', service.publicUrl)
    .replaceAll('http://127.0.0.1:3001/api/chat', `http://127.0.0.1:${port}/`)
    .replace(/DATABASE_URL=\S+/, `DATABASE_URL=${service.databaseUrl}`);
}

interface ShellOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly codes?: readonly number[];
}

/** Runs a command as a reader would. @returns what it printed */
async function shell(command: string, { cwd = ROOT, env = {}, codes = [0] }: ShellOptions = {}): Promise<string> {
  const all = { ...process.env, ...env };
  const ended = await run('sh', ['-e', '-c', here(command)], { cwd, env: all }).catch(
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  const code = 'code' in ended ? ended.code : 0;
  expect(codes, `${command}: ${ended.stderr}`).toContain(code);
  return ended.stdout;
}

/** Starts what runs until it is stopped, waits for its word, and stops it as Ctrl-C does. */
async function startAndStop(command: string): Promise<void> {
  const dataDir = await mkdtemp(path.join(folder, 'start-'));
  await chmod(dataDir, 0o755);
  const env = { ...process.env, PORT: '0', ADMIN_PORT: '0', DATA_DIR: dataDir };
  const child = spawn('sh', ['-c', here(command)], { cwd: ROOT, env, detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  }
  const ended = once(child, 'close');
  try {
    await until(
      `${command} is ready`,
      () => output.includes('"message":"ready"') || output.includes('"ready"'),
      60_000,
    );
  } catch (error) {
    throw new Error(output, { cause: error });
  } finally {
    // npm and its child are one group, as in a terminal.
    process.kill(-child.pid!, 'SIGINT');
    await ended;
  }
}

/** A `psql` that connects with the address it is given: there is no psql among what npm brings. */
async function psql(command: string): Promise<void> {
  const programs = await mkdtemp(path.join(folder, 'programs-'));
  await writeFile(path.join(programs, 'psql'), '#!/bin/sh\nprintf %s "$1"\n', { mode: 0o755 });
  const address = await shell(command, { cwd: folder, env: { PATH: `${programs}:${process.env['PATH']}` } });
  const client = new pg.Client(address);
  await client.connect();
  await client.end();
}

async function makeEnv(command: string): Promise<void> {
  const copy = await mkdtemp(path.join(folder, 'env-'));
  await mkdir(path.join(copy, 'provisioning'));
  for (const file of ['provisioning/make-env.sh', '.env.example'])
    if (existsSync(path.join(ROOT, file))) await copyFile(path.join(ROOT, file), path.join(copy, file));
  await shell(command, { cwd: copy });
  expect(await readFile(path.join(copy, '.env'), 'utf8')).toMatch(/^INGEST_TOKEN=.{16}/m);
}

/** Commands that this test runs, as they stand but for addresses. */
const RUN: readonly (readonly [RegExp, (command: string) => Promise<unknown>])[] = [
  [
    /^curl (?!.*\$(INGEST|GRAFANA_TOKEN)).*127\.0\.0\.1:(8080|3001)/s,
    async (command) => expect(await shell(command)).not.toBe(''),
  ],
  [/^([A-Z_]+=\S+ )*npm start( -- (--with-prometheus --with-grafana|--preview))?$/, startAndStop],
  [/^([A-Z_]+=\S+ )*npm run doctor -- /, (command) => shell(command, { codes: [0, 1] })],
  [/^npm run (configuration|dashboards|openapi|schema) -- --check$/, (command) => shell(command)],
  [/^npm run build:browser$/, (command) => shell(command)],
  [/^psql "/, psql],
  [/^sh provisioning\/make-env\.sh$/, makeEnv],
];

/** Commands that another test, or CI, runs: where, and the words by which it does. */
const RUN_ELSEWHERE: readonly (readonly [RegExp, string, string])[] = [
  [/^npm ci$|^npm run check$|^bash \.ci\/run$/, '.ci/run', 'npm ci'],
  [/^npm ci && npm test$/, '.ci/run', 'npm test'],
  [/^npm ci && npm run demo$/, '.ci/run', 'npm run demo'],
  [/^npm run test:system$/, '.ci/run', 'npm run test:system'],
  [/^npm run test:stack$/, '.ci/run', 'npm run test:stack'],
  [/^npm run fuzz -- /, 'test/fuzz/endpoints.test.ts', 'fuzzEndpoints'],
  [/^npm run chaos -- /, '.ci/run', 'npm run chaos -- --short'],
  [/^npm run setup$/, 'test/commandLine/setup.test.ts', 'setup/main.ts'],
  [/^npm run dashboards$/, 'dashboards/artefacts.test.ts', 'artefacts'],
  [/^npm run export-traces -- /, 'test/postgres/tracesAgain.test.ts', 'ingest/export/main.ts'],
  [/^(INGEST=|(curl|printf) .*\$(INGEST|ADMIN))/s, 'test/docs/runningExamples.test.ts', 'docs/http-api.md'],
];

/** Commands that nothing here can run, and why. They are checked as far as they can be. */
const NOT_RUN: readonly (readonly [RegExp, string, ((command: string) => void)?])[] = [
  [/^docker compose /, 'there is no Docker daemon: test/stack checks the file', checkCompose],
  [/^curl .*\$GRAFANA_TOKEN/s, 'Grafana comes neither by apt nor by npm'],
  [/vllm serve /, 'it needs a model and the machine for it: .ci/vllm'],
  [/^pip install \.\/middleware\/python$/, '.ci/python does it, in an environment of its own', checkPythonPackage],
  [/^npm run bench/, 'it takes minutes; test/commandLine runs it as far as its arguments'],
  [/^node --import tsx test\/browser\/mainThreadCost\.ts$/, 'it measures for minutes', checkScript],
];

function checkCompose(command: string): void {
  const { services } = parse(readText('compose.yaml')) as { services: Record<string, unknown> };
  const [, service] = /(?:exec(?: -T)?|logs|restart) ([a-z][\w-]*)/.exec(command) ?? [];
  if (service !== undefined) expect(Object.keys(services)).toContain(service);
}

function checkPythonPackage(): void {
  expect(existsSync(path.join(ROOT, 'middleware/python/pyproject.toml'))).toBe(true);
}

function checkScript(command: string): void {
  expect(existsSync(path.join(ROOT, command.split(' ').at(-1)!)), command).toBe(true);
}

const all = [...new Set(findDocuments().flatMap((document) => commandsOf(readText(document))))];

describe('each command of the documents', () => {
  test.each(all)('%s', { timeout: 90_000 }, async (command) => {
    const running = RUN.find(([pattern]) => pattern.test(command));
    if (running !== undefined) {
      await running[1](command);
      return;
    }
    const elsewhere = RUN_ELSEWHERE.find(([pattern]) => pattern.test(command));
    if (elsewhere !== undefined) {
      expect(readText(elsewhere[1])).toContain(elsewhere[2]);
      return;
    }
    const notRun = NOT_RUN.find(([pattern]) => pattern.test(command));
    if (notRun === undefined) throw new Error('say in this file how this command is run, or why it cannot be');
    notRun[2]?.(command);
  });

  test('none is listed that no document has', () => {
    const patterns = [...RUN, ...RUN_ELSEWHERE, ...NOT_RUN].map(([pattern]) => pattern);
    expect(patterns.filter((pattern) => !all.some((command) => pattern.test(command)))).toEqual([]);
  });
});

const queries = findDocuments().flatMap((document) =>
  fencesOf(readText(document))
    .filter(({ language }) => language === 'sql')
    .map(({ text }) => ({ document, text })),
);

describe('the SQL of the documents runs, and is taken back', () => {
  test.each(queries)('$document: $text', async ({ text }) => {
    const client = new pg.Client(service.databaseUrl);
    await client.connect();
    try {
      await client.query('BEGIN');
      // The roles that it speaks of, unless it makes them itself; under other names, since one of them is there.
      const own = text
        .replaceAll(/\bgrafana_reader\b/g, 'docs_reader')
        .replaceAll(/\bROLE ingest\b/g, 'ROLE docs_ingest');
      for (const role of ['docs_reader', 'docs_ingest'])
        if (own.includes(role) && !own.includes(`CREATE ROLE ${role}`)) await client.query(`CREATE ROLE ${role}`);
      for (const statement of own.split(/;\s*$/m).filter((each) => each.trim() !== '')) {
        // It cannot be taken back, and PostgreSQL refuses it here.
        if (!statement.includes('CREATE DATABASE')) await client.query(statement);
      }
    } finally {
      await client.query('ROLLBACK');
      await client.end();
    }
  });
});
