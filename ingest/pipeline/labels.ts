import { MAX_LABEL_VALUES } from '../../contract/limits.ts';
import { OTHER_LABEL, UNKNOWN_LABEL } from '../../contract/metrics.ts';
import type { ClientHalf, Half, ServerHalf } from './half.ts';
import type { AcceptedLabels } from './measure.ts';

/** Labels whose values come from outside and are capped; `device` and `connection` are closed lists instead. */
export const CAPPED_LABELS = ['model', 'route', 'variant', 'tier', 'backend', 'region'] as const;
export type CappedLabel = (typeof CAPPED_LABELS)[number];

export interface NewValue {
  readonly label: CappedLabel;
  readonly value: string;
}

/** Accepts values in the dictionary that all replicas share, up to the cap, and returns all accepted ones. */
export type AcceptValues = (values: readonly NewValue[]) => Promise<readonly NewValue[]>;

/** They mean what nobody said, and what is not accepted; nobody can mint them. */
const RESERVED: ReadonlySet<string> = new Set([UNKNOWN_LABEL, OTHER_LABEL]);

const DESCRIBED = ['model', 'route', 'variant', 'tier'] as const;

/**
 * Decides which words may become label values. Servers (which hold the write token) and the operator bring new ones; what a page
 * says and nobody else has said is `other`, so that outsiders can neither flood the metrics nor use up the caps. Regions are
 * the exception while the operator names neither a header nor a list: then only pages can tell them.
 */
export class Labels implements AcceptedLabels {
  readonly #accepted: Record<CappedLabel, Set<string>>;
  readonly #acceptValues: AcceptValues;
  readonly #regionsFromPages: boolean;

  constructor(options: {
    readonly known: Readonly<Record<CappedLabel, readonly string[]>>;
    readonly regionHeader: string | null;
    readonly acceptValues: AcceptValues;
  }) {
    const { known } = options;
    this.#accepted = {
      model: new Set(known.model),
      route: new Set(known.route),
      variant: new Set(known.variant),
      tier: new Set(known.tier),
      backend: new Set(known.backend),
      region: new Set(known.region),
    };
    this.#acceptValues = options.acceptValues;
    this.#regionsFromPages = options.regionHeader === null && known.region.length === 0;
  }

  has(label: string, value: string): boolean {
    return this.#accepted[label as CappedLabel]?.has(value) ?? false;
  }

  /** Takes over what the shared dictionary holds. */
  learn(values: readonly NewValue[]): void {
    for (const { label, value } of values) this.#accepted[label]?.add(value);
  }

  /** Puts new words of trusted halves into the dictionary, then replaces those of pages that are not in it. */
  async screen(halves: readonly Half[]): Promise<Half[]> {
    const fresh = new Map<string, NewValue>();
    const offer = (label: CappedLabel, value: string | null): void => {
      if (value === null || RESERVED.has(value) || this.has(label, value)) return;
      if (this.#accepted[label].size >= MAX_LABEL_VALUES) return;
      fresh.set(`${label}\0${value}`, { label, value });
    };
    for (const half of halves) {
      if (half.kind === 'server') offerServer(half, offer);
      else if (half.kind === 'client' && (half.regionTrusted || this.#regionsFromPages)) offer('region', half.region);
    }
    if (fresh.size > 0) this.learn(await this.#acceptValues([...fresh.values()]));
    return halves.map((half) => (half.kind === 'client' ? this.#screenClient(half) : half));
  }

  #screenClient(half: ClientHalf): ClientHalf {
    let screened: { -readonly [K in keyof ClientHalf]: ClientHalf[K] } | null = null;
    for (const label of DESCRIBED) {
      const value = half[label];
      if (value === null || this.has(label, value)) continue;
      screened ??= { ...half };
      screened[label] = OTHER_LABEL;
    }
    if (half.region !== null && !half.regionTrusted && !this.has('region', half.region)) {
      screened ??= { ...half };
      screened.region = OTHER_LABEL;
    }
    return screened ?? half;
  }
}

function offerServer(half: ServerHalf, offer: (label: CappedLabel, value: string | null) => void): void {
  offer('model', half.model);
  offer('route', half.route);
  offer('variant', half.variant);
  offer('tier', half.tier);
  offer('backend', half.backend);
}
