import type { ClientBase } from 'pg';
import * as catalogue from './schemaCatalogue.ts';

/**
 * The current schema as SQL text: readable, and the same for the same migrations on every machine. npm brings no pg_dump, so this
 * reads the catalogue. Partitions are left out: the service makes and drops them by the day.
 */
export async function describeSchema(client: ClientBase): Promise<string> {
  const sections = ['-- Written by `npm run schema` from the migrations. Do not edit.'];
  // One snapshot of everything.
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    for (const statement of STATEMENTS) {
      const { rows } = await client.query<{ text: string }>(statement);
      const texts = rows.map((row) => row.text.trimEnd());
      // Long definitions stand apart; comments and grants are lists.
      if (texts.length > 0) sections.push(texts.join(texts.some((text) => text.includes('\n')) ? '\n\n' : '\n'));
    }
  } finally {
    await client.query('ROLLBACK');
  }
  return `${sections.join('\n\n')}\n`;
}

/** What others need comes first, so that the text can be run on an empty database. */
const STATEMENTS = [
  catalogue.ENUMS,
  catalogue.functions({ ofTables: false }),
  catalogue.SEQUENCES,
  catalogue.TABLE_DEFINITIONS,
  catalogue.INDEXES,
  catalogue.VIEWS,
  catalogue.functions({ ofTables: true }),
  catalogue.TRIGGERS,
  catalogue.COMMENTS,
  catalogue.GRANTS,
];
