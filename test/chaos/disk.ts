import { execFile } from 'node:child_process';
import { appendFile, mkdir, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Far more than half a minute of events, far less than memory would feel. */
const TMPFS_BYTES = 64 * 1_048_576;
/** Where no file system of our own can be made, the spool's own bound stands in for the disk's. */
export const SMALL_SPOOL_BYTES = 262_144;
const CHUNK = Buffer.alloc(1_048_576);

/** The disk that the spools lie on. */
export interface Disk {
  readonly folder: string;
  /** `tmpfs`: it really fills up. `small spool`: SPOOL_MAX_BYTES is so low that an outage fills the spool. */
  readonly kind: 'tmpfs' | 'small spool';
  /** Whether a refusal for want of room is right now. */
  readonly isFull: boolean;
  fill(): Promise<void>;
  /** @param noticedMs how long after that refusals are still right */
  free(noticedMs: number): Promise<void>;
  remove(): Promise<void>;
}

/** @param folder need not exist */
export async function openDisk(folder: string): Promise<Disk> {
  await mkdir(folder, { recursive: true });
  const mounted =
    process.getuid?.() === 0 &&
    (await run('mount', ['-t', 'tmpfs', '-o', `size=${TMPFS_BYTES},mode=0755`, 'tmpfs', folder]).then(
      () => true,
      () => false,
    ));
  if (!mounted)
    return {
      folder,
      kind: 'small spool',
      isFull: false,
      fill: async () => {},
      free: async () => {},
      remove: () => rm(folder, { recursive: true, force: true }),
    };

  const filler = path.join(folder, 'filler');
  let fullUntilMs = 0;
  return {
    folder,
    kind: 'tmpfs',
    get isFull() {
      return performance.now() < fullUntilMs;
    },
    async fill() {
      fullUntilMs = Number.POSITIVE_INFINITY;
      const { bavail, bsize } = await statfs(folder);
      for (let left = bavail * bsize; left > 0; left -= CHUNK.length) {
        const written = await appendFile(filler, CHUNK).then(
          () => true,
          () => false,
        );
        if (!written) return;
      }
    },
    async free(noticedMs) {
      await rm(filler, { force: true });
      fullUntilMs = performance.now() + noticedMs;
    },
    async remove() {
      await run('umount', ['-l', folder]).catch(() => {});
      await rm(folder, { recursive: true, force: true });
    },
  };
}
