import { REQUEST, SLOW_REQUESTS } from '../config.ts';
import { reference } from '../variables/reference.ts';
import type { DataLink } from './requestLinks.ts';

/** From a cell of a table to the slow requests of its region and device, in the same time range. */
export function slowRequestsLink(): DataLink {
  const filters = ['region', 'device'].map((name) => `var-${name}=${reference(`__data.fields.${name}`)}`);
  return {
    title: 'Slow requests of this region and device',
    url: `/d/${SLOW_REQUESTS.uid}?${filters.join('&')}&${reference('__url_time_range')}`,
    targetBlank: false,
  };
}

/** From a row that has a `trace_id` to the dashboard of that request. */
export function requestPageLink(): DataLink {
  return {
    title: 'Request',
    url: `/d/${REQUEST.uid}?var-trace_id=${reference('__data.fields.trace_id')}&${reference('__url_time_range')}`,
    targetBlank: true,
  };
}
