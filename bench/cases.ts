import { batch } from './cases/batch.ts';
import { dashboards } from './cases/dashboards.ts';
import { growth } from './cases/growth.ts';
import { latency } from './cases/latency.ts';
import { metrics } from './cases/metrics.ts';
import { middleware } from './cases/middleware.ts';
import { overload } from './cases/overload.ts';
import { parts } from './cases/parts.ts';
import { reads } from './cases/reads.ts';
import { sdk } from './cases/sdk.ts';
import { single } from './cases/single.ts';
import { spans } from './cases/spans.ts';
import { start } from './cases/start.ts';
import { storage } from './cases/storage.ts';
import { streams } from './cases/streams.ts';
import type { Figure } from './figure.ts';
import type { World } from './world.ts';

/** In the order in which they run. A case starts what it needs through the world, which ends it. */
export const CASES = {
  metrics,
  spans,
  single,
  batch,
  latency,
  overload,
  storage,
  parts,
  start,
  streams,
  middleware,
  sdk,
  dashboards,
  reads,
  growth,
} as const satisfies Record<string, (world: World) => Promise<Figure[]>>;
export type CaseName = keyof typeof CASES;

/** What takes long, or says little, with few rounds and rows: left out of a quick run unless it is named. */
export const SLOW: readonly CaseName[] = ['middleware', 'dashboards', 'reads', 'growth'];
