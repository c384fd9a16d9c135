"""The ASGI middleware."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Callable

from .asgi import ASGIApp, Message, Receive, Scope, Send
from .current_request import current_facts
from .request_facts import RequestFacts
from .response_watch import ResponseWatch
from .sender import Sender
from .settings import read_settings
from .stamps import now_ns
from .tokens import TokenPreset
from .trace_identity import identify
from .trouble import guarded

#: Marks a scope that is observed already: the middleware may stand there twice.
_OBSERVED = "firsttoken.observed"


class FirstTokenMiddleware:
    """Observes every HTTP request that passes, and posts one record of each to the ingest in the background.

    Use it outside all other middleware, but inside whatever compresses, whose output it could not read. Scopes other
    than ``http`` pass untouched.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        ingest_url: str | None = None,
        token: str | None = None,
        hold_ms: float | None = None,
        tokens: str | TokenPreset | None = None,
        describe: Callable[[Scope], Mapping[str, Any]] | None = None,
        on_record: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        """Every argument may be left to the environment, which is all that ``vllm serve --middleware`` can give.

        Args:
            app: The ASGI app to observe.
            ingest_url: Where the ingest listens (``FIRSTTOKEN_INGEST_URL``). Without it only the headers are added.
            token: The ingest's write token (``FIRSTTOKEN_TOKEN``).
            hold_ms: Milliseconds that the start of a response may wait for the first chunk, so that the header tells
            more
                stamps (``FIRSTTOKEN_HOLD_MS``, 1000); 0 never holds it.
            tokens: Which events of a stream bear a token (``FIRSTTOKEN_TOKENS``, ``openai-chat``): ``openai-chat``,
                ``openai-responses``, ``anthropic``, ``raw``, or the app's own function.
            describe: Says what the request was; called once with its scope when the response is over. Without it
            ``route`` is
                the path template that a router left in the scope.
            on_record: Takes the finished record in place of the ingest; it must not block.

        Raises:
            ValueError: Names the argument or variable that is wrong.
        """
        settings = read_settings(ingest_url, token, hold_ms, tokens)
        self.app = app
        self._preset = settings.preset
        self._hold_s = settings.hold_s
        self._described = settings.described
        self._describe = describe or _route_of
        self._sender: Sender | None = None
        if on_record is None and settings.ingest_url is not None:
            self._sender = Sender(settings.ingest_url, settings.token)
        self._on_record = on_record or (self._sender.send if self._sender else None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One ASGI connection."""
        if scope["type"] == "lifespan" and self._sender is not None:
            await self.app(scope, receive, self._closing_at_shutdown(send, self._sender))
            return
        entered_at_ns = now_ns()
        if scope["type"] != "http" or _OBSERVED in scope:
            await self.app(scope, receive, send)
            return
        facts = guarded("internal", lambda: RequestFacts(identify(scope), entered_at_ns))
        if facts is None:
            await self.app(scope, receive, send)
            return
        # In place, since routers put what they find into this same mapping, and others look for it there.
        scope[_OBSERVED] = True
        await self._observe(facts, scope, receive, send)

    async def _observe(self, facts: RequestFacts, scope: Scope, receive: Receive, send: Send) -> None:
        watch = ResponseWatch(
            scope, send, facts, self._preset, self._hold_s, lambda status: self._report(facts, scope, status)
        )
        if not _has_body(scope):
            facts.stamps.end("receive")

        async def watched_receive() -> Message:
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body", False):
                facts.stamps.end("receive")
            elif message["type"] == "http.disconnect":
                watch.close()
            return message

        # Set in the app's own task, so that what the app sets is seen by whoever called us, and the other way round.
        before = current_facts.set(facts)
        try:
            await self.app(scope, watched_receive, watch.send)
        except BaseException as error:
            await watch.abandon(error)
            raise
        else:
            await watch.finish()
        finally:
            watch.close()
            # Closed from another context, there is no value of ours to take back.
            with contextlib.suppress(ValueError):
                current_facts.reset(before)

    def _report(self, facts: RequestFacts, scope: Scope, status: int | None) -> None:
        on_record = self._on_record
        if on_record is None:
            return
        said = guarded("option_failed", lambda: dict(self._describe(scope)))
        record = guarded("internal", lambda: facts.to_record(status, {**self._described, **(said or {})}))
        if record is not None:
            guarded("option_failed", lambda: on_record(record))

    def _closing_at_shutdown(self, send: Send, sender: Sender) -> Send:
        async def send_after_close(message: Message) -> None:
            if message["type"] in ("lifespan.shutdown.complete", "lifespan.shutdown.failed"):
                # After this message the server may end the process without running what is registered at exit.
                await _close(sender)
            await send(message)

        return send_after_close


async def _close(sender: Sender) -> None:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        sender.close()
    else:
        await loop.run_in_executor(None, sender.close)


def _route_of(scope: Scope) -> Mapping[str, Any]:
    return {"route": getattr(scope.get("route"), "path", None)}


def _has_body(scope: Scope) -> bool:
    """Whether a body is to come. HTTP/1 says so in the headers; in later versions one may come unannounced."""
    length = None
    for each, value in scope["headers"]:
        name = each.lower()
        if name == b"transfer-encoding":
            return True
        if name == b"content-length":
            length = value
    if length is not None:
        return bool(length.strip().strip(b"0"))
    return not str(scope.get("http_version", "1.1")).startswith("1") and scope["method"] not in (
        "GET",
        "HEAD",
        "OPTIONS",
    )
