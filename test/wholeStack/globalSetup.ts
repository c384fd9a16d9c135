import type { TestProject } from 'vitest/node';
import { buildPrograms } from './buildPrograms.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Files of the built programs, by name. */
    programs: Readonly<Record<string, string>>;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  project.provide('programs', await buildPrograms((line) => process.stderr.write(`${line}\n`)));
}
