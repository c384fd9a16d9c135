import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../commandLine/command.ts';
import { openApiDocument } from './document.ts';

const FILE = 'docs/openapi.json';

const COMMAND = {
  name: 'npm run openapi',
  summary: `Writes ${FILE}: the HTTP API as an OpenAPI 3.1 document, from the schemas that the service checks by.`,
  options: { check: { help: 'writes nothing; fails where the file differs' } },
  exitCodes: { 0: 'written, or nothing differs', 1: 'the file differs or cannot be written' },
};

await runCommand(COMMAND, async ({ check }) => {
  const file = fileURLToPath(new URL(`../${FILE}`, import.meta.url));
  const text = `${JSON.stringify(openApiDocument(), null, 2)}\n`;
  if (!check) {
    await writeFile(file, text);
    process.stdout.write(`wrote ${FILE}\n`);
    return 0;
  }
  if ((await readFile(file, 'utf8').catch(() => '')) === text) return 0;
  process.stderr.write(`stale: ${FILE}\nRun \`npm run openapi\` and commit what it writes.\n`);
  return 1;
});
