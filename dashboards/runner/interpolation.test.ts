import { describe, expect, test } from 'vitest';
import { reference } from '../variables/reference.ts';
import { type Interpolation, interpolatePromql, interpolateSql } from './interpolation.ts';

const interpolation: Interpolation = {
  from: new Date('2026-03-10T11:00:00Z'),
  to: new Date('2026-03-10T12:00:00Z'),
  timezone: 'Europe/Berlin',
  variables: { region: ['eu', "o'x"], model: ['llama-3.1'] },
};

describe('SQL', () => {
  test('lists become literals with doubled quotes', () => {
    const sql = `SELECT 1 WHERE region IN (${reference('region:sqlstring')})`;
    expect(interpolateSql(sql, interpolation)).toBe("SELECT 1 WHERE region IN ('eu','o''x')");
  });
  test('time macros become literals in UTC', () => {
    expect(
      interpolateSql('$__timeFilter(at) AND d > $__timeFrom()::date AND d < $__timeTo()::date', interpolation),
    ).toBe(
      "at BETWEEN '2026-03-10T11:00:00.000Z' AND '2026-03-10T12:00:00.000Z' " +
        "AND d > '2026-03-10T11:00:00.000Z'::date AND d < '2026-03-10T12:00:00.000Z'::date",
    );
  });
  test.each(['$__nothing(a)', reference('nobody:sqlstring'), reference('region'), reference('region:regex')])(
    '%s is refused',
    (sql) => expect(() => interpolateSql(sql, interpolation)).toThrow(/Unknown/),
  );
});

describe('PromQL', () => {
  test('values are escaped for a regular expression in a string', () => {
    expect(interpolatePromql('rate(a{m=~"$model",r=~"$region"}[$__rate_interval])', interpolation, '20s')).toBe(
      'rate(a{m=~"llama-3\\\\.1",r=~"(eu|o\\\\\'x)"}[20s])',
    );
  });
  test('the range is that of the dashboard', () => {
    expect(interpolatePromql('rate(a[$__range])', interpolation, '20s')).toBe('rate(a[3600s])');
  });
});
