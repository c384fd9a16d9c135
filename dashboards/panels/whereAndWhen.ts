import { METRICS } from '../../contract/metrics.ts';
import { slowRequestsLink } from '../links/dashboardLinks.ts';
import { connectionsSql } from '../queries/connections.ts';
import { filteredBy, variableMatchers } from '../queries/matchers.ts';
import { PostgresQuery } from '../queries/postgresQuery.ts';
import { curveQuery } from '../queries/prometheusQuery.ts';
import { quantile } from '../queries/quantile.ts';
import { MIN_STREAMS_PER_CELL, WHERE_DIMENSIONS, worstCellsSql, worstHoursSql } from '../queries/worstCells.ts';
import { SECONDS_THRESHOLDS } from '../rules/thresholds.ts';
import { bars } from './bars.ts';
import { curves, withThresholdLines } from './curves.ts';
import { OF_A_SAMPLE } from './sampleText.ts';
import { countColumn, heatTable } from './tables.ts';

/** Milliseconds at which a cell is fully red. */
const REDDEST_MS = 3000;

export function worstCells() {
  const panel = heatTable(
    {
      title: 'Worst cells: hour, region and device',
      unit: 'ms',
      description:
        'Client TTFT by hour of the day in your time zone, region and device; the worst p95 first, from the hourly rollups (within 1 %, whole hours). ' +
        `Cells of fewer than ${MIN_STREAMS_PER_CELL} streams are left out. Good: the first line is green. If one region fills the top, it is the way there or its ` +
        'CDN; if one device, its network or rendering; if one hour, load. A row leads to the slow requests of its region and device.',
    },
    new PostgresQuery(worstCellsSql()),
    REDDEST_MS,
  );
  for (const column of ['region', 'device', 'p95'])
    panel.overrideByName(column, [{ id: 'links', value: [slowRequestsLink()] }]);
  return countColumn(panel, 'streams');
}

export function worstHours() {
  const panel = heatTable(
    {
      title: 'Client TTFT p95 by hour',
      unit: 'ms',
      description:
        'The same figures as a table of 24 hours, regions and devices with the worst hour first. Good: green everywhere. If a column is red, it is load at ' +
        'that hour; if a row is, a region or a device with a slow way to us. An hour without streams is a dash. Hours are kept for 90 days, so the range may be weeks.',
    },
    new PostgresQuery(worstHoursSql()),
    REDDEST_MS,
  );
  return countColumn(panel, 'streams');
}

export function renderLag() {
  const metric = METRICS.renderLag;
  return curves(
    {
      title: 'Render lag p95 by device',
      unit: 's',
      description:
        `From the arrival of a token to its paint, each stream's median, of which the p95. ${filteredBy(metric, WHERE_DIMENSIONS)} Good: under 0.05 s, three ` +
        'frames. If mobiles are far above, the page works too much per token: batch the updates, keep Markdown and highlighting off the main thread.',
    },
    curveQuery(
      'A',
      quantile(metric, 0.95, { matchers: variableMatchers(metric, WHERE_DIMENSIONS), by: ['device'] }),
      '{{device}}',
    ),
  );
}

export function regions() {
  const metric = METRICS.ttftClient;
  const panel = curves(
    {
      title: 'Client TTFT p95 by region',
      unit: 's',
      description:
        `Time to first token as browsers saw it, by the client's region. ${filteredBy(metric, WHERE_DIMENSIONS)} Good: all under 1 s and in parallel. ` +
        'If one leaves the others, look at its network and CDN; if all rise together, at the server: Stages.',
    },
    curveQuery(
      'A',
      quantile(metric, 0.95, { matchers: variableMatchers(metric, WHERE_DIMENSIONS), by: ['region'] }),
      '{{region}}',
    ),
  );
  return withThresholdLines(panel, SECONDS_THRESHOLDS.ttft_client_p95);
}

export function connections() {
  return bars(
    {
      title: 'Client TTFT by connection',
      unit: 'ms',
      description:
        "Median and p95 of the client TTFT by the browser's own word for its connection; in brackets the number of streams. Browsers that do not tell are " +
        'unknown. Good: 4g and wifi alike. If only slow kinds are slow, smaller first answers and fewer round trips help; if all are, it is not the air. ' +
        OF_A_SAMPLE,
    },
    new PostgresQuery(connectionsSql(WHERE_DIMENSIONS)),
    'connection',
  ).noValue('no streams');
}
