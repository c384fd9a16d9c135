import type { LogLevel } from './config.ts';
import { LOG_LEVELS } from './config.ts';

/** The part that a line comes from, for whoever reads the lines of several. */
const SERVICE = 'ingest';

/** Writes one JSON line per event. Never given bodies, tokens, addresses or prompts. */
export interface Log {
  debug(message: string, facts?: Facts): void;
  info(message: string, facts?: Facts): void;
  warn(message: string, facts?: Facts): void;
  error(message: string, facts?: Facts): void;
}

/** An Error is written as its message and code. */
export type Facts = Readonly<Record<string, unknown>>;

export function createLog(level: LogLevel, write: (line: string) => void = (line) => process.stdout.write(line)): Log {
  const least = LOG_LEVELS.indexOf(level);
  const at =
    (own: LogLevel) =>
    (message: string, facts: Facts = {}) => {
      if (LOG_LEVELS.indexOf(own) < least) return;
      write(
        `${JSON.stringify({ time: new Date().toISOString(), level: own, service: SERVICE, message, ...facts }, plainErrors)}\n`,
      );
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function plainErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const code = (value as NodeJS.ErrnoException).code;
  return { name: value.name, message: value.message, ...(code === undefined ? {} : { code }) };
}
