import type pg from 'pg';
import type { Messages } from './messages.ts';

/** What one statement of a group came to: its rows as text, and PostgreSQL's word for it, such as `COMMIT`. */
export interface Answer {
  readonly rows: readonly (readonly (string | null)[])[];
  readonly command: string;
}

/**
 * Sends all messages at once and waits for the answers of all their statements: one write, one round trip. After a statement that
 * fails, PostgreSQL leaves out the rest of the group.
 *
 * The messages may be written anew once this has settled, either way: by then PostgreSQL has read them, or the connection is gone.
 *
 * @throws the first error of a statement, or of the connection
 */
export function runGroup(client: pg.Client, messages: Messages): Promise<Answer[]> {
  return new Promise((resolve, reject) => {
    client.query(new Group(messages.written(), resolve, reject));
  });
}

/** Prepares statements, by their names, for the life of the connection. */
export async function prepareStatements(
  client: pg.Client,
  messages: Messages,
  texts: Readonly<Record<string, string>>,
): Promise<void> {
  messages.clear();
  for (const [name, text] of Object.entries(texts)) messages.parse(name, text);
  messages.sync();
  await runGroup(client, messages);
}

/** What the driver calls a query of one's own making; it hands over every message until PostgreSQL is ready for the next. */
class Group implements pg.Submittable {
  /** The driver puts its own around it, which ends its time-out. */
  callback: (error: Error | null) => void;
  readonly #bytes: Buffer;
  readonly #answers: Answer[] = [];
  #rows: (string | null)[][] = [];

  constructor(bytes: Buffer, resolve: (answers: Answer[]) => void, reject: (error: Error) => void) {
    this.#bytes = bytes;
    this.callback = (error) => (error ? reject(error) : resolve(this.#answers));
  }

  submit(connection: pg.Connection): void {
    connection.stream.write(this.#bytes);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#answers.push({ rows: this.#rows, command: text });
    this.#rows = [];
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  // The driver may call these; nothing that a group sends brings them about.
  handleRowDescription(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}
