/**
 * Metrics that other programs export and that panels read, once each. They are no part of our catalogue: a version of those programs may
 * rename them, and then only this file changes.
 *
 * Every series of a GPU host is expected to carry the label `backend` with the name under which the server half reports that host;
 * provisioning/prometheus/prometheus.yml shows how a scrape job sets it.
 */
export interface ForeignMetric {
  readonly name: string;
  readonly type: 'histogram' | 'counter' | 'gauge';
  /** Labels that queries use, besides `backend`. */
  readonly labels: readonly string[];
}

export const FOREIGN_METRICS = {
  /** Prometheus itself: whether the last scrape of a target worked. */
  up: { name: 'up', type: 'gauge', labels: ['job'] },
  alerts: { name: 'ALERTS', type: 'gauge', labels: ['alertname', 'alertstate', 'severity', 'model'] },

  // prom-client, in the ingest's process.
  residentBytes: { name: 'process_resident_memory_bytes', type: 'gauge', labels: ['job'] },
  heapUsedBytes: { name: 'nodejs_heap_size_used_bytes', type: 'gauge', labels: ['job'] },
  eventLoopLagP99: { name: 'nodejs_eventloop_lag_p99_seconds', type: 'gauge', labels: ['job'] },

  // NVIDIA dcgm-exporter, https://github.com/NVIDIA/dcgm-exporter/blob/main/etc/default-counters.csv: 0 to 100, and 0 to 1.
  gpuUtil: { name: 'DCGM_FI_DEV_GPU_UTIL', type: 'gauge', labels: ['gpu'] },
  engineActive: { name: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE', type: 'gauge', labels: ['gpu'] },

  // node_exporter.
  cpuSeconds: { name: 'node_cpu_seconds_total', type: 'counter', labels: ['mode', 'cpu'] },

  // vLLM, https://docs.vllm.ai/en/stable/usage/metrics/. The cache's usage was called gpu_cache_usage_perc before version 1 of its engine.
  vllmTtft: { name: 'vllm:time_to_first_token_seconds', type: 'histogram', labels: [] },
  vllmRunning: { name: 'vllm:num_requests_running', type: 'gauge', labels: [] },
  vllmWaiting: { name: 'vllm:num_requests_waiting', type: 'gauge', labels: [] },
  vllmCacheUsage: { name: 'vllm:kv_cache_usage_perc', type: 'gauge', labels: [] },
  vllmCacheUsageOld: { name: 'vllm:gpu_cache_usage_perc', type: 'gauge', labels: [] },
  vllmPrefixHits: { name: 'vllm:prefix_cache_hits_total', type: 'counter', labels: [] },
  vllmPrefixQueries: { name: 'vllm:prefix_cache_queries_total', type: 'counter', labels: [] },

  // SGLang, https://docs.sglang.io/references/production_metrics.html
  sglangTtft: { name: 'sglang:time_to_first_token_seconds', type: 'histogram', labels: [] },
  sglangRunning: { name: 'sglang:num_running_reqs', type: 'gauge', labels: [] },
  sglangQueued: { name: 'sglang:num_queue_reqs', type: 'gauge', labels: [] },
  sglangTokenUsage: { name: 'sglang:token_usage', type: 'gauge', labels: [] },
  sglangCacheHits: { name: 'sglang:cache_hit_rate', type: 'gauge', labels: [] },
} as const satisfies Record<string, ForeignMetric>;
