import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import {
  DASHBOARD_FOLDER,
  DASHBOARDS,
  GRAFANA_URL,
  PAUSED_RULES_FILE,
  PROMETHEUS_RULES_FILE,
  RUNBOOK,
} from '../../dashboards/config.ts';
import { MissingProgramError } from '../../setup/missingProgramError.ts';
import { promtool } from '../prometheus/rulesTool.ts';
import { ROOT, readText, readYaml } from './composeFile.ts';

interface Rule {
  alert?: string;
  record?: string;
  labels?: { severity: string };
  annotations?: Record<string, string>;
}
interface RuleFile {
  groups: { name: string; rules: Rule[] }[];
}
interface Mixin {
  dashboards: Record<string, { tags: string[]; refresh: string }>;
  rules: RuleFile;
  alerts: RuleFile;
}

/** What the mixin yields to someone who imports it, with this Jsonnet laid over it. */
async function mixin(overrides = '{}'): Promise<Mixin> {
  const program = `local mixin = (import '${join(ROOT, 'dashboards/mixin.libsonnet')}') + ${overrides};
    { dashboards: mixin.grafanaDashboards, rules: mixin.prometheusRules, alerts: mixin.prometheusAlerts }`;
  try {
    const { stdout } = await promisify(execFile)('jsonnet', ['-e', program], { maxBuffer: 64 * 1024 * 1024 });
    return JSON.parse(stdout) as Mixin;
  } catch (cause) {
    if ((cause as { code?: unknown }).code === 'ENOENT') {
      throw new MissingProgramError('jsonnet', { cause });
    }
    throw cause;
  }
}

const files = [PROMETHEUS_RULES_FILE, PAUSED_RULES_FILE].map((path) => readYaml<RuleFile>(path));
const rulesOf = ({ groups }: RuleFile) => groups.flatMap(({ rules }) => rules);

test('it has every dashboard, as it is generated', async () => {
  const { dashboards } = await mixin();
  expect(Object.keys(dashboards).sort()).toEqual(DASHBOARDS.map(({ uid }) => `${uid}.json`).sort());
  for (const [name, dashboard] of Object.entries(dashboards)) {
    expect(dashboard).toEqual(JSON.parse(readText(`${DASHBOARD_FOLDER}/${name}`)));
  }
});

test('it has every recording rule, and the alerts that are switched on', async () => {
  const { rules, alerts } = await mixin();
  const [live] = files as [RuleFile, RuleFile];
  expect(rulesOf(rules)).toEqual(rulesOf(live).filter(({ record }) => record));
  expect(rulesOf(alerts)).toEqual(rulesOf(live).filter(({ alert }) => alert));
});

test('its settings can be overridden', async () => {
  const { dashboards, alerts } = await mixin(`{ _config+:: {
    severities: { page: 'critical', ticket: 'warning' }, includePaused: true, tags: ['ours'], refresh: '5m',
    grafanaUrl: 'https://grafana.example.com', runbookUrl: 'https://wiki.example.com/firsttoken' } }`);
  const all = files.flatMap(rulesOf).filter(({ alert }) => alert);
  expect(rulesOf(alerts).map(({ alert }) => alert)).toEqual(all.map(({ alert }) => alert));
  for (const { labels, annotations } of rulesOf(alerts)) {
    expect(['critical', 'warning']).toContain(labels?.severity);
    expect(annotations?.['runbook_url']).toMatch(/^https:\/\/wiki\.example\.com\/firsttoken#/);
    expect(annotations?.['dashboard_url']).toMatch(/^https:\/\/grafana\.example\.com\/d\//);
  }
  for (const dashboard of Object.values(dashboards)) expect(dashboard).toMatchObject({ tags: ['ours'], refresh: '5m' });
  const text = JSON.stringify([dashboards, alerts]);
  for (const builtIn of [GRAFANA_URL, RUNBOOK]) expect(text).not.toContain(builtIn);
});

test('promtool takes what it yields', async () => {
  const { rules, alerts } = await mixin('{ _config+:: { includePaused: true } }');
  const folder = await mkdtemp(join(tmpdir(), 'firsttoken-mixin-'));
  try {
    const file = join(folder, 'rules.yaml');
    await writeFile(file, stringify({ groups: [...rules.groups, ...alerts.groups] }));
    expect(await promtool('check', 'rules', '--lint=all', '--lint-fatal', file)).toContain('26 rules found');
  } finally {
    await rm(folder, { recursive: true });
  }
});
