import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { classify } from './sqlState.ts';

function failed(code: string, constraint?: string): DatabaseError {
  const error = new DatabaseError('it failed', 0, 'error');
  error.code = code;
  error.constraint = constraint;
  return error;
}

test.each([
  ['40P01', 'deadlock_detected', 'conflict'],
  ['40001', 'serialization_failure', 'conflict'],
  ['55P03', 'lock_not_available', 'conflict'],
  ['08006', 'connection_failure', 'connection'],
  ['08P01', 'protocol_violation', 'connection'],
  ['57P01', 'admin_shutdown', 'connection'],
  ['57P02', 'crash_shutdown', 'connection'],
  ['57P03', 'cannot_connect_now', 'connection'],
  ['57P05', 'idle_session_timeout', 'connection'],
  ['25P03', 'idle_in_transaction_session_timeout', 'connection'],
  ['25006', 'read_only_sql_transaction', 'connection'],
  ['22003', 'numeric_value_out_of_range', 'row'],
  ['22021', 'character_not_in_repertoire', 'row'],
  ['22P02', 'invalid_text_representation', 'row'],
  ['23502', 'not_null_violation', 'row'],
  ['23505', 'unique_violation', 'row'],
  ['53100', 'disk_full', 'other'],
  ['57014', 'query_canceled', 'other'],
  ['42P01', 'undefined_table', 'other'],
  ['21000', 'cardinality_violation', 'other'],
  ['XX000', 'internal_error', 'other'],
])('%s (%s) is of the kind %s', (code, _name, kind) => {
  expect(classify(failed(code))).toBe(kind);
});

test('no partition and a CHECK share a code; the latter names its constraint', () => {
  expect(classify(failed('23514'))).toBe('partition');
  expect(classify(failed('23514', 'stages_not_negative'))).toBe('row');
});

test('what has no SQLSTATE came from the connection', () => {
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  for (const error of [reset, new Error('Connection terminated unexpectedly'), 'thrown text', undefined])
    expect(classify(error)).toBe('connection');
});
