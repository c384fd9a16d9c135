import { batch } from './cases/batch.ts';
import { single } from './cases/single.ts';
import type { Figure } from './figure.ts';
import type { World } from './world.ts';

/** In the order in which they run. A case starts what it needs through the world, which ends it. */
export const CASES = { single, batch } as const satisfies Record<string, (world: World) => Promise<Figure[]>>;
export type CaseName = keyof typeof CASES;
