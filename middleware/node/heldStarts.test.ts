import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HeldStarts } from './heldStarts.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('each is released after its own time, but those that have left', () => {
  const released: string[] = [];
  const start = (name: string) => ({ release: () => void released.push(name) });
  const held = new HeldStarts(100);
  const [one, two, three] = [start('one'), start('two'), start('three')] as const;
  held.add(one);
  vi.advanceTimersByTime(40);
  held.add(two);
  held.add(three);
  held.remove(three);
  vi.advanceTimersByTime(59);
  expect(released).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(released).toEqual(['one']);
  vi.advanceTimersByTime(39);
  expect(released).toEqual(['one']);
  vi.advanceTimersByTime(1);
  expect(released).toEqual(['one', 'two']);
  expect(vi.getTimerCount()).toBe(0);
  held.add(three);
  vi.advanceTimersByTime(100);
  expect(released).toEqual(['one', 'two', 'three']);
});
