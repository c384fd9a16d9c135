import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { POSTGRES } from '../variables/dataSources.ts';

/** A raw SQL target; the SDK has no builder for SQL data sources. Its result is one frame, a field per column. */
export class PostgresQuery implements Builder<Dataquery> {
  readonly #rawSql: string;

  constructor(rawSql: string) {
    this.#rawSql = rawSql;
  }

  build(): Dataquery {
    const target = {
      refId: 'A',
      datasource: POSTGRES,
      editorMode: 'code',
      format: 'table',
      rawQuery: true,
      rawSql: this.#rawSql,
      // The SDK's mark of a query type. JSON leaves functions out.
      _implementsDataqueryVariant() {},
    };
    return target;
  }
}
