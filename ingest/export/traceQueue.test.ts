import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newRow } from '../pipeline/row.ts';
import { spansOf, TraceQueue, type WaitingTrace } from './traceQueue.ts';

function trace(name: string, spans: number, notable = false): WaitingTrace {
  return { row: newRow({ traceId: name, startedAtMs: 0 }), before: null, spans, notable };
}
const namesOf = (traces: readonly WaitingTrace[]) => traces.map(({ row }) => row.trace_id);

test('notable ones go first, each kind in its order', () => {
  const queue = new TraceQueue(100);
  for (const [name, notable] of [['a'], ['B', true], ['c'], ['D', true]] as const) queue.push(trace(name, 5, notable));
  expect(namesOf(queue.take(11))).toEqual(['B', 'D', 'a']);
  expect([namesOf(queue.take(100)), queue.spans]).toEqual([['c'], 0]);
});

test('without room a notable one displaces the oldest ordinary ones; an ordinary one is dropped itself', () => {
  const queue = new TraceQueue(20);
  expect([trace('a', 10), trace('b', 8)].map((each) => queue.push(each))).toEqual([0, 0]);
  expect(queue.push(trace('c', 3))).toBe(3);
  expect(queue.push(trace('D', 12, true))).toBe(10);
  expect(queue.push(trace('E', 9, true))).toBe(8 + 9);
  expect(namesOf(queue.take(100))).toEqual(['D']);
});

test('every span is in the queue, taken or dropped, and the bound holds', () => {
  const step = fc.oneof(
    fc.record({ push: fc.integer({ min: 1, max: 12 }), notable: fc.boolean() }),
    fc.record({ take: fc.integer({ min: 1, max: 30 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = new TraceQueue(40);
      let [pushed, gone] = [0, 0];
      for (const each of steps) {
        if ('take' in each) gone += spansOf(queue.take(each.take));
        else {
          pushed += each.push;
          gone += queue.push(trace('x', each.push, each.notable));
        }
        expect(queue.spans).toBeLessThanOrEqual(40);
        expect(queue.spans).toBe(pushed - gone);
      }
      expect(spansOf(queue.take(1_000))).toBe(pushed - gone);
    }),
  );
});
