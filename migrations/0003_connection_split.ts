import { type Kysely, sql } from 'kysely';

const COLUMNS = {
  connection_dns_ms: 'Looking up the name of the server (milliseconds).',
  connection_tcp_ms: 'Connecting to it (milliseconds).',
  connection_tls_ms: 'Agreeing on its encryption (milliseconds).',
  connection_wait_ms: "From the request's first byte to the first of the answer's head (milliseconds).",
} as const;

/**
 * How the client's connection was made, by the browser's own account; 0 where one was there already, null where nobody told. Columns that
 * are null cost a row nothing, and adding them rewrites nothing; for the same reason the old rows, in which they are null, are not checked.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const names = Object.keys(COLUMNS);
  const added = names.map((name) => `ADD COLUMN ${name} real`).join(', ');
  await sql`ALTER TABLE requests ${sql.raw(added)}`.execute(db);
  await sql`
    ALTER TABLE requests ADD CONSTRAINT connection_within_a_day CHECK (
      ${sql.raw(`least(${names.join(', ')}) >= 0 AND greatest(${names.join(', ')}) <= 86400000`)}) NOT VALID`.execute(
    db,
  );
  for (const [name, text] of Object.entries(COLUMNS)) {
    await sql`${sql.raw(`COMMENT ON COLUMN requests.${name} IS '${text.replaceAll("'", "''")}'`)}`.execute(db);
  }
}
