/** What the address says: the dashboard, its time, and the values of its variables. */
export interface View {
  readonly uid: string;
  readonly from: string;
  readonly to: string;
  readonly variables: Readonly<Record<string, readonly string[]>>;
  /** A panel to bring into sight; 0: none. */
  readonly viewPanel: number;
}

export const HOME = 'first-token';
const VARIABLE = 'var-';

export function readView(url: URL): View {
  const uid = /^\/d\/([\w-]+)/.exec(url.pathname)?.[1] ?? HOME;
  const variables: Record<string, string[]> = {};
  for (const [key, value] of url.searchParams) {
    if (!key.startsWith(VARIABLE)) continue;
    const name = key.slice(VARIABLE.length);
    variables[name] = [...(variables[name] ?? []), value];
  }
  const { searchParams: given } = url;
  const viewPanel = Number(given.get('viewPanel')) || 0;
  return { uid, from: given.get('from') ?? 'now-1h', to: given.get('to') ?? 'now', variables, viewPanel };
}

export function pathOf({ uid, from, to, variables }: Omit<View, 'viewPanel'>): string {
  return `/d/${uid}?${timeOf({ from, to })}${variablesOf(variables)}`;
}

export function timeOf({ from, to }: Pick<View, 'from' | 'to'>): string {
  return new URLSearchParams({ from, to }).toString();
}

export function variablesOf(variables: View['variables']): string {
  const pairs = Object.entries(variables).flatMap(([name, values]) =>
    values.map((value) => `&${encodeURIComponent(VARIABLE + name)}=${encodeURIComponent(value)}`),
  );
  return pairs.join('');
}
