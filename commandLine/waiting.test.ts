import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { showWaiting } from './waiting.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function output(isTTY: boolean): { stream: NodeJS.WriteStream; text(): string } {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 40 }) as unknown as NodeJS.WriteStream;
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  return { stream, text: () => text };
}

test('says nothing of what is done within two seconds', () => {
  const { stream, text } = output(false);
  const waiting = showWaiting('building', stream);
  vi.advanceTimersByTime(1_900);
  waiting.end();
  vi.advanceTimersByTime(60_000);
  expect(text()).toBe('');
});

test('says what goes on, a line every ten seconds, without control characters', () => {
  const { stream, text } = output(false);
  const waiting = showWaiting('building', stream);
  vi.advanceTimersByTime(5_000);
  waiting.at('linking');
  vi.advanceTimersByTime(10_000);
  waiting.end();
  expect(text()).toBe('building … 2 s\nlinking … 12 s\n');
});

test('redraws in place on a terminal, and takes it away at the end', () => {
  const { stream, text } = output(true);
  const waiting = showWaiting('x'.repeat(100), stream);
  vi.advanceTimersByTime(3_000);
  waiting.end();
  expect(text()).toBe(`${`\r\x1b[K${'x'.repeat(39)}`.repeat(2)}\r\x1b[K`);
});
