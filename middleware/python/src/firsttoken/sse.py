"""Server-sent events from bytes, as ``contract/sse.ts`` reads them."""

from __future__ import annotations

import re
from typing import Callable, NamedTuple

from .limits import MAX_SSE_EVENT_BYTES

_LINE_END = re.compile(rb"\r\n?|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class SseEvent(NamedTuple):
    """One event of a ``text/event-stream``, as its blank line dispatched it."""

    #: The event's type; ``message`` where the stream names none.
    event: str
    #: Its ``data`` lines, joined by line feeds. Empty for a bare ``data`` line.
    data: str
    #: The last id that the stream has set so far, which later events inherit; None before the first.
    id: str | None = None


class SseReader:
    """Reads a stream that is cut anywhere.

    An event exists when its blank line has arrived, not when the next byte comes: a CR that ends the blank line
    dispatches at once, and a line feed that follows it in the next chunk is swallowed. Lines are found in the bytes and
    decoded whole, since no byte of a multi-byte character looks like a line end.
    See https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
    """

    def __init__(self, on_event: Callable[[SseEvent], None], max_event_bytes: int = MAX_SSE_EVENT_BYTES) -> None:
        """``on_event`` must not raise: the rest of the bytes just pushed would be lost."""
        self._on_event = on_event
        self._max_event_bytes = max_event_bytes
        self._id: str | None = None
        self._reset()

    def _reset(self) -> None:
        self._line = b""
        self._data: bytes | None = None
        self._event = ""
        self._first_line = True
        self._after_cr = False
        self._oversize = False
        #: Whether the last byte ended an event or a line that said nothing.
        self.between_events = True

    def push(self, chunk: bytes) -> None:
        """Takes the next bytes; calls ``on_event`` for each event that they complete, before it returns."""
        if not chunk:
            return
        if self.between_events and self._is_one_simple_event(chunk):
            self._first_line = self._after_cr = False
            value = chunk[6:-2] if chunk[5:6] == b" " else chunk[5:-2]
            self._on_event(SseEvent("message", value.decode("utf-8", "replace"), self._id))
            return
        start = 1 if self._after_cr and chunk.startswith(b"\n") else 0
        self._after_cr = chunk.endswith(b"\r")
        for found in _LINE_END.finditer(chunk, start):
            self._append(chunk[start : found.start()])
            self._end_line()
            start = found.end()
        self._append(chunk[start:])
        self.between_events = not (self._line or self._data is not None or self._event or self._oversize)

    def _is_one_simple_event(self, chunk: bytes) -> bool:
        """One event of one ``data`` line: most streams are written so, and it is many times as fast to read."""
        return (
            chunk.startswith(b"data:")
            and chunk.endswith(b"\n\n")
            and chunk.count(b"\n") == 2
            and b"\r" not in chunk
            and len(chunk) <= self._max_event_bytes
        )

    def end(self) -> None:
        """The stream is over: what stands half-read is discarded, as the standard says."""
        self._reset()

    def _append(self, part: bytes) -> None:
        # The same test on a part of a line and on the whole of it, so that the cut of the chunks decides nothing.
        if len(self._data or b"") + len(self._line) + len(part) > self._max_event_bytes:
            self._oversize = True
            self._data = None
        # While dropping, all that matters is whether the line is blank.
        self._line = (self._line + part)[:1] if self._oversize else self._line + part

    def _end_line(self) -> None:
        line, self._line = self._line, b""
        if self._first_line:
            self._first_line = False
            if line.startswith(_BYTE_ORDER_MARK):
                line = line[len(_BYTE_ORDER_MARK) :]
        if line:
            if not self._oversize:
                self._read_field(line)
            return
        data, event = self._data, self._event
        complete = data is not None and not self._oversize
        self._data, self._event, self._oversize = None, "", False
        if complete and data is not None:
            self._on_event(SseEvent(event or "message", data.decode("utf-8", "replace"), self._id))

    def _read_field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if value.startswith(b" "):
            value = value[1:]
        if name == b"data":
            self._data = value if self._data is None else b"%b\n%b" % (self._data, value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
