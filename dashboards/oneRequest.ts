import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { REQUEST } from './config.ts';
import { page } from './page.ts';
import { arrivals, facts, gaps, logs, requestStages, subStages, trace } from './panels/oneRequest.ts';
import { requestVariables } from './variables/requestVariables.ts';

/** One request, by its trace id alone. */
export function oneRequest(): Dashboard {
  const { panelIds: ids } = REQUEST;
  return page(
    {
      ...REQUEST,
      description: 'What happened to one request: its stages, its tokens, its trace and the log lines of all parts.',
      from: 'now-6h',
      refresh: '',
      variables: requestVariables(),
    },
    [
      [
        [facts(), ids.facts, 0, 0, 8, 20],
        [requestStages(), ids.stages, 8, 0, 16, 6],
        [subStages(), ids.subStages, 8, 6, 16, 5],
        [arrivals(), ids.arrivals, 8, 11, 8, 9],
        [gaps(), ids.gaps, 16, 11, 8, 9],
        [trace(), ids.trace, 0, 20, 24, 12],
        [logs(), ids.logs, 0, 32, 24, 12],
      ],
    ],
  );
}
