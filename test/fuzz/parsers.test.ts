import { describe, expect, test } from 'vitest';
import { randomStream } from '../../demo/random.ts';
import { JSON_WORDS } from './bodyTargets.ts';
import { expectThat } from './expectThat.ts';
import { LARGEST_BODIES } from './largestBodies.ts';
import { mutateBytes } from './mutateBytes.ts';
import { mutateTree } from './mutateTree.ts';
import { checkOne, fuzzParsers, MAX_STALL_MS, TARGETS } from './parsers.ts';

const WORK = JSON.stringify(Array(10_000).fill('work'));
/** A hundredth of what `npm run fuzz` gives them, and other inputs with each seed of a release. */
const INPUTS = 10_000;

test(`${INPUTS} made-up inputs: no reader fails, stalls, repeats its input or changes what all objects share`, {
  timeout: 120_000,
}, async () => {
  const { targets, failures } = await fuzzParsers({ inputs: INPUTS, seed: 1 });
  expect(failures.map(({ target, message, input }) => `${target}: ${message}: ${input.toString('base64')}`)).toEqual(
    [],
  );
  expect(targets.reduce((sum, { inputs }) => sum + inputs, 0)).toBeGreaterThanOrEqual(INPUTS);
});

describe('the largest bodies that are read take less than the longest stall', { timeout: 60_000 }, () => {
  test.each(LARGEST_BODIES)('%s', async (_, body) => {
    for (const target of TARGETS.filter(({ name }) => /beacons|records|lines|logs/.test(name))) {
      const { failure } = await checkOne(target, body);
      expect(failure?.message, target.name).toBeUndefined();
    }
  });
});

describe('the fuzzer itself', () => {
  test('makes the same inputs again from the same seed', () => {
    for (const target of TARGETS) {
      const make = () => {
        const random = randomStream(7, target.name);
        return Array.from({ length: 20 }, () => target.make(random).toString('base64'));
      };
      expect(make()).toEqual(make());
    }
  });

  test('makes many different ones, from structure and from bytes', () => {
    const random = randomStream(7, 'variety');
    const trees = Array.from({ length: 500 }, () => mutateTree({ a: [1, { b: 'c' }], d: null }, random));
    const bytes = Array.from({ length: 500 }, () =>
      mutateBytes(Buffer.from('{"a":1}'), random, JSON_WORDS).toString('hex'),
    );
    expect(new Set(trees).size).toBeGreaterThan(300);
    expect(new Set(bytes).size).toBeGreaterThan(300);
    expect(trees.some((text) => Object.hasOwn(Object(JSON.parse(text)), '__proto__'))).toBe(true);
  });

  test('notices an error, a stall, and a changed prototype', async () => {
    const failureOf = async (check: () => void) =>
      (await checkOne({ name: 'x', weight: 1, make: () => Buffer.alloc(0), check }, Buffer.alloc(0))).failure?.message;
    expect(await failureOf(() => expectThat(false, 'it does not hold'))).toContain('it does not hold');
    expect(await failureOf(() => void JSON.parse('{'))).toContain('SyntaxError');
    expect(
      await failureOf(() => {
        const began = process.cpuUsage();
        const workedMs = () => {
          const { user, system } = process.cpuUsage(began);
          return (user + system) / 1_000;
        };
        while (workedMs() < MAX_STALL_MS + 10) JSON.parse(WORK);
      }),
    ).toMatch(/took \d+ ms/);
    const shared = Object.prototype as Record<string, unknown>;
    expect(await failureOf(() => Object.assign(shared, { polluted: 1 }))).toContain('what all objects share');
    delete shared['polluted'];
    expect(await failureOf(() => {})).toBeUndefined();
  });
});
