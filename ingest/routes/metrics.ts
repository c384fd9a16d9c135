import type { RequestHandler } from 'express';
import type { Metrics } from '../registry.ts';

/** `GET /metrics` on the admin port: OpenMetrics with exemplars for those who ask for it, else the text format. */
export function metricsRoute(metrics: Metrics): RequestHandler {
  return async (request, response) => {
    const format = metrics.formatFor(request.headers.accept);
    const body = await metrics.render(format);
    response.writeHead(200, { 'content-type': metrics.contentType(format), 'cache-control': 'no-store' });
    response.end(body);
  };
}
