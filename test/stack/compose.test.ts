import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { GRAFANA_VERSION } from '../../dashboards/config.ts';
import { readConfig } from '../../ingest/config.ts';
import {
  compose,
  environmentNames,
  environmentOf,
  exampleEnvironment,
  mountsOf,
  ROOT,
  readText,
} from './composeFile.ts';

const run = promisify(execFile);
const dockerfile = readText('Dockerfile');

describe.each(Object.entries(compose.services))('service %s', (name, service) => {
  test('mounts only files that exist and volumes that are declared', () => {
    for (const { source, target } of mountsOf(name)) {
      expect(target).toMatch(/^\//);
      if (source.startsWith('.')) expect(existsSync(join(ROOT, source)), source).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
  });

  test('waits only for services that exist', () => {
    for (const other of Object.keys(service.depends_on ?? {})) expect(Object.keys(compose.services)).toContain(other);
  });

  test('takes from .env only what .env.example names, and never with a default', () => {
    const text = JSON.stringify(service);
    for (const variable of environmentNames(text)) expect(exampleEnvironment()).toHaveProperty(variable);
    expect(text).not.toMatch(/\$\{[A-Z_]+(:?-|\})/);
  });

  test('says when it is healthy', () => {
    if (service.build) expect(dockerfile).toMatch(/^HEALTHCHECK /m);
    else expect(service.healthcheck?.test[0]).toBe('CMD');
  });

  test('is of a pinned version, named in one place', () => {
    const image = service.image ?? service.build?.args['NODE_IMAGE'] ?? '';
    expect(image).toMatch(/:v?\d+\.\d+/);
    expect(Object.values(compose['x-versions'])).toContain(image);
    expect(readText('compose.yaml').split(image)).toHaveLength(2);
  });
});

test('only Grafana and the public port of the ingest are published, on loopback', () => {
  const published = Object.entries(compose.services).flatMap(([name, { ports }]) =>
    (ports ?? []).map((port) => [name, port]),
  );
  expect(published).toEqual([
    ['ingest', '127.0.0.1:8080:8080'],
    ['grafana', '127.0.0.1:3000:3000'],
  ]);
});

test('every declared volume is used', () => {
  const used = Object.keys(compose.services).flatMap((name) => mountsOf(name).map(({ source }) => source));
  for (const volume of Object.keys(compose.volumes)) expect(used).toContain(volume);
});

test('the ingest understands its environment, and its database is the one that is started', () => {
  const secret = '0123456789abcdef';
  const filled = Object.fromEntries(Object.entries(exampleEnvironment()).map(([key, value]) => [key, value || secret]));
  const config = readConfig(environmentOf('ingest', filled));
  expect(config).toMatchObject({
    port: 8080,
    host: '0.0.0.0',
    adminPort: 9464,
    adminHost: '0.0.0.0',
    dataDir: '/data',
  });
  expect(mountsOf('ingest')).toEqual([{ source: 'ingest-data', target: '/data' }]);

  const url = new URL(config.databaseUrl ?? '');
  const database = environmentOf('postgres', filled);
  expect(url.hostname).toBe('postgres');
  expect(url.username).toBe(database['POSTGRES_USER']);
  expect(url.password).toBe(database['POSTGRES_PASSWORD']);
  expect(url.pathname).toBe(`/${database['POSTGRES_DB']}`);
});

test('panels are of the Grafana that is started', () => {
  expect(compose.services['grafana']?.image).toBe(`grafana/grafana:${GRAFANA_VERSION}`);
});

describe('the image', () => {
  test('is built on the version that compose.yaml names', () => {
    expect(/^ARG NODE_IMAGE=(.+)$/m.exec(dockerfile)?.[1]).toBe(compose['x-versions']['node']);
  });

  test('copies only what exists and is not ignored', () => {
    const allowed = readText('.dockerignore')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) =>
      String(match[1]).split(' '),
    );
    expect(copied.length).toBeGreaterThan(4);
    for (const path of copied) {
      expect(existsSync(join(ROOT, path)), path).toBe(true);
      expect(allowed, path).toContain(path);
    }
  });

  test('runs as a plain user, on a read-only root, without npm in between', () => {
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(compose.services['ingest']?.read_only).toBe(true);
    const command = JSON.parse(/^CMD (\[.+\])$/m.exec(dockerfile)?.[1] ?? '[]') as string[];
    expect(command[0]).toBe('node');
  });
});

describe('provisioning/make-env.sh', () => {
  test('fills every secret, keeps the rest, and never overwrites', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'firsttoken-env-'));
    try {
      await mkdir(join(folder, 'provisioning'));
      await cp(join(ROOT, 'provisioning/make-env.sh'), join(folder, 'provisioning/make-env.sh'));
      await cp(join(ROOT, '.env.example'), join(folder, '.env.example'));
      await run('sh', [join(folder, 'provisioning/make-env.sh')]);

      const text = await readFile(join(folder, '.env'), 'utf8');
      const written = exampleEnvironment(text);
      const secrets = Object.entries(exampleEnvironment()).flatMap(([key, value]) =>
        value === '' ? [written[key]] : [],
      );
      expect(secrets).toHaveLength(4);
      expect(new Set(secrets).size).toBe(secrets.length);
      for (const secret of secrets) expect(secret).toMatch(/^[0-9a-f]{48}$/);
      expect(written['BEACON_ORIGINS']).toBe(exampleEnvironment()['BEACON_ORIGINS']);
      expect((await stat(join(folder, '.env'))).mode & 0o077).toBe(0);

      await expect(run('sh', [join(folder, 'provisioning/make-env.sh')])).rejects.toMatchObject({ code: 1 });
      expect(await readFile(join(folder, '.env'), 'utf8')).toBe(text);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('scripts are executable', () => {
    for (const path of ['provisioning/make-env.sh', 'provisioning/postgres/grafana-reader.sh']) {
      expect(statSync(join(ROOT, path)).mode & 0o111, path).toBe(0o111);
    }
  });
});
