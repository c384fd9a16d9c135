"""Which trace a request belongs to."""

from __future__ import annotations

import secrets
from typing import NamedTuple
from urllib.parse import parse_qsl

from .asgi import Scope
from .trace_id import Traceparent, parse_traceparent, trace_key


class TraceIdentity(NamedTuple):
    """The id of a request's trace."""

    #: The id as it came, valid and printable: what is echoed and reported, so that every log has the same spelling.
    given: str
    #: 32 lower-case hex digits: what joins the halves.
    key: str
    #: The caller's span, where a ``traceparent`` of this trace named one.
    parent_span_id: str | None


def identify(scope: Scope) -> TraceIdentity:
    """Reads the id of an ASGI HTTP scope.

    In this order: ``X-Trace-ID``, ``traceparent``, ``X-Request-ID``, and last the query parameter ``trace_id``, which
    is all that an ``EventSource`` can send. An invalid or doubled one counts as absent; without any, the request gets a
    random id.
    """
    headers = _only_headers(scope)
    header = headers.get(b"traceparent")
    parent = None if header is None else parse_traceparent(header)
    return (
        _identity(headers.get(b"x-trace-id"), parent)
        or _identity(None if parent is None else parent.trace_id, parent)
        or _identity(headers.get(b"x-request-id"), parent)
        or _identity(_only_query_parameter(scope), parent)
        or _new_identity()
    )


def _identity(given: str | None, parent: Traceparent | None) -> TraceIdentity | None:
    key = None if given is None else trace_key(given)
    if given is None or key is None:
        return None
    # A parent of another trace would leave the span without one.
    of_parent = parent is not None and parent.trace_id == key
    return TraceIdentity(given, key, parent.parent_id if parent and of_parent else None)


def _new_identity() -> TraceIdentity:
    key = secrets.token_hex(16)
    return TraceIdentity(key, key, None)


_HEADERS = (b"x-trace-id", b"traceparent", b"x-request-id")


def _only_headers(scope: Scope) -> dict[bytes, str | None]:
    """A header on two lines is ambiguous, and counts as absent."""
    found: dict[bytes, str | None] = {}
    for each, value in scope["headers"]:
        name = each.lower()
        if name in _HEADERS:
            found[name] = None if name in found else value.decode("latin-1").strip(" \t")
    return found


def _only_query_parameter(scope: Scope) -> str | None:
    query: bytes = scope.get("query_string") or b""
    if b"trace_id" not in query:
        return None
    parameters = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    values = [value for name, value in parameters if name == "trace_id"]
    return values[0] if len(values) == 1 else None
