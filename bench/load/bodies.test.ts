import { expect, test } from 'vitest';
import { NO_SOURCES } from '../../ingest/pipeline/traceKey.ts';
import { validateBeacon, validateServerRecord } from '../../ingest/pipeline/validate.ts';
import { makePosts } from './bodies.ts';

const posts = makePosts(2_048, 1);
const around = { receivedAtMs: Date.now(), traceIds: NO_SOURCES, region: null, carrier: null };

test('every event is one that the service accepts', () => {
  for (const { path, body } of posts) {
    const validate = path === '/v1/beacons' ? validateBeacon : validateServerRecord;
    expect(validate(JSON.parse(body), around)).toMatchObject({ ok: true });
  }
});

test('half are second halves, about one in a hundred is sent twice, and sizes vary', () => {
  const ids = posts.map(({ body }) => (JSON.parse(body) as { trace_id: string }).trace_id);
  const beacons = posts.filter(({ path }) => path === '/v1/beacons');
  expect(beacons.length / posts.length).toBeCloseTo(0.5, 1);
  expect(new Set(ids).size).toBeLessThan(posts.length / 2 + 40);
  const twice = posts.filter((post, at) => post === posts[at - 1]).length;
  expect(twice).toBeGreaterThan(0);
  expect(twice).toBeLessThan(posts.length * 0.03);
  const sizes = posts.map(({ body }) => body.length);
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(300);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2_300);
});

test('several events of a post are lines', () => {
  const [post] = makePosts(8, 100);
  expect(post!.body.split('\n')).toHaveLength(100);
});
