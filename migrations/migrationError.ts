/** The schema could not be brought up to date; the message says which migration and why, or what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}
