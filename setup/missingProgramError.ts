import { programNamed } from './programs.ts';

/** A program of the system is needed and not there. The message says how to get it. */
export class MissingProgramError extends Error {
  override readonly name = 'MissingProgramError';

  /** @param program its name in `PROGRAMS` */
  constructor(program: string, options?: ErrorOptions) {
    super(
      `missing: ${program}. On Debian: apt-get install ${programNamed(program).debian}. All at once, and elsewhere: npm run setup`,
      options,
    );
  }
}
