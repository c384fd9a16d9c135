import { ThresholdsConfigBuilder, ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Threshold } from '../rules/thresholds.ts';

/** Green, orange from `watch`, red from `bad`; `scale` converts the threshold's unit into the panel's. */
export function thresholdSteps({ watch, bad }: Threshold, scale = 1): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
    { color: 'green', value: null },
    { color: 'orange', value: watch * scale },
    { color: 'red', value: bad * scale },
  ]);
}

/** One colour for any value: for figures that are neither good nor bad. */
export function noThresholds(): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([{ color: 'text', value: null }]);
}

/** For figures that are good when high: red below `bad`, orange below `watch`, green from there on. */
export function fallingSteps({ watch, bad }: Threshold): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
    { color: 'red', value: null },
    { color: 'orange', value: bad },
    { color: 'green', value: watch },
  ]);
}
