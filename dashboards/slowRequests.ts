import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { SLOW_REQUESTS } from './config.ts';
import { page } from './page.ts';
import { attributionShares, attributionWaterfall } from './panels/attributionWaterfall.ts';
import { slowestRequests } from './panels/slowestRequests.ts';
import { ttftTpotScatter } from './panels/ttftTpotScatter.ts';
import { dimensionVariables } from './variables/dimensionVariables.ts';

/** Single requests: from a cloud of them to the ten worst, and from each to its proof. */
export function slowRequests(): Dashboard {
  const { panelIds: ids } = SLOW_REQUESTS;
  return page(
    {
      ...SLOW_REQUESTS,
      description: 'Which requests were slow, and which stage took the time.',
      variables: dimensionVariables(),
    },
    [
      [
        [ttftTpotScatter(), ids.scatter, 0, 0, 24, 12],
        [attributionWaterfall(), ids.waterfall, 0, 12, 12, 12],
        [attributionShares(), ids.shares, 12, 12, 12, 12],
        [slowestRequests(), ids.slowest, 0, 24, 24, 10],
      ],
    ],
  );
}
