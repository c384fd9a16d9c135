import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FLAG_BITS } from '../../contract/flags.ts';
import { VARIANTS } from '../../dashboards/config.ts';
import { BAND_LABELS } from '../../dashboards/queries/completionByBand.ts';
import { VARIANT_DIMENSIONS, VARIANT_ROLLUP_DIMENSIONS } from '../../dashboards/queries/variantStreams.ts';
import { VERDICTS } from '../../dashboards/queries/variants.ts';
import { variants } from '../../dashboards/variants.ts';
import { createDashboardDatabase, type DashboardDatabase } from './dashboardDatabase.ts';
import { rollUp } from './dashboardRollups.ts';
import { groupBy, panelRows } from './dashboardRows.ts';
import { inRange, inWholeHours, labelOf, nearestRank, type Stored, sampleRequests, steady } from './dashboardSample.ts';

const stored = sampleRequests();
const dashboard = variants();
const ids = VARIANTS.panelIds;
let database: DashboardDatabase;
let options: Record<string, string[]>;

beforeAll(async () => {
  database = await createDashboardDatabase();
  await database.fill(stored);
  await rollUp(database.client);
  options = await database.optionsOf(dashboard);
});
afterAll(() => database?.drop());

test('at first two different variants are chosen', () => {
  expect(options).toMatchObject({ variant_a: ['fp16'], variant_b: ['int4'] });
});

const values = (rows: readonly Stored[], column: 'ttft_ms' | 'tpot_ms' | 'first_screen_ms') =>
  rows.flatMap((row) => (row[column] === null ? [] : [Number(row[column])]));

/** @param within relatively; of streams that have ended, unless others are given */
function figures(rows: readonly Stored[], within = 1e-9, withTtft = rows): Record<string, unknown> {
  const steadyRows = rows.filter(steady);
  const close = (of: readonly number[], share: number) => {
    if (of.length === 0) return null;
    const exact = nearestRank(of, share);
    return expect.closeTo(exact, -Math.log10(2 * (exact * within + 1e-9)));
  };
  return {
    streams: rows.length,
    ttft_p50: close(values(withTtft, 'ttft_ms'), 0.5),
    ttft_p95: close(values(withTtft, 'ttft_ms'), 0.95),
    tpot_p50: close(values(steadyRows, 'tpot_ms'), 0.5),
    tpot_p90: close(values(steadyRows, 'tpot_ms'), 0.9),
    first_screen_p50: close(values(rows, 'first_screen_ms'), 0.5),
    completed: expect.closeTo(rows.filter((row) => row.status === 'complete').length / rows.length, 9),
  };
}

function verdict(rows: readonly Stored[]): string {
  const ttft = nearestRank(values(rows, 'ttft_ms'), 0.95);
  const tpot = nearestRank(values(rows.filter(steady), 'tpot_ms'), 0.9);
  if (ttft > 800 && tpot > 100) return VERDICTS.fasterLoad;
  if (ttft > 500) return VERDICTS.keep;
  return tpot > 100 ? VERDICTS.quantise : VERDICTS.either;
}

const selections: readonly (readonly [string, Record<string, string[]>])[] = [
  ['All', {}],
  ['one model and tier', { model: ['llama-3.1'], tier: ['vip'] }],
  ['the nameless against one', { variant_b: ['unknown'], device: ['mobile', 'desktop'] }],
  ['one against itself', { variant_b: ['fp16'] }],
];

describe.each(selections)('%s', (_, narrowed) => {
  let variables: Record<string, string[]>;
  let ended: Stored[];
  let chosen: [place: string, variant: string][];

  beforeAll(() => {
    variables = { ...options, ...narrowed };
    ended = stored.filter(
      (row) => row.status !== null && row.status !== 'streaming' && !(row.flags & FLAG_BITS.suspended),
    );
    const [a = '', b = ''] = [variables['variant_a']?.[0], variables['variant_b']?.[0]];
    chosen =
      a === b
        ? [['A', a]]
        : [
            ['A', a],
            ['B', b],
          ];
  });

  const visible = () =>
    ended.filter(
      (row) => inRange(row) && VARIANT_DIMENSIONS.every((each) => variables[each]?.includes(labelOf(row, each))),
    );

  test('each has its figures and what they say together', async () => {
    // Of whole hours, from the rollups, which count the first token of streams that go on as well.
    const rolledUp = VARIANT_DIMENSIONS.every((each) => variables[each] === options[each]);
    const of = (rows: readonly Stored[], variant: string) => rows.filter((row) => labelOf(row, 'variant') === variant);
    const expected = chosen.map(([place, variant]) => {
      const rows = rolledUp ? of(ended.filter(inWholeHours), variant) : of(visible(), variant);
      const withTtft = of(stored, variant).filter((row) => inWholeHours(row) && !(row.flags & FLAG_BITS.suspended));
      const found = rolledUp ? figures(rows, 0.0101, withTtft) : figures(rows);
      return { variant: `${place}: ${variant}`, ...found, verdict: verdict(rows) };
    });
    expect(expected.length).toBe(chosen.length);
    expect(await panelRows(database, dashboard, ids.verdict, variables)).toEqual(expected);
  });

  test('settings have the same figures', async () => {
    const band = (row: Stored) => {
      if (row.temperature === null) return 'unknown';
      return { 0: '0', 0.25: 'up to 0.5', 0.75: '0.5 to 1', 1.5: 'over 1' }[row.temperature] ?? '';
    };
    const expected = chosen.flatMap(([place, variant]) => {
      const rows = visible().filter((row) => labelOf(row, 'variant') === variant);
      const keyOf = (row: Stored) => [row.quantization ?? 'unknown', row.decoding ?? 'unknown', band(row)].join('|');
      return [...groupBy(rows, keyOf)].map(([key, group]) => {
        const [quantisation, decoding, temperature] = key.split('|');
        return { variant: `${place}: ${variant}`, quantisation, decoding, temperature, ...figures(group) };
      });
    });
    const rows = await panelRows(database, dashboard, ids.settings, variables);
    expect(rows).toHaveLength(expected.length);
    expect(rows).toEqual(expect.arrayContaining(expected));
  });

  test('completion by band is that of all ended streams of the variant', async () => {
    const limits = [100, 300, 1000, Number.POSITIVE_INFINITY];
    const bandOf = (row: Stored) => limits.findIndex((limit) => Number(row.ttft_ms) <= limit);
    const counted = ended.filter((row) => inWholeHours(row) && row.ttft_ms !== null);
    const share = (variant: string | undefined, band: number) => {
      const rows = counted.filter((row) => labelOf(row, 'variant') === variant && bandOf(row) === band);
      return rows.length === 0 ? null : rows.filter((row) => row.status === 'complete').length / rows.length;
    };
    const expected = BAND_LABELS.map((ttft, band) => ({
      ttft,
      variant_a: share(variables['variant_a']?.[0], band),
      variant_b: share(variables['variant_b']?.[0], band),
    })).filter(({ variant_a, variant_b }) => variant_a !== null || variant_b !== null);
    expect(await panelRows(database, dashboard, ids.completion, variables)).toEqual(expected);
  });

  test('the history is within 1 % hour by hour', async () => {
    const rows = await panelRows(database, dashboard, ids.history, variables);
    expect(rows.length).toBeGreaterThan(5);
    for (const row of rows) {
      const hour = (row['time'] as Date).getTime();
      for (const name of ['variant_a', 'variant_b']) {
        const found = stored.filter(
          (each) =>
            Math.floor(each.started_at.getTime() / 3_600_000) * 3_600_000 === hour &&
            each.ttft_ms !== null &&
            !(each.flags & FLAG_BITS.suspended) &&
            labelOf(each, 'variant') === variables[name]?.[0] &&
            VARIANT_ROLLUP_DIMENSIONS.every((dimension) => variables[dimension]?.includes(labelOf(each, dimension))),
        );
        if (found.length === 0) expect(row[name]).toBeNull();
        else {
          const exact = nearestRank(values(found, 'ttft_ms'), 0.95);
          expect(Math.abs(Number(row[name]) - exact)).toBeLessThanOrEqual(exact * 0.01 + 1e-9);
        }
      }
    }
  });
});
