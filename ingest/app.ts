import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { reject } from '../contract/rejections.ts';
import type { Config } from './config.ts';
import { INTERNAL_ERROR, SECURITY_HEADERS, sendError } from './http/answers.ts';
import type { Log } from './log.ts';
import type { IngestDeps } from './pipeline/ingest.ts';
import type { Metrics } from './registry.ts';
import { healthRoute, readyRoute } from './routes/health.ts';
import { metricsRoute } from './routes/metrics.ts';
import { requestsRoute } from './routes/requests.ts';

/** The public port's rarer addresses. The two that take events stand in front of it; see server.ts. */
export function createApp(config: Config, deps: IngestDeps, log: Log): Express {
  const app = bareApp();
  app.get('/v1/requests/:trace_id', requestsRoute(config, deps.store));
  app.get('/healthz', healthRoute);
  app.get('/readyz', readyRoute(deps.store));
  app.use(notFound);
  app.use(onError(log));
  return app;
}

/** The admin port: never public. */
export function createAdminApp(metrics: Metrics, deps: IngestDeps, log: Log): Express {
  const app = bareApp();
  app.get('/metrics', metricsRoute(metrics));
  app.get('/healthz', healthRoute);
  app.get('/readyz', readyRoute(deps.store));
  app.use(notFound);
  app.use(onError(log));
  return app;
}

function bareApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(secure);
  return app;
}

/** Also for what Express answers by itself, such as OPTIONS. */
const secure: RequestHandler = (_request, response, next) => {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value as string);
  next();
};

const notFound: RequestHandler = (_request, response) => sendError(response, NOWHERE);

/** Last: what went wrong is logged, and told only in general. */
function onError(log: Log): ErrorRequestHandler {
  return (error, _request, response, _next) => {
    // Express reports a path that cannot be decoded with a status of its own.
    if (error instanceof URIError) return sendError(response, NOWHERE);
    log.error('a request failed', { error });
    if (response.headersSent) response.destroy();
    else sendError(response, INTERNAL_ERROR);
  };
}

const NOWHERE = reject('not_found', 'There is nothing at this address.').rejection;
