/** `${name}`, as Grafana writes a variable, optionally with a format, as in `${region:sqlstring}`. */
export function reference(name: string): string {
  return `\${${name}}`;
}
