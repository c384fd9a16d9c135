import type { LogLine } from '../postgres/service.ts';
import { send } from '../postgres/serviceHttp.ts';
import { type ServiceProcess, spawnService } from '../postgres/serviceProcess.ts';
import { type DatabaseProxy, openProxy } from '../postgres/serviceProxy.ts';
import { Incarnation } from './incarnation.ts';

const RESTART_DELAY_MS = 300;
const SCRAPE_EVERY_MS = 1_000;
const SCRAPE_PATIENCE_MS = 2_000;
/** The service's own word: a stop is over within ten seconds; and some for a busy machine. */
const STOP_PATIENCE_MS = 15_000;

export interface ReplicaOptions {
  readonly name: string;
  readonly env: NodeJS.ProcessEnv;
  readonly databaseUrl: string;
  readonly port: number;
  readonly adminPort: number;
  /** PostgreSQL can be reached right now: then a start has no reason to fail. */
  readonly databaseIsThere: () => boolean;
  readonly onViolation: (what: string) => void;
}

/**
 * One place for a service process, on one port behind a proxy of its own, with another proxy between it and PostgreSQL. Whoever ends
 * there is started again, as a supervisor would.
 */
export class Replica {
  readonly name: string;
  /** Between clients and the process. */
  readonly front: DatabaseProxy;
  /** Between the process and PostgreSQL. */
  readonly back: DatabaseProxy;
  readonly incarnations: Incarnation[] = [];
  readonly #options: ReplicaOptions;
  #process: ServiceProcess | null = null;
  /** It has said that it is ready: from then on it listens to signals. */
  #isReady = false;
  #wanted = true;
  #expectedEnd = false;
  #running: Promise<void> | null = null;
  #scraping: NodeJS.Timeout | undefined;
  #startsRefused = 0;
  #logErrors = new Map<string, number>();

  private constructor(options: ReplicaOptions, front: DatabaseProxy, back: DatabaseProxy) {
    this.#options = options;
    this.name = options.name;
    this.front = front;
    this.back = back;
  }

  static async open(options: ReplicaOptions): Promise<Replica> {
    const front = await openProxy(`http://127.0.0.1:${options.port}`);
    const back = await openProxy(options.databaseUrl);
    const replica = new Replica(options, front, back);
    replica.#running = replica.#supervise();
    replica.#scraping = setInterval(() => void replica.scrape(), SCRAPE_EVERY_MS);
    return replica;
  }

  get url(): string {
    return new URL(this.front.url).origin;
  }

  get pid(): number | undefined {
    return this.#process?.child.pid;
  }

  /** Starts that failed while PostgreSQL was away, which they may. */
  get startsRefused(): number {
    return this.#startsRefused;
  }

  /** Errors in the log of all incarnations, by message. */
  get logErrors(): ReadonlyMap<string, number> {
    return this.#logErrors;
  }

  get spoolBytes(): number {
    return this.#process === null ? Number.NaN : (this.incarnations.at(-1)?.spoolBytes ?? Number.NaN);
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL') this.#expectedEnd = true;
    this.#process?.child.kill(signal);
  }

  /** Asks the process to stop, and keeps the place empty. */
  async leave(): Promise<void> {
    this.#wanted = false;
    await this.scrape();
    const leaving = this.#process;
    if (leaving === null) return;
    this.#expectedEnd = true;
    const wasReady = this.#isReady;
    leaving.child.kill('SIGTERM');
    const impatience = setTimeout(() => {
      this.#options.onViolation('a stop took longer than 15 s');
      leaving.child.kill('SIGKILL');
    }, STOP_PATIENCE_MS);
    const code = await leaving.exited;
    clearTimeout(impatience);
    if (wasReady && code !== 0)
      this.#options.onViolation(`a stop ended with ${code === null ? 'a signal' : `code ${code}`}`);
  }

  async return(): Promise<void> {
    await this.#running;
    this.#wanted = true;
    this.#running = this.#supervise();
  }

  /** Reads the counters of the present process, if it answers. */
  async scrape(): Promise<void> {
    const incarnation = this.incarnations.at(-1);
    if (incarnation === undefined || this.#process === null) return;
    const asked = send(`http://127.0.0.1:${this.#options.adminPort}/metrics`, { method: 'GET' });
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), SCRAPE_PATIENCE_MS);
    });
    const answer = await Promise.race([asked.catch(() => null), silence]);
    clearTimeout(timer);
    if (answer?.status === 200) incarnation.read(answer.text);
  }

  async close(): Promise<void> {
    clearInterval(this.#scraping);
    this.signal('SIGCONT');
    await this.leave();
    await this.#running;
    await this.front.close();
    await this.back.close();
  }

  async #supervise(): Promise<void> {
    while (this.#wanted) {
      this.#expectedEnd = false;
      const current = spawnService({
        ...this.#options.env,
        DATABASE_URL: this.back.url,
        PORT: String(this.#options.port),
        ADMIN_PORT: String(this.#options.adminPort),
      });
      this.#process = current;
      const ready = await current.ready().then(
        () => true,
        () => false,
      );
      this.#isReady = ready;
      if (ready) this.incarnations.push(new Incarnation(this.name, current.child.pid!));
      const code = await current.exited;
      this.#process = null;
      this.#isReady = false;
      this.#judge(current, ready, code);
      this.#count(current.log);
      if (this.#wanted) await new Promise((resolve) => setTimeout(resolve, RESTART_DELAY_MS));
    }
  }

  #judge(ended: ServiceProcess, ready: boolean, code: number | null): void {
    if (this.#expectedEnd) return;
    const last = JSON.stringify(ended.log.at(-1) ?? ended.stderr().slice(-300));
    if (ready) this.#options.onViolation(`unexpected exit with ${code}: ${last}`);
    else if (this.#options.databaseIsThere()) this.#options.onViolation(`a start failed with ${code}: ${last}`);
    else this.#startsRefused += 1;
  }

  #count(log: readonly LogLine[]): void {
    for (const { level, message } of log)
      if (level === 'error') this.#logErrors.set(message, (this.#logErrors.get(message) ?? 0) + 1);
  }
}
