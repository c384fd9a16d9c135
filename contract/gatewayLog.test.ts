import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseUpstreamStatus, parseUpstreamTimes, readGatewayLine } from './gatewayLog.ts';

describe('parseUpstreamTimes', () => {
  it.each([
    ['0.010, 0.200', [[10, 200]]],
    ['-', null],
    ['', null],
    ['0.002, -, 0.150', [[2, null, 150]]],
    ['0.001, 0.002 : 0.003', [[1, 2], [3]]],
    ['"0.004"', [[4]]],
    ['0.000', [[0]]],
    ['1.001', [[1001]]],
    ['1.005', [[1005]]],
    ['rt=0', null],
    ['0.010,', null],
    ['1e3', null],
  ])('reads %j', (text, expected) => {
    expect(parseUpstreamTimes(text)).toEqual(expected);
  });

  it('reads every millisecond exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999 }), (ms) => {
        const text = `${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, '0')}`;
        expect(parseUpstreamTimes(text)).toEqual([[ms]]);
      }),
    );
  });

  it('takes any text without throwing', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseUpstreamTimes(text)));
  });
});

it('takes the last of a list of statuses', () => {
  expect(parseUpstreamStatus('502, -, 200')).toBe(200);
  expect(parseUpstreamStatus('502, 502 : 404')).toBe(404);
  expect(parseUpstreamStatus('-')).toBeNull();
});

describe('readGatewayLine', () => {
  const line = { status: '200', request_time: '2.000' };

  it('counts the attempts before the last, and the connection of the last', () => {
    const read = readGatewayLine({
      ...line,
      upstream_connect_time: '0.001, 0.004',
      upstream_response_time: '0.030, 1.900',
    });
    expect(read).toMatchObject({ ok: true, value: { gatewayNs: 34_000_000, requestMs: 2000, status: 200 } });
  });

  it('adds the time without an upstream only where the stream is not held back', () => {
    const times = { ...line, upstream_connect_time: '0.004', upstream_response_time: '1.900' };
    expect(readGatewayLine(times)).toMatchObject({ value: { gatewayNs: 4_000_000 } });
    expect(readGatewayLine({ ...times, buffering: 'off' })).toMatchObject({ value: { gatewayNs: 104_000_000 } });
    expect(readGatewayLine({ ...times, request_time: '1.899', buffering: 'off' })).toMatchObject({
      value: { gatewayNs: 4_000_000 },
    });
  });

  it('knows nothing where no upstream value parses, and keeps the line', () => {
    const times = { ...line, upstream_connect_time: '-', upstream_response_time: 'rt=0', buffering: 'off' };
    expect(readGatewayLine(times)).toMatchObject({ value: { gatewayNs: null, requestMs: 2000 } });
    expect(readGatewayLine({ ...line, request_time: 'rt=0' })).toMatchObject({ value: { requestMs: null } });
  });

  it('refuses a line without a status', () => {
    expect(readGatewayLine({ request_time: '0.001' })).toMatchObject({ rejection: { code: 'missing_field' } });
    expect(readGatewayLine({ status: '000' })).toMatchObject({ rejection: { code: 'missing_field' } });
  });
});
