import { parseArgs } from 'node:util';
import { nearest } from './nearest.ts';

/** An option without a value. */
export interface Flag {
  readonly help: string;
}

/** An option with one. `read` turns its text into the value, and throws a RangeError whose message says what the option takes. */
export interface Valued<T> {
  readonly value: string;
  readonly help: string;
  readonly required?: true;
  readonly read: (text: string) => T;
}

// biome-ignore lint/suspicious/noExplicitAny: the place where each option's own type is inferred
export type Option = Flag | Valued<any>;

/** A command line: what it is called, what it does, which options it takes, how it ends. Its help is made of this. */
export interface Command<O extends Readonly<Record<string, Option>>> {
  /** As it is typed: `npm run doctor`. */
  readonly name: string;
  readonly summary: string;
  readonly options: O;
  /** What the environment decides; left out where nothing does. */
  readonly environment?: string;
  /** What each exit code means; 2 is "wrong arguments" where nothing else is said. */
  readonly exitCodes: Readonly<Record<number, string>>;
}

export type Values<O extends Readonly<Record<string, Option>>> = {
  readonly [K in keyof O]: O[K] extends Valued<infer T>
    ? O[K] extends { readonly required: true }
      ? T
      : T | undefined
    : boolean;
};

export type Reading<O extends Readonly<Record<string, Option>>> =
  | { readonly kind: 'run'; readonly values: Values<O> }
  | { readonly kind: 'help' }
  /** One line for each thing that is wrong. */
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

const MOST_IN_USAGE = 6;

function isValued(option: Option): option is Valued<unknown> {
  return 'value' in option;
}

/** Ready for `options` where a value may be any text. */
export function anyText(text: string): string {
  return text;
}

/** Reads the arguments after the script's name. Reports every fault, not only the first; asking for help goes before faults. */
export function readArguments<O extends Readonly<Record<string, Option>>>(
  { options }: Command<O>,
  given: readonly string[],
): Reading<O> {
  const known: Record<string, { type: 'string' | 'boolean'; short?: string }> = {
    help: { type: 'boolean', short: 'h' },
  };
  for (const [name, option] of Object.entries(options)) known[name] = { type: isValued(option) ? 'string' : 'boolean' };
  // Not strict: node's own errors name one fault at a time, and propose `-- --option` where nobody meant a file.
  const { tokens } = parseArgs({
    args: [...given],
    options: known,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(options)) values[name] = isValued(option) ? undefined : false;
  for (const token of tokens) {
    if (token.kind === 'positional') faults.push(`takes no argument ${JSON.stringify(token.value)}`);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    if (name === 'help') return { kind: 'help' };
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) {
      const meant = nearest(name, [...Object.keys(options), 'help']);
      faults.push(`there is no option ${rawName}${meant === undefined ? '' : `; did you mean --${meant}?`}`);
    } else if (!isValued(option)) {
      if (value === undefined) values[name] = true;
      else faults.push(`${rawName} takes no value`);
    } else if (value === undefined || value === '' || (!token.inlineValue && value.startsWith('--'))) {
      faults.push(`${rawName} needs a value: ${rawName} ${option.value}`);
    } else {
      try {
        values[name] = option.read(value);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        faults.push(`${rawName} takes ${error.message}, not ${JSON.stringify(value)}`);
      }
    }
  }
  const named = new Set(tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : [])));
  for (const [name, option] of Object.entries(options)) {
    if (isValued(option) && option.required && !named.has(name)) faults.push(`--${name} ${option.value} is needed`);
  }
  return faults.length > 0 ? { kind: 'faults', faults } : { kind: 'run', values: values as Values<O> };
}

/** What `--help` prints. */
export function helpOf<O extends Readonly<Record<string, Option>>>(command: Command<O>): string {
  const rows = Object.entries({ ...command.options, help: { help: 'this text' } }).map(
    ([name, option]: [string, Option]) => ({
      left: isValued(option) ? `--${name} ${option.value}` : `--${name}`,
      right: option.help,
      required: isValued(option) && option.required,
    }),
  );
  const width = Math.max(...rows.map(({ left }) => left.length)) + 2;
  // A line of many options tells less than the list below it.
  const shown = rows.length > MOST_IN_USAGE ? rows.filter(({ required }) => required) : rows;
  const usage = [
    ...shown.map(({ left, required }) => (required ? left : `[${left}]`)),
    ...(rows.length > MOST_IN_USAGE ? ['[options]'] : []),
  ].join(' ');
  const lines = rows.flatMap(({ left, right }) =>
    right.split('\n').map((line, index) => `  ${(index === 0 ? left : '').padEnd(width)}${line}`),
  );
  const codes = Object.entries({ 2: 'wrong arguments', ...command.exitCodes }).map(
    ([code, meaning]) => `${code} ${meaning}`,
  );
  return [
    `Usage: ${command.name} -- ${usage}`,
    '',
    command.summary,
    '',
    ...lines,
    '',
    ...(command.environment === undefined ? [] : [`Environment: ${command.environment}`]),
    `Exit code: ${codes.join('; ')}.`,
    '',
  ].join('\n');
}

/**
 * The values of this process' arguments. Asked for help, or given what it does not take, it prints that instead and ends the
 * process, with 0 or 2.
 */
export function takeArguments<O extends Readonly<Record<string, Option>>>(command: Command<O>): Values<O> {
  const reading = readArguments(command, process.argv.slice(2));
  if (reading.kind === 'run') return reading.values;
  if (reading.kind === 'help') {
    process.stdout.write(helpOf(command));
    process.exit(0);
  }
  for (const fault of reading.faults) process.stderr.write(`${command.name}: ${fault}\n`);
  process.stderr.write(`${command.name} -- --help lists what there is.\n`);
  process.exit(2);
}

/**
 * Runs a command with this process' arguments and ends with the code that `main` resolves to. What goes wrong in `main` is told in a
 * line, without a stack, and ends with 1; only faults of our own (a TypeError, say) keep theirs.
 */
export async function runCommand<O extends Readonly<Record<string, Option>>>(
  command: Command<O>,
  main: (values: Values<O>) => Promise<number>,
): Promise<void> {
  const values = takeArguments(command);
  try {
    process.exitCode = await main(values);
  } catch (error) {
    process.exitCode = 1;
    if (!(error instanceof Error) || FAULTS_OF_OUR_OWN.some((type) => error instanceof type)) throw error;
    process.stderr.write(`${command.name}: ${messageOf(error)}\n`);
  }
}

const FAULTS_OF_OUR_OWN = [TypeError, ReferenceError, SyntaxError, RangeError];

/** With what caused it, as far as that says more. */
function messageOf(error: Error): string {
  const cause = error.cause instanceof Error ? messageOf(error.cause) : '';
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message} (${cause})`;
}
