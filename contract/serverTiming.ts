/**
 * The `Server-Timing` header as browsers read it (W3C Server Timing, with the results agreed for odd headers): the first of
 * two equal parameters wins even when it is broken, text after a value up to the next `,` or `;` is skipped, a quote that is never
 * closed takes the rest of the header with it, and a syntax error ends the list without losing what came before.
 * @see https://www.w3.org/TR/server-timing/#the-server-timing-header-field
 */
export interface ServerTimingEntry {
  readonly name: string;
  /** As the browser's `PerformanceServerTiming.duration` gives it: 0 when absent or unreadable. Milliseconds. */
  readonly dur: number;
  readonly desc: string;
  /** Whether `dur` is a measurement: present, finite and not negative. An absent duration is no measurement of 0 ms. */
  readonly measured: boolean;
}

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
const BLANK = /[ \t]*/y;
const TO_DELIMITER = /[^,;]*/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

export function parseServerTiming(header: string): ServerTimingEntry[] {
  const entries: ServerTimingEntry[] = [];
  let position = 0;

  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = position;
    const found = pattern.exec(header);
    if (found) position = pattern.lastIndex;
    return found;
  };
  const consume = (character: string): boolean => {
    match(BLANK);
    if (header[position] !== character) return false;
    position++;
    match(BLANK);
    return true;
  };
  const value = (): string => {
    const quoted = match(QUOTED);
    if (quoted) return quoted[1]!.replace(/\\(.)/gs, '$1');
    if (header[position] === '"') position = header.length;
    return match(TOKEN)?.[0] ?? '';
  };

  do {
    match(BLANK);
    const name = match(TOKEN)?.[0];
    if (name === undefined) break;
    let dur: string | undefined;
    let desc: string | undefined;
    while (consume(';')) {
      const parameter = match(TOKEN)?.[0]?.toLowerCase();
      if (parameter === undefined) break;
      let text = '';
      if (consume('=')) {
        text = value();
        match(TO_DELIMITER);
      }
      if (parameter === 'dur') dur ??= text;
      else if (parameter === 'desc') desc ??= text;
    }
    const number = dur !== undefined && NUMBER.test(dur) ? Number(dur) : Number.NaN;
    const finite = Number.isFinite(number);
    entries.push({ name, dur: finite ? number : 0, desc: desc ?? '', measured: finite && number >= 0 });
  } while (consume(','));
  return entries;
}
