import type { RequestHandler } from 'express';
import { sendJson } from '../http/answers.ts';
import type { Store } from '../store/store.ts';

/** `GET /healthz`: the process is alive. */
export const healthRoute: RequestHandler = (_request, response) => sendJson(response, 200, { alive: true });

/** `GET /readyz`: events can be made durable now, in PostgreSQL or, while it is away, in the spool. */
export function readyRoute(store: Store): RequestHandler {
  return async (_request, response) => {
    const readiness = await store.ready();
    sendJson(response, readiness === null ? 503 : 200, {
      ready: readiness !== null,
      spooling: readiness === 'spooling',
    });
  };
}
