import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  DASHBOARD_FOLDER,
  DASHBOARDS,
  DATA_SOURCES,
  FOLDER,
  GRAFANA_ALERTING_FILE,
  GRAFANA_URL,
  PAUSED_RULES_FILE,
  PROMETHEUS_RULES_FILE,
  REQUEST,
  SCRAPE_INTERVAL_SECONDS,
} from '../../dashboards/config.ts';
import { ALERTS } from '../../dashboards/rules/alerts.ts';
import { compose, environmentNames, mountsOf, ROOT, readText, readYaml } from './composeFile.ts';

interface DataSource {
  uid: string;
  name: string;
  type: string;
  url: string;
  user?: string;
  jsonData: Record<string, unknown>;
}
const DATA_SOURCES_FILE = 'provisioning/grafana/datasources/firsttoken.yaml';
const { datasources } = readYaml<{ datasources: DataSource[] }>(DATA_SOURCES_FILE);
const prometheus = readYaml<{
  global: { scrape_interval: string };
  rule_files: string[];
  scrape_configs: { static_configs: { targets: string[] }[] }[];
}>('provisioning/prometheus/prometheus.yml');

/** Ports that each part listens on: by itself, or as its configuration here says. */
const PORTS: Readonly<Record<string, readonly string[]>> = {
  postgres: ['5432'],
  prometheus: ['9090'],
  alertmanager: ['9093'],
  ingest: ['8080', '9464'],
  nginx: ['8080'],
  backend: ['3001'],
  collector: ['4317', '4318'],
  loki: [portOf(readYaml<{ server: { http_listen_port: number } }>('provisioning/loki/loki.yaml'))],
  tempo: [portOf(readYaml<{ server: { http_listen_port: number } }>('provisioning/tempo/tempo.yaml')), '4318'],
  grafana: ['3000'],
};

function portOf({ server }: { server: { http_listen_port: number } }): string {
  return String(server.http_listen_port);
}

/** Whether a file of the repository appears at a path inside a service's container. */
function isMounted(service: string, path: string, target: string): boolean {
  return mountsOf(service).some(({ source, target: mountedAt }) => {
    const at = source.replace(/^\.\//, '');
    return path === at
      ? target === mountedAt
      : path.startsWith(`${at}/`) && target === mountedAt + path.slice(at.length);
  });
}

describe('data sources', () => {
  test('are those that panels, links and rules name', () => {
    const declared = datasources.map(({ uid, name, type }) => ({ uid, name, type }));
    expect(declared).toEqual(expect.arrayContaining(Object.values(DATA_SOURCES)));
    expect(declared).toHaveLength(Object.keys(DATA_SOURCES).length);
  });

  test.each(datasources)('$name is a service that listens there', ({ url }) => {
    const { hostname, port } = new URL(url.includes('://') ? url : `tcp://${url}`);
    expect(Object.keys(compose.services)).toContain(hostname);
    expect(PORTS[hostname]).toContain(port);
  });

  test('name each other by uids that exist', () => {
    const text = readText(DATA_SOURCES_FILE);
    const uids = datasources.map(({ uid }) => uid);
    for (const [, uid] of text.matchAll(/datasourceUid: (\S+)/g)) expect(uids).toContain(uid);
  });

  test('the environment is expanded only where that is meant', () => {
    const text = readText(DATA_SOURCES_FILE).replace(/#.*/g, '');
    const names = [...text.replaceAll('$$', '').matchAll(/\$\{?(\w+)/g)].map((match) => match[1]);
    expect(names).toEqual(['GRAFANA_PG_PASSWORD']);
    expect(compose.services['grafana']?.environment).toHaveProperty('GRAFANA_PG_PASSWORD');
  });

  test('the reader is the role that the script gives its password', () => {
    const reader = datasources.find(({ uid }) => uid === DATA_SOURCES.postgres.uid);
    expect(readText('provisioning/postgres/grafana-reader.sh')).toContain(`CREATE ROLE ${reader?.user} LOGIN`);
    const given = compose.services['postgres']?.environment ?? {};
    expect(given['POSTGRES_DB']).toBe(reader?.jsonData['database']);
    expect(environmentNames(given['GRAFANA_PG_PASSWORD'] ?? '')).toEqual(['GRAFANA_PG_PASSWORD']);
  });

  test('the scrape interval is said once', () => {
    const interval = `${SCRAPE_INTERVAL_SECONDS}s`;
    expect(prometheus.global.scrape_interval).toBe(interval);
    expect(datasources.find(({ uid }) => uid === 'prometheus')?.jsonData['timeInterval']).toBe(interval);
  });
});

describe('prometheus', () => {
  test('scrapes the admin port of the ingest', () => {
    const targets = prometheus.scrape_configs.flatMap(({ static_configs }) =>
      static_configs.flatMap((each) => each.targets),
    );
    expect(targets).toEqual([`ingest:${compose.services['ingest']?.environment?.['ADMIN_PORT']}`]);
  });

  test('finds its configuration and the rules', () => {
    expect(compose.services['prometheus']?.command).toContain('--config.file=/etc/prometheus/prometheus.yml');
    expect(compose.services['prometheus']?.command).toContain('--enable-feature=exemplar-storage');
    expect(isMounted('prometheus', 'provisioning/prometheus/prometheus.yml', '/etc/prometheus/prometheus.yml')).toBe(
      true,
    );
    expect(prometheus.rule_files).toEqual(['rules/*.yaml']);
    // What ships paused lies beside it, where no pattern reaches.
    expect(PAUSED_RULES_FILE).toMatch(/^provisioning\/prometheus\/rules-paused\//);
    expect(isMounted('prometheus', PROMETHEUS_RULES_FILE, '/etc/prometheus/rules/firsttoken.yaml')).toBe(true);
  });
});

describe('grafana', () => {
  const { providers } = readYaml<{
    providers: { folder: string; folderUid: string; options: { path: string } }[];
  }>('provisioning/grafana/dashboards.yaml');

  test('finds what is provisioned', () => {
    const provisioning = '/etc/grafana/provisioning';
    expect(isMounted('grafana', DATA_SOURCES_FILE, `${provisioning}/datasources/firsttoken.yaml`)).toBe(true);
    expect(isMounted('grafana', GRAFANA_ALERTING_FILE, `${provisioning}/alerting/firsttoken.yaml`)).toBe(true);
    expect(
      isMounted('grafana', 'provisioning/grafana/dashboards.yaml', `${provisioning}/dashboards/firsttoken.yaml`),
    ).toBe(true);
    expect(providers).toHaveLength(1);
    const path = providers[0]?.options.path ?? '';
    for (const { uid } of DASHBOARDS) {
      expect(isMounted('grafana', `${DASHBOARD_FOLDER}/${uid}.json`, `${path}/${uid}.json`)).toBe(true);
      expect(existsSync(join(ROOT, DASHBOARD_FOLDER, `${uid}.json`))).toBe(true);
    }
  });

  test('is given an example of contact points that it does not read, and that routes what pages', () => {
    const example = 'provisioning/grafana/contact-points.example.yaml';
    expect(mountsOf('grafana').some(({ source }) => example.startsWith(source.replace(/^\.\//, '')))).toBe(false);
    const { contactPoints, policies } = readYaml<{
      contactPoints: { name: string }[];
      policies: { receiver: string; routes: { receiver: string; object_matchers: string[][] }[] }[];
    }>(example);
    const names = contactPoints.map(({ name }) => name);
    for (const { receiver, routes } of policies) {
      expect(names).toContain(receiver);
      for (const route of routes) {
        expect(names).toContain(route.receiver);
        expect(route.object_matchers).toEqual([['severity', '=', 'page']]);
      }
    }
  });

  test('has the alerts that are switched on, and the others paused', () => {
    const { groups } = readYaml<{ groups: { rules: { title: string; isPaused: boolean }[] }[] }>(GRAFANA_ALERTING_FILE);
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.map(({ title, isPaused }) => [title, isPaused])).toEqual(
      ALERTS.map(({ name, paused }) => [name, paused]),
    );
  });

  test('keeps dashboards and alerts in one folder', () => {
    expect(providers[0]).toMatchObject({ folder: FOLDER.title, folderUid: FOLDER.uid });
    const { groups } = readYaml<{ groups: { folder: string }[] }>(GRAFANA_ALERTING_FILE);
    expect(groups.map((group) => group.folder)).toEqual([FOLDER.title]);
  });

  test('alerts ask data sources that exist', () => {
    const uids = [...datasources.map(({ uid }) => uid), '__expr__'];
    for (const [, uid] of readText(GRAFANA_ALERTING_FILE).matchAll(/datasourceUid: (\S+)/g))
      expect(uids).toContain(uid);
  });

  test('absolute links lead to what is published', () => {
    expect(compose.services['grafana']?.ports).toEqual([`127.0.0.1:${new URL(GRAFANA_URL).port}:3000`]);
    expect(compose.services['nginx']?.ports).toEqual(['127.0.0.1:8080:8080']);
    expect(compose.services['grafana']?.environment?.['GF_SERVER_ROOT_URL']).toBe(GRAFANA_URL);
  });
});

describe('every address in the configuration', () => {
  const files = [
    'provisioning/collector/collector.yaml',
    'provisioning/nginx/nginx.conf',
    'provisioning/prometheus/prometheus.yml',
    DATA_SOURCES_FILE,
  ];
  const addresses = files.flatMap((file) =>
    [
      ...readText(file)
        .replace(/#.*/g, '')
        .matchAll(/(?:http:\/\/|targets: \[')([a-z]+):(\d+)/g),
    ].map(([, host, port]) => ({
      file,
      host: String(host),
      port: String(port),
    })),
  );
  const inCompose = [...readText('compose.yaml').matchAll(/(?:http:\/\/|@)([a-z]+):(\d+)/g)].map(([, host, port]) => ({
    file: 'compose.yaml',
    host: String(host),
    port: String(port),
  }));

  test.each([...addresses, ...inCompose].filter(({ host }) => host !== 'localhost'))(
    '$file: $host:$port is a part that listens there',
    ({ host, port }) => {
      expect(Object.keys(compose.services)).toContain(host);
      expect(PORTS[host]).toContain(port);
    },
  );

  test('there are some', () => {
    expect(addresses.length).toBeGreaterThanOrEqual(8);
  });
});

describe('the collector', () => {
  interface Pipeline {
    receivers: string[];
    processors: string[];
    exporters: string[];
  }
  const collector = readYaml<{
    receivers: Record<string, { include?: string[] }>;
    processors: Record<string, unknown>;
    exporters: Record<string, { headers?: Record<string, string>; encoding?: string }>;
    service: { pipelines: Record<string, Pipeline> };
  }>('provisioning/collector/collector.yaml');

  test('uses each part that it declares, and none that it does not', () => {
    for (const kind of ['receivers', 'processors', 'exporters'] as const) {
      const used = Object.values(collector.service.pipelines).flatMap((pipeline) => pipeline[kind]);
      expect(new Set(used)).toEqual(new Set(Object.keys(collector[kind])));
    }
  });

  test('is mounted, given its token, and sees each folder that it reads', () => {
    expect(compose.services['collector']?.command).toEqual(['--config=/etc/firsttoken/collector.yaml']);
    expect(isMounted('collector', 'provisioning/collector/collector.yaml', '/etc/firsttoken/collector.yaml')).toBe(
      true,
    );
    const names = environmentNames(readText('provisioning/collector/collector.yaml').replaceAll('env:', ''));
    for (const name of names) expect(compose.services['collector']?.environment).toHaveProperty(name);
    const mounted = mountsOf('collector').map(({ target }) => target);
    const folders = Object.values(collector.receivers).flatMap(({ include = [] }) =>
      include.map((glob) => glob.split('/*')[0]!),
    );
    for (const folder of folders.filter((each) => !each.startsWith('/var/lib/docker'))) {
      expect(
        mounted.some((target) => folder === target || folder.startsWith(`${target}/`)),
        folder,
      ).toBe(true);
    }
    // Those of all containers come with a file of their own.
    expect(readText('compose.container-logs.yaml')).toContain(
      '/var/lib/docker/containers:/var/lib/docker/containers:ro',
    );
  });

  test("sends nginx's lines to the ingest as it reads them: JSON, with a token that the ingest takes", () => {
    expect(collector.exporters['otlp_http/ingest']).toMatchObject({
      encoding: 'json',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the collector's own way to name its environment
      headers: { Authorization: 'Bearer ${env:COLLECTOR_TOKEN}' },
    });
    expect(environmentNames(compose.services['ingest']?.environment?.['INGEST_TOKEN'] ?? '')).toContain(
      'COLLECTOR_TOKEN',
    );
  });
});

test('a volume of logs belongs to the user who writes it', () => {
  const writers = { 'nginx-logs': 'nginx', 'postgres-logs': 'postgres' };
  for (const [volume, service] of Object.entries(writers)) {
    const [uid, gid] = compose.services[service]!.user!.split(':');
    expect(compose.volumes[volume]?.driver_opts['o']).toContain(`uid=${uid},gid=${gid}`);
  }
  // "node" in the image of both parts that write there.
  expect(readText('Dockerfile').match(/^USER node$/gm)).toHaveLength(2);
  expect(compose.volumes['app-logs']?.driver_opts['o']).toContain('uid=1000,gid=1000');
});

test("PostgreSQL's log has the form and the place that the collector expects", () => {
  const command = compose.services['postgres']?.command ?? [];
  expect(command).toContain('-clog_destination=jsonlog');
  expect(command).toContain('-clog_directory=/var/log/postgresql');
  expect(mountsOf('postgres')).toContainEqual({ source: 'postgres-logs', target: '/var/log/postgresql' });
});

test('a log line leads to its trace and to its request, and a trace to its log lines', () => {
  const of = (uid: string) => datasources.find((each) => each.uid === uid)?.jsonData ?? {};
  const fields = of('loki')['derivedFields'] as { matcherRegex: string; datasourceUid?: string; url: string }[];
  expect(fields.map(({ matcherRegex }) => matcherRegex)).toEqual(['trace_id', 'trace_id']);
  expect(fields.map(({ datasourceUid }) => datasourceUid)).toEqual(['tempo', undefined]);
  // "$$" is a dollar sign in Grafana's provisioning.
  expect(fields[1]?.url).toBe(`/d/${REQUEST.uid}?var-trace_id=$\${__value.raw}`);
  const toLogs = of('tempo')['tracesToLogsV2'] as { datasourceUid: string; query: string };
  expect(toLogs.datasourceUid).toBe('loki');
  expect(toLogs.query).toContain('trace_id = "$${__span.traceId}"');
  const exemplars = of('prometheus')['exemplarTraceIdDestinations'] as { name: string; datasourceUid: string }[];
  expect(exemplars).toMatchObject([{ name: 'trace_id', datasourceUid: 'tempo' }]);
});
