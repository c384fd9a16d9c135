import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../commandLine/command.ts';
import { configurationDocument } from './document.ts';

const FILE = 'docs/configuration.md';

const COMMAND = {
  name: 'npm run configuration',
  summary: `Writes ${FILE}: every variable of the service, with its default and what it must be, from the code that reads them.`,
  options: { check: { help: 'writes nothing; fails where the file differs' } },
  exitCodes: { 0: 'written, or nothing differs', 1: 'the file differs or cannot be written' },
};

await runCommand(COMMAND, async ({ check }) => {
  const file = fileURLToPath(new URL(`../${FILE}`, import.meta.url));
  const text = configurationDocument();
  if (!check) {
    await writeFile(file, text);
    process.stdout.write(`wrote ${FILE}\n`);
    return 0;
  }
  if ((await readFile(file, 'utf8').catch(() => '')) === text) return 0;
  process.stderr.write(`stale: ${FILE}\nRun \`npm run configuration\` and commit what it writes.\n`);
  return 1;
});
