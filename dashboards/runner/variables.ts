import type { Dashboard, VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';
import { type Interpolation, interpolateSql } from './interpolation.ts';
import type { SqlAnswer } from './postgresFrames.ts';

/** As Grafana writes it into addresses. */
export const ALL = '$__all';

export interface Variable {
  readonly name: string;
  readonly label: string;
  readonly kind: 'choice' | 'text';
  readonly many: boolean;
  /** What may be chosen; empty for text. */
  readonly options: readonly string[];
  /** What the queries get. */
  readonly values: readonly string[];
  readonly all: boolean;
  readonly hidden: boolean;
}

/** The dashboard's variables with their options, in their order: later ones may be asked with the values of earlier ones. */
export async function readVariables(
  dashboard: Dashboard,
  chosen: Readonly<Record<string, readonly string[]>>,
  interpolation: Omit<Interpolation, 'variables'>,
  sql: (statement: string) => Promise<SqlAnswer>,
): Promise<Variable[]> {
  const variables: Variable[] = [];
  for (const model of dashboard.templating?.list ?? []) {
    if (model.type === 'datasource') continue;
    const known = Object.fromEntries(variables.map(({ name, values }) => [name, values]));
    const options = model.type === 'query' ? await optionsOf(model, { ...interpolation, variables: known }, sql) : [];
    variables.push(variableOf(model, options, chosen[model.name]));
  }
  return variables;
}

async function optionsOf(
  { query }: VariableModel,
  interpolation: Interpolation,
  sql: (statement: string) => Promise<SqlAnswer>,
): Promise<string[]> {
  const { fields, rows } = await sql(interpolateSql(String(query), interpolation));
  return rows.map((row) => String(row[fields[0]!.name] ?? ''));
}

function variableOf(model: VariableModel, options: string[], chosen: readonly string[] | undefined): Variable {
  const { name, label, multi, includeAll, hide, type } = model;
  const common = { name, label: label ?? name, many: multi === true, options, hidden: hide === 2 };
  if (type !== 'query') return { ...common, kind: 'text', all: false, values: [chosen?.[0] ?? ''] };
  const known = (chosen ?? []).filter((value) => options.includes(value));
  const all = includeAll === true && (known.length === 0 || chosen!.includes(ALL));
  const first = options.slice(0, 1);
  const picked = known.length > 0 ? known : first;
  return { ...common, kind: 'choice', all, values: all ? options : multi ? picked : picked.slice(0, 1) };
}
