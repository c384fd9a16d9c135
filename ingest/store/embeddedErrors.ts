/** Another live PostgreSQL server works in the data folder. Two on one folder would destroy it. */
export class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError';
  readonly folder: string;
  /** The server that owns the folder. */
  readonly pid: number;

  constructor(folder: string, pid: number) {
    super(
      `${folder} is in use by the PostgreSQL server with process id ${pid}. Stop the Firsttoken that runs with this folder, ` +
        `or give this one another DATA_DIR. If none runs any more, end its server with: kill -INT ${pid}`,
    );
    this.folder = folder;
    this.pid = pid;
  }
}

/** The embedded server could not be made or started, or has ended without having been asked to. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  /** `output` is the end of what the program printed; it usually names the cause (a full disk, a missing library). */
  constructor(message: string, options: { output?: string; cause?: unknown } = {}) {
    const output = options.output?.trim();
    super(output ? `${message}\n${lastLines(output)}` : message, 'cause' in options ? { cause: options.cause } : {});
  }
}

const OUTPUT_LINES = 15;

function lastLines(text: string): string {
  return text.split('\n').slice(-OUTPUT_LINES).join('\n');
}
