import { fstatSync, truncateSync } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const LOOK_EVERY_MS = 100;
const PIECE_BYTES = 65_536;
const LINE_FEED = 10;

/** A file that another program writes lines to. */
export interface FollowedFile {
  /** Reads what is left, then stops. */
  close(): Promise<void>;
}

/**
 * Gives each whole line of a file as it is written, those that stand there already included. The file may not exist yet; one that is
 * replaced by another is not noticed.
 *
 * @param maxBytes when so much of it was read, the file is copied to `….1` and emptied: for a writer that only appends and never cuts
 */
export function followLines(file: string, onLine: (line: string) => void, maxBytes = Infinity): FollowedFile {
  const closing = new AbortController();
  let position = 0;
  let rest: Buffer = Buffer.alloc(0);

  const readOn = async (): Promise<void> => {
    const handle = await open(file).catch(() => undefined);
    if (!handle) return;
    try {
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, position);
        if (bytesRead === 0) {
          if (position < maxBytes) return;
          await copyFile(file, `${file}.1`);
          // In one breath: what is written between the two is lost.
          if (fstatSync(handle.fd).size > position) continue;
          truncateSync(file);
          position = 0;
          return;
        }
        position += bytesRead;
        rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
          onLine(rest.toString('utf8', 0, end));
          rest = rest.subarray(end + 1);
        }
      }
    } finally {
      await handle.close();
    }
  };
  const followed = (async () => {
    while (!closing.signal.aborted) {
      await readOn();
      await wait(LOOK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
    await readOn();
  })();
  return {
    async close() {
      closing.abort();
      await followed;
    },
  };
}
