import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { WHERE_AND_WHEN } from './config.ts';
import { page } from './page.ts';
import { connections, regions, renderLag, worstCells, worstHours } from './panels/whereAndWhen.ts';
import { WHERE_DIMENSIONS } from './queries/worstCells.ts';
import { dimensionVariables } from './variables/dimensionVariables.ts';

/** Who is slow, and at what hour: only the dimensions of the rollups by region and device. */
export function whereAndWhen(): Dashboard {
  const { panelIds: ids } = WHERE_AND_WHEN;
  return page(
    {
      ...WHERE_AND_WHEN,
      description: 'Which users wait: by hour, region, device and connection.',
      from: 'now-24h',
      refresh: '1m',
      variables: dimensionVariables(WHERE_DIMENSIONS),
    },
    [
      { row: 'Hour, region and device', id: ids.cellsRow, y: 0 },
      [
        [worstHours(), ids.worstHours, 0, 1, 24, 9],
        [worstCells(), ids.worstCells, 0, 10, 12, 12],
        [regions(), ids.regions, 12, 10, 12, 12],
      ],
      { row: 'Device and connection', id: ids.devicesRow, y: 22 },
      [
        [renderLag(), ids.renderLag, 0, 23, 12, 9],
        [connections(), ids.connections, 12, 23, 12, 9],
      ],
    ],
  );
}
