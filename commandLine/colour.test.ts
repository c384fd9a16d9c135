import { expect, test } from 'vitest';
import { createTint } from './colour.ts';

test.each([
  [{ isTTY: true }, {}, true],
  [{ isTTY: true }, { NO_COLOR: '1' }, false],
  [{ isTTY: true }, { NO_COLOR: '' }, true],
  [{ isTTY: true }, { TERM: 'dumb' }, false],
  [{ isTTY: false }, {}, false],
  [{}, {}, false],
  [{ isTTY: false }, { FORCE_COLOR: '1' }, true],
  [{ isTTY: false }, { FORCE_COLOR: '0' }, false],
  [{ isTTY: true }, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
])('%j with %j: coloured is %s', (output, env, coloured) => {
  expect(createTint(output, env)('red', 'x')).toBe(coloured ? '\x1b[31mx\x1b[0m' : 'x');
});
