import { crc32 } from 'node:zlib';

/**
 * One record of a spool file: 4 bytes mark, 4 bytes length of the payload, 4 bytes CRC-32 of length and payload (all big-endian), payload.
 * The mark lets a reader find the next record behind a damaged one, whose own length cannot be trusted.
 */
const MARK = Buffer.from([0xf7, 0x1e, 0x5f, 0x01]);
export const RECORD_HEADER_BYTES = 12;

/** What a spool file holds, as far as it can be read. */
export interface SpoolReading {
  readonly payloads: readonly Buffer[];
  /** Stretches that are no records. What a crash cut off at the end counts as {@link tornBytes} instead. */
  readonly damaged: number;
  /** Bytes at the end that are the beginning of a record: written, never acknowledged. */
  readonly tornBytes: number;
}

export function encodeRecord(payload: Buffer): Buffer {
  const record = Buffer.allocUnsafe(RECORD_HEADER_BYTES + payload.length);
  MARK.copy(record, 0);
  record.writeUInt32BE(payload.length, 4);
  payload.copy(record, RECORD_HEADER_BYTES);
  record.writeUInt32BE(checksum(record, 0, payload.length), 8);
  return record;
}

/** Reads every whole record, also behind damaged ones. The payloads are views of `file`. */
export function decodeRecords(file: Buffer): SpoolReading {
  const payloads: Buffer[] = [];
  let damaged = 0;
  let at = 0;
  while (at < file.length) {
    const length = lengthOfRecord(file, at);
    if (length !== null) {
      payloads.push(file.subarray(at + RECORD_HEADER_BYTES, at + RECORD_HEADER_BYTES + length));
      at += RECORD_HEADER_BYTES + length;
      continue;
    }
    const next = nextRecord(file, at + 1);
    if (next === null)
      return mayBeTorn(file, at)
        ? { payloads, damaged, tornBytes: file.length - at }
        : { payloads, damaged: damaged + 1, tornBytes: 0 };
    damaged += 1;
    at = next;
  }
  return { payloads, damaged, tornBytes: 0 };
}

/** Length of the payload of the whole and undamaged record at `at`, or null. */
function lengthOfRecord(file: Buffer, at: number): number | null {
  if (at + RECORD_HEADER_BYTES > file.length || MARK.compare(file, at, at + 4) !== 0) return null;
  const length = file.readUInt32BE(at + 4);
  if (at + RECORD_HEADER_BYTES + length > file.length) return null;
  return file.readUInt32BE(at + 8) === checksum(file, at, length) ? length : null;
}

function nextRecord(file: Buffer, from: number): number | null {
  for (let at = file.indexOf(MARK, from); at >= 0; at = file.indexOf(MARK, at + 1)) {
    if (lengthOfRecord(file, at) !== null) return at;
  }
  return null;
}

/** Whether the file's end looks like a record whose rest was never written. */
function mayBeTorn(file: Buffer, at: number): boolean {
  const header = file.subarray(at, at + RECORD_HEADER_BYTES);
  if (MARK.compare(header, 0, Math.min(4, header.length), 0, Math.min(4, header.length)) !== 0) return false;
  return header.length < RECORD_HEADER_BYTES || at + RECORD_HEADER_BYTES + header.readUInt32BE(4) > file.length;
}

function checksum(file: Buffer, at: number, length: number): number {
  const begin = at + RECORD_HEADER_BYTES;
  return crc32(file.subarray(begin, begin + length), crc32(file.subarray(at + 4, at + 8)));
}
