import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { runCommand } from '../commandLine/command.ts';
import { showWaiting } from '../commandLine/waiting.ts';
import { startEmbedded } from '../ingest/store/embedded.ts';
import { describeSchema } from './describeSchema.ts';
import { migrate } from './migrate.ts';

/** The schema that all migrations together make, for people to read; nothing runs it. */
export const SCHEMA_FILE = path.join(import.meta.dirname, 'schema.sql');

/** Runs the migrations on a throw-away server and describes what they made. */
export async function dumpSchema(): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-schema-'));
  try {
    const server = await startEmbedded({ dataDir });
    try {
      await migrate(server.url);
      const client = new pg.Client(server.url);
      await client.connect();
      return await describeSchema(client).finally(() => client.end());
    } finally {
      await server.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The first line in which the two differ, or undefined where they do not. */
export function firstDifference(committed: string, actual: string): string | undefined {
  if (committed === actual) return undefined;
  const [before, after] = [committed.split('\n'), actual.split('\n')];
  const line = after.findIndex((text, index) => text !== before[index]);
  const at = line === -1 ? after.length : line;
  return `line ${at + 1}:\n- ${before[at] ?? '(end of the file)'}\n+ ${after[at] ?? '(end of the file)'}`;
}

const COMMAND = {
  name: 'npm run schema',
  summary: 'Writes migrations/schema.sql: what all migrations together make, on a throw-away PostgreSQL.',
  options: { check: { help: 'writes nothing; shows the first difference' } },
  exitCodes: { 0: 'written, or nothing differs', 1: 'the file differs, or PostgreSQL did not start' },
};

async function main({ check }: { readonly check: boolean }): Promise<number> {
  const waiting = showWaiting('running the migrations on a throw-away PostgreSQL');
  const actual = await dumpSchema().finally(() => waiting.end());
  if (!check) {
    await writeFile(SCHEMA_FILE, actual);
    console.log('wrote migrations/schema.sql');
    return 0;
  }
  const difference = firstDifference(await readFile(SCHEMA_FILE, 'utf8').catch(() => ''), actual);
  if (difference === undefined) return 0;
  console.error(
    `migrations/schema.sql is not what the migrations make; run npm run schema. The first difference is in ${difference}`,
  );
  return 1;
}

if (process.argv[1] === import.meta.filename) await runCommand(COMMAND, main);
