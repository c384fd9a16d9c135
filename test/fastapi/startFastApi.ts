import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SentStream, StagedBackend } from '../browser/gatewayStage.ts';
import { TOKENS } from '../browser/gatewayStreams.ts';

const PYTHON = fileURLToPath(new URL('../../middleware/python/.venv/current/bin/python', import.meta.url));
const APP = fileURLToPath(new URL('app.py', import.meta.url));
const GAP_MS = 12;
const STOP_WITHIN_MS = 10_000;

/**
 * A FastAPI application under uvicorn, with our middleware, in a process of its own that ends with this one.
 *
 * @throws Error naming what makes its environment, when that is missing
 */
export async function startFastApi(ingestUrl: string, token: string): Promise<StagedBackend> {
  if (!existsSync(PYTHON)) throw new Error(`missing: ${PYTHON}. .ci/python makes it (apt-get install python3-venv)`);
  const child = spawn(PYTHON, [APP], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...process.env,
      FIRSTTOKEN_INGEST_URL: ingestUrl,
      FIRSTTOKEN_TOKEN: token,
      GAP_MS: String(GAP_MS),
      TOKENS: String(TOKENS),
    },
  });
  const ended = once(child, 'close');
  const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer | number | null];
  if (!Buffer.isBuffer(line)) throw new Error(`the FastAPI application ended with ${line}`);
  const port = Number(line.toString());
  return {
    port,
    async sent() {
      const answer = await fetch(`http://127.0.0.1:${port}/sent`);
      return new Map(Object.entries((await answer.json()) as Record<string, SentStream>));
    },
    async stop() {
      child.stdin.end();
      const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      await ended;
      clearTimeout(impatience);
    },
  };
}
