import { FieldColorModeId, ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard';
import type { PanelBuilder } from '@grafana/grafana-foundation-sdk/xychart';
import { requestLinks } from '../links/requestLinks.ts';
import { PostgresQuery } from '../queries/postgresQuery.ts';
import { ttftTpotSql, UNKNOWN_LENGTH } from '../queries/ttftTpot.ts';
import { points } from './points.ts';

/** Bands of the prompt's length in characters: unknown, under 50, 50 to 200, over 200. Colours that all eyes tell apart. */
const LENGTH_STEPS = [
  { color: '#8e8e8e', value: null },
  { color: '#56b4e9', value: UNKNOWN_LENGTH + 1 },
  { color: '#e69f00', value: 50 },
  { color: '#cc3399', value: 201 },
];

/** Client TTFT against TPOT, a point per stream. */
export function ttftTpotScatter(): PanelBuilder {
  return points(
    {
      title: 'TTFT against TPOT',
      unit: 'ms',
      description:
        'Each point a finished stream, at most 2,000: the newest, or beyond three hours some of each hour: time to first token as the client saw it, against time per token. ' +
        'Colour is the length of the prompt: blue under 50 characters, orange 50 to 200, magenta over 200, grey unknown. Good: one ' +
        'cloud at the lower left. Far right with short prompts: waiting, not computing; look at queue and network. Far up: the engine ' +
        'is saturated. Magenta right of the rest is prefill. Click a point for the request, its trace and its logs.',
    },
    new PostgresQuery(ttftTpotSql()),
    { x: 'ttft_ms', y: 'tpot_ms', colour: 'prompt_chars' },
  )
    .overrideByName('ttft_ms', [{ id: 'custom.axisLabel', value: 'TTFT, client' }])
    .overrideByName('tpot_ms', [
      { id: 'custom.axisLabel', value: 'TPOT' },
      { id: 'links', value: requestLinks() },
    ])
    .overrideByName('prompt_chars', [
      { id: 'unit', value: 'short' },
      { id: 'color', value: { mode: FieldColorModeId.Thresholds } },
      { id: 'thresholds', value: { mode: ThresholdsMode.Absolute, steps: LENGTH_STEPS } },
    ])
    .overrideByName('output_tokens', [{ id: 'unit', value: 'short' }]);
}
