import type { WriteStream } from 'node:tty';

const ESCAPE = '\x1b[';
const HIDE_CURSOR = `${ESCAPE}?25l`;
const SHOW_CURSOR = `${ESCAPE}?25h`;
const CLEAR_LINE_END = `${ESCAPE}K`;
const CLEAR_BELOW = `${ESCAPE}J`;

/** Where the demo writes. */
export interface Screen {
  /** Redraws what changes: in place on a terminal, not at all elsewhere. */
  draw(lines: readonly string[]): void;
  /** Writes a line that stays. */
  say(line: string): void;
  close(): void;
}

/** Draws in place. Nothing is ever wider or higher than the terminal: a line that wraps would spoil the count of lines to go up. */
export function createTerminalScreen(output: WriteStream): Screen {
  let drawn = 0;
  const toTop = (): string => (drawn > 0 ? `${ESCAPE}${drawn}A\r` : '\r');
  output.write(HIDE_CURSOR);
  return {
    draw(lines) {
      const fitting = clip(lines, output.columns || 80, output.rows || 24);
      output.write(`${toTop()}${fitting.map((line) => `${line}${CLEAR_LINE_END}\n`).join('')}${CLEAR_BELOW}`);
      drawn = fitting.length;
    },
    say(line) {
      // What is drawn gives way, and is drawn anew below.
      output.write(drawn > 0 ? `${toTop()}${CLEAR_BELOW}${line}\n` : `${line}\n`);
      drawn = 0;
    },
    close: () => void output.write(SHOW_CURSOR),
  };
}

/** Writes line after line and draws nothing. */
export function createPlainScreen(output: NodeJS.WritableStream): Screen {
  return { draw: () => undefined, say: (line) => void output.write(`${line}\n`), close: () => undefined };
}

/** As much as a terminal of this size holds; its last line is the cursor's. */
export function clip(lines: readonly string[], columns: number, rows: number): string[] {
  return lines.slice(0, Math.max(1, rows - 1)).map((line) => (line.length > columns ? line.slice(0, columns) : line));
}
