import type { Frame } from '../../dashboards/runner/frame.ts';
import type { Look } from '../../dashboards/runner/look.ts';
import { timeOf, type View, variablesOf } from './view.ts';

/**
 * Where a value's link leads, from the row that it is in; undefined without one. Of several it is the first that leads to a
 * dashboard: traces and logs, which have no pages of their own here, stand on the Request page, where the first one leads.
 */
export function linkOf(look: Look, frame: Frame, row: number, view: View): string | undefined {
  const template = look.links?.find(({ url }) => url.startsWith('/d/'))?.url;
  if (template === undefined) return undefined;
  let known = true;
  const path = template.replace(/\$\{__data\.fields\.(\w+)\}/g, (_, name: string) => {
    const value = frame.fields.find((field) => field.name === name)?.values[row];
    if (value === null || value === undefined || value === '') known = false;
    return encodeURIComponent(String(value));
  });
  // The request's own page has no use for a link to itself.
  return known && !path.startsWith(`/d/${view.uid}?`) ? fillLink(path, view) : undefined;
}

export function fillLink(template: string, view: View): string {
  return template
    .replace(/\$\{__url_time_range\}/, () => timeOf(view))
    .replace(/&\$\{__all_variables\}/, () => variablesOf(view.variables));
}
