import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Every document of the repository, as paths from its root. Hidden folders and what npm brought are not ours. */
export function findDocuments(folder = ''): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return entry.name.startsWith('.') || entry.name === 'node_modules' ? [] : findDocuments(path);
    return entry.name.endsWith('.md') && existsSync(join(ROOT, path)) ? [path] : [];
  });
}

export interface Fence {
  readonly language: string;
  readonly text: string;
}

/** Blocks of code, in order. */
export function fencesOf(markdown: string): Fence[] {
  return [...markdown.matchAll(/^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
}

export function withoutFences(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```$/gm, '');
}

/** The anchors that GitHub makes of the headings: lower case, punctuation gone, blanks as dashes, numbered when repeated. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutFences(markdown).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = words.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
    let unique = anchor;
    for (let number = 1; anchors.has(unique); number++) unique = `${anchor}-${number}`;
    anchors.add(unique);
  }
  return anchors;
}

/** Targets of links and images, without code. */
export function linksOf(markdown: string): string[] {
  const prose = withoutFences(markdown).replaceAll(/`[^`\n]*`/g, '');
  const inline = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)];
  const references = [...prose.matchAll(/^\[[^\]]+\]: +(\S+)/gm)];
  return [...inline, ...references].map((match) => match[1]!);
}

/** The text of one section, from its heading to the next of the same or a higher level. */
export function sectionOf(markdown: string, heading: string): string {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => line.startsWith('#') && line.replace(/^#+ /, '') === heading);
  if (start < 0) throw new Error(`there is no heading "${heading}"`);
  const level = /^#+/.exec(lines[start]!)![0].length;
  const next = lines.findIndex((line, index) => {
    const hashes = /^#+(?= )/.exec(line)?.[0].length;
    return index > start && hashes !== undefined && hashes <= level;
  });
  return lines.slice(start + 1, next < 0 ? lines.length : next).join('\n');
}

/** The cells of the first table of a text whose first column has this title, without its head. Code marks are taken off. */
export function tableOf(markdown: string, firstTitle: string): string[][] {
  const lines = markdown.split('\n');
  const head = lines.findIndex((line) => line.startsWith(`| ${firstTitle} |`));
  if (head < 0) throw new Error(`there is no table whose first column is "${firstTitle}"`);
  const rows: string[][] = [];
  for (const line of lines.slice(head + 2)) {
    if (!line.startsWith('|')) break;
    const cells = line.split('|').slice(1, -1);
    rows.push(cells.map((cell) => cell.replaceAll('`', '').trim()));
  }
  return rows;
}
