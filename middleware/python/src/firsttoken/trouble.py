"""What goes wrong here never reaches the app; it is said once and forgotten."""

from __future__ import annotations

import contextlib
import logging
from typing import Callable, Literal, TypeVar

TroubleKind = Literal[
    "ingest_unreachable", "ingest_refused", "queue_full", "option_failed", "field_ignored", "internal"
]

T = TypeVar("T")

logger = logging.getLogger("firsttoken")

_said: set[TroubleKind] = set()


def warn_once(kind: TroubleKind, message: str) -> None:
    """Logs a warning, once per kind and process: a broken ingest must not fill the app's logs."""
    if kind in _said:
        return
    _said.add(kind)
    # The handlers and filters are the app's, and may fail.
    with contextlib.suppress(Exception):
        logger.warning("%s", message, extra={"kind": kind})


def guarded(kind: TroubleKind, work: Callable[[], T]) -> T | None:
    """Runs our own work inside the app's call: whatever it raises ends here.

    Returns:
        What ``work`` returns, or None where it failed.
    """
    try:
        return work()
    except Exception as error:
        warn_once(kind, f"firsttoken: {type(error).__name__}: {error}")
        return None
