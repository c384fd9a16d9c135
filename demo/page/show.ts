import type { AddedDelay } from '../../browser/addedDelay.ts';
import type { Beacon } from '../../contract/beacon.ts';

const MAX_BARS = 150;

const put = (id: string, text: string): void => {
  document.getElementById(id)!.textContent = text;
};
const ms = (value: number | null | undefined): string => (value == null ? '–' : `${Math.round(value)} ms`);

/** While the answer comes: the page's own look at the clock, until the SDK's beacon says it exactly. */
export function showTtft(ttftMs: number): void {
  put('ttft', ms(ttftMs));
}

/** A bar for each gap between two tokens, and the figures that follow from them. Milliseconds. */
export function showGaps(arrivals: readonly number[]): void {
  const gaps = arrivals.slice(1).map((at, index) => at - arrivals[index]!);
  put('tokens', String(arrivals.length));
  if (gaps.length === 0) return;
  const longest = Math.max(...gaps);
  put('gap', ms(longest));
  put('tpot', ms((arrivals.at(-1)! - arrivals[0]!) / gaps.length));
  const shown = gaps.slice(-MAX_BARS);
  const svg = document.getElementById('gaps')!;
  svg.setAttribute('viewBox', `0 0 ${Math.max(60, shown.length)} 100`);
  svg.replaceChildren(
    ...shown.map((gap, index) => {
      const bar = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
      const height = Math.max(1, (gap / longest) * 100);
      for (const [name, value] of Object.entries({ x: index + 0.1, y: 100 - height, width: 0.8, height })) {
        bar.setAttribute(name, String(value));
      }
      return bar;
    }),
  );
}

/** What the SDK sent. */
export function showBeacon(beacon: Beacon): void {
  const {
    ttft_ms: ttftMs,
    output_tokens: tokens,
    arrivals_ms: arrivals,
    chunk_tokens: chunks,
    status,
    render,
  } = beacon;
  put('ttft', ms(ttftMs));
  if (tokens != null) put('tokens', String(tokens));
  const after = (tokens ?? 0) - (chunks?.[0] ?? 1);
  if (arrivals && after > 0) put('tpot', ms((arrivals.at(-1)! - arrivals[0]!) / after));
  put('render', ms(render?.p50_ms));
  put('trace', `${status} · trace id ${beacon.trace_id}`);
}

export function showDelays(delays: readonly AddedDelay[]): void {
  put('smoothing', ms(delays.reduce((sum, { meanMs }) => sum + meanMs, 0)));
}
