import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { findGo, runGo } from './go.ts';
import { type BuiltProgram, COLLECTOR, PROGRAMS } from './programs.ts';

/** Where built programs stay: a second run builds nothing. */
const CACHE = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'firsttoken');
const STRIPPED = '-s -w';

/**
 * Builds what is not built yet, one after the other: about eight minutes of two cores the first time.
 *
 * @param say told what is under way
 * @returns the file of each program, by its name; the collector is "collector"
 * @throws MissingGoError, or Error with what the go command said
 */
export async function buildPrograms(say: (line: string) => void): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {
    collector: await built('collector', await hashOfCollector(), buildCollector, say),
  };
  for (const program of PROGRAMS) {
    const recipe = `${program.version}-${hashOf([JSON.stringify(program)])}`;
    files[program.name] = await built(program.name, recipe, (go, file) => buildModule(program, go, file), say);
  }
  return files;
}

async function built(
  name: string,
  version: string,
  build: (go: string, file: string) => Promise<void>,
  say: (line: string) => void,
): Promise<string> {
  const file = path.join(CACHE, `${name}-${version}`, name);
  if (existsSync(file)) return file;
  const go = findGo();
  const beganMs = performance.now();
  say(`building ${name} ${version} …`);
  // Only whole files get their name.
  const unfinished = `${file}.${process.pid}`;
  await mkdir(path.dirname(file), { recursive: true });
  try {
    await build(go, unfinished);
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
  say(`  built in ${Math.round((performance.now() - beganMs) / 1_000)} s`);
  return file;
}

/** Its own dependencies in the versions that its own go.mod names, each held by its go.sum. */
async function buildModule(
  { module, version, sum, main, tags, variables, generated }: BuiltProgram,
  go: string,
  file: string,
): Promise<void> {
  const nowhere = await mkdtemp(path.join(tmpdir(), 'firsttoken-go-'));
  try {
    const asked = await runGo(go, ['mod', 'download', '-json', `${module}@${version}`], nowhere);
    const { Dir: folder, Sum: found } = JSON.parse(asked) as { Dir: string; Sum: string };
    if (found !== sum) throw new Error(`${module}@${version} has the content ${found}; it should be ${sum}`);
    let source = folder;
    if (generated !== undefined) {
      source = path.join(nowhere, 'source');
      await cp(folder, source, { recursive: true });
      for (const [name, text] of Object.entries(generated)) await writeNew(source, name, text);
    }
    const flags = Object.entries(variables ?? {}).map(([name, value]) => `-X ${name}=${value}`);
    const ldflags = `-ldflags=${[STRIPPED, ...flags].join(' ')}`;
    await runGo(go, ['build', '-trimpath', ldflags, '-tags', tags ?? '', '-o', file, main], source);
  } finally {
    await rm(nowhere, { recursive: true, force: true });
  }
}

/** Into a copy of the module cache, where nothing may be written. */
async function writeNew(source: string, name: string, text: string): Promise<void> {
  let folder = source;
  for (const step of path.dirname(name).split('/')) {
    await chmod(folder, 0o755);
    folder = path.join(folder, step);
    await mkdir(folder, { recursive: true });
  }
  await writeFile(path.join(source, name), text);
}

async function buildCollector(go: string, file: string): Promise<void> {
  await runGo(go, ['build', '-trimpath', `-ldflags=${STRIPPED}`, '-o', file, '.'], COLLECTOR);
}

async function hashOfCollector(): Promise<string> {
  return hashOf(await Promise.all(['main.go', 'go.mod', 'go.sum'].map((name) => readFile(path.join(COLLECTOR, name)))));
}

function hashOf(pieces: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex').slice(0, 12);
}
