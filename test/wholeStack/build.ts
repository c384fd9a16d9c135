import { runCommand } from '../../commandLine/command.ts';
import { buildPrograms } from './buildPrograms.ts';

await runCommand(
  {
    name: 'npm run build:stack',
    summary: `Builds what npm run test:stack runs, as far as it is not built yet, and prints where it is. The first time it takes about eight
minutes of two cores, and needs Go and the Go module proxy.`,
    options: {},
    environment: 'XDG_CACHE_HOME (~/.cache): the programs stay in its folder firsttoken.',
    exitCodes: { 0: 'all are built', 1: 'Go is missing, or one was not built' },
  },
  async () => {
    const files = await buildPrograms((line) => process.stderr.write(`${line}\n`));
    process.stdout.write(`${Object.values(files).join('\n')}\n`);
    return 0;
  },
);
