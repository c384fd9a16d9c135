import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { withAddresses, withoutAddresses } from '../wholeStack/addresses.ts';
import { environmentHere } from '../wholeStack/environment.ts';
import { PROGRAMS } from '../wholeStack/programs.ts';
import { compose, ROOT, readText, readYaml } from './composeFile.ts';

/*
 * What `npm run test:stack` builds is what compose starts: this needs no Go.
 */
const COLLECTOR = 'test/wholeStack/collector';
const tagOf = (name: string): string => compose['x-versions'][name]!.split(':')[1]!;
const versionOf = (name: string): string => PROGRAMS.find((program) => program.name === name)!.version;

interface CollectorFile {
  readonly receivers: object;
  readonly processors: object;
  readonly exporters: object;
}

test('Prometheus and Alertmanager are built in the versions of compose.yaml', () => {
  expect(versionOf('alertmanager')).toBe(tagOf('alertmanager'));
  // Prometheus 3.14.0 is v0.314.0 as a module.
  const [, minor, patch] = /^v3\.(\d+)\.(\d+)$/.exec(tagOf('prometheus'))!;
  expect(versionOf('prometheus')).toBe(`v0.3${minor!.padStart(2, '0')}.${patch}`);
});

test('the collector is put together from modules of the release that compose.yaml names', () => {
  const required = [...readText(`${COLLECTOR}/go.mod`).matchAll(/^\t(\S+) (v\S+)$/gm)];
  const components = required.filter(([, module]) => /\/(receiver|processor|exporter)\/\w+$/.test(module!));
  expect(components.length).toBeGreaterThan(3);
  for (const [, module, version] of components) expect(version, module).toBe(`v${tagOf('collector')}`);
});

test('it has each component that the shipped configuration names, and no other', () => {
  const source = readText(`${COLLECTOR}/main.go`);
  const shipped = readYaml<CollectorFile>('provisioning/collector/collector.yaml');
  for (const kind of ['receivers', 'processors', 'exporters'] as const) {
    const named = Object.keys(shipped[kind]).map((name) => name.split('/')[0]!.replaceAll('_', ''));
    const built = [...source.matchAll(new RegExp(`(\\w+)${kind.slice(0, -1)}\\.NewFactory\\(\\)`, 'g'))];
    expect([...new Set(built.map(([, name]) => name))].sort()).toEqual([...new Set(named)].sort());
  }
});

test('its sums are there for everybody', () => {
  expect(readdirSync(path.join(ROOT, COLLECTOR)).sort()).toEqual(['go.mod', 'go.sum', 'main.go']);
});

test('nothing but addresses and paths can be replaced in what was shipped', () => {
  const shipped = 'endpoint: http://tempo:4318\nbatch: 500\n';
  const replacements = [['http://tempo:4318', 'http://127.0.0.1:1234']] as const;
  const used = withAddresses(shipped, replacements);
  expect(used).toBe('endpoint: http://127.0.0.1:1234\nbatch: 500\n');
  expect(withoutAddresses(used, replacements)).toBe(shipped);
  expect(withoutAddresses(used.replace('500', '600'), replacements)).not.toBe(shipped);
  expect(() => withAddresses(shipped, [['batch: 500', 'batch: 600']])).toThrow('no address');
  expect(() => withAddresses(shipped, [['http://loki:3100', 'http://127.0.0.1:1']])).toThrow('does not hold');
  expect(() => environmentHere('ingest', {}, { LOG_REQUESTS: 'slow' })).toThrow('no address');
  expect(() => environmentHere('ingest', {}, { NEW: '/a' })).toThrow('does not set');
  expect(environmentHere('ingest', {}, { LOG_FILE: '/a/b.log' })).toMatchObject({ LOG_FILE: '/a/b.log' });
});
