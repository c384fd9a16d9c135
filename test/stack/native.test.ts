import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ALERTS } from '../../dashboards/rules/alerts.ts';
import { processExists } from '../../ingest/store/embeddedLock.ts';
import { until } from '../postgres/serviceWait.ts';
import { ROOT } from './composeFile.ts';

interface Line {
  readonly message: string;
  readonly [fact: string]: unknown;
}

let folder: string;
let ends: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-native-'));
  await chmod(folder, 0o755);
});
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
  await rm(folder, { recursive: true, force: true });
});

/** `npm start` with these options, as a process of its own. */
function start(args: readonly string[], searchPath: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'ingest/main.ts', ...args], {
    cwd: ROOT,
    env: { PATH: searchPath, PORT: '0', ADMIN_PORT: '0', DATA_DIR: path.join(folder, 'data'), JOIN_WAIT: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Line[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const whole = (rest + text).split('\n');
    rest = whole.pop()!;
    lines.push(...whole.map((line) => JSON.parse(line) as Line));
  });
  const closed = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    const [code] = await closed;
    return code as number;
  };
  ends.push(stop);
  const said = (beginning: string) =>
    until(beginning, () => lines.find(({ message }) => message.startsWith(beginning))?.message, 60_000);
  return { stop, said, lines, kill: () => child.kill('SIGKILL') };
}

/** Grafana does not come with Debian: this one writes down how it was started, and says that it is well. */
const STAND_IN = `#!${process.execPath}
const { writeFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { env, argv } = process;
writeFileSync(env.GF_PATHS_PROVISIONING + '/started.json', JSON.stringify({ pid: process.pid, argv: argv.slice(2), env }));
createServer((request, response) => response.end('{}')).listen(Number(env.GF_SERVER_HTTP_PORT), env.GF_SERVER_HTTP_ADDR);
`;

async function ask<T>(url: string): Promise<T> {
  const answer = await fetch(url);
  expect(answer.status, url).toBe(200);
  return ((await answer.json()) as { data: T }).data;
}

test('Prometheus, Alertmanager and Grafana stand beside the service with what is shipped, and go with it', async () => {
  const programs = path.join(folder, 'programs');
  await mkdir(programs);
  await writeFile(path.join(programs, 'grafana'), STAND_IN, { mode: 0o755 });
  const service = start(['--with-prometheus', '--with-grafana'], `${programs}:${process.env['PATH']}`);
  const url = async (name: string) => (await service.said(`${name}: http`)).slice(name.length + 2);
  const [prometheus, alertmanager, grafana] = [
    await url('prometheus'),
    await url('prometheus-alertmanager'),
    await url('grafana'),
  ];

  const targets = () =>
    ask<{ activeTargets: { health: string; labels: Record<string, string> }[] }>(`${prometheus}/api/v1/targets`);
  const healthy = async () => (await targets()).activeTargets.map(({ health }) => health).join() === 'up';
  await until('the scrape', healthy, 30_000);
  expect((await targets()).activeTargets.map(({ labels }) => labels['job'])).toEqual(['ingest']);
  const { groups } = await ask<{ groups: { rules: { type: string; name: string; health: string }[] }[] }>(
    `${prometheus}/api/v1/rules`,
  );
  const alerts = groups.flatMap(({ rules }) => rules.filter(({ type }) => type === 'alerting'));
  expect(alerts.map(({ name }) => name).sort()).toEqual(
    ALERTS.filter(({ paused }) => !paused)
      .map(({ name }) => name)
      .sort(),
  );
  const told = () =>
    ask<{ activeAlertmanagers: { url: string }[] }>(`${prometheus}/api/v1/alertmanagers`).then(
      ({ activeAlertmanagers }) => activeAlertmanagers.map((each) => new URL(each.url).origin),
    );
  await until('the Alertmanager to be known', async () => (await told()).length > 0, 30_000);
  expect(await told()).toEqual([alertmanager]);

  const provisioning = path.join(folder, 'data/native/grafana/provisioning');
  const started = JSON.parse(await readFile(path.join(provisioning, 'started.json'), 'utf8'));
  expect(started.argv[0]).toBe('server');
  expect(started.env).toMatchObject({ GF_SERVER_HTTP_ADDR: '127.0.0.1', GF_SERVER_HTTP_PORT: new URL(grafana).port });
  const sources = await readFile(path.join(provisioning, 'datasources/firsttoken.yaml'), 'utf8');
  expect(sources).toContain(`url: ${prometheus}`);
  expect(sources).not.toMatch(/url: postgres:5432/);
  const dashboards = await readFile(path.join(provisioning, 'dashboards/firsttoken.yaml'), 'utf8');
  expect(dashboards).toContain(path.join(ROOT, 'provisioning/grafana/dashboards'));

  expect(await service.stop()).toBe(0);
  expect(processExists(started.pid)).toBe(false);
  for (const gone of [prometheus, alertmanager]) await expect(fetch(gone)).rejects.toThrow();
});

test('they end with a service that is killed', async () => {
  const service = start(['--with-prometheus'], process.env['PATH']!);
  const prometheus = (await service.said('prometheus: http')).slice('prometheus: '.length);
  expect((await fetch(`${prometheus}/-/ready`)).status).toBe(200);
  service.kill();
  const gone = () =>
    fetch(prometheus).then(
      () => false,
      () => true,
    );
  await until('Prometheus to end', gone, 30_000);
});

test('what is not on the PATH is named, with the way to get it, and the service runs without it', async () => {
  const nothing = path.join(folder, 'nothing');
  await mkdir(nothing);
  // The embedded PostgreSQL asks it which user to be when started by root.
  await symlink('/usr/bin/id', path.join(nothing, 'id'));
  const service = start(['--with-grafana'], nothing);
  expect(await service.said('grafana is not on the PATH')).toContain('grafana.com');
  expect(service.lines.some(({ message }) => message === 'ready')).toBe(true);
  expect(await service.stop()).toBe(0);
});
