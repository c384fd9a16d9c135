import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FrameworkTimingOptions, frameworkTiming } from './frameworkRequest.ts';
import type { TimingHandler } from './timing.ts';

/** What is used of Fastify's request, so that this file needs no Fastify. */
export interface FastifyRequestFacts {
  readonly raw: IncomingMessage;
  // biome-ignore lint/suspicious/noExplicitAny: `body`, `routeOptions` … depend on the app's own types.
  readonly [added: string]: any;
}

export type FastifyTimingOptions = FrameworkTimingOptions<FastifyRequestFacts>;

type OnRequest = (request: FastifyRequestFacts, reply: { readonly raw: ServerResponse }, done: () => void) => void;
type OnClose = (instance: unknown, done: () => void) => void;

interface FastifyHooks {
  addHook(name: 'onRequest', hook: OnRequest): unknown;
  addHook(name: 'onClose', hook: OnClose): unknown;
}

/** A plugin for Fastify 4 and 5. */
export interface FastifyTiming extends Pick<TimingHandler, 'stats' | 'close'> {
  // biome-ignore lint/suspicious/noExplicitAny: Fastify's instance is generic over server, logger and type provider.
  (instance: any, options: object, done: () => void): void;
}

/**
 * `timing` for Fastify: `app.register(fastifyTiming(options))`, before all other plugins but those that compress. It measures all
 * routes of the app, not only those of the scope that it is registered in, and sends the last records when the app closes.
 *
 * @throws TypeError at once, that names a wrong option; never later
 */
export function fastifyTiming(options: FastifyTimingOptions = {}): FastifyTiming {
  const { timed, remember } = frameworkTiming(options);
  const plugin = (instance: FastifyHooks, _options: object, done: () => void): void => {
    instance.addHook('onRequest', (request, reply, next) => {
      remember(request.raw, request);
      timed(request.raw, reply.raw, next);
    });
    instance.addHook('onClose', (_instance, next) => void timed.close().then(next, next));
    done();
  };
  return Object.assign(plugin, {
    stats: timed.stats,
    close: timed.close,
    // What the package fastify-plugin sets: the hooks belong to the registering scope, not to one of our own.
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'firsttoken',
  });
}
