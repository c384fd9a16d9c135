import type { StreamStatus } from '../contract/beacon.ts';
import { STREAM_STATUSES } from '../contract/beacon.ts';
import { type Figures, PARTS } from './figures.ts';
import { dominantPart, partShares } from './shares.ts';
import type { TrafficCounts } from './traffic.ts';
import { joinedShare, percent } from './verdict.ts';

/** Everything that the table shows. */
export interface View {
  readonly elapsedMs: number;
  readonly runForMs: number | null;
  readonly ratePerSecond: number;
  readonly seed: number;
  /** What goes on: a pulse of load, the end. */
  readonly phase: string;
  readonly counts: TrafficCounts;
  readonly rejected: number;
  /** Null until the database was read. */
  readonly figures: Figures | null;
}

const BAR_WIDTH = 24;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A part with less of the time is left out of the small table. */
const SMALL_TABLE_SHARE = 0.01;

/** The table, line by line, for a terminal of any width from 80 columns on; the small one for a height of 24 lines. */
export function renderTable(view: View, small: boolean): string[] {
  const { counts, figures } = view;
  const lines = [
    [
      'Firsttoken demo',
      `${clock(view.elapsedMs)}${view.runForMs === null ? '' : ` (load ${clock(view.runForMs)})`}`,
      `${view.ratePerSecond}/s`,
      `seed ${view.seed}`,
      view.phase,
    ].join('  '),
    '',
    `requests   ${whole(counts.started)} started   ${whole(counts.started - counts.open)} finished   ${whole(counts.open)} open   ${whole(view.rejected)} rejected${counts.heldBack > 0 ? `   ${whole(counts.heldBack)} held back` : ''}`,
    `streams    ${statuses(counts.byStatus)}`,
    `joined     ${joinedText(figures)}`,
    '',
    ...figureLines(figures),
    '',
    'where the time to the first token goes (mean, as the client sees it)',
    ...stageLines(figures, small ? SMALL_TABLE_SHARE : 0),
    '',
    `slowest    ${slowestText(figures)}`,
  ];
  return small ? lines.filter((line) => line !== '') : lines;
}

/** The same in one line, for logs. */
export function renderLine({ elapsedMs, phase, counts, rejected, figures }: View): string {
  const dominant = figures && dominantPart(figures.partsMs);
  return [
    clock(elapsedMs),
    phase,
    `started=${counts.started}`,
    `finished=${counts.started - counts.open}`,
    `joined=${compact(shareText(figures && joinedShare(figures)))}`,
    `rejected=${rejected}`,
    `ttft_p95=${compact(milliseconds(figures?.ttftP95Ms))}`,
    `tpot_p90=${compact(milliseconds(figures?.tpotP90Ms))}`,
    `ttft_over_1s_ratio=${compact(shareText(figures?.ttftOver1sRatio, 1))}`,
    `tpot_stddev=${compact(milliseconds(figures?.tpotStddevMs))}`,
    `stream_gap_max=${compact(milliseconds(figures?.streamGapMaxMs))}`,
    `leads=${dominant ? dominant.part : '-'}`,
  ].join(' ');
}

function statuses(byStatus: ReadonlyMap<StreamStatus, number>): string {
  const known = STREAM_STATUSES.filter((status) => byStatus.has(status));
  return known.map((status) => `${whole(byStatus.get(status) ?? 0)} ${status}`).join('   ') || '-';
}

function joinedText(figures: Figures | null): string {
  const share = figures && joinedShare(figures);
  if (!figures || share === null) return '-';
  return `${percent(share)} of ${whole(figures.finals)} finished   (by the server's own record ${percent(figures.direct / figures.finals)})`;
}

function figureLines(figures: Figures | null): string[] {
  const row = (left: string, leftValue: string, right = '', rightValue = ''): string =>
    `${left.padEnd(21)}${leftValue.padStart(9)}      ${right.padEnd(21)}${rightValue.padStart(9)}`.trimEnd();
  return [
    row('ttft_p95', milliseconds(figures?.ttftP95Ms), 'ttft_p999', milliseconds(figures?.ttftP999Ms)),
    row('tpot_p90', milliseconds(figures?.tpotP90Ms), 'tpot_p999', milliseconds(figures?.tpotP999Ms)),
    row(
      'ttft_over_1s_ratio',
      shareText(figures?.ttftOver1sRatio, 1),
      'ttft_over_2s_ratio',
      shareText(figures?.ttftOver2sRatio, 1),
    ),
    row('tpot_stddev', milliseconds(figures?.tpotStddevMs)),
    row('stream_gap_max', milliseconds(figures?.streamGapMaxMs), 'longest gap', milliseconds(figures?.longestGapMs)),
  ];
}

function stageLines(figures: Figures | null, leastShare: number): string[] {
  const shares = figures && partShares(figures.partsMs);
  return PARTS.filter((part) => (shares?.[part] ?? 0) >= leastShare).map((part) => {
    const share = shares?.[part] ?? null;
    const mean = milliseconds(figures?.partsMs[part]);
    return `  ${part.padEnd(13)}${bar(share ?? 0).padEnd(BAR_WIDTH)} ${shareText(share, 1).padStart(7)} ${mean.padStart(9)}`;
  });
}

/** A bar of up to {@link BAR_WIDTH} characters, exact to an eighth of one. */
export function bar(share: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}

function slowestText(figures: Figures | null): string {
  const slowest = figures?.slowest;
  if (!slowest) return '-';
  const dominant = dominantPart(slowest.partsNs);
  const lead = dominant ? `${dominant.part} took ${shareText(dominant.share, 0)}` : 'no stage known';
  const about = [...slowest.flags, slowest.model, slowest.route].filter((text) => text !== null).join(' ');
  return `${milliseconds(slowest.ttftMs)}, ${lead}   (${about})`;
}

/** `812 ms`, `7.4 ms`, `12.3 s`. */
export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return '-';
  if (value >= 9_999.5) return `${(value / 1_000).toFixed(1)} s`;
  return value < 9.95 ? `${value.toFixed(1)} ms` : `${whole(value)} ms`;
}

function shareText(value: number | null | undefined, digits = 2): string {
  return value === null || value === undefined ? '-' : percent(value, digits);
}

/** `0:07`, `12:34`, `1:02:03`. */
export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-GB');
}

/** Without blanks, so that a line can be cut into fields. */
function compact(text: string): string {
  return text.replaceAll(/[ ,]/g, '');
}
