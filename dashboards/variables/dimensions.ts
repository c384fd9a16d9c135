/** What a dashboard can be narrowed to. Each is a variable, a column of `requests`, and a label of some of the metrics. */
export const DIMENSIONS = ['model', 'route', 'variant', 'tier', 'region', 'device'] as const;

export type Dimension = (typeof DIMENSIONS)[number];
