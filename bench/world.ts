import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../ingest/store/embedded.ts';
import type { Baseline } from './baselineServer.ts';
import type { Flood, FloodResult, LoadResult, Order } from './load/orders.ts';
import { Child } from './middleware/child.ts';
import { type ServiceOptions, type ServiceProcess, startServiceProcess } from './serviceProcess.ts';

/** What cases start things with; whatever they start ends with it. */
export interface World {
  readonly folder: string;
  readonly quick: boolean;
  readonly large: boolean;
  /** How often everything is measured. */
  readonly rounds: number;
  /** Process id of PostgreSQL. */
  readonly postgresPid: number;
  say(step: string): void;
  /** A new database, with a pool of a superuser. */
  database(name: string): Promise<{ url: string; pool: pg.Pool }>;
  service(databaseUrl: string, options?: Partial<ServiceOptions>): Promise<ServiceProcess>;
  baseline(variant: Baseline, databaseUrl?: string): Promise<{ port: number; pid: number }>;
  prepare(posts: number, lines: number): Promise<void>;
  load(order: Omit<Extract<Order, { kind: 'load' }>, 'kind'>): Promise<LoadResult>;
  flood(order: Flood): Promise<FloodResult>;
  /** Ends what this case has started; PostgreSQL stays. */
  endCase(): Promise<void>;
  end(): Promise<void>;
}

export interface WorldOptions {
  readonly quick: boolean;
  readonly large: boolean;
  readonly say: (step: string) => void;
}

export async function startWorld({ quick, large, say }: WorldOptions): Promise<World> {
  const folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-bench-'));
  // For root: PostgreSQL's own user must enter it.
  await chmod(folder, 0o755);
  const postgres = await startEmbedded({ dataDir: path.join(folder, 'postgres') });
  const admin = new pg.Pool({ connectionString: postgres.url, max: 1 });
  const generator = new Child(path.join(import.meta.dirname, 'load/generator.ts'));
  let closers: (() => Promise<unknown>)[] = [];
  let databases = 0;
  const endCase = async (): Promise<void> => {
    const all = closers.reverse();
    closers = [];
    for (const close of all) await close();
  };
  return {
    folder,
    quick,
    large,
    rounds: quick ? 2 : 5,
    postgresPid: postgres.pid,
    say,
    async database(name) {
      const unique = `${name}_${++databases}`;
      await admin.query(`CREATE DATABASE ${unique}`);
      const url = postgres.url.replace(/\/postgres$/, `/${unique}`);
      const pool = new pg.Pool({ connectionString: url, max: 4, options: '-c timezone=UTC' });
      pool.on('error', () => {});
      closers.push(async () => {
        await pool.end();
        await admin.query(`DROP DATABASE ${unique} WITH (FORCE)`);
      });
      return { url, pool };
    },
    async service(databaseUrl, { env = {}, imports = [], nodeOptions = [] } = {}) {
      const dataDir = await mkdtemp(path.join(folder, 'service-'));
      const service = await startServiceProcess({
        env: { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ...env },
        imports,
        nodeOptions,
      });
      closers.push(() => service.stop());
      return service;
    },
    async baseline(variant, databaseUrl = '') {
      const child = new Child(path.join(import.meta.dirname, 'baselineServer.ts'), variant, databaseUrl);
      const { port } = await child.next<{ port: number }>();
      closers.push(() => child.stop());
      return { port, pid: child.pid };
    },
    async prepare(posts, lines) {
      await generator.ask({ kind: 'prepare', posts, lines } satisfies Order);
    },
    load: (order) => generator.ask<LoadResult>({ kind: 'load', ...order } satisfies Order),
    flood: (order) => generator.ask<FloodResult>({ kind: 'flood', ...order } satisfies Order),
    endCase,
    async end() {
      await endCase();
      await generator.stop();
      await admin.end();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
