import { writeFile } from 'node:fs/promises';
import { runCommand } from '../../commandLine/command.ts';
import { COMMAND, SHORT_MINUTES } from './arguments.ts';
import { Progress } from './progress.ts';
import { isKept, reportOf } from './report.ts';
import { run } from './run.ts';

await runCommand(COMMAND, async (given) => {
  const stop = new AbortController();
  // The first Ctrl-C ends the faults; the checks are made all the same. The second ends it all.
  process.once('SIGINT', () => {
    stop.abort();
    process.once('SIGINT', () => process.exit(1));
  });
  const progress = new Progress();
  try {
    const result = await run(
      {
        forMs: (given.short ? SHORT_MINUTES : (given.minutes ?? 10)) * 60_000,
        rate: given.rate ?? 500,
        seed: given.seed ?? 7,
        short: given.short,
        calm: given.calm,
        spool: !given['without-spool'],
        without: new Set(given.without ?? []),
      },
      progress,
      stop.signal,
    );
    progress.close();
    const report = reportOf(result);
    if (given.report === undefined) process.stdout.write(report);
    else await writeFile(given.report, report);
    return isKept(result) ? 0 : 1;
  } finally {
    progress.close();
  }
});
