import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import express, { type Request, type Response } from 'express';
import {
  currentTraceId,
  describe,
  mark,
  type PgQueryable,
  span,
  type TimingHandler,
  timing,
} from '../middleware/node/index.ts';
import { streamCompletion } from './completion.ts';
import { LABELS_OF_PLANS, type RequestPlan } from './plan.ts';
import { planFromHeaders } from './planHeaders.ts';

export interface BackendOptions {
  readonly seed: number;
  readonly ingestUrl: string;
  readonly token: string;
  /** Gets one line of JSON for each answer, with its trace id. */
  readonly log?: (line: string) => void;
  /** Where each request asks, a plan's slow query included, with the comment that names it; without it only the time is spent. */
  readonly database?: PgQueryable;
  /** What a request is to be. Default: what the seed and its headers say. */
  readonly planOf?: (headers: IncomingHttpHeaders) => RequestPlan;
}

export interface Backend {
  readonly app: express.Express;
  /** The middleware of the app: what it has posted, and how to end it. */
  readonly timing: TimingHandler;
}

/**
 * A chat backend that computes nothing: each stage takes the time that was drawn for it, and the answer streams in the form of OpenAI
 * chat completions. It measures itself as a real one would, with the middleware and a `mark` after each stage.
 */
export function createBackend({
  seed,
  ingestUrl,
  token,
  log,
  database,
  planOf = (headers) => planFromHeaders(seed, headers),
}: BackendOptions): Backend {
  const app = express();
  app.disable('x-powered-by');
  const middleware = timing({ ingestUrl, token, tokens: 'openai-chat' });
  app.use(middleware);
  app.use(express.json());
  app.post([...LABELS_OF_PLANS.route], async (request, response) => {
    const left = new AbortController();
    const beganMs = performance.now();
    const traceId = currentTraceId();
    response.once('close', () => {
      left.abort();
      log?.(lineOf(traceId, request.path, response, performance.now() - beganMs));
    });
    try {
      await answer(request, response, planOf(request.headers), seed, left.signal, database);
    } catch (error) {
      // Who leaves early ends the generation; anything else is Express's to answer.
      if (!left.signal.aborted) throw error;
    }
  });
  return { app, timing: middleware };
}

async function answer(
  request: Request,
  response: Response,
  plan: RequestPlan,
  seed: number,
  signal: AbortSignal,
  database: PgQueryable | undefined,
): Promise<void> {
  const promptTokens = Math.ceil(String(request.body?.messages?.[0]?.content ?? '').length / 4);
  describe({
    model: plan.model,
    route: request.path,
    variant: plan.variant,
    tier: plan.tier,
    backend: plan.backend,
    quantization: plan.variant,
    decoding: plan.tokensPerEvent > 1 ? 'speculative' : 'greedy',
    prompt_tokens: promptTokens,
    cached_tokens: Math.floor(promptTokens * plan.cachedShare),
    batch_size: plan.batchSize,
  });
  const spend = (ms: number): Promise<void> => wait(ms, undefined, { signal });

  // A backend asks who it is that asks; here that takes none of the time that was drawn.
  await span('parse', () => Promise.all([spend(plan.parseMs), database?.query('SELECT current_user')]));
  const { dbMs } = plan;
  if (dbMs !== null) {
    await span('db', async () => {
      if (database === undefined) await spend(dbMs);
      else await database.query('SELECT pg_sleep($1)', [dbMs / 1_000]);
    });
  }
  await spend(plan.preprocessMs - plan.parseMs);
  mark('preprocess');

  await spend(plan.kvLoadMs);
  mark('kv_load');

  const queuedAtMs = performance.now();
  if (plan.queueMs > 0) await spend(plan.queueMs);
  describe({ server_timing: `queue;dur=${(performance.now() - queuedAtMs).toFixed(3)}` });
  await spend(plan.firstForwardMs);
  mark('first_token');

  await spend(plan.serializeMs);
  const usage = request.body?.stream_options ?? {};
  await streamCompletion(response, { plan, seed, promptTokens, usage, signal });
}

/** As an application's logger writes it: the trace id stands in every line. */
function lineOf(traceId: string | undefined, path: string, response: Response, tookMs: number): string {
  const line = {
    time: new Date().toISOString(),
    level: response.writableFinished ? 'info' : 'warn',
    service: 'backend',
    message: response.writableFinished ? 'answered' : 'the client left',
    trace_id: traceId,
    route: path,
    status: response.statusCode,
    took_ms: Math.round(tookMs),
  };
  return `${JSON.stringify(line)}\n`;
}
