/** One thing that was looked at. */
export interface Finding {
  /** `fault`: it is wrong; `skipped`: it was not looked at. */
  readonly verdict: 'good' | 'fault' | 'skipped';
  /** What was found, in a sentence. */
  readonly what: string;
  /** What to do about it: the mend of a fault, or how to have it looked at; null where all is well. */
  readonly advice: string | null;
}

export function good(what: string): Finding {
  return { verdict: 'good', what, advice: null };
}

export function fault(what: string, advice: string): Finding {
  return { verdict: 'fault', what, advice };
}

export function skipped(what: string, advice: string | null = null): Finding {
  return { verdict: 'skipped', what, advice };
}
