import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const FOLDER = 'faketime';
const LIBRARY = 'libfaketimeMT.so.1';

/**
 * The environment in which a process sees the wall clock moved by what stands in `file` (`+5h`, `-90s`), now and whenever that changes.
 * Its monotonic clock, by which durations are measured, is left alone, as a machine's is when its time is set.
 *
 * @throws where libfaketime is not installed
 * @see https://github.com/wolfcw/libfaketime
 */
export async function movableClock(file: string): Promise<NodeJS.ProcessEnv> {
  const folders = ['/usr/lib', ...(await readdir('/usr/lib')).map((name) => path.join('/usr/lib', name))];
  for (const folder of folders) {
    const names: string[] = await readdir(path.join(folder, FOLDER)).catch(() => []);
    if (!names.includes(LIBRARY)) continue;
    await moveClock(file, '+0');
    return {
      LD_PRELOAD: path.join(folder, FOLDER, LIBRARY),
      FAKETIME_TIMESTAMP_FILE: file,
      // Looked at once a second: reading it for each question after the time costs more than the work.
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    };
  }
  throw new Error(
    'libfaketime moves the clock and is not installed: apt-get install faketime (or --without clock-jump)',
  );
}

/** @param by as `date` of libfaketime reads it: `+0`, `+90s`, `-5h` */
export async function moveClock(file: string, by: string): Promise<void> {
  await writeFile(file, `${by}\n`);
}
