/** What takes longer than this says that it is at work. */
const PATIENCE_MS = 2_000;
const REDRAW_EVERY_MS = 1_000;
/** Where nothing can be redrawn, a line now and then. */
const LINE_EVERY_MS = 10_000;

export interface Waiting {
  /** What goes on now. */
  at(step: string): void;
  end(): void;
}

/**
 * Tells on standard error what goes on, once it has lasted longer than two seconds: in place on a terminal, else by a line every ten
 * seconds. Standard output stays free for the result.
 */
export function showWaiting(step: string, output: NodeJS.WriteStream = process.stderr): Waiting {
  const beganMs = performance.now();
  let current = step;
  let lineDueMs = PATIENCE_MS;
  let drawn = false;
  const timer = setInterval(() => {
    const elapsedMs = performance.now() - beganMs;
    if (elapsedMs < PATIENCE_MS) return;
    const text = `${current} … ${Math.round(elapsedMs / 1_000)} s`;
    if (output.isTTY) {
      output.write(`\r\x1b[K${text.slice(0, (output.columns || 80) - 1)}`);
      drawn = true;
    } else if (elapsedMs >= lineDueMs) {
      output.write(`${text}\n`);
      lineDueMs = elapsedMs + LINE_EVERY_MS;
    }
  }, REDRAW_EVERY_MS);
  // A wait that is shown keeps no process alive.
  timer.unref();
  return {
    at: (next) => {
      current = next;
    },
    end() {
      clearInterval(timer);
      if (drawn) output.write('\r\x1b[K');
    },
  };
}
