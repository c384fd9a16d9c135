import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path, { join } from 'node:path';
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
/** Images that hold one program and no shell, and a part that serves nothing. */
const NOTHING_TO_ASK_WITH = new Set(['collector', 'tempo', 'traffic']);
const SCRIPTS = [
  'provisioning/make-env.sh',
  'provisioning/nginx/start.sh',
  'provisioning/postgres/demo-app.sh',
  'provisioning/postgres/grafana-reader.sh',
  'provisioning/postgres/ingest-role.sh',
];

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

  test('says when it is healthy, where its image has anything to ask with', () => {
    if (NOTHING_TO_ASK_WITH.has(name)) expect(service.healthcheck).toBeUndefined();
    else if (service.build?.target === 'ingest') expect(dockerfile).toMatch(/^HEALTHCHECK /m);
    else expect(service.healthcheck?.test[0]).toBe('CMD');
  });

  test('is waited for as it can be', () => {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      if (condition === 'service_healthy') expect([...NOTHING_TO_ASK_WITH]).not.toContain(other);
    }
  });

  test('has no rights and no root, a bound of memory, and starts again by itself', () => {
    expect(service).toMatchObject({
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      restart: 'unless-stopped',
    });
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    expect(service.user ?? '').not.toMatch(/^(0|root)(:|$)/);
    expect(service).not.toHaveProperty('privileged');
  });

  test('is of a pinned version, named in one place', () => {
    const image = service.image ?? service.build?.args['NODE_IMAGE'] ?? '';
    expect(image).toMatch(/:v?\d+\.\d+/);
    expect(Object.values(compose['x-versions'])).toContain(image);
    // With what closes the value, so that no longer version counts.
    expect(readText('compose.yaml').split(`${image}\n`)).toHaveLength(2);
  });
});

test('only Grafana and nginx are published, on loopback', () => {
  const published = Object.entries(compose.services).flatMap(([name, { ports }]) =>
    (ports ?? []).map((port) => [name, port]),
  );
  expect(published).toEqual([
    ['nginx', '127.0.0.1:8080:8080'],
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
  expect(mountsOf('ingest')).toContainEqual({ source: 'ingest-data', target: config.dataDir });
  expect(config).toMatchObject({ trustProxyHops: 1, expectGateway: true, tokens: [secret, secret] });
  // Its log is where the collector looks for it.
  const logs = mountsOf('ingest').find(({ target }) => target === path.dirname(config.logFile ?? ''))!;
  expect(mountsOf('collector')).toContainEqual(logs);

  const url = new URL(config.databaseUrl ?? '');
  const database = environmentOf('postgres', filled);
  expect(url.hostname).toBe('postgres');
  // Not the superuser: the role that its script makes.
  expect(url.username).not.toBe(database['POSTGRES_USER']);
  expect(readText('provisioning/postgres/ingest-role.sh')).toContain(`CREATE ROLE ${url.username} LOGIN`);
  expect(url.password).toBe(database['INGEST_PG_PASSWORD']);
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
      expect(
        allowed.some((each) => path === each || path.startsWith(`${each}/`)),
        path,
      ).toBe(true);
    }
  });

  test.each([
    ['ingest', ['ingest/main.ts']],
    ['demo', ['demo/backendMain.ts', 'demo/trafficMain.ts']],
  ])('%s holds all that its programs import', async (target, programs) => {
    const [, stage = ''] = dockerfile.split(` AS ${target}\n`);
    const copied = [...stage.split('\nFROM ')[0]!.matchAll(/^COPY (?!--from)(\S+) (\S+)$/gm)];
    const folder = await mkdtemp(join(tmpdir(), 'firsttoken-image-'));
    try {
      for (const [, from = '', to = ''] of copied) {
        await cp(join(ROOT, from), join(folder, to === './' ? from : to), { recursive: true });
      }
      await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
      for (const program of programs) {
        const { stdout } = await run(process.execPath, ['--import', 'tsx', program, '--help'], { cwd: folder });
        expect(stdout).toMatch(/^Usage: /);
      }
    } finally {
      await rm(folder, { recursive: true });
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
      expect(secrets).toHaveLength(7);
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
    for (const script of SCRIPTS) {
      expect(statSync(join(ROOT, script)).mode & 0o111, script).toBe(0o111);
    }
  });
});
