"""Spellings of trace ids, as ``contract/traceId.ts`` reads them."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from .limits import MAX_TRACE_ID_LENGTH

_HEX_32 = re.compile(r"[0-9a-fA-F]{32}")
_HEX_16 = re.compile(r"[0-9a-fA-F]{16}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_X_RAY = re.compile(r"1-([0-9a-fA-F]{8})-([0-9a-fA-F]{24})")
_NOTHING = re.compile(r"[0 -]*")
# Space to tilde: what can stand in a header and in a log line without being escaped.
_PRINTABLE = re.compile(r"[\x20-\x7e]+")
_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")


def trace_key(text: str) -> str | None:
    """Reads a trace id in any of the accepted spellings. Nothing is repaired or cut.

    Returns:
        The key that joins the halves of a request, 32 lower-case hex digits: of an id of a foreign form the first 16
        bytes of its SHA-256. None for what is no id.
    """
    if len(text) > MAX_TRACE_ID_LENGTH or _NOTHING.fullmatch(text) or not _PRINTABLE.fullmatch(text):
        return None
    x_ray = _X_RAY.fullmatch(text)
    if _HEX_32.fullmatch(text) or _HEX_16.fullmatch(text):
        key = text.lower().zfill(32)
    elif _UUID.fullmatch(text):
        key = text.replace("-", "").lower()
    elif x_ray:
        key = f"{x_ray[1]}{x_ray[2]}".lower()
    else:
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]
    return key if key.strip("0") else None


class Traceparent(NamedTuple):
    """The ids of a ``traceparent`` header."""

    #: 32 lower-case hex digits, not all zero.
    trace_id: str
    #: 16 lower-case hex digits, not all zero: the caller's span.
    parent_id: str


def parse_traceparent(header: str) -> Traceparent | None:
    """Reads a ``traceparent`` header as W3C Trace Context says.

    Version 00 has exactly four fields in lower case; of a later version the first four are read; version ff does not
    exist.
    See https://www.w3.org/TR/trace-context/#versioning-of-traceparent
    """
    fields = _TRACEPARENT.fullmatch(header.strip())
    if fields is None:
        return None
    version, trace_id, parent_id, rest = fields.groups()
    if version == "ff" or (version == "00" and rest is not None):
        return None
    if not trace_id.strip("0") or not parent_id.strip("0"):
        return None
    return Traceparent(trace_id, parent_id)
