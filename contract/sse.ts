/** One event of a `text/event-stream`, as its blank line dispatched it. */
export interface SseEvent {
  /** The event's type; `message` where the stream names none. */
  readonly event: string;
  /** Its `data` lines, joined by line feeds. Empty for a bare `data` line. */
  readonly data: string;
  /** The last id that the stream has set so far, which later events inherit; undefined before the first. */
  readonly id: string | undefined;
}

export interface SseReader {
  /** Takes the next bytes, cut anywhere; calls `onEvent` for each event that they complete, before it returns. */
  push(bytes: Uint8Array): void;
  /** The stream is over: what stands half-read is discarded, as the standard says. */
  end(): void;
}

/** Characters of one event; a longer one is dropped up to its blank line, so that no stream can fill the memory. */
export const MAX_SSE_EVENT_CHARACTERS = 1_048_576;

const LINE_END = /\r\n?|\n/g;

/**
 * Reads Server-Sent Events from bytes. An event exists when its blank line has arrived, not when the next byte comes: a CR that
 * ends the blank line dispatches at once, and a line feed that follows it in the next chunk is swallowed.
 *
 * @param onEvent must not throw: the rest of the bytes just pushed would be lost
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export function createSseReader(
  onEvent: (event: SseEvent) => void,
  maxEventCharacters: number = MAX_SSE_EVENT_CHARACTERS,
): SseReader {
  // One decoder for the whole stream keeps half characters between chunks and removes one byte order mark at the start.
  const decoder = new TextDecoder();
  let line = '';
  let data: string | undefined;
  let event = '';
  let id: string | undefined;
  let afterCr = false;
  let oversize = false;

  const append = (text: string): void => {
    // The same test on a part of a line and on the whole of it, so that the cut of the chunks decides nothing.
    if ((data?.length ?? 0) + line.length + text.length > maxEventCharacters) {
      oversize = true;
      data = undefined;
    }
    // While dropping, all that matters is whether the line is blank.
    line = oversize ? (line + text).slice(0, 1) : line + text;
  };

  const readField = (): void => {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') data = data === undefined ? value : `${data}\n${value}`;
    else if (name === 'event') event = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
  };

  const endLine = (): void => {
    if (line !== '') {
      if (!oversize) readField();
      line = '';
      return;
    }
    const complete = oversize || data === undefined ? undefined : { event: event || 'message', data, id };
    data = undefined;
    event = '';
    oversize = false;
    if (complete) onEvent(complete);
  };

  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      if (text === '') return;
      let start = afterCr && text[0] === '\n' ? 1 : 0;
      afterCr = text.endsWith('\r');
      LINE_END.lastIndex = start;
      for (let found = LINE_END.exec(text); found; found = LINE_END.exec(text)) {
        const next = LINE_END.lastIndex;
        append(text.slice(start, found.index));
        endLine();
        start = next;
        // `onEvent` may run another reader, which shares the expression.
        LINE_END.lastIndex = next;
      }
      append(text.slice(start));
    },
    end() {
      decoder.decode();
      line = '';
      data = undefined;
      event = '';
      afterCr = oversize = false;
    },
  };
}
