import { statfs } from 'node:fs/promises';
import { type Finding, fault, good, skipped } from '../finding.ts';
import type { Target } from '../target.ts';

const LEAST_BYTES = 1_073_741_824;
const LEAST_SHARE = 0.05;

/** Room where the service keeps its data. */
export async function checkDisk({ dataDir }: Target): Promise<Finding> {
  const found = await statfs(dataDir!).catch(() => undefined);
  if (found === undefined) return skipped(`${dataDir} is not on this machine.`, 'Name the folder: --data-dir');
  return judgeDisk(dataDir!, found.bavail * found.bsize, found.blocks * found.bsize);
}

export function judgeDisk(folder: string, freeBytes: number, allBytes: number): Finding {
  const free = `${(freeBytes / 2 ** 30).toFixed(1)} GiB are free in ${folder}`;
  if (freeBytes >= LEAST_BYTES && freeBytes / allBytes >= LEAST_SHARE) return good(`${free}.`);
  return fault(
    `Only ${free}, ${((100 * freeBytes) / allBytes).toFixed(1)} % of the disk.`,
    'Make room, or keep fewer days: RETENTION_DAYS. A full disk stops PostgreSQL.',
  );
}
