import type { Log } from '../log.ts';
import type { Half } from '../pipeline/half.ts';
import type { RequestRow } from '../pipeline/row.ts';
import type { Metrics } from '../registry.ts';
import type { Segment } from '../spool/segment.ts';
import { type Spool, SpoolUnavailableError } from '../spool/spool.ts';
import type { PostgresStore } from './postgres.ts';
import { type Readiness, type Store, StoreUnavailableError, type WriteResult } from './store.ts';

/** How soon draining begins after PostgreSQL is back, and is tried again after it failed. */
const LOOK_EVERY_MS = 250;
/** Halves that are drained in one write: as many as one flush takes. */
const DRAIN_HALVES = 1_000;
/** Of records, the spelling of the halves inside. A later version must go on reading it. */
const VERSION = 1;

export interface SpoolingStoreOptions {
  readonly store: PostgresStore;
  readonly spool: Spool;
  /** Decides which words of halves may become label values; the database must be there for new ones. */
  readonly screen: (halves: readonly Half[]) => Promise<Half[]>;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * PostgreSQL, and a spool on disk for as long as it is away or stands still. Halves are acknowledged when either has them for certain. What
 * is spooled is written to PostgreSQL in its order once it answers again, beside the new events; a crash in between only means that some
 * are written once more, which changes and counts nothing.
 */
export class SpoolingStore implements Store {
  readonly #options: SpoolingStoreOptions;
  readonly #looking: NodeJS.Timeout;
  #draining: Promise<void> | null = null;
  /** Records of the oldest file that are committed already. */
  #done = { segment: null as Segment | null, records: 0 };
  #spooling = false;
  #closed = false;

  constructor(options: SpoolingStoreOptions) {
    this.#options = options;
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#looking.unref();
    this.#look();
  }

  async ready(): Promise<Readiness> {
    const { store, spool } = this.#options;
    const readiness = await store.ready();
    return readiness === null && !this.#closed && spool.hasRoomFor(0) ? 'spooling' : readiness;
  }

  async write(halves: readonly Half[]): Promise<WriteResult[]> {
    const { store } = this.#options;
    if (!store.isAway) {
      try {
        return await store.write(halves);
      } catch (error) {
        // Too many at once is no reason to fill the disk: whoever is refused now comes again.
        if (!(error instanceof StoreUnavailableError) || error.overloaded) throw error;
      }
    }
    return this.keep(halves);
  }

  async keep(halves: readonly Half[]): Promise<WriteResult[]> {
    const { spool, log, metrics } = this.#options;
    try {
      await spool.append(Buffer.from(JSON.stringify({ v: VERSION, halves })));
    } catch (error) {
      if (!(error instanceof SpoolUnavailableError)) throw error;
      throw new StoreUnavailableError(error.message, { cause: error });
    }
    if (!this.#spooling) {
      this.#spooling = true;
      log.warn('events go to the spool until PostgreSQL takes them');
    }
    metrics.spooled.inc([], halves.length);
    metrics.spoolBytes.set([], spool.bytes);
    return halves.map(() => ({ durable: true }));
  }

  async read(traceId: string): Promise<RequestRow | null> {
    const { store, spool } = this.#options;
    const row = await store.read(traceId);
    // It may be among those that wait.
    if (row === null && !spool.isEmpty) throw new StoreUnavailableError('events wait to be stored');
    return row;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#looking);
    // Fails what is under way, which then goes to the spool.
    await this.#options.store.close();
    await this.#draining;
    await this.#options.spool.close();
  }

  #look(): void {
    const { store, spool, metrics } = this.#options;
    metrics.spoolBytes.set([], spool.bytes);
    const oldestAtMs = spool.oldestAtMs;
    metrics.spoolAge.set([], oldestAtMs === null ? 0 : Math.max(0, Date.now() - oldestAtMs) / 1e3);
    if (this.#closed || spool.isEmpty || store.isAway || this.#draining !== null) return;
    this.#draining = this.#drain()
      .catch((error: unknown) => {
        if (!(error instanceof StoreUnavailableError))
          this.#options.log.error('draining the spool failed and is tried again', { error });
      })
      .finally(() => {
        this.#draining = null;
      });
  }

  async #drain(): Promise<void> {
    const { spool, log, metrics } = this.#options;
    let drained = 0;
    for (let segment = await spool.oldest(); segment !== null && !this.#closed; segment = await spool.oldest()) {
      drained += await this.#drainFile(segment);
      if (this.#closed) return;
      await spool.remove(segment);
      metrics.spoolBytes.set([], spool.bytes);
    }
    if (this.#closed) return;
    this.#spooling = false;
    log.info('the spool is empty again', { events: drained });
  }

  /** @returns the number of halves that it wrote */
  async #drainFile(segment: Segment): Promise<number> {
    const { spool, metrics } = this.#options;
    const { payloads, damaged } = await spool.read(segment);
    if (this.#done.segment !== segment) {
      this.#done = { segment, records: 0 };
      if (damaged > 0) metrics.spoolDamaged.inc([], damaged);
    }
    let drained = 0;
    let batch: Half[] = [];
    for (let at = this.#done.records; at < payloads.length; at += 1) {
      if (this.#closed) return drained;
      batch.push(...this.#decode(payloads[at]!));
      if (batch.length < DRAIN_HALVES && at < payloads.length - 1) continue;
      await this.#writeBatch(batch);
      this.#done.records = at + 1;
      drained += batch.length;
      batch = [];
    }
    return drained;
  }

  async #writeBatch(batch: readonly Half[]): Promise<void> {
    const { store, screen, metrics, log } = this.#options;
    if (batch.length === 0) return;
    const results = await store.write(await screen(batch));
    const refused = results.filter((result) => !result.durable).length;
    if (refused > 0) log.error('PostgreSQL refused events of the spool for good', { events: refused });
    metrics.spoolDrained.inc([], batch.length);
  }

  #decode(payload: Buffer): Half[] {
    try {
      const record = JSON.parse(payload.toString()) as { v: number; halves: Half[] };
      if (record.v === VERSION && Array.isArray(record.halves)) return record.halves;
    } catch {
      // Told below.
    }
    this.#options.metrics.spoolDamaged.inc([]);
    this.#options.log.error('a record of the spool is of an unknown kind and is passed over');
    return [];
  }
}
