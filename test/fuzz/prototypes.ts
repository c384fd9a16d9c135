import { expectThat } from './expectThat.ts';

const SHARED = [Object, Array, String, Number, Boolean, Function, Map, Set, Promise].map(
  ({ prototype }) => prototype as object,
);
const names = (of: object): number => Object.getOwnPropertyNames(of).length;
const BEFORE = SHARED.map(names);

/** What all objects share is as it was at the start. */
export function assertCleanPrototypes(): void {
  for (const [index, prototype] of SHARED.entries())
    expectThat(names(prototype) === BEFORE[index], 'an input changed what all objects share');
}
