import { describe, expect, test } from 'vitest';
import { configurationDocument } from '../../configuration/document.ts';
import { BEACON_SCHEMA, STREAM_STATUSES } from '../../contract/beacon.ts';
import { FLAGS } from '../../contract/flags.ts';
import * as limits from '../../contract/limits.ts';
import { METRICS, type MetricDefinition } from '../../contract/metrics.ts';
import { REJECTION_CODES } from '../../contract/rejections.ts';
import { SERVER_RECORD_SCHEMA } from '../../contract/serverRecord.ts';
import { STAGE_ALIASES, STAGES } from '../../contract/stages.ts';
import { readConfig } from '../../ingest/config.ts';
import { statusOf } from '../../ingest/http/answers.ts';
import { readText, sectionOf, tableOf } from './markdown.ts';

const concepts = readText('docs/concepts.md');
const api = readText('docs/http-api.md');
const configuration = readText('docs/configuration.md');

const firstColumn = (rows: readonly (readonly string[])[]): string[] => rows.map(([first = '']) => first);

describe('docs/configuration.md', () => {
  const rows = tableOf(configuration, 'variable');

  test('is what the code makes', () => {
    expect(configuration).toBe(configurationDocument());
  });

  test('lists exactly the variables that are read', () => {
    const asked = new Set<string>();
    readConfig(
      new Proxy({} as NodeJS.ProcessEnv, {
        get(_target, name) {
          asked.add(String(name));
          return undefined;
        },
      }),
    );
    expect(firstColumn(rows).sort()).toEqual([...asked].sort());
  });

  test.each(rows.filter(([, standard]) => standard !== 'unset'))('%s: the default is %s', (name, standard) => {
    expect(readConfig({ [name!]: standard })).toEqual(readConfig({}));
  });
});

describe('docs/http-api.md', () => {
  test('lists the fields of a server record', () => {
    const fields = tableOf(sectionOf(api, 'POST /v1/server-timings'), 'field');
    expect(firstColumn(fields)).toEqual(Object.keys(SERVER_RECORD_SCHEMA.properties));
  });

  test('lists the fields of a beacon, and of what is inside them', () => {
    const section = sectionOf(api, 'POST /v1/beacons');
    expect(firstColumn(tableOf(section, 'field')).sort()).toEqual(Object.keys(BEACON_SCHEMA.properties).sort());
    const { gap_stats, render, connection_ms } = BEACON_SCHEMA.properties;
    for (const name of Object.keys({ ...gap_stats.properties, ...render.properties, ...connection_ms.properties }))
      expect(section).toContain(`\`${name}\``);
    for (const status of STREAM_STATUSES) expect(section).toContain(`\`${status}\``);
  });

  test('lists every code with its status', () => {
    const listed = tableOf(api, 'code').map(([code, status]) => [code, Number(status)]);
    expect(listed).toEqual(REJECTION_CODES.map((code) => [code, statusOf(code)]));
  });

  test('lists the names of the stages in Server-Timing', () => {
    const listed = tableOf(sectionOf(api, 'Server-Timing'), 'stage').flatMap(([stage, names = '']) =>
      names.split(', ').map((name) => [name, stage]),
    );
    expect(listed.sort()).toEqual([...STAGE_ALIASES].sort());
  });

  test('lists every metric with its type and labels', () => {
    const listed = tableOf(api, 'metric').map(([name, type, labels]) => ({ name, type, labels }));
    const all: readonly MetricDefinition[] = Object.values(METRICS);
    expect(listed).toEqual(all.map(({ name, type, labels }) => ({ name, type, labels: labels.join(', ') })));
  });

  test('lists every limit', () => {
    const printed = tableOf(api, 'what').map(([, value = '']) => value.split(' ')[0]);
    const numbers = Object.values(limits).map((limit) => limit.toLocaleString('en-US'));
    expect(new Set(printed)).toEqual(new Set(numbers));
  });
});

describe('docs/concepts.md', () => {
  test('lists the stages in their order', () => {
    expect(firstColumn(tableOf(sectionOf(concepts, 'Stages'), 'stage'))).toEqual([...STAGES]);
  });

  test('lists the flags', () => {
    expect(firstColumn(tableOf(concepts, 'flag'))).toEqual([...FLAGS]);
  });

  test('says of every metric of requests when something enters it', () => {
    const rows = tableOf(sectionOf(concepts, 'When something is counted'), 'metric').join('\n');
    const names = Object.values(METRICS).map(({ name }) => name);
    for (const name of names.filter((each) => !each.startsWith('firsttoken_'))) expect(rows).toContain(name);
  });
});
