import { randomBytes } from 'node:crypto';

const ID_DIGITS = 32;
const IDS = 256;

/** Asking the system for random bytes costs more than 10 µs, for 16 as for 4,096; and so does writing them in hex, in part. */
let digits = '';
let used = 0;

/** 32 random lower-case hex digits. */
export function randomTraceId(): string {
  if (used === digits.length) {
    digits = randomBytes((IDS * ID_DIGITS) / 2).toString('hex');
    used = 0;
  }
  const start = used;
  used += ID_DIGITS;
  return digits.slice(start, used);
}
