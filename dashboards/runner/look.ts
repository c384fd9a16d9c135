import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Field } from './frame.ts';

export interface ThresholdStep {
  readonly color: string;
  readonly value: number | null;
}

/** How a field is shown: the panel's defaults with the overrides that match it, by the names that Grafana's JSON has. */
export interface Look {
  readonly unit?: string;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  readonly noValue?: string;
  readonly displayName?: string;
  readonly links?: readonly { readonly title: string; readonly url: string }[];
  readonly color?: { readonly mode: string; readonly fixedColor?: string };
  readonly thresholds?: { readonly steps: readonly ThresholdStep[] };
  readonly custom: Readonly<{
    width?: number;
    align?: string;
    hidden?: boolean;
    axisLabel?: string;
    cellOptions?: { type: string };
    hideFrom?: { viz: boolean };
    lineWidth?: number;
    fillOpacity?: number;
    stacking?: { mode: string };
    thresholdsStyle?: { mode: string };
  }>;
}

export function lookOf(panel: Pick<Panel, 'fieldConfig'>, field?: Pick<Field, 'name' | 'type'>): Look {
  const { defaults, overrides = [] } = panel.fieldConfig ?? { defaults: {} };
  const look: Record<string, unknown> = { ...defaults, custom: { ...(defaults['custom'] as object) } };
  for (const { matcher, properties } of overrides) {
    const matched = matcher.id === 'byName' ? matcher.options === field?.name : matcher.options === field?.type;
    if (!matched) continue;
    for (const { id, value } of properties) {
      if (id.startsWith('custom.')) (look['custom'] as Record<string, unknown>)[id.slice('custom.'.length)] = value;
      else look[id] = value;
    }
  }
  return look as unknown as Look;
}

export const nameOf = (field: Field, look: Look): string => look.displayName ?? field.name;

export function stepOf(look: Look, value: number): ThresholdStep | undefined {
  return look.thresholds?.steps.findLast((step) => step.value === null || value >= step.value);
}
