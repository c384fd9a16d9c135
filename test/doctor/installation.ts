import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { NamedFinding } from '../../doctor/examine.ts';
import { startTestCollector } from '../../ingest/export/testCollector.ts';
import { ROOT } from '../docs/markdown.ts';
import { openService, type RunningService, TOKEN } from '../postgres/service.ts';
import { beacon, serverRecord, traceId } from '../postgres/serviceEvents.ts';
import { until } from '../postgres/serviceWait.ts';
import { startPrometheus } from '../prometheus/prometheus.ts';
import { startApp } from './app.ts';
import { startNginx } from './nginx.ts';
import { startGrafana } from './standIns.ts';

export const ORIGIN = 'https://app.example';
export const GRAFANA_TOKEN = 'token-of-a-service-account';

/** A service whose requests settle at once, and may be posted to by pages of `ORIGIN`. */
export function openQuickService(): Promise<RunningService> {
  return openService({ env: { JOIN_WAIT: '0.2', BEACON_ORIGINS: ORIGIN } });
}

/** Requests with both halves, or with each half under an id of its own; returns when they have settled. */
export async function settle(service: RunningService, count: number, joined: boolean): Promise<void> {
  const ids = Array.from({ length: count }, traceId);
  await service.postTimings(...ids.map((trace_id) => serverRecord({ trace_id })));
  await service.postBeacons(...ids.map((trace_id) => beacon({ trace_id: joined ? trace_id : traceId() })));
  await until('all to settle', async () => {
    const text = await (await fetch(`${service.adminUrl}/metrics`)).text();
    const clients = [...text.matchAll(/^firsttoken_settled_total\{client="yes".*\} (\d+)$/gm)];
    return clients.reduce((sum, [, settled]) => sum + Number(settled), 0) >= count;
  });
}

/** A Prometheus that scrapes this address as its job for the service, after its first try. */
export async function startScraping(host: string, rules = path.join(ROOT, 'provisioning/prometheus/rules/*.yaml')) {
  const prometheus = await startPrometheus({
    config: `
global: { scrape_interval: 1s }
rule_files: ['${rules}']
scrape_configs:
  - job_name: ingest
    static_configs: [{ targets: ['${host}'] }]`,
  });
  await until('the first scrape', async () => {
    const answer = await fetch(`${prometheus.url}/api/v1/targets`);
    return /"health":"(up|down)"/.test(await answer.text());
  });
  return prometheus;
}

export interface Installation {
  readonly service: RunningService;
  /** What the doctor is told of it, by option. */
  readonly options: Readonly<Record<string, string>>;
  /** nginx' address: an option for `app` is this and a location. */
  readonly nginxUrl: string;
  stop(): Promise<void>;
}

/** Everything that the doctor looks at, for real and in good health; Grafana by a stand-in. */
export async function openInstallation(): Promise<Installation> {
  const stops: (() => Promise<unknown>)[] = [];
  const kept = <T extends { stop(): Promise<unknown> }>(part: T): T => {
    stops.push(() => part.stop());
    return part;
  };
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const service = kept(await openQuickService());
    const app = kept(await startApp(service.publicUrl, TOKEN));
    const nginx = kept(await startNginx(app.host));
    const grafana = kept(await startGrafana({ token: GRAFANA_TOKEN }));
    const collector = await startTestCollector();
    stops.push(() => collector.close());
    const dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-doctor-'));
    stops.push(() => rm(dataDir, { recursive: true }));
    const prometheus = kept(await startScraping(new URL(service.adminUrl).host));
    await settle(service, 20, true);
    const options = {
      url: service.publicUrl,
      admin: service.adminUrl,
      token: TOKEN,
      origin: ORIGIN,
      app: `${nginx.url}/shipped/chat`,
      prometheus: prometheus.url,
      grafana: grafana.url,
      collector: collector.endpoint,
      database: service.databaseUrl,
      'data-dir': dataDir,
    };
    return { service, options, nginxUrl: nginx.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export interface Examination {
  readonly code: number;
  readonly output: string;
  /** None where the output is not JSON. */
  readonly findings: readonly NamedFinding[];
}

/** `npm run doctor`, without npm. */
export function runDoctor(options: Readonly<Record<string, string>>, ...more: string[]): Promise<Examination> {
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', 'doctor/main.ts', ...args, ...more],
      { cwd: ROOT, env: { PATH: process.env['PATH'], GRAFANA_TOKEN } },
      (error, stdout, stderr) => {
        const findings = more.includes('--json') ? (JSON.parse(stdout) as { findings: NamedFinding[] }).findings : [];
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr, findings });
      },
    );
  });
}
