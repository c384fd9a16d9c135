"""Takes t5 and t6 and adds the two headers to one response, whose body stays as it is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from typing import Callable

from .answer_reader import MAX_KEPT_BYTES, AnswerReader
from .asgi import Message, Scope, Send
from .request_facts import RequestFacts
from .stamps import now_ns
from .tokens import TokenPreset
from .trouble import guarded, warn_once

_START = "http.response.start"
_BODY = "http.response.body"
# Servers that offer these extensions send a file themselves.
_FILE_BODIES = ("http.response.pathsend", "http.response.zerocopysend")


class ResponseWatch:
    """Stands between an app and the server's ``send``.

    The start of the response is held back until something follows it, so that the header tells the stamps taken by
    then: the first chunk (an empty one is the app's way to flush), any other message, the end of the app, or ``hold_s``
    seconds.
    """

    def __init__(
        self,
        scope: Scope,
        send: Send,
        facts: RequestFacts,
        preset: TokenPreset,
        hold_s: float,
        on_closed: Callable[[int | None], None],
    ) -> None:
        """``on_closed`` is called once, with the status if a response was started."""
        self._method: str = scope["method"]
        self._forward = send
        self._facts = facts
        self._preset = preset
        self._hold_s = hold_s
        self._on_closed = on_closed
        self._held: Message | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._releasing: asyncio.Task[None] | None = None
        self._answer: AnswerReader | None = None
        self._status: int | None = None
        self._closed = False
        # The start has left and nothing is to be stamped any more.
        self._passing = False
        # Takes the chunks of then.
        self._keep: Callable[[bytes], None] | None = None

    def send(self, message: Message) -> Awaitable[None]:
        """What the app calls in place of the server's ``send``."""
        keep = self._keep
        if keep is not None and message["type"] == _BODY and message.get("more_body", False):
            # Nearly all chunks: there is nothing to stamp any more, and no coroutine of ours in the way.
            body = message.get("body", b"")
            if type(body) is bytes and len(body) <= MAX_KEPT_BYTES:
                keep(body)
                return self._forward(message)
        return self._send(message)

    async def _send(self, message: Message) -> None:
        if self._passing and message["type"] == _BODY:
            await self._pass_on(message)
            return
        if self._releasing is not None:
            # The start is on its way out, and nothing may overtake it; what it raises is what the app would have got.
            await asyncio.shield(self._releasing)
        kind = message["type"]
        if kind == _START and self._status is None and guarded("internal", lambda: self._take_start(message)):
            if not self._start_timer():
                await self.release()
            return
        if kind == _BODY or kind in _FILE_BODIES:
            await self._send_body(message, kind)
            return
        await self.release()
        await self._forward(message)

    async def release(self) -> None:
        """Forwards the start that is held, if any, with the stamps there are."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        held, self._held = self._held, None
        if held is not None:
            await self._forward(guarded("internal", lambda: self._with_headers(held)) or held)

    async def finish(self) -> None:
        """The app has returned: what it left unfinished is the server's to judge."""
        if self._releasing is not None:
            await self._releasing
        await self.release()
        self.close()

    async def abandon(self, error: BaseException) -> None:
        """The app has failed. Without us its start would have left by now, so it leaves."""
        if self._status is None and isinstance(error, Exception):
            # Every server answers so; the answer itself is made outside of us.
            self._status = 500
        if not isinstance(error, GeneratorExit):
            with contextlib.suppress(Exception):
                await self.release()
        self.close()

    def close(self) -> None:
        """The response is over, or its client has left."""
        if self._closed:
            return
        self._closed = True
        answer, self._keep = self._answer, None
        if answer is not None:
            guarded("internal", answer.finish)
            self._facts.usage = answer.usage
            self._facts.engine = answer.engine
        self._on_closed(self._status)

    def _take_start(self, message: Message) -> bool:
        status: int = message["status"]
        headers = list(message.get("headers") or ())
        self._answer = AnswerReader(self._method, status, headers, self._preset)
        self._status = status
        self._held = {**message, "headers": headers}
        return True

    def _start_timer(self) -> bool:
        """Returns whether the start may be held. Without an event loop of asyncio's nobody would let it go in time."""
        if self._hold_s == 0:
            return False
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return False
        self._timer = loop.call_later(self._hold_s, self._on_hold_over, loop)
        return True

    def _on_hold_over(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._releasing = loop.create_task(self.release())
        # What it raises is given to the app's next call; where there is none, nobody need be told that it was not
        # retrieved.
        self._releasing.add_done_callback(lambda task: task.cancelled() or task.exception())

    def _with_headers(self, start: Message) -> Message:
        others = [(name, value) for name, value in start["headers"] if bytes(name).lower() != b"x-timing-trace"]
        ours = [(b"x-timing-trace", str(self._facts.stamps).encode("ascii"))]
        given = self._facts.identity.given
        named = any(bytes(name).lower() == b"x-trace-id" for name, _ in others)
        # An app that names the trace itself has its reasons. Outer blanks can stand in a query, not in a header.
        if not named and given == given.strip():
            ours.append((b"x-trace-id", given.encode("ascii")))
        return {**start, "headers": [*others, *ours]}

    async def _send_body(self, message: Message, kind: str) -> None:
        chunk = message.get("body", b"") if kind == _BODY else b"file"
        answer = self._answer
        entered_at_ns = now_ns()
        bears_token = False
        if answer is not None and chunk and not self._closed:
            bears_token = guarded("internal", lambda: answer.read(chunk)) is True
        if bears_token:
            self._facts.stamps.end("serialize", entered_at_ns)
        await self.release()
        await self._forward(message)
        if bears_token:
            self._facts.stamps.end("send")
            self._passing = True
            self._keep = None if answer is None or self._closed else answer.keep
        if kind == _BODY and not message.get("more_body", False) and self._status is not None:
            self.close()

    async def _pass_on(self, message: Message) -> None:
        # The chunk leaves first, then it is searched for usage.
        await self._forward(message)
        answer = self._answer
        if answer is not None and answer.goes_on and not self._closed:
            try:
                answer.read_on(message.get("body", b""))
            except Exception as error:
                warn_once("internal", f"firsttoken: {type(error).__name__}: {error}")
        if not message.get("more_body", False):
            self.close()
