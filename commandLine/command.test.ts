import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText, helpOf, readArguments } from './command.ts';

const COMMAND = {
  name: 'npm run example',
  summary: 'Shows how it is done.',
  options: {
    check: { help: 'only looks' },
    since: { value: '<time>', help: 'from then on\n(the second line)', read: anyText },
    rounds: {
      value: '<n>',
      help: 'so many',
      read(text: string): number {
        if (!/^\d+$/.test(text)) throw new RangeError('a whole number');
        return Number(text);
      },
    },
  },
  environment: 'NO_COLOR switches colours off.',
  exitCodes: { 0: 'all is well', 1: 'it is not' },
} as const;

const read = (...given: string[]) => readArguments(COMMAND, given);

describe('readArguments', () => {
  test('reads flags and values, in either spelling', () => {
    expect(read('--check', '--since', '1h', '--rounds=3')).toEqual({
      kind: 'run',
      values: { check: true, since: '1h', rounds: 3 },
    });
  });

  test('knows what was not given', () => {
    expect(read()).toEqual({ kind: 'run', values: { check: false, since: undefined, rounds: undefined } });
  });

  test('takes a negative number for a value, and an option for none', () => {
    expect(read('--rounds=-1')).toMatchObject({ faults: ['--rounds takes a whole number, not "-1"'] });
    expect(read('--since', '--check')).toMatchObject({ kind: 'faults' });
  });

  test.each([
    [['--chekc'], 'there is no option --chekc; did you mean --check?'],
    [['--frobnicate'], 'there is no option --frobnicate'],
    [['-x'], 'there is no option -x'],
    [['--toString'], 'there is no option --toString'],
    [['--check=yes'], '--check takes no value'],
    [['--since'], '--since needs a value: --since <time>'],
    [['--rounds', 'many'], '--rounds takes a whole number, not "many"'],
    [['file'], 'takes no argument "file"'],
  ])('%j: %s', (given, fault) => expect(read(...given)).toEqual({ kind: 'faults', faults: [fault] }));

  test('names all faults at once', () => {
    expect(read('--chekc', '--rounds', 'x', 'y')).toMatchObject({ faults: { length: 3 } });
  });

  test.each(['--help', '-h'])('%s goes before faults', (asked) =>
    expect(read('--since=1', asked)).toEqual({ kind: 'help' }),
  );

  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.string().map((text) => `--${text}`),
          ),
        ),
        (given) => {
          readArguments(COMMAND, given);
        },
      ),
    );
  });
});

test('what is required is asked for, and stands without brackets in the help', () => {
  const command = { ...COMMAND, options: { since: { ...COMMAND.options.since, required: true } } } as const;
  expect(readArguments(command, [])).toEqual({ kind: 'faults', faults: ['--since <time> is needed'] });
  expect(readArguments(command, ['--since', '1h'])).toEqual({ kind: 'run', values: { since: '1h' } });
  expect(helpOf(command)).toContain('example -- --since <time> [--help]');
});

test('the help has the usage, each option, the environment and the exit codes', () => {
  expect(helpOf(COMMAND)).toBe(`Usage: npm run example -- [--check] [--since <time>] [--rounds <n>] [--help]

Shows how it is done.

  --check         only looks
  --since <time>  from then on
                  (the second line)
  --rounds <n>    so many
  --help          this text

Environment: NO_COLOR switches colours off.
Exit code: 0 all is well; 1 it is not; 2 wrong arguments.
`);
});
