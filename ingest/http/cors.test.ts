import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createOriginCheck, PREFLIGHT_HEADERS } from './cors.ts';

const from = (origin?: string): IncomingMessage =>
  ({ headers: origin === undefined ? {} : { origin } }) as IncomingMessage;

describe('a list of origins', () => {
  const check = createOriginCheck(['https://app.example', 'http://localhost:3000']);

  test.each(['https://app.example', 'http://localhost:3000'])(
    '%s is answered with itself, and with credentials',
    (origin) => {
      expect(check(from(origin))).toMatchObject({
        allowed: true,
        headers: { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true', vary: 'Origin' },
      });
    },
  );

  test.each([
    'https://evil.example',
    'https://app.example.evil.example',
    'http://app.example',
    'https://app.example:8443',
    'https://app.example/',
    'https://APP.example',
    'https://app.example, https://evil.example',
    'http://localhost',
    'null',
    '*',
    '',
  ])('%j is refused', (origin) => {
    expect(check(from(origin))).toEqual({ allowed: false });
  });

  test('no Origin is no browser, and gets no CORS headers', () => {
    expect(check(from())).toEqual({ allowed: true, headers: {} });
  });
});

describe('without a list', () => {
  const check = createOriginCheck(null);

  test.each([
    'http://localhost',
    'http://localhost:5173',
    'https://localhost:8443',
    'http://127.0.0.1:8080',
    'http://[::1]:3000',
  ])('%s is a page of this machine', (origin) => {
    expect(check(from(origin))).toMatchObject({ allowed: true, headers: { 'access-control-allow-origin': origin } });
  });

  test.each([
    'https://app.example',
    'http://localhost.evil.example',
    'http://evil.example/localhost',
    'http://localhost:3000.evil.example',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.2',
    'http://localhost@evil.example',
    'http://localhost\n',
    'file://localhost',
    'null',
    '*',
    '',
  ])('%j is not', (origin) => {
    expect(check(from(origin))).toEqual({ allowed: false });
  });
});

test('an empty list is for nobody', () => {
  const check = createOriginCheck([]);
  expect(check(from('http://localhost'))).toEqual({ allowed: false });
  expect(check(from())).toMatchObject({ allowed: true });
});

test('nothing is ever answered with a star, and a preflight is kept for a while', () => {
  for (const list of [null, [], ['https://app.example'], ['*']]) {
    for (const origin of ['*', 'null', 'https://app.example', 'http://localhost', undefined]) {
      const answer = createOriginCheck(list)(from(origin));
      // A configured star is refused at the start of the service; see config.ts.
      if (answer.allowed && origin !== '*') expect(answer.headers['access-control-allow-origin']).not.toBe('*');
    }
  }
  expect(Object.values(PREFLIGHT_HEADERS)).not.toContain('*');
  expect(PREFLIGHT_HEADERS).toMatchObject({ 'access-control-allow-methods': 'POST' });
  expect(Number(PREFLIGHT_HEADERS['access-control-max-age'])).toBeGreaterThan(0);
  const allowed = String(PREFLIGHT_HEADERS['access-control-allow-headers']).split(', ');
  expect(allowed).toEqual(expect.arrayContaining(['content-type', 'x-trace-id', 'traceparent']));
});
