import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findProgram } from '../../setup/findProgram.ts';
import { MissingProgramError } from '../../setup/missingProgramError.ts';
import { programNamed } from '../../setup/programs.ts';
import { ROOT } from '../docs/markdown.ts';
import { until } from '../postgres/serviceWait.ts';
import { freePort } from './freePort.ts';

export interface RunningNginx {
  /** By location: the shipped configuration, one that collects, one that compresses, one that takes the header away. */
  readonly url: string;
  stop(): Promise<void>;
}

/** A real nginx in front of an application, well configured under `/shipped/` and badly elsewhere. */
export async function startNginx(appHost: string): Promise<RunningNginx> {
  const program = findProgram(programNamed('nginx'));
  if (program === undefined) throw new MissingProgramError('nginx');
  const folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-nginx-'));
  // Its workers are another user's where root starts it.
  await chmod(folder, 0o777);
  for (const name of ['firsttoken.conf', 'firsttoken-stream.conf']) {
    const text = await readFile(path.join(ROOT, 'provisioning/nginx', name), 'utf8');
    await writeFile(path.join(folder, name), text.replaceAll('/var/log/nginx/', `${folder}/`));
  }
  const port = await freePort();
  const to = `proxy_pass http://${appHost}/;`;
  await writeFile(
    path.join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  include firsttoken.conf;
  server {
    listen 127.0.0.1:${port};
    location /shipped/ { include firsttoken-stream.conf; ${to} }
    # nginx' standards: it buffers, and speaks HTTP/1.0 to the application, whose pieces then have no ends that it could go by.
    location /collecting/ { proxy_buffering on; ${to} }
    location /compressing/ { gzip on; gzip_types text/event-stream; gzip_min_length 0; gzip_proxied any; ${to} }
    location /stripping/ { include firsttoken-stream.conf; proxy_hide_header X-Timing-Trace; ${to} }
  }
}
`,
  );
  const child = spawn(program, ['-p', folder, '-c', path.join(folder, 'nginx.conf')], { stdio: 'ignore' });
  const killNow = () => child.kill('SIGTERM');
  process.once('exit', killNow);
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    process.off('exit', killNow);
    await rm(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await until('nginx answers', async () => (await fetch(url)).status > 0);
  } catch (error) {
    const log = await readFile(path.join(folder, 'error.log'), 'utf8').catch(() => '');
    await stop();
    throw new Error(`nginx did not start:\n${log}`, { cause: error });
  }
  return { url, stop };
}
