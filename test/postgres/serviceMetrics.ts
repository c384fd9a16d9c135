import { parseStrictly, type Sample } from '../../ingest/metrics/strictParser.ts';
import type { RunningService } from './service.ts';
import { send } from './serviceHttp.ts';

/** What the admin ports of some instances say, added up as Prometheus would. */
export interface Scrape {
  readonly samples: readonly Sample[];
  /** Sum of all series of this name (`ttft_seconds_count`, `streams_total`) that have these labels. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

/** Scrapes every instance; each exposition has to be valid. */
export async function scrape(...services: readonly RunningService[]): Promise<Scrape> {
  const samples: Sample[] = [];
  for (const service of services) {
    const { status, text } = await send(`${service.adminUrl}/metrics`, { method: 'GET' });
    if (status !== 200) throw new Error(`/metrics answered ${status}`);
    for (const family of parseStrictly(text, 'text').values()) samples.push(...family.samples);
  }
  return {
    samples,
    sum(name, labels = {}) {
      const wanted = Object.entries(labels);
      return samples
        .filter((sample) => sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value))
        .reduce((sum, sample) => sum + sample.value, 0);
    },
  };
}
