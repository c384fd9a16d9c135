import { expect, test } from 'vitest';
import { greenToRed, inkOn } from './colourScale.ts';

test('green at the lower end, yellow between, red at the upper end and beyond', () => {
  expect(greenToRed(0)).toBe('rgb(86 166 75)');
  expect(greenToRed(0.5)).toBe('rgb(242 204 12)');
  expect(greenToRed(1)).toBe('rgb(224 47 68)');
  expect(greenToRed(-1)).toBe(greenToRed(0));
  expect(greenToRed(7)).toBe(greenToRed(1));
});

test('dark ink on light colours, light ink on dark ones', () => {
  expect([0, 0.5, 1].map((share) => inkOn(greenToRed(share)))).toEqual(['#fff', '#111', '#fff']);
});
