import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { VARIANTS } from './config.ts';
import { page } from './page.ts';
import { settings, variantCompletion, variantHistory, variantTpot, variantTtft, verdict } from './panels/variants.ts';
import { VARIANT_DIMENSIONS } from './queries/variantStreams.ts';
import { dimensionVariables } from './variables/dimensionVariables.ts';
import { variantVariables } from './variables/variantVariables.ts';

/** Two variants side by side, TTFT and TPOT always together. */
export function variants(): Dashboard {
  const { panelIds: ids } = VARIANTS;
  return page(
    {
      ...VARIANTS,
      description: 'Which of two variants serves users better: first token, pace, first screen and completion.',
      from: 'now-24h',
      refresh: '1m',
      variables: [...variantVariables(), ...dimensionVariables(VARIANT_DIMENSIONS)],
    },
    [
      [
        [verdict(), ids.verdict, 0, 0, 24, 5],
        [variantTtft(), ids.ttft, 0, 5, 12, 10],
        [variantTpot(), ids.tpot, 12, 5, 12, 10],
        [variantCompletion(), ids.completion, 0, 15, 12, 9],
        [variantHistory(), ids.history, 12, 15, 12, 9],
        [settings(), ids.settings, 0, 24, 24, 9],
      ],
    ],
  );
}
