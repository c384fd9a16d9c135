import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { ROOT, readText, readYaml } from './composeFile.ts';

const schema = JSON.parse(readText('test/stack/schema/compose-spec.json'));
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
const validate = ajv.compile({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' });

describe.each(['compose.yaml', 'compose.container-logs.yaml'])('%s', (file) => {
  test('is valid by the published schema', () => {
    validate(readYaml(file));
    expect(validate.errors).toBeNull();
  });
});

test('the schema refuses what is none', () => {
  expect(validate({ services: { one: { image: 'x', portz: [] } } })).toBe(false);
  expect(validate({ services: { one: { image: 'x', ports: 'all' } } })).toBe(false);
});

/** Every YAML file that somebody mounts or starts. */
function yamlFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => `${folder}/${name}`);
}

test.each(['compose.yaml', 'compose.container-logs.yaml', ...yamlFiles('provisioning')])(
  '%s is YAML without a fault or a doubled key',
  (file) => {
    const { errors, warnings } = parseDocument(readText(file), { uniqueKeys: true, merge: true });
    expect([...errors, ...warnings]).toEqual([]);
  },
);
