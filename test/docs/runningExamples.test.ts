import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../ingest/config.ts';
import { createLog } from '../../ingest/log.ts';
import { type Service, startService } from '../../ingest/service.ts';
import { MissingProgramError } from '../../setup/missingProgramError.ts';
import { fencesOf, readText } from './markdown.ts';

const run = promisify(execFile);
const TOKEN = 'choose-a-token';

let folder: string;
let service: Service;

beforeAll(async () => {
  await run('curl', ['--version']).catch((cause) => {
    throw new MissingProgramError('curl', { cause });
  });
  folder = await mkdtemp(join(tmpdir(), 'firsttoken-docs-'));
  // For root: a folder that PostgreSQL's user cannot enter would have its data kept under /var/lib, and left there.
  await chmod(folder, 0o755);
  const config = readConfig({ PORT: '0', ADMIN_PORT: '0', DATA_DIR: join(folder, 'data'), INGEST_TOKEN: TOKEN });
  service = await startService(
    config,
    createLog('error', () => {}),
  );
}, 60_000);

afterAll(async () => {
  await service?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}, 30_000);

describe('the examples of docs/http-api.md, in their order', () => {
  const fences = fencesOf(readText('docs/http-api.md'));
  // The first block sets the variables that the test sets itself.
  const commands = fences
    .map(({ language, text }, index) => ({ language, text, answer: fences[index + 1] }))
    .filter(({ language }) => language === 'sh')
    .slice(1);

  test.each(commands)('$text', { timeout: 30_000 }, async ({ text, answer }) => {
    const env = { ...process.env, INGEST: service.publicUrl, ADMIN: service.adminUrl, TOKEN };
    const { stdout } = await run('sh', ['-e', '-c', text], { env });
    if (answer?.language === 'json') expect(JSON.parse(stdout)).toMatchObject(JSON.parse(answer.text));
    else expect(stdout).not.toBe('');
  });
});

describe('the client of docs/install.md', () => {
  let app: Server;

  beforeAll(async () => {
    app = createServer((_request, response) => {
      response.setHeader('X-Timing-Trace', '1000,2000,3000,4000,5000,0,0');
      response.write('One');
      response.end(' two');
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
  });

  afterAll(() => new Promise((resolve) => app.close(resolve)));

  test('reports what it read', { timeout: 30_000 }, async () => {
    const code = fencesOf(readText('docs/install.md')).find(({ language }) => language === 'js')!.text;
    const file = join(folder, 'measured.mjs');
    await writeFile(file, code.replace('http://127.0.0.1:8080', service.publicUrl));
    const { measured } = (await import(pathToFileURL(file).href)) as {
      measured(url: string, init: object, tokensIn: (piece: string) => number): AsyncIterable<string>;
    };
    const fetched = vi.spyOn(globalThis, 'fetch');
    let answer = '';
    const { port } = app.address() as AddressInfo;
    for await (const piece of measured(`http://127.0.0.1:${port}/`, {}, () => 1)) answer += piece;
    expect(answer).toBe('One two');

    const beacon = fetched.mock.results.at(-1)!.value as Promise<Response>;
    expect(await (await beacon).json()).toEqual({ accepted: 1, rejected: [] });
    const { trace_id } = JSON.parse(String(fetched.mock.calls.at(-1)![1]!.body)) as { trace_id: string };
    fetched.mockRestore();
    const stored = await fetch(`${service.publicUrl}/v1/requests/${trace_id}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(await stored.json()).toMatchObject({
      joined: true,
      status: 'complete',
      server: { source: 'echo', ttft_ns: 3000, ttft_basis: 't1-t4' },
    });
  });
});
