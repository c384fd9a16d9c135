import { MAX_LABEL_VALUES, MAX_TEXT_LENGTH } from '../contract/limits.ts';
import { ConfigError, readConfig } from '../ingest/config.ts';
import { VARIABLES, type VariableName } from '../ingest/variables.ts';

/** Values that no variable takes, unless it takes any. */
const WRONG = ['¤', Array.from({ length: MAX_LABEL_VALUES + 1 }, (_, n) => n).join(), 'x'.repeat(MAX_TEXT_LENGTH + 1)];

/** docs/configuration.md: names, defaults and what each variable must be, as the service itself says it of a wrong value. */
export function configurationDocument(): string {
  const rows = (Object.keys(VARIABLES) as VariableName[]).map((name) => {
    const { standard, about } = VARIABLES[name];
    return `| \`${name}\` | ${standard === null ? 'unset' : `\`${standard}\``} | ${demandOf(name)} | ${about} |`;
  });
  return `# Configuration

<!-- \`npm run configuration\` writes this file, from ingest/variables.ts and ingest/config.ts. -->

The service reads the environment once, at its start. An empty value counts as unset. A wrong one stops the start, and all wrong ones are named at once,
without their values. What \`npm start\` starts beside the service are options: \`npm start -- --help\`.

| variable | default | it must | meaning |
|---|---|---|---|
${rows.join('\n')}

Compose sets these itself; what it leaves to you stands in \`.env\`, with a word on each in \`.env.example\`. The middleware has its own settings:
[Node](../middleware/node/README.md), [Python](../middleware/python/README.md). For the browser SDK: [settings](browser.md).
`;
}

/** What follows on "must" in the faults of wrong values; any text where there is none. */
function demandOf(name: VariableName): string {
  const demands = WRONG.flatMap((value) => faultsOf({ [name]: value })).flatMap((fault) =>
    fault.startsWith(`${name} must `) ? [fault.slice(name.length + ' must '.length)] : [],
  );
  return demands.length === 0 ? 'be any text' : [...new Set(demands)].join('; ');
}

function faultsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}
