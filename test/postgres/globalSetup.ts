import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbedded } from '../../ingest/store/embedded.ts';
import { migrate } from '../../migrations/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A superuser's address of the run's PostgreSQL. */
    postgresUrl: string;
    /** A database with the current schema and no rows, to be copied. */
    templateDatabase: string;
  }
}

/**
 * One PostgreSQL for the whole run: the embedded one, in a folder that goes with it, or that of TEST_DATABASE_URL (a superuser's
 * address), so that the same tests run on another version.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = process.env['TEST_DATABASE_URL'] ? given(process.env['TEST_DATABASE_URL']) : await embedded();
  const templateDatabase = `firsttoken_template_${process.pid}`;
  try {
    await execute(server.url, `CREATE DATABASE ${templateDatabase}`);
    const url = new URL(server.url);
    url.pathname = templateDatabase;
    await migrate(url.href);
  } catch (error) {
    await server.stop();
    throw error;
  }
  project.provide('postgresUrl', server.url);
  project.provide('templateDatabase', templateDatabase);
  return async () => {
    await execute(server.url, `DROP DATABASE ${templateDatabase} WITH (FORCE)`).finally(server.stop);
  };
}

interface Server {
  url: string;
  stop(): Promise<void>;
}

function given(url: string): Server {
  return { url, stop: () => Promise.resolve() };
}

async function embedded(): Promise<Server> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'firsttoken-test-'));
  try {
    const { url, stop } = await startEmbedded({ dataDir });
    // These data need to survive a kill of the server, not a power cut.
    await execute(url, 'ALTER SYSTEM SET fsync = off', 'SELECT pg_reload_conf()');
    return { url, stop: () => stop().then(() => rm(dataDir, { recursive: true, force: true })) };
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}

async function execute(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
