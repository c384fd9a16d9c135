/** One baseline in a process of its own: `baselineServer.ts <variant> [databaseUrl]`. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';
import { Histogram, Registry } from 'prom-client';
import { z } from 'zod';
import { METRICS } from '../contract/metrics.ts';
import { readBody } from '../ingest/http/readBody.ts';
import { parseBody } from '../ingest/pipeline/body.ts';
import { NO_SOURCES } from '../ingest/pipeline/traceKey.ts';
import { validateBeacon, validateServerRecord } from '../ingest/pipeline/validate.ts';

export type Baseline = 'express' | 'drain' | 'naive' | 'parse';

const [variant, databaseUrl] = process.argv.slice(2) as [Baseline, string | undefined];

/** What a first draft of such a service looks like. */
function naive(connectionString: string | undefined): http.RequestListener {
  const pool = new pg.Pool({ ...(connectionString !== undefined && { connectionString }), max: 10 });
  const text = z.string().max(128).nullish();
  const event = z.object({
    trace_id: z.string().regex(/^[0-9a-f]{32}$/),
    timing_trace: text,
    status: z.union([z.string(), z.number()]).nullish(),
    ttft_ms: z.number().min(0).nullish(),
    end_ms: z.number().min(0).nullish(),
    arrivals_ms: z.array(z.number().min(0)).max(4_096).nullish(),
    output_tokens: z.number().int().min(0).nullish(),
    prompt_tokens: z.number().int().min(0).nullish(),
    model: text,
    route: text,
    variant: text,
    tier: text,
    region: text,
    device: text,
  });
  const ttft = new Histogram({
    name: 'naive_ttft_seconds',
    help: 'Time to the first token.',
    labelNames: ['model', 'variant', 'tier'],
    buckets: [...METRICS.ttft.buckets],
    registers: [new Registry()],
  });
  const app = express();
  app.use(express.json({ limit: '1mb' }));
  app.use(async (request, response) => {
    const { data } = event.safeParse(request.body);
    if (data === undefined) return void response.status(400).json({ error: 'invalid' });
    if (data.ttft_ms != null) {
      ttft.observe({ model: data.model ?? '', variant: data.variant ?? '', tier: data.tier ?? '' }, data.ttft_ms / 1e3);
    }
    await pool.query(
      `INSERT INTO naive_events (trace_id, kind, ttft_ms, end_ms, output_tokens, model, route, region, device, arrivals_ms)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
      [
        data.trace_id,
        request.path,
        data.ttft_ms,
        data.end_ms,
        data.output_tokens,
        data.model,
        data.route,
        data.region,
        data.device,
        data.arrivals_ms,
      ],
    );
    response.status(202).json({ accepted: 1 });
  });
  return app;
}

/** Reads and checks as the service does, and keeps nothing. */
const parse: http.RequestListener = async (request, response) => {
  const body = await readBody(request);
  const events = body.ok ? parseBody(body.value) : body;
  const validate = request.url === '/v1/beacons' ? validateBeacon : validateServerRecord;
  const surroundings = { receivedAtMs: Date.now(), traceIds: NO_SOURCES, region: null, carrier: null };
  let accepted = 0;
  if (events.ok)
    for (const event of events.value) if ('value' in event && validate(event.value, surroundings).ok) accepted++;
  response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify({ accepted }));
};

const LISTENERS: Record<Baseline, () => http.RequestListener> = {
  express: () => express().post('/*path', (_request, response) => void response.status(202).end()),
  drain: () => (request, response) =>
    void request.resume().on('end', () => response.writeHead(request.url === '/v1/traces' ? 200 : 202).end()),
  naive: () => naive(databaseUrl),
  parse: () => parse,
};

const server = http.createServer(LISTENERS[variant]());
// The generator's connections wait while the others have their turns.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('message', () => process.send!({}));
process.on('disconnect', () => process.exit());
