import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { expect, test } from 'vitest';
import { dashboards } from './artefacts.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Panels whose options Grafana's schema describes: the module's folder, and its name. A panel of traces has none. */
const MODULES: Readonly<Record<string, readonly [folder: string, name: string]>> = {
  barchart: ['barchart', 'BarChart'],
  heatmap: ['heatmap', 'Heatmap'],
  logs: ['logs', 'Logs'],
  stat: ['stat', 'Stat'],
  table: ['table', 'Table'],
  timeseries: ['timeseries', 'TimeSeries'],
  xychart: ['xychart', 'XYChart'],
};
/** Grafana's types say enumerations where the JSON has their texts. */
const LOOSE = `type Loose<T> = T extends string ? \`\${T}\` : T extends (infer E)[] ? Loose<E>[] : T extends object ? { [K in keyof T]?: Loose<T[K]> } : T;`;

const panels = dashboards().flatMap((dashboard) =>
  (JSON.parse(JSON.stringify(dashboard)).panels as Panel[])
    .filter((panel) => panel.type !== 'row' && panel.type !== 'traces')
    .map((panel) => ({ name: `${dashboard.uid} ${panel.id}`, panel })),
);

/** What the compiler says to options and field options of all panels, held against Grafana's own types. */
async function compile(shown: readonly { name: string; panel: Panel }[]): Promise<string> {
  // Inside node_modules, since the compiler looks for the schema from where the file lies upwards.
  const folder = await mkdtemp(join(ROOT, 'node_modules', '.schema-check-'));
  try {
    const imports = Object.entries(MODULES).map(
      ([type, [path, name]]) =>
        `import type * as ${type} from '@grafana/schema/dist/esm/raw/composable/${path}/panelcfg/x/${name}PanelCfg_types.gen';`,
    );
    const constants = shown.map(({ panel, name }, index) => {
      const { type } = panel;
      const custom = panel.fieldConfig?.defaults.custom;
      const hasOwn = custom !== undefined && Object.keys(custom).length > 0;
      const lines = [
        `// ${name}`,
        `export const o${index} = ${JSON.stringify(panel.options ?? {})} satisfies Loose<${type}.Options>;`,
      ];
      if (hasOwn)
        lines.push(`export const f${index} = ${JSON.stringify(custom)} satisfies Loose<${type}.FieldConfig>;`);
      return lines.join('\n');
    });
    await writeFile(join(folder, 'panels.ts'), [...imports, LOOSE, ...constants].join('\n'));
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          skipLibCheck: true,
          module: 'nodenext',
          target: 'es2023',
          types: [],
        },
        include: ['panels.ts'],
      }),
    );
    await promisify(execFile)(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]);
    return '';
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('every panel is of a kind that is checked', () => {
  for (const { panel } of panels) expect(Object.keys(MODULES)).toContain(panel.type);
});

test("options and their values are those of Grafana's schema", async () => {
  expect(await compile(panels)).toBe('');
}, 120_000);

test.each([{ cellGapp: 1 }, { showValue: 'sometimes' }])(
  '%j would be found',
  async (wrong) => {
    const heatmap = panels.find(({ panel }) => panel.type === 'heatmap') as (typeof panels)[number];
    const broken = { ...heatmap.panel, options: { ...heatmap.panel.options, ...wrong } } as Panel;
    expect(await compile([{ name: 'broken', panel: broken }])).toMatch(/cellGapp|sometimes/);
  },
  120_000,
);
