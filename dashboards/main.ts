import { fileURLToPath } from 'node:url';
import { runCommand } from '../commandLine/command.ts';
import { artefacts } from './artefacts.ts';
import { staleFiles, writeFiles } from './drift.ts';

const COMMAND = {
  name: 'npm run dashboards',
  summary: 'Writes the dashboards, rule files and alerting file under provisioning/ from the code in dashboards/.',
  options: { check: { help: 'writes nothing; names the files that differ' } },
  exitCodes: { 0: 'written, or nothing differs', 1: 'files differ or cannot be written' },
};

await runCommand(COMMAND, async ({ check }) => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const files = artefacts();
  if (!check) {
    await writeFiles(root, files);
    for (const path of files.keys()) console.log(`wrote ${path}`);
    return 0;
  }
  const stale = await staleFiles(root, files);
  for (const path of stale) console.error(`stale: ${path}`);
  if (stale.length === 0) return 0;
  console.error('Run `npm run dashboards` and commit what it writes.');
  return 1;
});
