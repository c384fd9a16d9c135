import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BuildOptions, type BuildResult, build, type Plugin } from 'esbuild';
import { runCommand } from '../commandLine/command.ts';
import { showWaiting } from '../commandLine/waiting.ts';

const FOLDER = path.dirname(fileURLToPath(import.meta.url));

/**
 * What a page needs of the presets. They are made by a function that has no effects, which esbuild cannot know across its parts: without
 * this note the main entry would carry the three that it does not use. Cached tokens are the server's to tell.
 */
const presetsOfPages: Plugin = {
  name: 'presets-of-pages',
  setup({ onLoad }) {
    onLoad({ filter: /contract[\\/]tokens\.ts$/ }, async ({ path: file }) => ({
      loader: 'ts',
      contents: (await readFile(file, 'utf8'))
        .replace('function fromJson(', '/* @__NO_SIDE_EFFECTS__ */ $&')
        .replace(/^ +cachedTokens: .*,$/gm, ''),
    }));
  },
};

/** Entries that share state import each other's built file, so that no part of them is in two files or in a third. */
const siblings: Plugin = {
  name: 'siblings',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/(index|reporting)\.ts$/ }, ({ path: file, kind }) =>
      kind === 'entry-point' ? undefined : { path: file.replace(/ts$/, 'js'), external: true },
    );
  },
};

const COMMON = {
  absWorkingDir: FOLDER,
  outdir: 'dist',
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  pure: ['Object.freeze'],
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** What npm serves: the main entry, the half of it that is loaded later, and the optional entries. */
export function buildEntries(options: BuildOptions = {}): Promise<BuildResult> {
  return build({
    ...COMMON,
    plugins: [presetsOfPages, siblings],
    entryPoints: {
      index: './index.ts',
      reporting: './reporting.ts',
      'event-source': './eventSource.ts',
      presets: './presets.ts',
      pace: './pace.ts',
      coalesce: './coalesce.ts',
    },
    ...options,
  });
}

/** Everything in one file. */
export function buildSingleFile(options: BuildOptions = {}): Promise<BuildResult> {
  return build({ ...COMMON, plugins: [presetsOfPages], entryPoints: { firsttoken: './everything.ts' }, ...options });
}

/** Their types; throws with the compiler's report. */
export async function buildTypes(outDir: string): Promise<void> {
  const compiler = path.join(path.dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin', 'tsc');
  const run = promisify(execFile);
  await run(process.execPath, [compiler, '-p', path.join(FOLDER, 'tsconfig.json'), '--outDir', outDir]);
}

const COMMAND = {
  name: 'npm run build:browser',
  summary:
    'Builds the browser SDK into browser/dist/: its entries, the single file for pages without a bundler, and types.',
  options: {},
  exitCodes: { 0: 'built', 1: 'a part could not be built' },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runCommand(COMMAND, async () => {
    const dist = path.join(FOLDER, 'dist');
    const waiting = showWaiting('building the entries, the single file and the types');
    await rm(dist, { recursive: true, force: true });
    await Promise.all([buildEntries(), buildSingleFile(), buildTypes(path.join(dist, 'types'))]).finally(waiting.end);
    process.stdout.write('built browser/dist\n');
    return 0;
  });
}
