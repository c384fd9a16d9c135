import type { Stage } from '../../contract/stages.ts';

/** One colour per part, the same in every panel. Neighbours in the bar differ in lightness as well as in hue. */
export const STAGE_COLOURS: Record<Stage | 'unattributed', string> = {
  gateway: '#7f7f7f',
  receive: '#bcbd22',
  preprocess: '#17a2a2',
  kv_load: '#9467bd',
  queue: '#ff7f0e',
  first_token: '#1f77b4',
  serialize: '#98df8a',
  send: '#2ca02c',
  unattributed: '#d9d9d9',
  network: '#d62728',
  render: '#8c564b',
};
