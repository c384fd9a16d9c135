import { expect, test } from 'vitest';
import { reference } from '../variables/reference.ts';
import { slowRequestsLink } from './dashboardLinks.ts';
import { exploreUrl } from './exploreUrl.ts';
import { requestLinks } from './requestLinks.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const logId = 'chatcmpl-abc123';
const filled: Readonly<Record<string, string>> = {
  '__data.fields.trace_id': traceId,
  '__data.fields.log_id': logId,
  '__data.fields.region': 'eu-west',
  '__data.fields.device': 'mobile',
  __from: '1772967600000',
  __to: '1772971200000',
};

/** What Grafana does to a link: encodes each value into it, then decodes the whole until nothing is left to decode. */
function open(url: string): string {
  const withRange = url.replace(reference('__url_time_range'), `from=${filled['__from']}&to=${filled['__to']}`);
  let text = withRange.replace(/\$\{(.+?)\}/g, (_, name: string) =>
    encodeURIComponent(filled[name] ?? `missing ${name}`),
  );
  for (let before = ''; before !== text; ) {
    before = text;
    text = decodeURIComponent(text);
  }
  return text;
}

function panes(title: string): unknown {
  const link = requestLinks().find((each) => each.title === title);
  const url = new URL(open(link?.url ?? ''), 'http://localhost:3000');
  expect(url.pathname).toBe('/explore');
  expect(url.searchParams.get('schemaVersion')).toBe('1');
  return JSON.parse(url.searchParams.get('panes') ?? '');
}

test('the trace link asks Tempo for the trace', () => {
  expect(panes('Trace')).toEqual({
    t1x: {
      datasource: 'tempo',
      queries: [
        {
          refId: 'A',
          datasource: { type: 'tempo', uid: 'tempo' },
          queryType: 'traceql',
          query: traceId,
          limit: 20,
          tableType: 'traces',
          filters: [],
        },
      ],
      range: { from: '1772967600000', to: '1772971200000' },
    },
  });
});

test('the logs link asks Loki for both spellings', () => {
  expect(panes('Logs')).toEqual({
    l1x: {
      datasource: 'loki',
      queries: [
        {
          refId: 'A',
          datasource: { type: 'loki', uid: 'loki' },
          queryType: 'range',
          editorMode: 'code',
          direction: 'backward',
          expr: `{service_name=~\`..*\`} | trace_id=\`${traceId}\` or trace_id=\`${logId}\``,
        },
      ],
      range: { from: '1772967600000', to: '1772971200000' },
    },
  });
});

test('the request link opens the page of the request, in the same time range', () => {
  const link = requestLinks().find((each) => each.title === 'Request');
  expect(open(link?.url ?? '')).toBe(`/d/request?var-trace_id=${traceId}&from=1772967600000&to=1772971200000`);
});

test('the link of a cell narrows the slow requests to it', () => {
  expect(open(slowRequestsLink().url)).toBe(
    '/d/slow-requests?var-region=eu-west&var-device=mobile&from=1772967600000&to=1772971200000',
  );
});

test('none leads to an address that asks for the write token', () => {
  for (const { url } of requestLinks()) expect(url).not.toContain('/v1/');
});

test.each(['a&b', 'a#b', 'a+b', '50%', 'say "hi"'])(
  'a query with %s is refused, since Grafana would read it anew',
  (expr) => {
    const pane = { datasource: 'loki', queries: [{ expr }], range: { from: 'now-1h', to: 'now' } };
    expect(() => exploreUrl({ l1x: pane })).toThrow('Not safe');
  },
);
