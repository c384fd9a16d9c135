"""The request that the running code serves, and what that code can say about it."""

from __future__ import annotations

import json
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Literal

from .request_facts import RequestFacts
from .stamps import now_ns
from .tokens import FIRSTTOKEN_EVENT
from .trouble import warn_once

#: Stages whose end only the app or its engine knows.
MarkedStage = Literal["preprocess", "kv_load", "first_token"]

_MARKED_STAGES = ("preprocess", "kv_load", "first_token")

#: Tasks and worker threads started by an endpoint inherit it.
current_facts: ContextVar[RequestFacts | None] = ContextVar("firsttoken_request", default=None)


def mark(stage: MarkedStage) -> bool:
    """A stage of the current request ends now: its stamp (t2, t3 or t4) is taken, once.

    Returns:
        Whether it was taken; not outside a request, a second time, after a later stage ended, or for another stage.
    """
    if stage not in _MARKED_STAGES:
        warn_once("field_ignored", f"firsttoken: mark takes one of {', '.join(_MARKED_STAGES)}, not {stage!r}")
        return False
    facts = current_facts.get()
    return facts is not None and facts.stamps.end(stage)


class span:  # noqa: N801 - it is called like a function
    """Measures a named piece of work inside the current request (``db``, ``retrieval`` …).

    ``with span("db"):`` or ``async with span("db"):``. Pieces of one name are added up, at most 16 names are kept;
    outside a request nothing happens. A piece is recorded when it ends, also by an exception, which passes through.
    """

    __slots__ = ("_facts", "_name", "_started_at_ns")

    def __init__(self, name: str) -> None:
        self._name = name
        self._facts: RequestFacts | None = None
        self._started_at_ns = 0

    def __enter__(self) -> None:
        # Here, not at the end: a generator may be finished in another context than it was started in.
        self._facts = current_facts.get()
        self._started_at_ns = now_ns()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._facts is not None:
            self._facts.add_sub_stage(self._name, now_ns() - self._started_at_ns)

    async def __aenter__(self) -> None:
        self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, traceback)


def describe(**fields: Any) -> None:
    """Says what the current request is: ``model``, ``route``, ``tier`` … Later values replace earlier ones.

    Nothing happens outside a request; a value that the ingest would refuse is left out.
    """
    facts = current_facts.get()
    if facts is not None:
        facts.describe(fields)


def current_trace_id() -> str | None:
    """The trace id of the current request: 32 lower-case hex digits, safe in a log line and an SQL comment.

    None outside a request.
    """
    facts = current_facts.get()
    return None if facts is None else facts.identity.key


def facts_event() -> str:
    """The stamps so far of the current request as a server-sent event; empty outside a request.

    For pages that read the stream with ``EventSource`` and so see no header: send it last. No ``onmessage`` handler
    sees it.
    """
    facts = current_facts.get()
    if facts is None:
        return ""
    data = {"trace_id": facts.identity.given, "timing_trace": str(facts.stamps)}
    return f"event: {FIRSTTOKEN_EVENT}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
