import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Random, randomStream } from '../../demo/random.ts';
import type { Ledger } from './ledger.ts';
import { postOf, type Report } from './posts.ts';
import { HALVES, type HalfName, type Requests } from './requests.ts';

/** Events that one request comes to on average: every half once, the interim beacon of a third, and some told again. */
const EVENTS_PER_REQUEST = 3.4;
const INTERIM_SHARE = 1 / 3;
/** Of acknowledged events, told again later; of posts, told twice at once; of posts, given up by the client itself. */
const REPEAT_SHARE = 0.02;
const TWICE_SHARE = 0.01;
const LEAVE_SHARE = 0.005;
/** How far the halves of one request lie apart. */
const SPREAD_MS = 3_000;
const MAX_PER_POST = 20;
const MAX_IN_FLIGHT = 64;
const TICK_MS = 20;
const RETRY_MS = 250;
/** Longer than the service takes to say that it cannot. */
const PATIENCE_MS = 15_000;

export interface ClientStatistics {
  /** Answers by status; 0 stands for none: the connection broke, or nothing came in time. */
  readonly statuses: ReadonlyMap<string, number>;
  readonly posts: number;
  readonly repeats: number;
  /** From the first byte sent to the acknowledgement, of acknowledged posts, milliseconds. */
  readonly latenciesMs: readonly number[];
}

export interface ClientOptions {
  readonly requests: Requests;
  readonly ledger: Ledger;
  readonly seed: number;
  /** Events a second. */
  readonly rate: number;
  readonly token: string;
  /** Addresses of the replicas. */
  readonly urls: readonly string[];
  /** An answer that neither takes the events nor counts as a lost connection. */
  readonly onRefused: (replica: number, status: number, code: string) => void;
}

/**
 * Posts the halves of made-up requests at a steady rate, in any order, in batches, to any replica; sends again whatever it has no
 * acknowledgement for, and some of what it has; remembers what was acknowledged.
 */
export class Client {
  readonly #options: ClientOptions;
  readonly #random: Random;
  readonly #agents: http.Agent[];
  readonly #statuses = new Map<string, number>();
  readonly #latenciesMs: number[] = [];
  /** Events by the tick in which they are due. */
  readonly #later = new Map<number, Report[]>();
  #ready: Report[] = [];
  #inFlight = 0;
  #open = 0;
  #posts = 0;
  #repeats = 0;
  #tick = 0;
  #owed = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#random = randomStream(options.seed, 'client');
    this.#agents = options.urls.map(() => new http.Agent({ keepAlive: true, maxSockets: MAX_IN_FLIGHT }));
  }

  get statistics(): ClientStatistics {
    return {
      statuses: this.#statuses,
      posts: this.#posts,
      repeats: this.#repeats,
      latenciesMs: this.#latenciesMs,
    };
  }

  /** Events that wait for their acknowledgement, first tries and retries alike. */
  get outstanding(): number {
    return this.#open;
  }

  /** Sends until `until`, then only what is still owed. Resolves when nothing is, or at the latest `graceMs` after that. */
  async run(until: AbortSignal, graceMs: number): Promise<void> {
    const began = performance.now();
    let endedAtMs = Number.POSITIVE_INFINITY;
    while (!until.aborted || this.#open > 0) {
      const elapsedMs = performance.now() - began;
      if (until.aborted && endedAtMs === Number.POSITIVE_INFINITY) endedAtMs = elapsedMs;
      if (elapsedMs - endedAtMs > graceMs) break;
      for (; this.#tick * TICK_MS < elapsedMs; this.#tick += 1) {
        if (!until.aborted) this.#begin((this.#options.rate / EVENTS_PER_REQUEST) * (TICK_MS / 1_000));
        this.#ready.push(...(this.#later.get(this.#tick) ?? []));
        this.#later.delete(this.#tick);
      }
      this.#post();
      await wait(TICK_MS / 2);
    }
    for (const agent of this.#agents) agent.destroy();
  }

  #begin(requests: number): void {
    this.#owed += requests;
    for (; this.#owed >= 1; this.#owed -= 1) {
      const number = this.#options.ledger.begin();
      for (const half of HALVES) {
        if (half === 'interim' && this.#random() > INTERIM_SHARE) continue;
        this.#open += 1;
        this.#schedule({ number, half, repeat: false }, this.#random() * SPREAD_MS);
      }
    }
  }

  #schedule(report: Report, inMs: number): void {
    const tick = this.#tick + 1 + Math.floor(inMs / TICK_MS);
    const due = this.#later.get(tick);
    if (due) due.push(report);
    else this.#later.set(tick, [report]);
  }

  /** Takes what is ready, one address after the other, and sends it in posts of chance length. */
  #post(): void {
    const byHalf = new Map<HalfName, Report[]>();
    for (const report of this.#ready) {
      const half = report.half === 'interim' ? 'final' : report.half;
      byHalf.set(half, [...(byHalf.get(half) ?? []), report]);
    }
    this.#ready = [];
    for (const reports of byHalf.values()) {
      while (reports.length > 0) {
        if (this.#inFlight >= MAX_IN_FLIGHT) {
          this.#ready.push(...reports.splice(0));
          break;
        }
        // What has piled up goes in larger posts.
        const most = reports.length > 500 ? 200 : MAX_PER_POST;
        const batch = reports.splice(0, 1 + Math.floor(this.#random() * most));
        if (this.#random() < TWICE_SHARE) batch.push(batch[0]!);
        void this.#send(batch);
      }
    }
  }

  async #send(batch: readonly Report[]): Promise<void> {
    const { requests, ledger, urls } = this.#options;
    const replica = Math.floor(this.#random() * urls.length);
    const leaves = this.#random() < LEAVE_SHARE;
    for (const { number, half } of batch) ledger.send(number, half);
    this.#inFlight += 1;
    this.#posts += 1;
    const beganMs = performance.now();
    const { status, code } = await this.#exchange(replica, postOf(requests, batch, this.#random()), leaves);
    this.#inFlight -= 1;
    const key = code === '' ? String(status) : `${status} ${code}`;
    this.#statuses.set(key, (this.#statuses.get(key) ?? 0) + 1);
    if (status === 202 || (status === 200 && code === '')) {
      this.#latenciesMs.push(performance.now() - beganMs);
      this.#acknowledge(new Set(batch));
      return;
    }
    if (status !== 0) this.#options.onRefused(replica, status, code);
    for (const report of new Set(batch)) this.#schedule(report, RETRY_MS * (0.5 + 3 * this.#random()));
  }

  #acknowledge(batch: ReadonlySet<Report>): void {
    for (const report of batch) {
      this.#open -= 1;
      this.#options.ledger.acknowledge(report.number, report.half);
      if (report.repeat || this.#random() > REPEAT_SHARE) continue;
      this.#open += 1;
      this.#repeats += 1;
      this.#schedule({ ...report, repeat: true }, this.#random() * 2 * SPREAD_MS);
    }
  }

  /** One post. Status 0: nobody knows what became of it. An acknowledgement that refuses single events comes as its first reason. */
  #exchange(
    replica: number,
    post: { path: string; headers: http.OutgoingHttpHeaders; body: string | Buffer },
    leaves: boolean,
  ): Promise<{ status: number; code: string }> {
    return new Promise((resolve) => {
      const lost = () => resolve({ status: 0, code: '' });
      const request = http.request(
        `${this.#options.urls[replica]}${post.path}`,
        {
          method: 'POST',
          agent: this.#agents[replica]!,
          headers: {
            ...post.headers,
            'content-length': Buffer.byteLength(post.body),
            ...(post.path === '/v1/beacons' ? {} : { authorization: `Bearer ${this.#options.token}` }),
          },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('error', lost);
          response.on('end', () => resolve({ status: response.statusCode!, code: reasonOf(text) }));
        },
      );
      const impatience = setTimeout(() => request.destroy(), PATIENCE_MS);
      request.on('error', lost);
      request.on('close', () => {
        clearTimeout(impatience);
        lost();
      });
      request.end(post.body, () => {
        if (leaves) request.destroy();
      });
    });
  }
}

/** Empty when all of the post was taken. */
function reasonOf(text: string): string {
  try {
    const { error, rejected, partialSuccess } = JSON.parse(text);
    return error?.code ?? rejected?.[0]?.code ?? (partialSuccess ? 'partial' : '');
  } catch {
    return text === '' ? '' : 'unreadable';
  }
}
