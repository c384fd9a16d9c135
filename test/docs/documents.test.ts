import { existsSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RUNBOOK } from '../../dashboards/config.ts';
import { ALERTS } from '../../dashboards/rules/alerts.ts';
import { anchorsOf, findDocuments, linksOf, ROOT, readText } from './markdown.ts';

const DOCUMENTS = findDocuments();
const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };

/** What is wrong with a link of a document; null when it leads somewhere, or out of the repository. */
function faultOf(document: string, link: string): string | null {
  if (/^[a-z][a-z+.-]*:/i.test(link)) return null;
  const [path = '', anchor] = decodeURIComponent(link).split('#');
  const target = path === '' ? document : normalize(join(dirname(document), path));
  if (target.startsWith('..') || path.startsWith('/')) return 'leads out of the repository';
  if (!existsSync(join(ROOT, target))) return 'leads to no file';
  if (anchor === undefined) return null;
  if (statSync(join(ROOT, target)).isDirectory() || !target.endsWith('.md'))
    return 'has an anchor into what is no document';
  return anchorsOf(readText(target)).has(anchor) ? null : 'leads to no heading';
}

test('the documents are found', () => {
  expect(DOCUMENTS).toEqual(expect.arrayContaining(['docs/concepts.md', 'middleware/node/README.md']));
});

describe.each(DOCUMENTS)('%s', (document) => {
  const text = readText(document);

  test('links only to files and headings that exist', () => {
    const faults = linksOf(text).map((link) => [link, faultOf(document, link)]);
    expect(faults.filter(([, fault]) => fault !== null)).toEqual([]);
  });

  test('names only npm scripts that exist', () => {
    const run = [...text.matchAll(/npm run (?:-s |--silent )?([\w:-]+)/g)].map((match) => match[1]!);
    const short = [...text.matchAll(/npm (start|test)\b/g)].map((match) => match[1]!);
    for (const script of [...run, ...short]) expect(Object.keys(scripts)).toContain(script);
  });

  test('names only files of the repository where it names a path of ours', () => {
    const paths = [
      ...text.matchAll(
        /`((?:contract|ingest|migrations|dashboards|provisioning|middleware|demo|test|docs)\/[\w./-]+)`/g,
      ),
    ];
    for (const [, path = ''] of paths) expect(existsSync(join(ROOT, path)), path).toBe(true);
  });
});

test('each alert has its chapter in the runbook', () => {
  const anchors = anchorsOf(readText(RUNBOOK));
  for (const { name } of ALERTS) expect(anchors).toContain(name.toLowerCase());
});
