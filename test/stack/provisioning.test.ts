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

/** Links already name these; their services come later. */
const NOT_STARTED_YET = ['tempo', 'loki'];
/** Ports that each image listens on by itself. */
const PORTS: Readonly<Record<string, string>> = { postgres: '5432', prometheus: '9090', ingest: '9464' };

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
    if (NOT_STARTED_YET.includes(hostname)) return;
    expect(Object.keys(compose.services)).toContain(hostname);
    expect(port).toBe(PORTS[hostname]);
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
    expect(compose.services['ingest']?.ports).toEqual(['127.0.0.1:8080:8080']);
    expect(compose.services['grafana']?.environment?.['GF_SERVER_ROOT_URL']).toBe(GRAFANA_URL);
  });
});
