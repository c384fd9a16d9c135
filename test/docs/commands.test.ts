import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { commandsOf } from './commands.ts';
import { findDocuments, ROOT, readText } from './markdown.ts';

describe('commandsOf', () => {
  test.each([
    ['```sh\necho one\necho two\n```\n', ['echo one', 'echo two']],
    ['```\nnpm ci   # once\n```\n', ['npm ci']],
    ['```\njust a drawing\n```\n', []],
    ['```json\nnpm ci\n```\n', []],
    ["```sh\ncurl x -d '{\n  1}'\n```\n", ["curl x -d '{\n  1}'"]],
    ['```sh\na \\\n  b |\n  c\n```\n', ['a \\\n  b |\n  c']],
    ['text\n\n    npm run demo\n    location / {\n', ['npm run demo']],
    ['```\nTOKEN=x A=1 npm start\n```\n', ['TOKEN=x A=1 npm start']],
  ])('%j', (markdown, commands) => expect(commandsOf(markdown)).toEqual(commands));
});

const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
const helps = new Map<string, string>();

/** What a script of ours says on `--help`; null for programs of npm packages. */
function helpOf(script: string): string | null {
  const file = /^node --import tsx (\S+)/.exec(scripts[script] ?? '')?.[1];
  if (file === undefined) return null;
  const known = helps.get(script);
  if (known !== undefined) return known;
  const { stdout } = spawnSync(process.execPath, ['--import', 'tsx', file, '--help'], { cwd: ROOT, encoding: 'utf8' });
  helps.set(script, stdout);
  return stdout;
}

describe.each(findDocuments())('%s', (document) => {
  test('its commands are shell', { timeout: 30_000 }, () => {
    for (const command of commandsOf(readText(document))) {
      const { status, stderr } = spawnSync('bash', ['-n', '-c', command], { encoding: 'utf8' });
      expect([command, status, stderr]).toEqual([command, 0, '']);
    }
  });

  test('gives scripts of ours only options that they have', { timeout: 60_000 }, () => {
    const used = [...readText(document).matchAll(/npm (?:run )?([\w:-]+) -- ([^`\n]*)/g)];
    for (const [, script = '', rest = ''] of used) {
      const help = helpOf(script);
      if (help === null) continue;
      for (const [option] of rest.matchAll(/--[a-z][\w-]*/g))
        expect(help, `${script} in ${document}`).toContain(option);
    }
  });
});
