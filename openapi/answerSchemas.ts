import { CONNECTIONS, DEVICES, STREAM_STATUSES, TOKEN_SOURCES } from '../contract/beacon.ts';
import { FLAGS } from '../contract/flags.ts';
import { MAX_ARRIVALS } from '../contract/limits.ts';
import { REJECTION_CODES, type Rejection } from '../contract/rejections.ts';
import type { AcceptedAnswer, ErrorAnswer, RejectedEvent, RequestAnswer } from '../contract/request.ts';
import { STAGES } from '../contract/stages.ts';
import { exactObject, type FieldSchemas, orNull, reference, type Schema } from './schema.ts';

type Server = NonNullable<RequestAnswer['server']>;
type Client = NonNullable<RequestAnswer['client']>;
type Gateway = NonNullable<RequestAnswer['gateway']>;

const text = { type: ['string', 'null'] };
const integer = { type: ['integer', 'null'] };
const ms = { type: ['number', 'null'], minimum: 0, description: 'milliseconds' };
const ns = { type: ['integer', 'null'], minimum: 0, description: 'nanoseconds' };
const oneOf = (words: readonly string[]) => ({ enum: [...words, null] });

const code = { enum: REJECTION_CODES, description: 'A closed list; docs/http-api.md says what to do about each.' };
const message = { type: 'string', description: 'What is wrong and what to do. Never repeats what was sent.' };
const rejected = { type: 'array', items: reference('RejectedEvent') };

const STAGE_FIELDS = Object.fromEntries(
  [...STAGES, 'unattributed'].map((stage) => [stage, ns]),
) as unknown as FieldSchemas<RequestAnswer['stages_ns']>;

export const ANSWER_SCHEMAS: Readonly<Record<string, Schema>> = {
  AcceptedAnswer: exactObject<AcceptedAnswer>('At least one event was taken, and what was taken is durable.', {
    accepted: { type: 'integer', minimum: 0 },
    rejected,
  }),
  ErrorAnswer: {
    ...exactObject<ErrorAnswer>('Nothing was taken.', {
      error: exactObject<Rejection>('Why: the first reason, where there are several.', { code, message }),
      rejected,
    }),
    required: ['error'],
  },
  RejectedEvent: exactObject<RejectedEvent>('One event of a post that was refused.', {
    index: { type: 'integer', minimum: 0, description: 'its position in the body, from 0' },
    code,
    message,
  }),
  RequestAnswer: exactObject<RequestAnswer>('One request as it stands now. What nobody reported is null.', {
    trace_id: { type: 'string', pattern: '^[0-9a-f]{32}$' },
    trace_ref: { ...text, description: 'the id as it was spelled, where that differs' },
    started_at: { type: 'string', format: 'date-time' },
    joined: { type: 'boolean', description: 'a client half and a server half of either source are there' },
    status: oneOf(STREAM_STATUSES),
    flags: { type: 'array', items: { enum: FLAGS }, uniqueItems: true },
    stages_ns: exactObject<RequestAnswer['stages_ns']>('Durations of the stages.', STAGE_FIELDS),
    sub_stages_ns: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
    server: orNull(
      exactObject<Server>('The server half.', {
        ttft_ns: ns,
        ttft_basis: { ...text, description: 'the two stamps that it lies between' },
        source: { enum: ['direct', 'echo'] },
        model: text,
        route: text,
        variant: text,
        tier: text,
        backend: text,
        prompt_tokens: integer,
        cached_tokens: integer,
        output_tokens: integer,
        quantization: text,
        decoding: text,
        temperature: { type: ['number', 'null'] },
        top_k: integer,
        batch_size: integer,
        status: { ...integer, description: 'HTTP status of the response' },
      }),
    ),
    client: orNull(
      exactObject<Client>('The client half.', {
        seq: { type: 'integer', minimum: 0 },
        ttft_ms: ms,
        ttft_visible_ms: ms,
        end_ms: ms,
        tpot_ms: ms,
        output_tokens: integer,
        output_tokens_source: oneOf(TOKEN_SOURCES),
        gap_max_ms: ms,
        gap_stddev_ms: ms,
        first20_mean_ms: ms,
        window10_stddev_max_ms: ms,
        first_screen_ms: ms,
        render_p50_ms: ms,
        render_max_ms: ms,
        prompt_chars: integer,
        region: text,
        carrier: text,
        device: oneOf(DEVICES),
        connection: oneOf(CONNECTIONS),
        connection_ms: orNull(
          exactObject<NonNullable<Client['connection_ms']>>(
            'How the connection was made; 0 where one was there already.',
            {
              dns: ms,
              tcp: ms,
              tls: ms,
              wait: ms,
            },
          ),
        ),
        call_id: text,
        arrivals_ms: { type: ['array', 'null'], maxItems: MAX_ARRIVALS, items: { type: 'number', minimum: 0 } },
        chunk_tokens: { type: ['array', 'null'], maxItems: MAX_ARRIVALS, items: { type: 'integer', minimum: 0 } },
      }),
    ),
    gateway: orNull(
      exactObject<Gateway>('The gateway half.', {
        gateway_ns: ns,
        request_time_ms: ms,
        status: { ...integer, description: 'HTTP status that the client got' },
      }),
    ),
  }),
  OtlpLogsAnswer: {
    type: 'object',
    description: 'As OTLP/HTTP answers: empty, or how many records were refused, which must not be sent again.',
    additionalProperties: false,
    properties: {
      partialSuccess: exactObject<{ rejectedLogRecords: string; errorMessage: string }>('Some were refused.', {
        rejectedLogRecords: { type: 'string', pattern: '^[1-9][0-9]*$' },
        errorMessage: { type: 'string' },
      }),
    },
  },
  HealthAnswer: exactObject<{ alive: true }>('The process runs.', { alive: { const: true } }),
  ReadyAnswer: exactObject<{ ready: boolean; spooling: boolean }>('Whether events can be made durable now.', {
    ready: { type: 'boolean' },
    spooling: { type: 'boolean', description: 'PostgreSQL is away, and events wait on disk for it' },
  }),
};
