"""Looks for tokens in the body of one response."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from .sse import SseEvent, SseReader
from .tokens import TOKEN_PRESETS, EngineTimes, TokenPreset, TokenUsage
from .trouble import guarded

_EVENT_STREAM = re.compile(rb"text/event-stream\b", re.IGNORECASE)
#: Chunks that are kept to be searched at the end. A longer one is searched at once: no stream holds much memory.
_LAST_CHUNKS = 32
MAX_KEPT_BYTES = 16_384


class AnswerReader:
    """How a body is read depends on the start of its response.

    In an event stream the preset decides which events bear a token. Any other body is the answer itself, so its first
    byte counts. Nothing counts in what is no answer (an error, a redirect, no body), nor in a compressed event stream,
    whose first bytes may be anything.
    """

    def __init__(self, method: str, status: int, headers: Iterable[tuple[bytes, bytes]], preset: TokenPreset) -> None:
        content_type = encoding = b""
        for name, value in headers:
            lower = bytes(name).lower()
            if lower == b"content-type":
                content_type = bytes(value)
            elif lower == b"content-encoding":
                encoding = bytes(value)
        is_answer = method != "HEAD" and 200 <= status <= 299 and status != 204
        is_stream = _EVENT_STREAM.match(content_type) is not None
        is_plain_text = encoding.lower() in (b"", b"identity")
        self._counts_first_byte = is_answer and not is_stream
        self._stream = SseReader(self._on_event) if is_answer and is_stream and is_plain_text else None
        self._preset = preset
        # After the first token only the usage is of interest, which every API sends with its last events, and looking
        # for it in each chunk would cost the app time. Where an app's own function finds its usage is unknown.
        self._is_ours = preset in TOKEN_PRESETS.values()
        self._kept: deque[bytes] = deque(maxlen=_LAST_CHUNKS)
        self.token_seen = False
        self.usage: TokenUsage = {}
        self.engine: EngineTimes | None = None
        #: Whether chunks after the first token can still tell something.
        self.goes_on = self._stream is not None
        #: Takes a chunk after the first token in place of :meth:`read_on`, where that is a quick thing to do.
        self.keep = self._kept.append if self.goes_on and self._is_ours else None

    def read(self, chunk: bytes | bytearray | memoryview) -> bool:
        """Takes the next non-empty chunk. Returns whether a token was seen up to here."""
        if self._stream is None:
            self.token_seen = self._counts_first_byte
            return self.token_seen
        self._stream.push(bytes(chunk))
        return self.token_seen

    def read_on(self, chunk: bytes | bytearray | memoryview) -> None:
        """The same after the first token. What can change later, or takes much memory, is not kept but read now."""
        if self._stream is None:
            return
        if self._is_ours and type(chunk) is bytes and len(chunk) <= MAX_KEPT_BYTES:
            self._kept.append(chunk)
            return
        self._read_kept()
        self._stream.push(bytes(chunk))

    def finish(self) -> None:
        """The body is over: ``usage`` and ``engine`` have what it told."""
        self._read_kept()

    def _read_kept(self) -> None:
        """What stands half-read at its beginning is no field that has a name, or no JSON that parses."""
        text = b"".join(self._kept)
        self._kept.clear()
        stream = self._stream
        if stream is None or (stream.between_events and text[-2:] == b"\n\n" and b"usage" not in text):
            return
        stream.push(text)

    def _on_event(self, event: SseEvent) -> None:
        if self.token_seen and self._is_ours and "usage" not in event.data:
            return
        facts = guarded("option_failed", lambda: self._preset(event))
        if facts is None:
            return
        self.token_seen = self.token_seen or facts.token
        if facts.usage:
            self.usage = {**self.usage, **facts.usage}
        self.engine = facts.engine or self.engine
