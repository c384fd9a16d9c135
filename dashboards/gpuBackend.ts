import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { GPU_BACKEND } from './config.ts';
import { page } from './page.ts';
import {
  backendTtft,
  cacheHits,
  engineActive,
  engineRequests,
  engineTtftCurves,
  gpuUtil,
  hostCpu,
  idleButSlow,
  kvCache,
} from './panels/backends.ts';
import { backendVariable } from './variables/backendVariable.ts';

/** The metrics of cards, hosts and engines beside our TTFT. */
export function gpuBackend(): Dashboard {
  const { panelIds: ids } = GPU_BACKEND;
  return page(
    {
      ...GPU_BACKEND,
      description: 'Whether the GPU, its host or its engine makes the first token late.',
      variables: [backendVariable()],
    },
    [
      { row: 'Card and host', id: ids.readingRow, y: 0 },
      [
        [idleButSlow(), ids.idleButSlow, 0, 1, 8, 8],
        [backendTtft(), ids.ttft, 8, 1, 16, 8],
        [gpuUtil(), ids.gpuUtil, 0, 9, 8, 8],
        [engineActive(), ids.engineActive, 8, 9, 8, 8],
        [hostCpu(), ids.hostCpu, 16, 9, 8, 8],
      ],
      { row: 'Engine: vLLM or SGLang', id: ids.engineRow, y: 17 },
      [
        [engineTtftCurves(), ids.engineTtft, 0, 18, 12, 8],
        [engineRequests(), ids.requests, 12, 18, 12, 8],
        [kvCache(), ids.kvCache, 0, 26, 12, 8],
        [cacheHits(), ids.cacheHits, 12, 26, 12, 8],
      ],
    ],
  );
}
