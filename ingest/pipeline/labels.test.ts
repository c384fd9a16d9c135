import { describe, expect, test } from 'vitest';
import { MAX_LABEL_VALUES } from '../../contract/limits.ts';
import { exampleClient, exampleServer } from './exampleHalves.ts';
import { CAPPED_LABELS, type CappedLabel, Labels, type NewValue } from './labels.ts';

const NOTHING_KNOWN: Record<CappedLabel, string[]> = {
  model: [],
  route: [],
  variant: [],
  tier: [],
  backend: [],
  region: [],
};

/** Labels beside a dictionary as the store keeps it: capped, shared, and asked only for new words. */
function labelsWith({
  known = {},
  regionHeader = null,
  dictionary = [],
}: {
  known?: Partial<Record<CappedLabel, string[]>>;
  regionHeader?: string | null;
  dictionary?: NewValue[];
} = {}) {
  const asked: NewValue[][] = [];
  const labels = new Labels({
    known: { ...NOTHING_KNOWN, ...known },
    regionHeader,
    acceptValues: async (values) => {
      asked.push([...values]);
      for (const value of values) {
        const full = dictionary.filter((each) => each.label === value.label).length >= MAX_LABEL_VALUES;
        if (!full) dictionary.push(value);
      }
      return dictionary;
    },
  });
  return { labels, asked, dictionary };
}

describe('who brings new words', () => {
  test('a server with the write token, for all of its labels', async () => {
    const { labels, dictionary } = labelsWith();
    await labels.screen([exampleServer({ model: 'm', route: 'r', variant: 'v', tier: 't', backend: 'b' })]);
    expect(dictionary.map(({ label, value }) => `${label}=${value}`)).toEqual([
      'model=m',
      'route=r',
      'variant=v',
      'tier=t',
      'backend=b',
    ]);
    for (const { label, value } of dictionary) expect(labels.has(label, value)).toBe(true);
    expect(labels.has('model', 'r')).toBe(false);
  });

  test('not a page: its unknown words are `other`, and the dictionary is not even asked', async () => {
    const { labels, asked } = labelsWith({ known: { region: ['eu'] } });
    const page = { model: 'x', route: '/chat/<uuid>', variant: 'y', tier: 'z', region: 'mars' };
    const [screened] = await labels.screen([exampleClient(page)]);
    expect(screened).toMatchObject({
      model: 'other',
      route: 'other',
      variant: 'other',
      tier: 'other',
      region: 'other',
    });
    expect(asked).toEqual([]);
  });

  test('a flood of pages mints nothing', async () => {
    const { labels, asked } = labelsWith({ regionHeader: 'x-country' });
    const pages = Array.from({ length: 1_000 }, (_, index) =>
      exampleClient({ model: `m-${index}`, region: `r-${index}` }),
    );
    const screened = await labels.screen(pages);
    expect(new Set(screened.map((half) => half.kind === 'client' && `${half.model} ${half.region}`))).toEqual(
      new Set(['other other']),
    );
    expect(asked).toEqual([]);
  });

  test('a page may say what a server or the operator has said before, also in the same post', async () => {
    const { labels } = labelsWith({ known: { route: ['/api/chat'] } });
    const page = exampleClient({ model: 'llama', route: '/api/chat', tier: 'vip' });
    const [, client] = await labels.screen([exampleServer({ model: 'llama' }), page]);
    expect(client).toMatchObject({ model: 'llama', route: '/api/chat', tier: 'other' });
    expect(page.tier).toBe('vip');
  });

  test('what nobody named stays unknown, and a half without a foreign word stays itself', async () => {
    const { labels } = labelsWith();
    const halves = [exampleClient(), exampleServer()];
    expect(await labels.screen(halves)).toEqual(halves);
  });
});

describe('regions', () => {
  test('come from pages while the operator names neither a header nor a list', async () => {
    const { labels, asked } = labelsWith();
    const [half] = await labels.screen([exampleClient({ region: 'eu-west' })]);
    expect(half).toMatchObject({ region: 'eu-west' });
    expect(asked).toEqual([[{ label: 'region', value: 'eu-west' }]]);
  });

  test("come from the operator's header where one is named; a page's own word is then `other`", async () => {
    const { labels } = labelsWith({ regionHeader: 'cf-ipcountry' });
    const [page] = await labels.screen([exampleClient({ region: 'DE' })]);
    expect(page).toMatchObject({ region: 'other' });
    const [trusted] = await labels.screen([exampleClient({ region: 'mars' }, { region: 'DE' })]);
    expect(trusted).toMatchObject({ region: 'DE' });
    const [known] = await labels.screen([exampleClient({ region: 'DE' })]);
    expect(known).toMatchObject({ region: 'DE' });
  });

  test('of pages are capped as well, and the next one is `other`', async () => {
    const { labels, dictionary } = labelsWith();
    const pages = Array.from({ length: MAX_LABEL_VALUES + 20 }, (_, index) => exampleClient({ region: `r-${index}` }));
    const screened = await labels.screen(pages);
    expect(dictionary).toHaveLength(MAX_LABEL_VALUES);
    expect(screened.at(MAX_LABEL_VALUES - 1)).toMatchObject({ region: `r-${MAX_LABEL_VALUES - 1}` });
    expect(screened.at(MAX_LABEL_VALUES)).toMatchObject({ region: 'other' });
  });
});

describe('the dictionary', () => {
  test('is asked once for a word, however often it comes', async () => {
    const { labels, asked } = labelsWith();
    const server = exampleServer({ model: 'llama' });
    await labels.screen([server, server]);
    await labels.screen([server]);
    expect(asked).toEqual([[{ label: 'model', value: 'llama' }]]);
  });

  test('is asked no more once a label is full; the others still are', async () => {
    const { labels, asked } = labelsWith();
    await labels.screen(Array.from({ length: MAX_LABEL_VALUES }, (_, index) => exampleServer({ model: `m-${index}` })));
    await labels.screen([exampleServer({ model: 'one more', tier: 'vip' })]);
    expect(asked.at(-1)).toEqual([{ label: 'tier', value: 'vip' }]);
    expect(labels.has('model', 'one more')).toBe(false);
  });

  test("is learnt: another replica's words count here too", async () => {
    const { labels } = labelsWith();
    labels.learn(CAPPED_LABELS.map((label) => ({ label, value: 'theirs' })));
    const [half] = await labels.screen([exampleClient({ model: 'theirs', region: 'theirs' })]);
    expect(half).toMatchObject({ model: 'theirs', region: 'theirs' });
  });

  test('that cannot be reached is not passed over in silence', async () => {
    const labels = new Labels({
      known: NOTHING_KNOWN,
      regionHeader: null,
      acceptValues: () => Promise.reject(new Error('away')),
    });
    await expect(labels.screen([exampleServer({ model: 'llama' })])).rejects.toThrow('away');
    await expect(labels.screen([exampleClient({ model: 'llama' })])).resolves.toHaveLength(1);
  });
});
