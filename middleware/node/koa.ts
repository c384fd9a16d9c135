import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FrameworkTimingOptions, frameworkTiming } from './frameworkRequest.ts';
import type { TimingHandler } from './timing.ts';

/** What is used of Koa's context, so that this file needs no Koa. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  // biome-ignore lint/suspicious/noExplicitAny: what Koa's plugins add (`request.body`, `_matchedRoute`) has no type here.
  readonly [added: string]: any;
}

export type KoaTimingOptions = FrameworkTimingOptions<KoaContext>;

/** A middleware for Koa 2 and 3. */
export interface KoaTiming extends Pick<TimingHandler, 'stats' | 'close'> {
  (ctx: KoaContext, next: () => Promise<unknown>): Promise<unknown>;
}

/**
 * `timing` for Koa: use it before all other middleware, but after what compresses.
 *
 * @throws TypeError at once, that names a wrong option; never later
 */
export function koaTiming(options: KoaTimingOptions = {}): KoaTiming {
  const { timed, remember } = frameworkTiming(options);
  return Object.assign(
    (ctx: KoaContext, next: () => Promise<unknown>): Promise<unknown> => {
      remember(ctx.req, ctx);
      return new Promise((resolve) => timed(ctx.req, ctx.res, () => resolve(next())));
    },
    { stats: timed.stats, close: timed.close },
  );
}
