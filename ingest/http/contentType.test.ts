import { expect, test } from 'vitest';
import { BEACON_TYPES, checkContentType, JSON_TYPES } from './contentType.ts';

test.each([
  'application/json',
  'application/x-ndjson',
  'APPLICATION/JSON',
  ' application/json ',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json; Charset="utf-8"',
  'application/json; charset=utf8',
  'application/json; utf-8',
  'application/json;',
  'application/json; profile=x; charset=utf-8',
])('%j is read everywhere', (header) => {
  expect(checkContentType(header, JSON_TYPES).ok).toBe(true);
  expect(checkContentType(header, BEACON_TYPES).ok).toBe(true);
});

test.each(['text/plain', 'text/plain;charset=UTF-8', 'Text/Plain; charset=utf-8'])('%j is a beacon', (header) => {
  expect(checkContentType(header, BEACON_TYPES).ok).toBe(true);
  expect(checkContentType(header, JSON_TYPES).ok).toBe(false);
});

test.each([
  undefined,
  '',
  ';',
  'json',
  'text/html',
  'application/jsonp',
  'application/json, text/plain',
  'application/x-protobuf',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'application/json; charset=iso-8859-1',
  'text/plain; charset=utf-16',
  'text/plain; charset=utf-8; charset=latin1',
  'text/plain; charset=',
])('%j is not read', (header) => {
  const read = checkContentType(header, BEACON_TYPES);
  expect(read).toMatchObject({ ok: false, rejection: { code: 'unsupported_media_type' } });
});
