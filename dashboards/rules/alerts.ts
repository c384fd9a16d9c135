import type { Alert } from './alert.ts';
import { CORE_ALERTS } from './coreAlerts.ts';
import { INGEST_ALERTS } from './ingestAlerts.ts';
import { TPOT_ALERTS } from './tpotAlerts.ts';
import { TTFT_ALERTS } from './ttftAlerts.ts';

/** Every alert, once: Prometheus' rules and Grafana's are both made from it. */
export const ALERTS: readonly Alert[] = [...CORE_ALERTS, ...TTFT_ALERTS, ...TPOT_ALERTS, ...INGEST_ALERTS];
