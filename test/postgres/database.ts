import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

export interface TestDatabase {
  url: string;
  /** Ends what is still connected, and removes the database. */
  drop(): Promise<void>;
}

/** A superuser's address of the run's PostgreSQL; its database is nobody's. */
export function adminUrl(): string {
  return inject('postgresUrl');
}

/** A new database with the current schema and no rows. */
export function createDatabase(): Promise<TestDatabase> {
  return copyOf(inject('templateDatabase'));
}

/** A new database without a schema. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return copyOf('template0');
}

async function copyOf(template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Copying files takes half as long as writing each page to the log, the default.
  await execute(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  const url = new URL(adminUrl());
  url.pathname = name;
  return { url: url.href, drop: () => execute(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function execute(statement: string): Promise<void> {
  const client = new pg.Client(adminUrl());
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
