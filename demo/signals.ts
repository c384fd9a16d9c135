/** Ctrl-C and SIGTERM: the first asks for an orderly end, the second for an end at once. */
export interface StopSignals {
  readonly asked: AbortSignal;
  readonly forced: AbortSignal;
  /** Gives the signals back. */
  close(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function watchStopSignals(): StopSignals {
  const asked = new AbortController();
  const forced = new AbortController();
  const onSignal = (): void => (asked.signal.aborted ? forced : asked).abort();
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    asked: asked.signal,
    forced: forced.signal,
    close() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
