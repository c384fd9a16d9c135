import { appendFileSync, closeSync, fstatSync, openSync, renameSync } from 'node:fs';

/** Then the file is put aside under the name `….1`, in place of the one before it, and a new one begun. */
const MAX_BYTES = 16 * 1_048_576;

/**
 * Lines of a log in a file of bounded size, for a collector that reads files. A line is written before the call returns, so that the last
 * words of a process are there; what the disk refuses is lost, since there is nobody left to tell.
 *
 * @throws when the file cannot be opened
 */
export function openLogFile(path: string, maxBytes = MAX_BYTES): (line: string) => void {
  let file = openSync(path, 'a', 0o644);
  let bytes = fstatSync(file).size;
  return (line) => {
    try {
      if (bytes > 0 && bytes + Buffer.byteLength(line) > maxBytes) {
        renameSync(path, `${path}.1`);
        closeSync(file);
        file = openSync(path, 'a', 0o644);
        bytes = 0;
      }
      appendFileSync(file, line);
      bytes += Buffer.byteLength(line);
    } catch {
      // See above.
    }
  };
}
