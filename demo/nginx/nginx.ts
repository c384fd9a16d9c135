import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../native/freePort.ts';
import { startProgram } from '../../native/nativeProgram.ts';

const SHIPPED = fileURLToPath(new URL('../../provisioning/nginx', import.meta.url));
const HEALTH = '/nginx-health';

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
  /** Taken when it is free. Default: any. */
  readonly port?: number;
  /** Default: in a folder that goes with nginx. */
  readonly accessLog?: string;
}

/**
 * A real nginx on loopback with the shipped configuration, in which only the log's path is another: a page's files, and an application
 * behind `/api/`. It ends with this process, however that ends.
 *
 * @throws Error with nginx's own message when it does not start
 */
export async function startNginx(options: NginxOptions): Promise<RunningNginx> {
  const { program, backendPort, files } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-nginx-'));
  const accessLog = options.accessLog ?? path.join(folder, 'access.json.log');
  const port = await freePort(options.port ?? 0);
  const logFile = path.join(folder, 'nginx.log');
  try {
    // Its workers are another user's where root starts it.
    await chmod(folder, 0o777);
    for (const name of ['firsttoken.conf', 'firsttoken-stream.conf']) {
      const text = await readFile(path.join(SHIPPED, name), 'utf8');
      await writeFile(path.join(folder, name), text.replaceAll('/var/log/nginx/access.json.log', quoted(accessLog)));
    }
    for (const [name, text] of files) {
      const file = path.join(folder, 'files', name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    await writeFile(path.join(folder, 'nginx.conf'), configuration({ folder, port, backendPort, accessLog }));
    const nginx = await startProgram({
      file: program,
      args: ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log'],
      logFile,
      url: `http://127.0.0.1:${port}`,
      readyPath: HEALTH,
    });
    return {
      url: nginx.url,
      accessLog,
      async stop() {
        await nginx.stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    const said = await readFile(logFile, 'utf8').catch(() => '');
    await rm(folder, { recursive: true, force: true });
    throw new Error(`nginx does not start: ${said.trim() || String(error)}`, { cause: error });
  }
}

/** A path as a word of the configuration, in which a blank or a dollar would mean something. */
function quoted(file: string): string {
  return `"${file.replaceAll(/["\\]/g, '\\$&')}"`;
}

interface Places {
  readonly folder: string;
  readonly port: number;
  readonly backendPort: number;
  readonly accessLog: string;
}

function configuration({ folder, port, backendPort, accessLog }: Places): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
worker_processes 1;
# A stream holds two for as long as it lasts.
events { worker_connections 4096; }
http {
  access_log off;
  ${temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  types { text/html html; text/javascript js; }
  include firsttoken.conf;
  server {
    listen 127.0.0.1:${port};
    root ${folder}/files;
    location = ${HEALTH} { return 204; }
    location /api/ {
      include firsttoken-stream.conf;
      proxy_pass http://127.0.0.1:${backendPort};
    }
    # A location that somebody forgot: nginx collects the answer before it passes it on.
    location ${COLLECTING_PREFIX}/ {
      set $firsttoken_buffering on;
      access_log ${quoted(accessLog)} firsttoken;
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
