"""Reads ``X-Timing-Trace`` in assertions."""

from __future__ import annotations


def stamps_of(trace: str) -> list[int]:
    return [int(stamp) for stamp in trace.split(",")]


def taken(trace: str) -> str:
    """The positions of the stamps that were taken, and a dash for each other."""
    return "".join(str(at) if stamp else "-" for at, stamp in enumerate(stamps_of(trace)))
