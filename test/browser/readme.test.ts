import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Browser, startChromium } from '../../demo/chromium/chromium.ts';
import { findProgram } from '../../setup/findProgram.ts';
import { MissingProgramError } from '../../setup/missingProgramError.ts';
import { programNamed } from '../../setup/programs.ts';
import { fencesOf, ROOT, readText, sectionOf } from '../docs/markdown.ts';
import { openService, query, type RunningService, TOKEN } from '../postgres/service.ts';
import { until } from '../postgres/serviceWait.ts';
import { buildSdk } from './sdkFiles.ts';

let folder: string;
let service: RunningService;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-readme-'));
  service = await openService();
  browser = await startChromium();
});
afterAll(async () => {
  await browser?.stop();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The code of a chapter, with the service's address as it is here. */
function codeOf(chapter: string, language: string): string {
  const fence = fencesOf(sectionOf(readText('README.md'), chapter)).find((each) => each.language === language)!;
  return fence.text.replaceAll('http://127.0.0.1:8080', service.publicUrl);
}

/** What the README leaves to the reader: an app, a prompt, a model; and the page that it serves. */
async function expressApp(): Promise<string> {
  const sdk = (await buildSdk()).get('/sdk/firsttoken.js')!;
  const page = `<!doctype html><title>chat</title>
<script>question = 'Count'; shown = ''; show = (text) => { shown += text; };</script>
${codeOf('The page', 'html')}`;
  const block = codeOf('Express', 'js').replace('./middleware', path.join(ROOT, 'middleware'));
  return `import express from ${JSON.stringify(import.meta.resolve('express'))};
const app = express();
const buildPrompt = async () => 'prompt';
async function* generate() {
  for (const word of ['One', ' two', ' three']) yield await new Promise((resolve) => setTimeout(resolve, 20, word));
}
${block}
app.get('/', (_, response) => response.type('html').send(${JSON.stringify(page)}));
app.get('/firsttoken.js', (_, response) => response.type('js').send(${JSON.stringify(sdk)}));
const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;
}

test("the README's Express app and page report one joined request", async () => {
  const file = path.join(folder, 'app.mjs');
  await writeFile(file, await expressApp());
  const child = spawn(process.execPath, ['--import', 'tsx', file], {
    cwd: ROOT,
    env: { ...process.env, INGEST_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  try {
    const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
    const tab = await browser.open(`http://127.0.0.1:${port}/`);
    await until('the page has read all', async () => (await tab.run<string>('shown')).includes('[DONE]'));
    const [row] = await until('the request is joined', async () => {
      const rows = await query<{ route: string; stamped: boolean; tokens: number }>(
        service.databaseUrl,
        `SELECT route, preprocess_ns IS NOT NULL AS stamped, output_tokens AS tokens FROM requests
         WHERE server_source = 'direct' AND status = 'complete'`,
      );
      return rows.length > 0 && rows;
    });
    expect(row).toEqual({ route: '/api/chat', stamped: true, tokens: 3 });
    await tab.close();
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
});

test("the README's FastAPI app runs, with the middleware as it is and a stand-in for FastAPI", async () => {
  const python = findProgram(programNamed('python3'));
  if (python === undefined) throw new MissingProgramError('python3');
  const program = `import asyncio, os
posts = {}
class App:
    def add_middleware(self, middleware, **options): middleware(None, **options)
    def post(self, path): return lambda handler: posts.setdefault(path, handler)
class StreamingResponse:
    def __init__(self, content, media_type): self.content, self.media_type = content, media_type
app = App()
async def build_prompt(question): return "prompt"
def generate(prompt): return [prompt]
${codeOf('FastAPI', 'python')}
response = asyncio.run(posts["/api/chat"]({}))
print(response.media_type, response.content)
`;
  const env = { ...process.env, PYTHONPATH: path.join(ROOT, 'middleware/python/src'), INGEST_TOKEN: TOKEN };
  const { stdout } = await promisify(execFile)(python, ['-c', program], { env });
  expect(stdout).toBe("text/event-stream ['prompt']\n");
});
