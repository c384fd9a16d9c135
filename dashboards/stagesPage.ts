import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { STAGES } from '../contract/stages.ts';
import { STAGES_PAGE } from './config.ts';
import { page } from './page.ts';
import type { Place } from './panels/placement.ts';
import { inference, queueAndBatch, stageCurves, stageShares, stageSummary, subStageSummary } from './panels/stages.ts';
import { STAGE_DIMENSIONS } from './queries/stages.ts';
import { dimensionVariables } from './variables/dimensionVariables.ts';

const COLUMNS = 3;
const WIDTH = 24 / COLUMNS;
const HEIGHT = 8;

/** Where the time goes, stage by stage. */
export function stagesPage(): Dashboard {
  const { panelIds: ids } = STAGES_PAGE;
  return page(
    {
      ...STAGES_PAGE,
      description: 'Which stage of the way to the first token takes the time, and what to do about it.',
      variables: dimensionVariables(STAGE_DIMENSIONS),
    },
    [
      { row: 'Where the time goes', id: ids.shareRow, y: 0 },
      [
        [stageShares(), ids.shares, 0, 1, 8, 10],
        [inference(), ids.inference, 8, 1, 8, 10],
        [stageSummary(), ids.summary, 16, 1, 8, 10],
      ],
      { row: 'Stage by stage', id: ids.eachRow, y: 11 },
      STAGES.map((stage, index): Place => {
        const [x, y] = [(index % COLUMNS) * WIDTH, 12 + Math.floor(index / COLUMNS) * HEIGHT];
        return [stageCurves(stage), STAGES_PAGE.firstStagePanelId + index, x, y, WIDTH, HEIGHT];
      }),
      { row: 'Inside the server and the engine', id: ids.engineRow, y: 44 },
      [
        [queueAndBatch(), ids.queueAndBatch, 0, 45, 12, 10],
        [subStageSummary(), ids.subStages, 12, 45, 12, 10],
      ],
    ],
  );
}
