import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Figures, PARTS, type Part, type PartsNs } from './figures.ts';
import { renderLinks } from './links.ts';
import { clip } from './screen.ts';
import { dominantPart, partShares } from './shares.ts';
import { bar, clock, milliseconds, renderLine, renderTable, type View } from './table.ts';

const parts = (known: Partial<Record<Part, number | null>>): PartsNs =>
  Object.fromEntries(PARTS.map((part) => [part, known[part] ?? null])) as Record<Part, number | null>;

const FIGURES: Figures = {
  finals: 200,
  joined: 199,
  direct: 150,
  ttftP95Ms: 1_234.4,
  ttftP999Ms: 12_345,
  ttftOver1sRatio: 0.0319,
  ttftOver2sRatio: 0,
  tpotP90Ms: 96.4,
  tpotP999Ms: 140,
  tpotStddevMs: 7.42,
  streamGapMaxMs: 420,
  longestGapMs: 800,
  partsMs: parts({ preprocess: 300, kv_load: 100, network: 100 }),
  slowest: {
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    ttftMs: 2_000,
    model: 'llama-3-70b',
    route: '/api/chat',
    flags: ['coalesced'],
    partsNs: parts({ preprocess: 1_500e6, network: 500e6 }),
  },
};
const VIEW: View = {
  elapsedMs: 42_000,
  runForMs: 60_000,
  ratePerSecond: 20,
  seed: 7,
  phase: 'running',
  counts: {
    started: 1_234,
    open: 34,
    heldBack: 0,
    byStatus: new Map([
      ['complete', 1_190],
      ['aborted', 10],
    ]),
  },
  rejected: 0,
  figures: FIGURES,
};

describe('renderTable', () => {
  it('shows the counts, the figures, the parts and the slowest request', () => {
    const table = renderTable(VIEW, false).join('\n');
    expect(table).toContain('0:42 (load 1:00)');
    expect(table).toMatch(/1,234 started +1,200 finished +34 open +0 rejected/);
    expect(table).toMatch(/1,190 complete +10 aborted/);
    expect(table).toContain("99.50 % of 200 finished   (by the server's own record 75.00 %)");
    expect(table).toMatch(/ttft_p95 +1,234 ms +ttft_p999 +12.3 s/);
    expect(table).toMatch(/tpot_p90 +96 ms +tpot_p999 +140 ms/);
    expect(table).toMatch(/ttft_over_1s_ratio +3.1 % +ttft_over_2s_ratio +0.0 %/);
    expect(table).toMatch(/tpot_stddev +7.4 ms/);
    expect(table).toMatch(/stream_gap_max +420 ms +longest gap +800 ms/);
    expect(table).toMatch(/preprocess +█+.* 60.0 % +300 ms/);
    expect(table).toMatch(/gateway +- +-/);
    expect(table).toContain('2,000 ms, preprocess took 75 %   (coalesced llama-3-70b /api/chat)');
  });

  it('fits 80 columns, and with its links 24 lines when small', () => {
    const links = renderLinks({
      publicUrl: 'http://127.0.0.1:8080',
      adminUrl: 'http://127.0.0.1:9464',
      token: 'a'.repeat(22),
      companions: { prometheusUrl: 'http://127.0.0.1:9090', grafanaUrl: null },
      traceId: FIGURES.slowest!.traceId,
      previewUrl: 'http://127.0.0.1:3300',
      pageUrl: 'http://127.0.0.1:8090/',
      logFolder: '.data/demo/logs',
    });
    for (const line of [...renderTable(VIEW, false), ...links]) expect(line.length).toBeLessThanOrEqual(80);
    expect(renderTable(VIEW, true).length + 1 + links.length).toBeLessThan(24);
  });

  it('has dashes for what is not known, never 0', () => {
    const table = renderTable({ ...VIEW, figures: null }, false).join('\n');
    expect(table).toMatch(/joined +-\n/);
    expect(table).toMatch(/ttft_p95 +- +ttft_p999 +-\n/);
    expect(table).toMatch(/slowest +-$/);
    expect(table).not.toContain('NaN');
  });

  it('says how many were held back when there are any', () => {
    expect(renderTable({ ...VIEW, counts: { ...VIEW.counts, heldBack: 5 } }, false).join('\n')).toContain(
      '5 held back',
    );
  });
});

describe('renderLine', () => {
  it('has each figure as one field of one line', () => {
    const line = renderLine(VIEW);
    expect(line).not.toContain('\n');
    expect(line).toContain(' joined=99.50% rejected=0 ttft_p95=1234ms tpot_p90=96ms ttft_over_1s_ratio=3.1% ');
    expect(line).toContain('leads=preprocess');
    expect(renderLine({ ...VIEW, figures: null })).toContain('joined=- ');
  });
});

describe('partShares', () => {
  const amounts = fc.record(
    Object.fromEntries(PARTS.map((part) => [part, fc.option(fc.double({ min: 0, max: 1e12, noNaN: true }))])),
  ) as fc.Arbitrary<PartsNs>;

  it('adds up to 1, keeps null as null, and its largest is the dominant part', () => {
    fc.assert(
      fc.property(amounts, (known) => {
        const shares = partShares(known);
        const values = PARTS.map((part) => shares[part]).filter((share) => share !== null);
        const sum = values.reduce((total, share) => total + share, 0);
        const something = PARTS.some((part) => (known[part] ?? 0) > 0);
        expect(something ? Math.abs(sum - 1) < 1e-9 : sum === 0).toBe(true);
        for (const part of PARTS) if (known[part] === null) expect(shares[part]).toBeNull();
        const dominant = dominantPart(known);
        expect(dominant === null).toBe(!something);
        if (dominant) expect(dominant.share).toBe(Math.max(...values));
      }),
    );
  });
});

describe('the pieces', () => {
  it('draw bars of a length that follows the share', () => {
    expect(bar(0)).toBe('');
    expect(bar(1)).toBe('█'.repeat(24));
    expect(bar(0.5)).toBe('█'.repeat(12));
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (share) => {
        expect(bar(share).length).toBeLessThanOrEqual(24);
      }),
    );
  });

  it.each([
    [0, '0.0 ms'],
    [9.94, '9.9 ms'],
    [9.96, '10 ms'],
    [812.4, '812 ms'],
    [9_999, '9,999 ms'],
    [12_345, '12.3 s'],
    [null, '-'],
    [undefined, '-'],
  ])('write %s ms as %s', (value, expected) => expect(milliseconds(value)).toBe(expected));

  it.each([
    [0, '0:00'],
    [59_999, '0:59'],
    [754_000, '12:34'],
    [3_723_000, '1:02:03'],
  ])('write %s ms of run time as %s', (ms, expected) => expect(clock(ms)).toBe(expected));
});

describe('clip', () => {
  it('never exceeds the terminal', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string()),
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 60 }),
        (lines, columns, rows) => {
          const clipped = clip(lines, columns, rows);
          expect(clipped.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
          for (const line of clipped) expect(line.length).toBeLessThanOrEqual(columns);
        },
      ),
    );
  });
});

describe('renderLinks', () => {
  const companions = { prometheusUrl: null, grafanaUrl: null };
  const FACTS = {
    publicUrl: 'http://p',
    adminUrl: 'http://a',
    token: 'secret',
    companions,
    previewUrl: 'http://preview',
    pageUrl: null,
    logFolder: 'logs',
  };

  it('has one command that a shell can run, once there is a request', () => {
    const text = renderLinks({ ...FACTS, traceId: 'abc' }).join('\n');
    expect(text).toContain("curl -H 'Authorization: Bearer secret' \\\n              http://p/v1/requests/abc");
    expect(text).toContain('grep -h abc logs/*.log');
    expect(renderLinks({ ...FACTS, traceId: null }).join('\n')).not.toContain('curl');
  });

  it('leads to the chat page, where there is one', () => {
    expect(renderLinks({ ...FACTS, pageUrl: 'http://page/', traceId: null }).join('\n')).toContain('http://page/');
    expect(renderLinks({ ...FACTS, traceId: null }).join('\n')).not.toContain('try it');
  });

  it('leads to the dashboards, and to what was found on the PATH', () => {
    const found = { prometheusUrl: 'http://prometheus', grafanaUrl: 'http://grafana' };
    const text = renderLinks({ ...FACTS, companions: found, traceId: null }).join('\n');
    expect(text).toContain('dashboards  http://preview/');
    expect(text).toContain('prometheus  http://prometheus');
    expect(text).toContain('grafana     http://grafana');
    expect(renderLinks({ ...FACTS, traceId: null }).join('\n')).not.toMatch(/prometheus|grafana/);
  });
});
