import type { RequestHandler } from 'express';
import { SECURITY_HEADERS } from '../http/answers.ts';
import type { Metrics } from '../registry.ts';

/** `GET /metrics` on the admin port: OpenMetrics with exemplars for those who ask for it, else the text format. */
export function metricsRoute(metrics: Metrics): RequestHandler {
  return async (request, response) => {
    const format = metrics.formatFor(request.headers.accept);
    const body = await metrics.render(format);
    response.writeHead(200, { ...SECURITY_HEADERS, 'content-type': metrics.contentType(format) });
    response.end(body);
  };
}
