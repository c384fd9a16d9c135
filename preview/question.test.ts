import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDashboards } from './dashboards.ts';
import { QuestionError, readQuestion } from './question.ts';

const dashboards = readDashboards();
const NOW_MS = Date.parse('2026-03-10T12:00:00Z');
const ASKED = { uid: 'first-token', panel: 21, from: 'now-1h', to: 'now', timezone: 'Europe/Berlin', variables: {} };
const read = (more: object = {}) => readQuestion({ ...ASKED, ...more }, dashboards, NOW_MS);

describe('readQuestion', () => {
  it('reads the panel, relative and absolute times, the time zone and values of the own variables', () => {
    const question = read({ variables: { region: ['eu', 'us'], trace_id: ['of another dashboard'] } });
    expect(question.panel?.title).toBe('TTFT over time');
    expect([question.from, question.to].map((at) => at.toISOString())).toEqual([
      '2026-03-10T11:00:00.000Z',
      '2026-03-10T12:00:00.000Z',
    ]);
    expect(question.timezone).toBe('Europe/Berlin');
    expect(question.chosen).toEqual({ region: ['eu', 'us'] });
    expect(read({ from: '1773144000000', to: '1773147600000' }).from.getTime()).toBe(1_773_144_000_000);
    expect(read({ timezone: '<script>' }).timezone).toBe('UTC');
    expect(read({ timezone: 'Nowhere/City' }).timezone).toBe('UTC');
  });

  it.each([
    ['no object', null],
    ['a list', []],
    ['another dashboard', { ...ASKED, uid: 'x' }],
    ['a name of the prototype', { ...ASKED, uid: '__proto__' }],
    ['another panel', { ...ASKED, panel: 999 }],
    ['a row instead of a panel', { ...ASKED, panel: 1 }],
    ['a panel by its title', { ...ASKED, panel: 'TTFT over time' }],
    ['SQL as a time', { ...ASKED, from: "now'; DROP TABLE requests" }],
    ['a range that ends before it begins', { ...ASKED, from: 'now', to: 'now-1h' }],
    ['a range of a year', { ...ASKED, from: 'now-365d' }],
    ['a hidden variable', { ...ASKED, variables: [] }],
    ['a text instead of a list', { ...ASKED, variables: { region: 'eu' } }],
    ['too many values', { ...ASKED, variables: { region: Array(201).fill('eu') } }],
    ['a long value', { ...ASKED, variables: { region: ['x'.repeat(513)] } }],
    ['a NUL', { ...ASKED, variables: { region: ['a\0b'] } }],
  ])('refuses %s, without repeating it', (_, body) => {
    expect(() => readQuestion(body, dashboards, NOW_MS)).toThrow(QuestionError);
    expect(() => readQuestion(body, dashboards, NOW_MS)).not.toThrow(/DROP|999|__proto__/);
  });

  it('answers or refuses whatever JSON it is given', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (variables, from, panel) => {
        try {
          const question = read({ variables, from, panel });
          expect(question.from < question.to).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(QuestionError);
        }
      }),
    );
  });
});
