import { buildPrograms } from './buildPrograms.ts';

/** Builds the programs of `npm run test:stack` beforehand, and says where they are. */
const files = await buildPrograms((line) => process.stderr.write(`${line}\n`));
process.stdout.write(`${Object.values(files).join('\n')}\n`);
