import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const SHIPPED = fileURLToPath(new URL('../../provisioning/nginx', import.meta.url));
const UP_WITHIN_MS = 10_000;
const STOP_WITHIN_MS = 5_000;
const POLL_MS = 20;

/** Under it stands a location as nginx has it without our configuration: it collects the answer. */
export const COLLECTING_PREFIX = '/collecting';

export interface RunningNginx {
  readonly url: string;
  /** One JSON object per line, in the shipped format. */
  readonly accessLog: string;
  stop(): Promise<void>;
}

export interface NginxOptions {
  /** Of the installed nginx. */
  readonly program: string;
  /** The application's port on loopback; all paths under `/api/` are its. */
  readonly backendPort: number;
  /** Files to serve beside it, by their paths. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * A real nginx on loopback with the shipped configuration, in which only the log's path is another: a page's files, and an application
 * behind `/api/`.
 *
 * @throws Error with nginx's own message when it does not start
 */
export async function startNginx({ program, backendPort, files }: NginxOptions): Promise<RunningNginx> {
  const folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-nginx-'));
  // Its workers are another user's where root starts it.
  await chmod(folder, 0o777);
  for (const name of ['firsttoken.conf', 'firsttoken-stream.conf']) {
    const text = await readFile(path.join(SHIPPED, name), 'utf8');
    await writeFile(path.join(folder, name), text.replaceAll('/var/log/nginx/', `${folder}/`));
  }
  for (const [name, text] of files) {
    const file = path.join(folder, 'files', name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const port = await freePort();
  await writeFile(path.join(folder, 'nginx.conf'), configuration(folder, port, backendPort));

  const child = spawn(program, ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // A Ctrl-C in the terminal is the parent's to take.
    detached: true,
  });
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said += text;
  });
  const ended = once(child, 'close');
  const killNow = (): void => void child.kill('SIGTERM');
  process.once('exit', killNow);
  const stop = async (): Promise<void> => {
    const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(impatience);
    process.removeListener('exit', killNow);
    await rm(folder, { recursive: true, force: true });
  };

  const giveUpAt = performance.now() + UP_WITHIN_MS;
  while (!(await listens(port))) {
    const over = child.exitCode !== null || performance.now() > giveUpAt;
    if (over) {
      await stop();
      throw new Error(`nginx does not start: ${said.trim()}`);
    }
    await wait(POLL_MS);
  }
  return { url: `http://127.0.0.1:${port}`, accessLog: path.join(folder, 'access.json.log'), stop };
}

function configuration(folder: string, port: number, backendPort: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
worker_processes 1;
events {}
http {
  access_log off;
  ${temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  types { text/html html; text/javascript js; }
  include firsttoken.conf;
  server {
    listen 127.0.0.1:${port};
    root ${folder}/files;
    location /api/ {
      include firsttoken-stream.conf;
      proxy_pass http://127.0.0.1:${backendPort};
    }
    # A location that somebody forgot: nginx collects the answer before it passes it on.
    location ${COLLECTING_PREFIX}/ {
      set $firsttoken_buffering on;
      access_log ${folder}/access.json.log firsttoken;
      proxy_http_version 1.1;
      proxy_set_header X-Trace-ID $firsttoken_trace;
      proxy_buffers 8 64k;
      proxy_buffer_size 64k;
      proxy_pass http://127.0.0.1:${backendPort}/;
    }
  }
}
`;
}

/** nginx cannot be given port 0. */
async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listens(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
