import type { Figure } from './figure.ts';
export async function writeCharts(_figures: readonly Figure[]): Promise<void> {}
