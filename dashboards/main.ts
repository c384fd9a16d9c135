import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { artefacts } from './artefacts.ts';
import { staleFiles, writeFiles } from './drift.ts';

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const root = fileURLToPath(new URL('..', import.meta.url));
const files = artefacts();

if (values.check) {
  const stale = await staleFiles(root, files);
  for (const path of stale) console.error(`stale: ${path}`);
  if (stale.length > 0) {
    console.error('Run `npm run dashboards` and commit what it writes.');
    process.exitCode = 1;
  }
} else {
  await writeFiles(root, files);
  for (const path of files.keys()) console.log(`wrote ${path}`);
}
