import { createTint } from '../commandLine/colour.ts';
import { runCommand } from '../commandLine/command.ts';
import { showWaiting } from '../commandLine/waiting.ts';
import { examine } from './examine.ts';
import { COMMAND, targetOf } from './options.ts';
import { renderFindings, renderJson } from './report.ts';

await runCommand(COMMAND, async (values) => {
  const waiting = showWaiting('looking');
  const findings = await examine(await targetOf(values, process.env), (check) => waiting.at(`looking at: ${check}`));
  waiting.end();
  process.stdout.write(
    values.json ? renderJson(findings) : renderFindings(findings, createTint(process.stdout, process.env)),
  );
  return findings.some(({ verdict }) => verdict === 'fault') ? 1 : 0;
});
