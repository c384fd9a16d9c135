/** One half of Grafana's Explore: a data source, its queries, and a time range given as text. */
export interface ExplorePane {
  readonly datasource: string;
  readonly queries: readonly object[];
  readonly range: { readonly from: string; readonly to: string };
}

/**
 * A relative link to Explore. Pane ids have three characters, of which one is a letter, else Grafana replaces them.
 *
 * Grafana fills in `${…}` and then decodes the link until nothing is left to decode. Variables are therefore kept bare, and the
 * JSON must not hold what would be read anew: `&`, `#`, `+`, `%`, and backslashes, so LogQL uses backticks.
 */
export function exploreUrl(panes: Readonly<Record<string, ExplorePane>>): string {
  const json = JSON.stringify(panes);
  if (/[&#+%\\]/.test(json)) throw new Error(`Not safe in an Explore link: ${json}`);
  const encoded = encodeURIComponent(json).replace(/%24%7B(.+?)%7D/g, (_, name) => `\${${decodeURIComponent(name)}}`);
  return `/explore?schemaVersion=1&orgId=1&panes=${encoded}`;
}
