import { mkdir, open, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '../log.ts';
import {
  adoptFolders,
  claimFolder,
  LEASE_MS,
  leaveFolder,
  RENEW_EVERY_MS,
  releaseFolder,
  renewFolder,
} from './ownership.ts';
import { decodeRecords, encodeRecord, RECORD_HEADER_BYTES, type SpoolReading } from './record.ts';
import { BrokenSegmentError, Segment } from './segment.ts';

/** A file this long is closed and read as a whole: small enough for memory, large enough to make few of them. */
const SEGMENT_BYTES = 8 * 1_048_576;
const SEGMENT_SUFFIX = '.spool';

/** Nothing more can be taken now: the bound or the disk is reached, or the disk fails. */
export class SpoolUnavailableError extends Error {
  override readonly name = 'SpoolUnavailableError';
}

interface Waiting {
  readonly record: Buffer;
  readonly settle: () => void;
  readonly fail: (error: Error) => void;
}

export interface SpoolOptions {
  /** Folder of all processes' spools. */
  readonly root: string;
  /** Most bytes of records, those of adopted folders included. */
  readonly maxBytes: number;
  readonly log: Log;
}

/**
 * Acknowledged events on disk, for as long as PostgreSQL is away: appended, checksummed, fsynced together when several wait, read in the
 * order in which they came, and removed file by file once committed. What an ended process left is taken over at the next start.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #ended: Segment[];
  readonly #adopted: string[];
  #folder: string;
  #active: Segment | null = null;
  #serial = 0;
  #bytes = 0;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | null = null;
  /** What could not be written was told in the log, and nothing has been written since. */
  #failing = false;
  #renewedAtMs = Date.now();
  #renewing: NodeJS.Timeout;

  private constructor(options: SpoolOptions, folder: string, ended: Segment[], adopted: string[]) {
    this.#options = options;
    this.#folder = folder;
    this.#ended = ended;
    this.#adopted = adopted;
    this.#bytes = ended.reduce((sum, segment) => sum + segment.bytes, 0);
    this.#renewing = setInterval(() => void this.#renew(), RENEW_EVERY_MS);
    this.#renewing.unref();
  }

  /** @throws when the folder cannot be written */
  static async open(options: SpoolOptions): Promise<Spool> {
    await mkdir(options.root, { recursive: true, mode: 0o700 });
    const folder = await claimFolder(options.root, newFolderName());
    await syncFolder(options.root);
    const adopted = await adoptFolders(options.root, (index) => newFolderName(`-adopted-${index}`));
    const ended: Segment[] = [];
    for (const each of adopted) ended.push(...(await findSegments(each)));
    if (ended.length > 0) {
      const bytes = ended.reduce((sum, segment) => sum + segment.bytes, 0);
      options.log.info('events of an earlier process wait in the spool', { bytes, files: ended.length });
    }
    return new Spool(options, folder, ended, adopted);
  }

  /** Bytes of records that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#ended.length === 0 && this.#active === null && this.#waiting.length === 0;
  }

  /** Epoch milliseconds of the oldest file; null when there is none. */
  get oldestAtMs(): number | null {
    return this.#ended[0]?.beganAtMs ?? this.#active?.beganAtMs ?? null;
  }

  hasRoomFor(bytes: number): boolean {
    return this.#bytes + this.#waitingBytes + bytes + RECORD_HEADER_BYTES <= this.#options.maxBytes;
  }

  /**
   * Resolves when the disk has it.
   *
   * @throws SpoolUnavailableError when that is not certain; appending it again is always safe
   */
  append(payload: Buffer): Promise<void> {
    if (!this.hasRoomFor(payload.length)) {
      return Promise.reject(
        new SpoolUnavailableError(`the spool holds its ${this.#options.maxBytes} bytes (SPOOL_MAX_BYTES)`),
      );
    }
    const record = encodeRecord(payload);
    this.#waitingBytes += record.length;
    const appended = new Promise<void>((settle, fail) => this.#waiting.push({ record, settle, fail }));
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    return appended;
  }

  /** The oldest file, sealed; null when nothing waits. It stays until {@link remove}. */
  async oldest(): Promise<Segment | null> {
    if (this.#ended.length === 0 && this.#active !== null) {
      await this.#writing;
      await this.#sealActive();
    }
    return this.#ended[0] ?? null;
  }

  /** The whole records of a sealed file; says so in the log where there are damaged ones. */
  async read(segment: Segment): Promise<SpoolReading> {
    const reading = decodeRecords(await readFile(segment.path));
    const facts = { file: segment.path, damaged: reading.damaged, torn_bytes: reading.tornBytes };
    if (reading.damaged > 0) this.#options.log.error('the spool holds damaged records, which are passed over', facts);
    else if (reading.tornBytes > 0) this.#options.log.info('a spool file ends in the middle of a record', facts);
    return reading;
  }

  /** Its events are committed. */
  async remove(segment: Segment): Promise<void> {
    await segment.remove();
    this.#ended.splice(this.#ended.indexOf(segment), 1);
    this.#bytes -= segment.bytes;
    await syncFolder(path.dirname(segment.path));
    for (const folder of this.#adopted.filter(
      (each) => !this.#ended.some((left) => path.dirname(left.path) === each),
    )) {
      this.#adopted.splice(this.#adopted.indexOf(folder), 1);
      await leaveFolder(folder);
    }
  }

  /** Waits for what was handed over. What has not been drained stays for the next start. */
  async close(): Promise<void> {
    clearInterval(this.#renewing);
    while (this.#writing !== null) await this.#writing;
    await this.#sealActive();
    const left = new Set(this.#ended.map((segment) => path.dirname(segment.path)));
    for (const folder of [this.#folder, ...this.#adopted])
      await (left.has(folder) ? releaseFolder(folder) : leaveFolder(folder));
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      const bytes = this.#waitingBytes;
      this.#waiting = [];
      this.#waitingBytes = 0;
      try {
        await this.#checkLease();
        const segment = await this.#segmentFor(bytes);
        this.#bytes += bytes;
        try {
          await segment.append(batch.map(({ record }) => record));
        } catch (error) {
          this.#bytes -= bytes;
          if (error instanceof BrokenSegmentError) await this.#sealActive();
          throw error;
        }
        if (Date.now() - this.#renewedAtMs > LEASE_MS) throw new Error('this process stood still for too long');
        for (const { settle } of batch) settle();
        if (this.#failing) this.#options.log.info('the spool can be written again');
        this.#failing = false;
      } catch (error) {
        if (!this.#failing)
          this.#options.log.error('the spool cannot be written: events are refused with 503', { error });
        this.#failing = true;
        const unavailable = new SpoolUnavailableError('the spool cannot be written', { cause: error });
        for (const { fail } of batch) fail(unavailable);
      }
    }
  }

  async #segmentFor(bytes: number): Promise<Segment> {
    if (this.#active !== null && this.#active.bytes > 0 && this.#active.bytes + bytes > SEGMENT_BYTES)
      await this.#sealActive();
    if (this.#active === null) {
      this.#serial += 1;
      const name = `${String(this.#serial).padStart(8, '0')}${SEGMENT_SUFFIX}`;
      this.#active = await Segment.create(path.join(this.#folder, name));
      await syncFolder(this.#folder);
    }
    return this.#active;
  }

  async #sealActive(): Promise<void> {
    const segment = this.#active;
    if (segment === null) return;
    this.#active = null;
    await segment.seal();
    if (segment.bytes > 0) this.#ended.push(segment);
    else await segment.remove().catch(() => {});
  }

  async #renew(): Promise<void> {
    const folders = [this.#folder, ...this.#adopted];
    const renewed = await Promise.all(folders.map(renewFolder));
    if (renewed.every(Boolean)) this.#renewedAtMs = Date.now();
  }

  /** After standing still (a suspended machine) somebody else may own the files: then a new folder is begun. */
  async #checkLease(): Promise<void> {
    if (Date.now() - this.#renewedAtMs <= LEASE_MS) return;
    await this.#renew();
    if (Date.now() - this.#renewedAtMs <= LEASE_MS) return;
    await this.#active?.seal();
    this.#active = null;
    this.#folder = await claimFolder(this.#options.root, newFolderName());
    await syncFolder(this.#options.root);
    this.#renewedAtMs = Date.now();
  }
}

let folderSerial = 0;
/** Sorts by time, so that adopted folders are drained in the order in which they were begun. */
function newFolderName(suffix = ''): string {
  folderSerial += 1;
  return `${String(Date.now()).padStart(15, '0')}-${process.pid}-${folderSerial}${suffix}`;
}

async function findSegments(folder: string): Promise<Segment[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(SEGMENT_SUFFIX)).sort();
  const segments: Segment[] = [];
  for (const name of names) {
    const file = path.join(folder, name);
    const { size, birthtimeMs } = await stat(file);
    segments.push(Segment.found(file, size, birthtimeMs));
  }
  return segments;
}

/** Makes new and removed names in a folder durable. Windows cannot open folders, and needs none of this. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
