import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseArguments, parseDurationMs } from './arguments.ts';

const faultsOf = (...given: string[]): readonly string[] => {
  const parsed = parseArguments(given);
  return parsed.kind === 'faults' ? parsed.faults : [];
};

describe('parseDurationMs', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['1.5s', 1_500],
    ['7d', 604_800_000],
  ])('reads %s', (text, expected) => expect(parseDurationMs(text)).toBe(expected));

  it.each(['', '30', 's', '-1s', '+1s', '1 s', '1e3s', '1w', '.5s', '1s ', '30S', '0x1s'])('refuses %j', (text) =>
    expect(parseDurationMs(text)).toBeNull(),
  );

  it('reads back every whole number of every unit, and never throws or gives a strange number', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.constantFrom(['ms', 1], ['s', 1e3], ['m', 6e4], ['h', 36e5] as const),
        (n, [unit, ms]) => {
          expect(parseDurationMs(`${n}${unit}`)).toBe(n * Number(ms));
        },
      ),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        const duration = parseDurationMs(text);
        expect(duration === null || (Number.isFinite(duration) && duration >= 0)).toBe(true);
      }),
    );
  });
});

describe('parseArguments', () => {
  it('has defaults', () => {
    expect(parseArguments([])).toEqual({
      kind: 'run',
      options: { runForMs: null, ratePerSecond: 20, seed: 7, backfillHours: 0, plain: false },
    });
  });

  it('takes values after a blank and after an equals sign', () => {
    expect(parseArguments(['--for', '30s', '--rate=0.1', '--seed', '0', '--plain'])).toEqual({
      kind: 'run',
      options: { runForMs: 30_000, ratePerSecond: 0.1, seed: 0, backfillHours: 0, plain: true },
    });
  });

  it('gives help even beside a fault', () => {
    expect(parseArguments(['--nonsense', '--help'])).toEqual({ kind: 'help' });
    expect(parseArguments(['-h'])).toEqual({ kind: 'help' });
  });

  it.each([
    [['--for', '30'], '--for takes a time'],
    [['--for', '0s'], '--for takes a time'],
    [['--for', '200h'], '--for takes a time'],
    [['--for'], '--for needs a value'],
    [['--for', '--plain'], '--for needs a value'],
    [['--rate', '0.09'], '--rate takes requests a second'],
    [['--rate', '201'], '--rate takes requests a second'],
    [['--rate', '-1'], '--rate takes requests a second'],
    [['--rate', 'fast'], '--rate takes requests a second'],
    [['--rate='], '--rate needs a value'],
    [['--backfill', '30m'], '--backfill takes a time'],
    [['--backfill', '29d'], '--backfill takes a time'],
    [['--seed', '1.5'], '--seed takes a whole number'],
    [['--seed', '4294967296'], '--seed takes a whole number'],
    [['--plain=yes'], '--plain takes no value'],
    [['fast'], 'takes no argument "fast"'],
  ])('refuses %j in one line', (given, expected) => {
    const faults = faultsOf(...given);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(expected);
    expect(faults[0]).not.toContain('\n');
  });

  it('names every fault at once', () => {
    expect(faultsOf('--for', 'x', '--rate', 'y', '--seed', 'z', '--what')).toHaveLength(4);
  });

  it('never throws, and runs only within the bounds', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom('--for', '--rate', '--seed', '--plain', '30s', '20'), fc.string())),
        (given) => {
          const parsed = parseArguments(given);
          if (parsed.kind !== 'run') return;
          expect(parsed.options.ratePerSecond).toBeGreaterThanOrEqual(0.1);
          expect(parsed.options.ratePerSecond).toBeLessThanOrEqual(200);
          expect(parsed.options.runForMs ?? 1).toBeGreaterThan(0);
          expect(Number.isInteger(parsed.options.seed)).toBe(true);
        },
      ),
    );
  });
});
