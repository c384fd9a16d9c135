import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DASHBOARD_FOLDER } from './config.ts';

/** Paths that differ from what would be generated: changed, missing, or dashboards that nothing generates any more. */
export async function staleFiles(root: string, artefacts: ReadonlyMap<string, string>): Promise<string[]> {
  const stale = await orphans(root, artefacts);
  for (const [path, text] of artefacts) {
    const written = await readFile(join(root, path), 'utf8').catch(nullIfMissing);
    if (written !== text) stale.push(path);
  }
  return stale.sort();
}

/** Writes every file and deletes dashboards that nothing generates any more, which Grafana would go on showing. */
export async function writeFiles(root: string, artefacts: ReadonlyMap<string, string>): Promise<void> {
  for (const path of await orphans(root, artefacts)) await rm(join(root, path));
  for (const [path, text] of artefacts) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function orphans(root: string, artefacts: ReadonlyMap<string, string>): Promise<string[]> {
  const names = (await readdir(join(root, DASHBOARD_FOLDER)).catch(nullIfMissing)) ?? [];
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => `${DASHBOARD_FOLDER}/${name}`)
    .filter((path) => !artefacts.has(path));
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
