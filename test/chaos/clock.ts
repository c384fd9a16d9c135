import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { findProgram } from '../../setup/findProgram.ts';
import { MissingProgramError } from '../../setup/missingProgramError.ts';
import { programNamed } from '../../setup/programs.ts';

/**
 * The environment in which a process sees the wall clock moved by what stands in `file` (`+5h`, `-90s`), now and whenever that changes.
 * Its monotonic clock, by which durations are measured, is left alone, as a machine's is when its time is set.
 *
 * @throws MissingProgramError where libfaketime is not installed
 * @see https://github.com/wolfcw/libfaketime
 */
export async function movableClock(file: string): Promise<NodeJS.ProcessEnv> {
  const faketime = findProgram(programNamed('faketime'));
  if (faketime === undefined) throw new MissingProgramError('faketime');
  // The program itself does nothing but set the variable by which its library is loaded.
  const { stdout } = await promisify(execFile)(faketime, ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD']);
  await moveClock(file, '+0');
  return {
    LD_PRELOAD: stdout.trim(),
    FAKETIME_TIMESTAMP_FILE: file,
    // Looked at once a second: reading it for each question after the time costs more than the work.
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
}

/** @param by as libfaketime reads it: `+0`, `+90s`, `-5h` */
export async function moveClock(file: string, by: string): Promise<void> {
  await writeFile(file, `${by}\n`);
}
