import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MissingProgramError } from '../../setup/missingProgramError.ts';

const START_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 10_000;
const POLL_EVERY_MS = 50;
const KEPT_LOG_CHARACTERS = 8_000;
/** Prometheus says here which port it was given. */
const LISTENING = /msg="Listening on" address=(127\.0\.0\.1:\d+)/;

export interface RunningPrometheus {
  /** Without a slash at the end: `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Ends the process and deletes its data; resolves when both are gone. May be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts Debian's Prometheus on a free loopback port with an empty data folder and exemplar storage, and resolves when it is
 * ready to be asked. `config` is the text of prometheus.yml; files that it names need absolute paths.
 *
 * @throws Error naming the apt line when the program is missing, or with the end of its log when it does not get ready
 */
export async function startPrometheus({ config }: { config: string }): Promise<RunningPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'firsttoken-prometheus-'));
  const configFile = join(folder, 'prometheus.yml');
  await writeFile(configFile, config);

  const child = spawn(
    'prometheus',
    [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      // Prometheus picks the port itself: one that we found free could be taken before it binds.
      '--web.listen-address=127.0.0.1:0',
      '--enable-feature=exemplar-storage',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  // A test process that dies must not leave its server behind.
  const killNow = () => child.kill('SIGKILL');
  process.once('exit', killNow);

  let log = '';
  let address: string | undefined;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-KEPT_LOG_CHARACTERS);
    address ??= LISTENING.exec(log)?.[1];
  });
  let failure: Error | undefined;
  child.once('error', (cause: NodeJS.ErrnoException) => {
    failure = cause.code === 'ENOENT' ? new MissingProgramError('prometheus', { cause }) : cause;
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });

  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= endProcess(child, ended).then(async () => {
      process.off('exit', killNow);
      await rm(folder, { recursive: true, force: true });
    });
    return stopping;
  };

  const deadline = Date.now() + START_DEADLINE_MS;
  for (;;) {
    if (address && (await isReady(address))) return { url: `http://${address}`, stop };
    const end = child.exitCode ?? child.signalCode;
    if (!failure && end !== null) failure = new Error(`Prometheus ended with ${end}:\n${log}`);
    if (!failure && Date.now() > deadline) failure = new Error(`Prometheus did not get ready:\n${log}`);
    if (failure) {
      await stop();
      throw failure;
    }
    await delay(POLL_EVERY_MS);
  }
}

async function isReady(address: string): Promise<boolean> {
  const answer = await fetch(`http://${address}/-/ready`, { signal: AbortSignal.timeout(2_000) }).catch(
    () => undefined,
  );
  return answer?.ok === true;
}

async function endProcess(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
  await ended;
  clearTimeout(timer);
}
