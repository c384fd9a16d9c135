import type { RequestHandler } from 'express';
import { flagsOf } from '../../contract/flags.ts';
import { reject } from '../../contract/rejections.ts';
import type { RequestAnswer } from '../../contract/request.ts';
import { SERVER_STAGES } from '../../contract/stages.ts';
import type { Config } from '../config.ts';
import { sendError, sendJson } from '../http/answers.ts';
import { createTokenCheck } from '../http/auth.ts';
import { hasGatewayHalf, isJoined, type RequestRow } from '../pipeline/row.ts';
import { readKey } from '../pipeline/traceKey.ts';
import { type Store, StoreUnavailableError } from '../store/store.ts';
import { UNAUTHORIZED } from './hotRoute.ts';

/** `GET /v1/requests/:trace_id`: one joined row; needs a write token. The id may be spelled in any accepted way. */
export function requestsRoute(config: Config, store: Store): RequestHandler<{ trace_id: string }> {
  const hasToken = createTokenCheck(config.tokens);
  return async (request, response) => {
    if (!hasToken(request)) return sendError(response, UNAUTHORIZED, { 'www-authenticate': 'Bearer' });
    const key = readKey(request.params.trace_id, 'default');
    if (!key.ok) return sendError(response, key.rejection);
    try {
      const row = await store.read(key.value.key);
      if (row === null) return sendError(response, NOT_FOUND);
      sendJson(response, 200, answerOf(row));
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      sendError(response, AWAY, { 'retry-after': '2' });
    }
  };
}

/** The row as it is told to the outside. */
export function answerOf(row: RequestRow): RequestAnswer {
  const stages: Record<string, number | null> = { gateway: row.gateway_ns };
  for (const stage of SERVER_STAGES) stages[stage] = row[`${stage}_ns`];
  stages['network'] = row.network_ns;
  stages['render'] = row.render_ns;
  stages['unattributed'] = row.unattributed_ns;
  return {
    trace_id: row.trace_id,
    trace_ref: row.trace_ref,
    started_at: new Date(row.started_at).toISOString(),
    joined: isJoined(row),
    status: row.status,
    flags: flagsOf(row.flags),
    stages_ns: stages as RequestAnswer['stages_ns'],
    sub_stages_ns: row.sub_stages_ns ?? {},
    server: serverAnswer(row),
    client: clientAnswer(row),
    gateway: hasGatewayHalf(row)
      ? { gateway_ns: row.gateway_ns, request_time_ms: row.gateway_request_ms, status: row.gateway_status }
      : null,
  };
}

function serverAnswer(row: RequestRow): RequestAnswer['server'] {
  if (row.server_source === null) return null;
  return {
    ttft_ns: row.server_ttft_ns,
    ttft_basis: row.ttft_basis,
    source: row.server_source,
    model: row.model,
    route: row.route,
    variant: row.variant,
    tier: row.tier,
    backend: row.backend,
    prompt_tokens: row.prompt_tokens,
    cached_tokens: row.cached_tokens,
    output_tokens: row.server_output_tokens,
    quantization: row.quantization,
    decoding: row.decoding,
    temperature: row.temperature,
    top_k: row.top_k,
    batch_size: row.batch_size,
    status: row.server_status,
  };
}

function clientAnswer(row: RequestRow): RequestAnswer['client'] {
  if (row.seq === null) return null;
  return {
    seq: row.seq,
    ttft_ms: row.ttft_ms,
    ttft_visible_ms: row.ttft_visible_ms,
    end_ms: row.end_ms,
    tpot_ms: row.tpot_ms,
    output_tokens: row.output_tokens,
    output_tokens_source: row.output_tokens_source,
    gap_max_ms: row.gap_max_ms,
    gap_stddev_ms: row.gap_stddev_ms,
    first20_mean_ms: row.first20_mean_ms,
    window10_stddev_max_ms: row.window10_stddev_max_ms,
    first_screen_ms: row.first_screen_ms,
    render_p50_ms: row.render_p50_ms,
    render_max_ms: row.render_max_ms,
    prompt_chars: row.prompt_chars,
    region: row.region,
    carrier: row.carrier,
    device: row.device,
    connection: row.connection,
    connection_ms: connectionAnswer(row),
    call_id: row.call_id,
    arrivals_ms: row.arrivals_ms,
    chunk_tokens: row.chunk_tokens,
  };
}

function connectionAnswer(row: RequestRow): NonNullable<RequestAnswer['client']>['connection_ms'] {
  const split = {
    dns: row.connection_dns_ms,
    tcp: row.connection_tcp_ms,
    tls: row.connection_tls_ms,
    wait: row.connection_wait_ms,
  };
  return Object.values(split).some((ms) => ms !== null) ? split : null;
}

const NOT_FOUND = reject('not_found', 'No half of this request has arrived, or its day has expired.').rejection;
const AWAY = reject(
  'store_unavailable',
  'PostgreSQL is away, so nobody knows whether this request exists; ask again later.',
).rejection;
