import { BEACON_SCHEMA } from '../contract/beacon.ts';
import type { GatewayLogLine } from '../contract/gatewayLog.ts';
import { SERVER_RECORD_SCHEMA } from '../contract/serverRecord.ts';
import type { FieldSchemas, Schema } from './schema.ts';

/** nginx writes all values as text; numbers are read too. */
const textOrNumber = { type: ['string', 'number', 'null'] };
const upstreamTimes = { ...textOrNumber, description: 'seconds; a list, groups or a dash, as nginx writes them' };

const GATEWAY_LINE: FieldSchemas<GatewayLogLine> = {
  trace_id: textOrNumber,
  request_id: { ...textOrNumber, description: 'the id where trace_id is missing' },
  request_time: { ...textOrNumber, description: 'seconds with three decimals' },
  upstream_connect_time: upstreamTimes,
  upstream_header_time: upstreamTimes,
  upstream_response_time: upstreamTimes,
  status: { ...textOrNumber, description: 'HTTP status that the client got' },
  upstream_status: textOrNumber,
  buffering: { ...textOrNumber, description: 'off where the stream is passed on as it comes' },
};

/** The validators' own schemas, without the name under which they are compiled: inside another document it would be an address. */
function without$Id({ $id: _, ...schema }: Schema): Schema {
  return schema;
}

export const EVENT_SCHEMAS: Readonly<Record<string, Schema>> = {
  Beacon: {
    description: 'The client half. Unknown fields are ignored; offsets may not fall; ttft_ms is the first arrival.',
    ...without$Id(BEACON_SCHEMA),
  },
  ServerRecord: {
    description: 'The server half. Needs timing_trace or server_timing. Unknown fields are ignored.',
    ...without$Id(SERVER_RECORD_SCHEMA),
  },
  GatewayLogLine: {
    type: 'object',
    description: "A line of nginx's access log in the shipped format. Needs an id and the status.",
    properties: GATEWAY_LINE,
  },
  OtlpLogs: {
    type: 'object',
    description: 'An OTLP/HTTP logs request in JSON; the body of each record is one line of the access log, as text.',
    properties: { resourceLogs: { type: 'array', items: { type: 'object' } } },
  },
};
