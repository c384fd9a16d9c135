import { type FileHandle, open, unlink } from 'node:fs/promises';

/** One file of the spool: written by appending, then read as a whole, then removed. */
export class Segment {
  readonly path: string;
  /** When its first record was written, epoch milliseconds. */
  readonly beganAtMs: number;
  #file: FileHandle | null;
  #bytes: number;

  private constructor(path: string, file: FileHandle | null, bytes: number, beganAtMs: number) {
    this.path = path;
    this.#file = file;
    this.#bytes = bytes;
    this.beganAtMs = beganAtMs;
  }

  /** Begins a new file and makes its name durable. */
  static async create(path: string): Promise<Segment> {
    const file = await open(path, 'wx', 0o600);
    return new Segment(path, file, 0, Date.now());
  }

  /** A file that an earlier process left. */
  static found(path: string, bytes: number, beganAtMs: number): Segment {
    return new Segment(path, null, bytes, beganAtMs);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Appends and waits until the disk has it. After a failure the file is cut back to what was there before: it never holds half a record.
   *
   * @throws the error of the disk; after {@link BrokenSegmentError} nothing more may be appended
   */
  async append(records: readonly Buffer[]): Promise<void> {
    const file = this.#file!;
    const length = records.reduce((sum, record) => sum + record.length, 0);
    try {
      // writev may write less than it was given, as on a full disk.
      const { bytesWritten } = await file.writev(records as Buffer[], this.#bytes);
      if (bytesWritten < length)
        await writeRest(file, Buffer.concat(records).subarray(bytesWritten), this.#bytes + bytesWritten);
      await file.datasync();
    } catch (error) {
      await file.truncate(this.#bytes).catch(() => {
        throw new BrokenSegmentError(error);
      });
      // A failed fsync leaves in doubt what is on disk (https://wiki.postgresql.org/wiki/Fsync_Errors): the file is done with.
      if ((error as NodeJS.ErrnoException).syscall === 'fdatasync') throw new BrokenSegmentError(error);
      throw error;
    }
    this.#bytes += length;
  }

  /** No more will be appended. */
  async seal(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close().catch(() => {});
  }

  async remove(): Promise<void> {
    await this.seal();
    await unlink(this.path);
  }
}

/** The file can no longer be trusted with new records; what it holds up to its length stays good. */
export class BrokenSegmentError extends Error {
  override readonly name = 'BrokenSegmentError';

  constructor(cause: unknown) {
    super('a spool file cannot be written any more', { cause });
  }
}

async function writeRest(file: FileHandle, rest: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < rest.length) {
    const { bytesWritten } = await file.write(rest, written, rest.length - written, position + written);
    // Zero bytes without an error would be tried for ever.
    if (bytesWritten === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    written += bytesWritten;
  }
}
