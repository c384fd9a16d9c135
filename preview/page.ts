import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const FOLDER = fileURLToPath(new URL('./page', import.meta.url));

export interface ServedFile {
  readonly type: string;
  readonly body: Buffer;
}

/**
 * The page's files by path: its scripts and the chart library as one file. They are named by their content, so that a browser never
 * shows an old one.
 */
export async function buildPage(): Promise<ReadonlyMap<string, ServedFile>> {
  const { outputFiles } = await build({
    entryPoints: [path.join(FOLDER, 'main.ts')],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    // Licences of what is in it stay with it.
    legalComments: 'eof',
    logLevel: 'error',
  });
  const files = new Map<string, ServedFile>();
  const add = (name: string, extension: string, type: string, body: Buffer): string => {
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
    files.set(`/${name}.${hash}.${extension}`, { type, body });
    return `/${name}.${hash}.${extension}`;
  };
  const script = add('page', 'js', 'text/javascript; charset=utf-8', Buffer.from(outputFiles[0]!.contents));
  const style = add('page', 'css', 'text/css; charset=utf-8', await readFile(path.join(FOLDER, 'style.css')));
  const shell = (await readFile(path.join(FOLDER, 'index.html'), 'utf8'))
    .replace('{{script}}', script)
    .replace('{{style}}', style);
  files.set('/', { type: 'text/html; charset=utf-8', body: Buffer.from(shell) });
  return files;
}
