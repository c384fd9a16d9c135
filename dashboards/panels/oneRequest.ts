import { LogsSortOrder, StackingMode } from '@grafana/grafana-foundation-sdk/common';
import { PanelBuilder as AnyPanelBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as LogsPanelBuilder } from '@grafana/grafana-foundation-sdk/logs';
import { DATA_SOURCES } from '../config.ts';
import { requestLinks } from '../links/requestLinks.ts';
import { arrivalsSql, factsSql, gapsSql, requestStagesSql, subStagesSql } from '../queries/oneRequest.ts';
import { PostgresQuery } from '../queries/postgresQuery.ts';
import { WATERFALL_PARTS } from '../queries/slowestRequests.ts';
import { LogsQuery, TraceQuery } from '../queries/textQueries.ts';
import { reference } from '../variables/reference.ts';
import { bars, inStageColours } from './bars.ts';
import { points } from './points.ts';
import { table } from './tables.ts';

const KEY = reference('trace_key');
const LOG_ID = reference('log_id');

export function facts() {
  return table(
    {
      title: 'What is known',
      unit: 'none',
      description:
        'Everything stored of this request: its header, flags, measures and labels; what nobody reported is left out. Good: no flags, and both halves. ' +
        'coalesced: a proxy held the stream back. suspended: the machine slept. clock_anomaly: the halves contradict each other. If it is empty, the id is ' +
        'unknown or older than the retention; any spelling will do. Click a value for trace and logs.',
    },
    new PostgresQuery(factsSql()),
  )
    .overrideByName('value', [{ id: 'links', value: requestLinks() }])
    .overrideByName('trace_id', [{ id: 'custom.hidden', value: true }])
    .overrideByName('log_id', [{ id: 'custom.hidden', value: true }]);
}

export function requestStages() {
  const panel = bars(
    {
      title: 'Stages',
      unit: 'ms',
      description:
        'The client TTFT from left to right in its parts, and after it the painting. Good: first_token is the largest part. unattributed is time of the ' +
        'server that no stamp covers: if it is large, mark more stages in the app. A part that nobody reported is missing, not zero.',
    },
    new PostgresQuery(requestStagesSql()),
    'request',
    StackingMode.Normal,
  );
  return inStageColours(panel, [...WATERFALL_PARTS, 'render']).noValue('no such request');
}

export function subStages() {
  return bars(
    {
      title: 'Sub-stages',
      unit: 'ms',
      description:
        'Named pieces of work inside the server, such as db, retrieval or auth, the longest first. They lie within the stages and are not added to them. ' +
        'Good: none above a tenth of the TTFT. If it is db, read its slow-query line in the logs below; retrieval can often run beside moderation.',
    },
    new PostgresQuery(subStagesSql()),
    'name',
  ).noValue('none reported');
}

export function arrivals() {
  return points(
    {
      title: 'Token arrivals',
      unit: 'short',
      description:
        'Tokens that had arrived, over the milliseconds from the fetch call; each point is one token-bearing event. Good: a straight rising line. If it is a ' +
        'staircase, something holds tokens back and lets them go together; if it flattens, the engine slowed down, for instance when its batch grew.',
    },
    new PostgresQuery(arrivalsSql()),
    { x: 'arrival', y: 'tokens' },
  ).overrideByName('arrival', [
    { id: 'unit', value: 'ms' },
    { id: 'custom.axisLabel', value: 'since the fetch call' },
  ]);
}

export function gaps() {
  return points(
    {
      title: 'Gaps',
      unit: 'ms',
      description:
        'The pause before each token-bearing event, over the time of its arrival. Good: a flat band under 110 ms. If single points stand far above, the stream ' +
        'was preempted or a packet was lost; if every n-th is high, tokens are sent in groups. Of streams over 4,096 events only the figures are kept.',
    },
    new PostgresQuery(gapsSql()),
    { x: 'arrival', y: 'gap' },
  ).overrideByName('arrival', [{ id: 'custom.axisLabel', value: 'since the fetch call' }]);
}

export function trace(): AnyPanelBuilder {
  return new AnyPanelBuilder()
    .type('traces')
    .title('Trace')
    .description(
      'The request as a trace: the client view as its root, and a span per stage, from Tempo. Good: spans without gaps in between. If it is missing ' +
        'while the facts are there, traces are not exported or sampled away: see OTEL_EXPORTER_OTLP_ENDPOINT and TRACE_SAMPLE_RATE.',
    )
    .datasource({ type: DATA_SOURCES.tempo.type, uid: DATA_SOURCES.tempo.uid })
    .unit('none')
    .withTarget(new TraceQuery(KEY));
}

export function logs(): LogsPanelBuilder {
  return new LogsPanelBuilder()
    .title('Logs of all parts')
    .description(
      'Every log line with this trace id, of nginx, the app, PostgreSQL and the ingest, the oldest first, from Loki, in the time range above. Good: one line each and no ' +
        'error. If it is empty, widen the time range first; then check that the part logs the id. Open a line for its fields.',
    )
    .datasource({ type: DATA_SOURCES.loki.type, uid: DATA_SOURCES.loki.uid })
    .unit('none')
    .withTarget(new LogsQuery([KEY, LOG_ID]))
    .showTime(true)
    .wrapLogMessage(true)
    .enableLogDetails(true)
    .sortOrder(LogsSortOrder.Ascending);
}
