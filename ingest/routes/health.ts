import type { RequestHandler } from 'express';
import { sendJson } from '../http/answers.ts';
import type { Store } from '../store/store.ts';

/** `GET /healthz`: the process is alive. */
export const healthRoute: RequestHandler = (_request, response) => sendJson(response, 200, { alive: true });

/** `GET /readyz`: events can be made durable now. */
export function readyRoute(store: Store): RequestHandler {
  return async (_request, response) => {
    const ready = await store.ready();
    sendJson(response, ready ? 200 : 503, { ready });
  };
}
