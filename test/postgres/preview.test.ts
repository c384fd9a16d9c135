import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqlSource } from '../../dashboards/runner/liveSources.ts';
import { type Preview, startPreview } from '../../preview/server.ts';
import { openService, type RunningService } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { type Answer, send } from './serviceHttp.ts';
import { until } from './serviceWait.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const RANGE = { from: 'now-15m', to: 'now', timezone: 'UTC', variables: {} };

let service: RunningService;
let preview: Preview;
beforeAll(async () => {
  service = await openService();
  preview = await startPreview({ databaseUrl: service.databaseUrl, prometheusUrl: null, logFolder: '/nowhere' });
});
afterAll(async () => {
  await preview?.stop();
  await service?.stop();
});

const ask = (what: string, body: unknown, headers: Record<string, string> = JSON_TYPE): Promise<Answer> =>
  send(`${preview.url}/ask/${what}`, { headers, body: typeof body === 'string' ? body : JSON.stringify(body) });

describe('whom it answers', () => {
  test.each(['evil.example', 'evil.example:3300', '10.0.0.1', 'localhost.evil.example'])(
    'not who calls it %j: another name may lead here',
    async (host) => {
      const answer = await send(`${preview.url}/`, { method: 'GET', headers: { host } });
      expect(answer.status).toBe(403);
    },
  );

  test('not a form of another site, which can send no JSON unasked', async () => {
    expect((await ask('panel', '{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect(
      (await send(`${preview.url}/ask/panel`, { method: 'OPTIONS' })).headers['access-control-allow-origin'],
    ).toBeUndefined();
  });

  test('every answer has a policy that allows this server alone, and no style or script in markup', async () => {
    for (const path of ['/', '/d/first-token', '/nothing']) {
      const { headers } = await send(preview.url + path, { method: 'GET' });
      expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(headers['content-security-policy']).not.toMatch(/unsafe/);
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
    const { text } = await send(`${preview.url}/`, { method: 'GET' });
    expect(text).not.toMatch(/style=|<style|<script>|onload=/);
  });

  test.each(['/..%2f..%2fpackage.json', '/d/../../package.json', '/page/main.ts', '/ask/__proto__', '/d/a/b'])(
    'nothing at %s',
    async (path) => expect((await send(preview.url + path, { method: 'GET' })).status).toBe(404),
  );
});

describe('what it answers', () => {
  test('dashboards without their queries', async () => {
    const { text, json } = await ask('dashboards', null);
    expect(json).toHaveLength(8);
    expect(text).not.toMatch(/rawSql|"expr":"[^A]/);
  });

  test.each([
    ['no JSON', '{'],
    ['no panel', { uid: 'first-token', ...RANGE }],
    ['another panel', { uid: 'first-token', panel: 1_000, ...RANGE }],
    ['too long', `{"uid":"${'x'.repeat(70_000)}"}`],
  ])('%s: 400', async (_, body) => {
    const { status, json } = await ask('panel', body);
    expect(status).toBe(400);
    expect(json.error).toMatch(/\w/);
  });

  test('a request: its facts, its spans, and a quote in an id is only a character', async () => {
    const id = traceId();
    await service.postTimings(serverRecord({ trace_id: id }));
    await service.postBeacons(beacon({ trace_id: id }));
    const variables = { trace_id: [id] };
    const facts = await until('the row', async () => {
      const { json } = await ask('panel', { ...RANGE, uid: 'request', panel: 1, variables });
      return JSON.stringify(json).includes('412.3') ? json : undefined;
    });
    expect(facts.frames[0].fields).toHaveLength(4);
    const { json } = await ask('panel', { ...RANGE, uid: 'request', panel: 6, variables });
    expect(json.spans.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['/api/chat', 'first_token']),
    );
    const quoted = await ask('panel', { ...RANGE, uid: 'request', panel: 1, variables: { trace_id: [`' OR 1=1 --`] } });
    expect(quoted.status).toBe(200);
    expect(JSON.stringify(quoted.json)).not.toContain('412.3');
  });

  test.each([
    "INSERT INTO label_values (label, value) VALUES ('model', 'x')",
    'COMMIT; CREATE TABLE mine (a int)',
    'SET ROLE NONE; DELETE FROM requests',
    'SELECT rolpassword FROM pg_authid',
  ])('a statement can only read what the dashboards may: %s', async (statement) => {
    const source = openSqlSource(service.databaseUrl);
    await expect(source.sql(statement)).rejects.toThrow(/read-only|permission denied|multiple commands/);
    expect((await source.sql('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await source.close();
  });

  test('a query that takes too long is cut off, and says what to do', async () => {
    const source = openSqlSource(service.databaseUrl);
    await expect(source.sql('SELECT pg_sleep(60)')).rejects.toThrow('choose a shorter range');
    await source.close();
  });

  test('a Prometheus that does not answer: the panel says so, the others go on', async () => {
    const deaf = createServer((_, response) => response.destroy()).listen(0, '127.0.0.1');
    await new Promise((resolve) => deaf.once('listening', resolve));
    const { port } = deaf.address() as { port: number };
    const other = await startPreview({
      databaseUrl: service.databaseUrl,
      prometheusUrl: `http://127.0.0.1:${port}`,
      logFolder: '/nowhere',
    });
    const at = (panel: number) =>
      send(`${other.url}/ask/panel`, {
        headers: JSON_TYPE,
        body: JSON.stringify({ ...RANGE, uid: 'first-token', panel }),
      });
    expect((await at(2)).status).toBe(502);
    expect((await at(9)).status).toBe(200);
    expect((await send(`${other.url}/ask/alerts`, { headers: JSON_TYPE, body: 'null' })).json).toEqual([]);
    await other.stop();
    deaf.close();
  });
});
