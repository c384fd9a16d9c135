import { beforeEach, describe, expect, test } from 'vitest';
import { checkRows, type StoredRow } from './checks.ts';
import { Ledger } from './ledger.ts';
import { HALVES, Requests } from './requests.ts';

const REQUESTS = 50;
/** How the columns that tell the halves stand in a row that has none. */
const NO_HALF = { server_source: null, status: null, gateway_status: null };
const requests = new Requests(7);
let ledger: Ledger;
let rows: StoredRow[];

/** A run in which all was sent, acknowledged and stored. */
beforeEach(() => {
  ledger = new Ledger();
  rows = Array.from({ length: REQUESTS }, () => {
    const number = ledger.begin();
    for (const half of HALVES) {
      ledger.send(number, half);
      ledger.acknowledge(number, half);
    }
    const { server, final, gateway, joined } = requests.expected(number);
    return { trace_id: requests.traceId(number), ...server, ...final, ...gateway, ...joined };
  });
});

const broken = () =>
  checkRows(rows, requests, ledger)
    .filter(({ kept }) => !kept)
    .map(({ promise }) => promise);

test('nothing is found where nothing is wrong, in any order and as PostgreSQL spells its ids', () => {
  rows.reverse();
  rows = rows.map((row) => ({
    ...row,
    trace_id: String(row['trace_id']).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  }));
  expect(broken()).toEqual([]);
});

describe('what is found', () => {
  test('a row that is missing', () => {
    rows.splice(20, 1);
    expect(broken()).toEqual(['every acknowledged event is stored']);
  });

  test.each([
    ['server_source', null],
    ['server_source', 'echo'],
    ['gateway_status', null],
    ['status', null],
    ['status', 'streaming'],
  ])('one half that is missing: %s is %s', (column, value) => {
    rows[3] = { ...rows[3], [column]: value };
    expect(broken()).toContain('every acknowledged event is stored');
  });

  test.each(['server_ttft_ns', 'receive_ns', 'ttft_ms', 'seq', 'arrivals', 'gateway_ns', 'network_ns', 'call_id'])(
    'a wrong value: %s',
    (column) => {
      const value = rows[3]![column];
      rows[3] = { ...rows[3], [column]: typeof value === 'number' ? value + 1 : 'other' };
      expect(broken()).toEqual(['with the values that were sent, and joined right']);
    },
  );

  test('a key that is there twice', () => {
    rows.push(rows[5]!);
    expect(broken()).toEqual(['no key has two rows']);
  });

  test("somebody else's row", () => {
    rows.push({ ...rows[5], trace_id: new Requests(8).traceId(5) });
    expect(broken()).toEqual(['nothing is stored that was not sent']);
  });

  test('a half that was never sent', () => {
    const number = ledger.begin();
    rows.push({ ...NO_HALF, trace_id: requests.traceId(number), ...requests.expected(number).server });
    expect(broken()).toEqual(['nothing is stored that was not sent']);
  });
});

test('what was sent and never acknowledged may be there or not', () => {
  const number = ledger.begin();
  ledger.send(number, 'server');
  expect(broken()).toEqual([]);
  rows.push({ ...NO_HALF, trace_id: requests.traceId(number), ...requests.expected(number).server });
  expect(broken()).toEqual([]);
});
