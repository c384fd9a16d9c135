import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';

const SCRIPTS = path.join(import.meta.dirname, '../../provisioning/postgres');

/** The statements of a script that the database's image runs, as psql would send them. */
export async function statementsOf(script: string, password: string): Promise<string> {
  const text = await readFile(path.join(SCRIPTS, script), 'utf8');
  const [, statements] = /<<'SQL'\n([\s\S]*?)\nSQL\n/.exec(text)!;
  return statements!.replaceAll(":'password'", pg.escapeLiteral(password));
}

/** The same server's address, for one of those roles. */
export function asRole(url: string, role: string, password: string): string {
  const address = new URL(url);
  address.username = role;
  address.password = encodeURIComponent(password);
  return address.href;
}
