import { expect, test } from 'vitest';
import { NO_SERVER_STAGES, SERVER_STAGES, SERVER_TTFT_STAGES, STAGE_ALIASES, STAGES } from './stages.ts';
import { STAMPED_STAGES } from './timingTrace.ts';

test('every list keeps the order of the way', () => {
  for (const list of [SERVER_STAGES, SERVER_TTFT_STAGES, STAMPED_STAGES])
    expect(STAGES.filter((stage) => (list as readonly string[]).includes(stage))).toEqual(list);
  expect(SERVER_STAGES).toEqual(['receive', ...SERVER_TTFT_STAGES]);
  expect(Object.keys(NO_SERVER_STAGES)).toEqual(SERVER_STAGES);
});

test('every server stage goes by its own name, and aliases are in lower case', () => {
  for (const stage of SERVER_STAGES) expect(STAGE_ALIASES.get(stage)).toBe(stage);
  for (const alias of STAGE_ALIASES.keys()) expect(alias).toBe(alias.toLowerCase());
  expect(['prefill', 'kv', 'kv_cache', 'queue'].map((alias) => STAGE_ALIASES.get(alias))).toEqual([
    'first_token',
    'kv_load',
    'kv_load',
    'queue',
  ]);
});
