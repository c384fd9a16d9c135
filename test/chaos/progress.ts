const REDRAW_EVERY_MS = 500;
/** Where nothing can be redrawn, a line now and then. */
const LINE_EVERY_MS = 15_000;

/** Tells on standard error how a run goes: in place on a terminal, else by a line every fifteen seconds. */
export class Progress {
  readonly #output: NodeJS.WriteStream;
  readonly #beganMs = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #faults = new Map<string, number>();
  #step = '';
  #figures: () => string = () => '';
  #lineDueMs = 0;

  constructor(output: NodeJS.WriteStream = process.stderr) {
    this.#output = output;
    this.#timer = setInterval(() => this.#draw(), REDRAW_EVERY_MS);
  }

  at(step: string): void {
    this.#step = step;
    this.#lineDueMs = 0;
  }

  watch(figures: () => string): void {
    this.#figures = figures;
    this.at('running');
  }

  begin(fault: string): void {
    this.#faults.set(fault, (this.#faults.get(fault) ?? 0) + 1);
  }

  end(fault: string): void {
    const left = (this.#faults.get(fault) ?? 0) - 1;
    if (left > 0) this.#faults.set(fault, left);
    else this.#faults.delete(fault);
  }

  close(): void {
    clearInterval(this.#timer);
    if (this.#output.isTTY) this.#output.write('\r\x1b[K');
  }

  #draw(): void {
    const elapsedMs = performance.now() - this.#beganMs;
    if (!this.#output.isTTY && elapsedMs < this.#lineDueMs) return;
    this.#lineDueMs = elapsedMs + LINE_EVERY_MS;
    const faults = this.#faults.size > 0 ? ` | ${[...this.#faults.keys()].join(', ')}` : '';
    const figures = this.#figures();
    const text = `${Math.round(elapsedMs / 1_000)} s ${this.#step}${figures && `: ${figures}`}${faults}`;
    if (this.#output.isTTY) this.#output.write(`\r\x1b[K${text.slice(0, (this.#output.columns || 80) - 1)}`);
    else this.#output.write(`${text}\n`);
  }
}
