import { fencesOf } from './markdown.ts';

/** Programs whose name at the begin of a line makes it a command. A block marked as shell may begin with any. */
const PROGRAMS = [
  'npm',
  'npx',
  'node',
  'sh',
  'bash',
  'curl',
  'docker',
  'psql',
  'pg_dump',
  'pg_restore',
  'nginx',
  'promtool',
  'vllm',
  'git',
];
const COMMAND = new RegExp(`^(?:[A-Z][A-Z0-9_]*=\\S* )*(?:${PROGRAMS.join('|')}) `);
const SHELLS = ['sh', 'bash', 'shell', 'console'];

/**
 * The commands that a document tells its reader to type: lines of its shell blocks, and of unmarked and indented blocks that begin with
 * a program. A command over several lines is one. Comments are taken off.
 */
export function commandsOf(markdown: string): string[] {
  const fenced = fencesOf(markdown).flatMap(({ language, text }) => {
    if (SHELLS.includes(language)) return whole(text);
    return language === '' ? whole(text).filter((command) => COMMAND.test(`${command} `)) : [];
  });
  const outside = markdown.replace(/^```[\s\S]*?^```$/gm, '');
  const indented = [...outside.matchAll(/^ {4}(\S.*)$/gm)].map(([, line = '']) => line);
  return [...fenced, ...whole(indented.join('\n')).filter((command) => COMMAND.test(`${command} `))];
}

/** Puts together what a backslash, a pipe, or an open quote leaves unfinished at the end of a line. */
function whole(text: string): string[] {
  const commands: string[] = [];
  let open = '';
  for (const line of text.split('\n')) {
    open = open === '' ? line : `${open}\n${line}`;
    const bare = withoutComment(open);
    if (/\\$|\|$/.test(bare.trimEnd()) || isOpen(bare)) continue;
    if (bare.trim() !== '') commands.push(bare.trim());
    open = '';
  }
  if (open.trim() !== '') commands.push(open.trim());
  return commands;
}

function withoutComment(command: string): string {
  return command.replace(/(^|\s)#\s[^'"\n]*$/, '').trimEnd();
}

function isOpen(command: string): boolean {
  const quotes = command.replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"/g, '');
  return /['"]/.test(quotes);
}
