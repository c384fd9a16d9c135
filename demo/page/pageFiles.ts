import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { SCENARIO_NAMES, scenarioOf } from '../scenarios.ts';
import type { PageSettings } from './pageSettings.ts';

/** What a user does, and not the server: the page has buttons of its own for it. */
const USERS_OWN = ['abort', 'hide'];

/**
 * The files of the chat page, by their paths; the SDK is built in. None where the program that builds it is not installed.
 *
 * @param ingestUrl where its beacons go
 */
export async function buildPage(
  ingestUrl: string,
  collectingPrefix: string,
): Promise<ReadonlyMap<string, string> | null> {
  // A dependency for development, which an installation for production lacks.
  const builder = await import('esbuild').catch(() => null);
  if (builder === null) return null;
  const { outputFiles } = await builder.build({
    entryPoints: [fileURLToPath(new URL('chat.ts', import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
  });
  const settings: PageSettings = {
    endpoint: `${ingestUrl}/v1/beacons`,
    collectingPrefix,
    scenarios: SCENARIO_NAMES.map((name) => ({ name, ...scenarioOf(name) }))
      .filter(({ interruption }) => !USERS_OWN.includes(interruption ?? ''))
      .map(({ name, about, weight }) => ({ name, about, weight })),
  };
  const html = await readFile(new URL('chat.html', import.meta.url), 'utf8');
  return new Map([
    // A closing tag in a text would end the script element.
    ['index.html', html.replace('SETTINGS', () => JSON.stringify(settings).replaceAll('<', '\\u003c'))],
    ['chat.js', outputFiles[0]!.text],
  ]);
}
