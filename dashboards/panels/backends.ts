import { FOREIGN_METRICS } from '../foreignMetrics.ts';
import {
  cpuUsage,
  eitherOf,
  engineTtft,
  idleButSlow as idleButSlowExpression,
  meanOf,
  sumOf,
  ttftByBackend,
  vllmCacheHits,
} from '../queries/backends.ts';
import { curveQuery, tableQuery } from '../queries/prometheusQuery.ts';
import { IDLE_GPU_PERCENT, SECONDS_THRESHOLDS } from '../rules/thresholds.ts';
import { curves, withThresholdLines } from './curves.ts';
import { table } from './tables.ts';

const LEGEND = '{{backend}}';

export function idleButSlow() {
  return table(
    {
      title: `GPU under ${IDLE_GPU_PERCENT} %, TTFT high: look at the CPU`,
      unit: 's',
      description:
        `Backends whose TTFT p95 is over ${SECONDS_THRESHOLDS.ttft_p95.bad} s now while their GPUs are busy less than ${IDLE_GPU_PERCENT} % of the time. Good: none. If a backend is listed, the GPU waits for its host: ` +
        'tokenising, prompt building, a scheduler on one core, or retrieval. See its CPU at the right, then preprocess and queue in Stages. More GPUs would not help.',
    },
    tableQuery('A', idleButSlowExpression()),
  )
    .noValue('none')
    .overrideByName('Value', [{ id: 'displayName', value: 'TTFT p95' }])
    .overrideByName('Time', [{ id: 'custom.hidden', value: true }]);
}

export function backendTtft() {
  const panel = curves(
    {
      title: 'TTFT p95 by backend',
      unit: 's',
      description:
        'Time to first token by the serving host, by our own measure: all that lies between the request and its first token. Filtered by backend. Good: all alike and under 0.75 s. ' +
        'If one leaves the others, take it out of the balancer and compare its GPU and CPU beside it.',
    },
    curveQuery('A', ttftByBackend(), LEGEND),
  );
  return withThresholdLines(panel, SECONDS_THRESHOLDS.ttft_p95);
}

export function gpuUtil() {
  return curves(
    {
      title: 'GPU utilisation',
      unit: 'percent',
      description:
        'Share of the time in which any kernel ran, mean of the cards of a backend (DCGM_FI_DEV_GPU_UTIL). Filtered by backend. Good: over 60 % under load. It says that the card is ' +
        'not idle, not that it is well used. If it is under 30 % while TTFT is high, look at the CPU.',
    },
    curveQuery('A', meanOf(FOREIGN_METRICS.gpuUtil), LEGEND),
  ).max(100);
}

export function engineActive() {
  return curves(
    {
      title: 'Graphics engine active',
      unit: 'percentunit',
      description:
        'Share of the time in which the compute engine was active (DCGM_FI_PROF_GR_ENGINE_ACTIVE), which also works for slices of a card. Filtered by backend. Good: close to the utilisation ' +
        'beside it. If it is far below, the card spends its time on copies: look at KV transfers. Not every card and driver reports it.',
    },
    curveQuery('A', meanOf(FOREIGN_METRICS.engineActive), LEGEND),
  ).max(1);
}

export function hostCpu() {
  return curves(
    {
      title: 'Host CPU',
      unit: 'percentunit',
      description:
        'Share of the CPU time of the GPU host that is not idle (node exporter). Filtered by backend. Good: under 70 %. If it is higher, or one core of many is full, tokenising and ' +
        'scheduling hold the GPU back: move preprocessing to other hosts, or give the engine more cores.',
    },
    curveQuery('A', cpuUsage(), LEGEND),
  ).max(1);
}

export function engineTtftCurves() {
  return curves(
    {
      title: "The engine's own TTFT p95",
      unit: 's',
      description:
        'Time to first token as vLLM or SGLang measure it, from their queue on. Filtered by backend. Good: close to ours above. If ours is far higher, the time is lost before the engine: preprocess, ' +
        'KV load or the way there. If both are high, it is the engine: see its queue and cache.',
    },
    curveQuery('A', engineTtft(FOREIGN_METRICS.vllmTtft), `vLLM ${LEGEND}`),
    curveQuery('B', engineTtft(FOREIGN_METRICS.sglangTtft), `SGLang ${LEGEND}`),
  );
}

export function engineRequests() {
  return curves(
    {
      title: 'Requests running and waiting',
      unit: 'short',
      description:
        'What the engines compute at once, and what waits in their queues. Filtered by backend. Good: nothing waits. If waiting grows while running is flat, the slots or the cache are full: ' +
        'add backends, or raise the limits if the cache below has room.',
    },
    curveQuery('A', sumOf(FOREIGN_METRICS.vllmRunning), `vLLM running ${LEGEND}`),
    curveQuery('B', sumOf(FOREIGN_METRICS.vllmWaiting), `vLLM waiting ${LEGEND}`),
    curveQuery('C', sumOf(FOREIGN_METRICS.sglangRunning), `SGLang running ${LEGEND}`),
    curveQuery('D', sumOf(FOREIGN_METRICS.sglangQueued), `SGLang waiting ${LEGEND}`),
  );
}

export function kvCache() {
  return curves(
    {
      title: 'KV cache in use',
      unit: 'percentunit',
      description:
        'Share of the KV cache that running requests hold. Filtered by backend. Good: under 90 %. If it is full, the engine preempts streams, which shows as long gaps, and new ones queue: ' +
        'shorten contexts, lower the number of slots, or add backends.',
    },
    curveQuery(
      'A',
      eitherOf(meanOf(FOREIGN_METRICS.vllmCacheUsage), meanOf(FOREIGN_METRICS.vllmCacheUsageOld)),
      `vLLM ${LEGEND}`,
    ),
    curveQuery('B', meanOf(FOREIGN_METRICS.sglangTokenUsage), `SGLang ${LEGEND}`),
  ).max(1);
}

export function cacheHits() {
  return curves(
    {
      title: 'Prefix cache hits',
      unit: 'percentunit',
      description:
        "Share of the prompts' tokens that were found in the prefix cache. Filtered by backend. Good: steady, and over 50 % where prompts share a system prompt. If it falls, TTFT rises with it: a " +
        'changed prompt, a restart, or a balancer that no longer keeps users on one backend.',
    },
    curveQuery('A', vllmCacheHits(), `vLLM ${LEGEND}`),
    curveQuery('B', meanOf(FOREIGN_METRICS.sglangCacheHits), `SGLang ${LEGEND}`),
  ).max(1);
}
