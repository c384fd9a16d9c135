import { HELP, parseArguments } from './arguments.ts';
import { runDemo } from './demo.ts';

const parsed = parseArguments(process.argv.slice(2));
if (parsed.kind === 'help') {
  process.stdout.write(HELP);
} else if (parsed.kind === 'faults') {
  for (const fault of parsed.faults) process.stderr.write(`npm run demo: ${fault}\n`);
  process.stderr.write('npm run demo -- --help lists what there is.\n');
  process.exitCode = 2;
} else {
  process.exitCode = await runDemo(parsed.options);
}
