import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { TOKEN } from './load/orders.ts';

const ROOT = new URL('..', import.meta.url).pathname;
/** Ten times a slow start. */
const START_WITHIN_MS = 60_000;

export interface ServiceProcess {
  readonly port: number;
  readonly pid: number;
  /** From the start of the process to its word that it is ready. */
  readonly startedInMs: number;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Modules that Node loads first. */
  readonly imports?: readonly string[];
  /** Further options of Node, such as `--cpu-prof`. */
  readonly nodeOptions?: readonly string[];
}

/** The service as `npm start` runs it, on free ports. @throws with its last lines when it does not become ready */
export async function startServiceProcess({
  env,
  imports = [],
  nodeOptions = [],
}: ServiceOptions): Promise<ServiceProcess> {
  const beganMs = performance.now();
  const child = spawn(
    process.execPath,
    [...nodeOptions, ...['tsx', ...imports].flatMap((each) => ['--import', each]), 'ingest/main.ts'],
    {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], PORT: '0', ADMIN_PORT: '0', INGEST_TOKEN: TOKEN, BEACON_RATE: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const ended = once(child, 'close');
  const last: string[] = [];
  const keep = (line: string) => {
    last.push(line);
    last.splice(0, last.length - 20);
  };
  createInterface({ input: child.stderr }).on('line', keep);
  const late = setTimeout(() => child.kill('SIGKILL'), START_WITHIN_MS);
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      keep(line);
      const url = /"message":"ready".*"public":"http:\/\/[^"]*:(\d+)"/.exec(line)?.[1];
      if (url !== undefined) resolve(Number(url));
    });
    void ended.then(() => reject(new Error(`the service did not start:\n${last.join('\n')}`)));
  });
  clearTimeout(late);
  return {
    port,
    pid: child.pid!,
    startedInMs: performance.now() - beganMs,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
