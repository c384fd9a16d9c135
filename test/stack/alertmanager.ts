import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MissingProgramError } from '../../setup/missingProgramError.ts';

const START_DEADLINE_MS = 30_000;
const POLL_EVERY_MS = 100;

export interface RunningAlertmanager {
  readonly url: string;
  stop(): Promise<void>;
}

/** @throws Error naming the apt line when the program is missing */
export async function startAlertmanager(): Promise<RunningAlertmanager> {
  const folder = await mkdtemp(join(tmpdir(), 'firsttoken-alertmanager-'));
  await writeFile(join(folder, 'config.yml'), 'route: {receiver: nobody}\nreceivers: [{name: nobody}]\n');
  // It does not say which port it was given, so one is chosen; another process may take it in between, and then the start fails.
  const port = await freePort();
  const child = spawn(
    'prometheus-alertmanager',
    [
      `--config.file=${join(folder, 'config.yml')}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--cluster.listen-address=',
    ],
    { stdio: 'ignore' },
  );
  const killNow = () => child.kill('SIGKILL');
  process.once('exit', killNow);
  let missing = false;
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => {
      missing = true;
      resolve();
    });
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    process.off('exit', killNow);
    await rm(folder, { recursive: true, force: true });
  };
  for (const deadline = Date.now() + START_DEADLINE_MS; Date.now() < deadline; await delay(POLL_EVERY_MS)) {
    if (missing) {
      await rm(folder, { recursive: true, force: true });
      throw new MissingProgramError('prometheus-alertmanager');
    }
    if (await isReady(url, child)) return { url, stop };
  }
  await stop();
  throw new Error('Alertmanager did not get ready');
}

async function isReady(url: string, child: ChildProcess): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`Alertmanager ended with ${child.exitCode}`);
  const answer = await fetch(`${url}/-/ready`).catch(() => undefined);
  return answer?.ok === true;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
