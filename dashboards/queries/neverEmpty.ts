/**
 * The query's rows, or one row of nulls where there are none. Grafana's XY chart says "Err" to a result without rows, which comes
 * without columns; a point without coordinates it does not draw.
 */
export function neverEmpty(sql: string): string {
  return `SELECT found.* FROM (VALUES (true)) AS always (there) LEFT JOIN (\n${sql}\n) AS found ON true`;
}
