/** What was promised of an input did not hold. */
export class FuzzFailure extends Error {
  override readonly name = 'FuzzFailure';
}

export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new FuzzFailure(otherwise);
}
