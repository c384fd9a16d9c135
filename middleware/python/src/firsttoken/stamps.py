"""The seven stamps of one request."""

from __future__ import annotations

import threading
import time
from typing import Literal

#: Stages between neighbouring stamps of ``X-Timing-Trace``: the first ends at t1, the last at t6.
STAMPED_STAGES = ("receive", "preprocess", "kv_load", "first_token", "serialize", "send")

StampedStage = Literal["receive", "preprocess", "kv_load", "first_token", "serialize", "send"]

_POSITIONS = {stage: position for position, stage in enumerate(STAMPED_STAGES, start=1)}

#: Nanoseconds of the one clock that all stamps of this process come from.
now_ns = time.perf_counter_ns


class Stamps:
    """A stamp not taken is 0; none is ever made up. Safe to use from several threads."""

    __slots__ = ("_last", "_lock", "_taken_ns")

    def __init__(self, entered_at_ns: int | None = None) -> None:
        """Takes t0: the request enters the server."""
        self._taken_ns = [now_ns() if entered_at_ns is None else entered_at_ns, 0, 0, 0, 0, 0, 0]
        self._last = 0
        # An endpoint in a worker thread marks while the event loop sends.
        self._lock = threading.Lock()

    def end(self, stage: StampedStage, at_ns: int | None = None) -> bool:
        """Takes the stamp that ends ``stage``, once.

        Refused when it or a later one is taken already, or when the last one lies after it: the stamps of a trace
        never fall.

        Returns:
            Whether it was taken.
        """
        position = _POSITIONS[stage]
        with self._lock:
            ended_at_ns = now_ns() if at_ns is None else at_ns
            if position <= self._last or self._taken_ns[self._last] > ended_at_ns:
                return False
            self._taken_ns[position] = ended_at_ns
            self._last = position
            return True

    def __str__(self) -> str:
        """The value of ``X-Timing-Trace`` as it stands: seven decimal integers, nanoseconds."""
        return ",".join(map(str, self._taken_ns))
