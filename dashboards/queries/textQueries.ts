import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { DATA_SOURCES } from '../config.ts';

const { loki, tempo } = DATA_SOURCES;

/** LogQL for the lines of one request, in every part, under any of the spellings of its id. Backticks: see links/exploreUrl.ts. */
export function logsOf(ids: readonly string[]): string {
  return `{service_name=~\`..*\`} | ${ids.map((id) => `trace_id=\`${id}\``).join(' or ')}`;
}

/** Loki: the lines of one request. */
export class LogsQuery implements Builder<Dataquery> {
  readonly #ids: readonly string[];

  constructor(ids: readonly string[]) {
    this.#ids = ids;
  }

  build(): Dataquery {
    const target = {
      refId: 'A',
      datasource: { type: loki.type, uid: loki.uid },
      queryType: 'range',
      editorMode: 'code',
      direction: 'backward',
      expr: logsOf(this.#ids),
      _implementsDataqueryVariant() {},
    };
    return target;
  }
}

/** Tempo: one trace by its id. */
export class TraceQuery implements Builder<Dataquery> {
  readonly #traceId: string;

  constructor(traceId: string) {
    this.#traceId = traceId;
  }

  build(): Dataquery {
    const target = {
      refId: 'A',
      datasource: { type: tempo.type, uid: tempo.uid },
      queryType: 'traceql',
      query: this.#traceId,
      limit: 20,
      tableType: 'traces',
      filters: [],
      _implementsDataqueryVariant() {},
    };
    return target;
  }
}
