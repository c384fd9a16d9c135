import { DATA_SOURCES } from '../config.ts';
import { logsOf } from '../queries/textQueries.ts';
import { reference } from '../variables/reference.ts';
import { requestPageLink } from './dashboardLinks.ts';
import { exploreUrl } from './exploreUrl.ts';

/** A data link as Grafana's panel JSON has it. */
export interface DataLink {
  readonly title: string;
  readonly url: string;
  readonly targetBlank: boolean;
}

const DASHBOARD_RANGE = { from: reference('__from'), to: reference('__to') };
/** Of the row that was clicked. */
const TRACE_ID = reference('__data.fields.trace_id');
const LOG_ID = reference('__data.fields.log_id');

/**
 * From a point, bar or row to its page, its trace and its log lines. The frame must have the text columns `trace_id` (the key, 32 hex
 * digits) and `log_id` (the id as the logs may spell it). The stored record itself asks for the write token, which no browser has.
 */
export function requestLinks(): DataLink[] {
  return [
    requestPageLink(),
    { title: 'Trace', url: traceUrl(), targetBlank: true },
    { title: 'Logs', url: logsUrl(), targetBlank: true },
  ];
}

function traceUrl(): string {
  const { uid, type } = DATA_SOURCES.tempo;
  const query = {
    refId: 'A',
    datasource: { type, uid },
    queryType: 'traceql',
    query: TRACE_ID,
    limit: 20,
    tableType: 'traces',
    filters: [],
  };
  return exploreUrl({ t1x: { datasource: uid, queries: [query], range: DASHBOARD_RANGE } });
}

function logsUrl(): string {
  const { uid, type } = DATA_SOURCES.loki;
  const query = {
    refId: 'A',
    datasource: { type, uid },
    queryType: 'range',
    editorMode: 'code',
    direction: 'backward',
    expr: logsOf([TRACE_ID, LOG_ID]),
  };
  return exploreUrl({ l1x: { datasource: uid, queries: [query], range: DASHBOARD_RANGE } });
}
