import { readFileSync } from 'node:fs';
import path from 'node:path';

const FIXTURES = path.join(import.meta.dirname, '../../contract/fixtures');

/** How often a valid payload stands in a list of seeds beside an invalid one: what fails at once goes no further. */
const VALID_WEIGHT = 5;

/** The values of `field` in all lists of a file of golden payloads. */
function fixtures(file: string, field: string): unknown[] {
  const lists = JSON.parse(readFileSync(path.join(FIXTURES, file), 'utf8')) as Readonly<Record<string, unknown>>;
  return Object.entries(lists).flatMap(([name, list]) => {
    const cases = (Array.isArray(list) ? list : []) as Readonly<Record<string, unknown>>[];
    const values = cases.flatMap((each) => (field in each ? [each[field]] : []));
    return name === 'invalid' ? values : Array.from({ length: VALID_WEIGHT }, () => values).flat();
  });
}

const texts = (values: readonly unknown[]): string[] => values.filter((value) => typeof value === 'string');

export const BEACONS = fixtures('beacons.json', 'beacon');
export const SERVER_RECORDS = fixtures('server-records.json', 'record');
export const SERVER_TIMINGS = texts(fixtures('server-timings.json', 'given'));
export const TIMING_TRACES = texts(fixtures('timing-traces.json', 'given'));
export const TRACE_IDS = texts(fixtures('trace-ids.json', 'given'));

export const GATEWAY_LINES: readonly object[] = [
  {
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    request_id: 'c4d1e2f3a4b5e6f7b8491a2b3c4d5e6f',
    request_time: '2.000',
    upstream_connect_time: '0.001, 0.004',
    upstream_header_time: '-, 0.100',
    upstream_response_time: '0.030, 1.900 : 0.003',
    status: '200',
    upstream_status: '502, 200',
    buffering: 'off',
  },
  { trace_id: '-', request_id: 'c4d1e2f3a4b5e6f7b8491a2b3c4d5e6f', request_time: 1.001, status: 200 },
  { trace_id: 'chatcmpl-abc123', status: '499', upstream_response_time: '-', request_time: '0.000' },
];

export const OTLP_LOGS: readonly object[] = GATEWAY_LINES.map((line) => ({
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'nginx' } }] },
      scopeLogs: [{ scope: {}, logRecords: [{ timeUnixNano: '1', body: { stringValue: JSON.stringify(line) } }] }],
    },
  ],
}));

/** Streams of every preset, with the line ends, comments and half lines that are met. */
export const STREAMS: readonly string[] = [
  ': PROCESSING\n\ndata: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\ndata: {"choices":[{"delta":{"content":"Yes"}}]}\n\ndata: [DONE]\n\n',
  'data: A\r\ndata: B\r\ndata: C\r\n\r\nid: 1\revent: x\rdata\r\r',
  'data:{"choices":\ndata:[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"completion_tokens":9,"prompt_tokens":8,"prompt_tokens_details":{"cached_tokens":3}}}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"Hi"}\n\nevent: response.completed\ndata: {"type":"response.completed","response":{"usage":{"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2}}}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}\n\nevent: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
  '\ufeffdata: 北🌍\n\nretry: 10\ndata: {"error":{"message":"x"}}\n\ndata: {"choi',
];

export const TRACEPARENTS: readonly string[] = [
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-extra',
  'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
];
