import { open, readdir } from 'node:fs/promises';
import path from 'node:path';

/** A line of a part's log that carries the request's id. */
export interface ShownLine {
  /** Epoch milliseconds; null where the line has none. */
  readonly atMs: number | null;
  readonly service: string;
  readonly level: string;
  readonly text: string;
  readonly line: string;
}

/** What is read of the end of each file: a demo's last minutes. */
const MAX_FILE_BYTES = 16_777_216;
const MAX_LINES = 200;
const LEVELS = new Set(['debug', 'info', 'warn', 'error']);

/** The lines of all `*.log` files in a folder, and their predecessors, that name one of these ids; oldest first. */
export async function readLines(folder: string, ids: readonly string[]): Promise<ShownLine[]> {
  const names = await readdir(folder).catch(() => []);
  const lines: ShownLine[] = [];
  for (const name of names.filter((each) => /\.log(\.1)?$/.test(each))) {
    const text = await endOf(path.join(folder, name)).catch(() => '');
    lines.push(...linesWith(text, ids, name.replace(/\.log(\.1)?$/, '')));
  }
  return lines.toSorted((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0)).slice(-MAX_LINES);
}

/** Looks for the ids in the whole text first: to parse each line of it would take a hundred times as long. */
function* linesWith(text: string, ids: readonly string[], service: string): Generator<ShownLine> {
  const seen = new Set<number>();
  for (const id of ids.filter((each) => each.length >= 8)) {
    for (let at = text.indexOf(id); at >= 0; at = text.indexOf(id, at + 1)) {
      const start = text.lastIndexOf('\n', at) + 1;
      const end = text.indexOf('\n', at);
      if (end < 0 || seen.has(start)) continue;
      seen.add(start);
      yield lineOf(text.slice(start, end), service);
    }
  }
}

function lineOf(line: string, service: string): ShownLine {
  let fields: Record<string, unknown> = {};
  try {
    fields = JSON.parse(line) as Record<string, unknown>;
  } catch {
    // A part that does not write JSON: the line as it is.
  }
  const first = (...names: string[]): unknown => names.map((name) => fields[name]).find((value) => value !== undefined);
  const time = first('time', 'timestamp', 'ts', 'time_iso8601');
  const atMs = typeof time === 'number' ? (time < 1e11 ? time * 1_000 : time) : Date.parse(String(time));
  const level = String(first('level', 'error_severity') ?? 'info').toLowerCase();
  return {
    atMs: Number.isNaN(atMs) ? null : atMs,
    service: String(first('service') ?? service),
    level: LEVELS.has(level) ? level : 'info',
    text: String(first('message', 'msg', 'request') ?? line),
    line,
  };
}

async function endOf(file: string): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, MAX_FILE_BYTES);
    const { buffer } = await handle.read({ buffer: Buffer.alloc(length), position: size - length });
    return buffer.toString('utf8');
  } finally {
    await handle.close();
  }
}
