"""Delivers records in the background."""

from __future__ import annotations

import atexit
import contextvars
import json
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping
from typing import Any, Callable, NamedTuple

from .post_records import Outcome, Poster, ingest_address
from .retry_delay import retry_delay_s
from .trouble import guarded, warn_once

_MAX_POST_RECORDS = 500
_MAX_POST_BYTES = 524_288
_IDLE_S = 10.0
CLOSE_DEADLINE_S = 5.0


class SenderStats(NamedTuple):
    """Counts of records. All but ``waiting`` only rise."""

    #: Taken by the ingest.
    sent: int
    #: Given up here: the queue was full (the oldest goes first), or a close did not wait longer.
    dropped: int
    #: Refused by the ingest for good.
    failed: int
    #: Queued or under way.
    waiting: int


class Sender:
    """Posts records from a daemon thread, one batch at a time, until the ingest has them or refuses them.

    The thread lives while there is something to send. A forked child starts with an empty queue and a thread of its
    own; what waited at the fork stays the parent's to send.
    """

    def __init__(
        self,
        ingest_url: str,
        token: str | None = None,
        *,
        max_waiting: int = 10_000,
        gather_s: float = 1.0,
        timeout_s: float = 10.0,
        retry_s: Callable[[int, str | None], float] = retry_delay_s,
    ) -> None:
        """Starts nothing yet.

        Args:
            ingest_url: The ingest's base URL, http or https.
            token: Its write token.
            max_waiting: Records that may wait.
            gather_s: How long a record may wait for others to share its post, seconds.
            timeout_s: For one post, seconds: the ingest answers only when the batch is durable.
            retry_s: See :func:`retry_delay_s`.

        Raises:
            ValueError: Names the argument that is wrong.
        """
        self._address = ingest_address(ingest_url, token)
        self._max_waiting = max_waiting
        self._gather_s = gather_s
        self._timeout_s = timeout_s
        self._retry_s = retry_s
        self._start_empty()
        _senders.add(self)

    def _start_empty(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._queue: deque[bytes] = deque()
        self._waiting = self._sent = self._dropped = self._failed = 0
        self._closing = 0
        # Whoever gives up raises it, and the thread that is still in a post then finds that nobody waits for it.
        self._epoch = 0
        self._thread: threading.Thread | None = None

    @property
    def stats(self) -> SenderStats:
        """What became of the records."""
        with self._changed:
            return SenderStats(self._sent, self._dropped, self._failed, self._waiting)

    def send(self, record: Mapping[str, Any]) -> None:
        """Queues a record. Returns at once; from any thread."""
        line = json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"
        with self._changed:
            self._queue.append(line)
            self._waiting += 1
            full = self._waiting > self._max_waiting
            if full:
                # What is under way cannot be taken back; of the rest, the newest tells most about the present.
                self._queue.popleft()
                self._waiting -= 1
                self._dropped += 1
            if self._thread is None:
                self._start_thread()
            elif len(self._queue) in (1, _MAX_POST_RECORDS):
                self._changed.notify_all()
        if full:
            warn_once("queue_full", "firsttoken: server timings are dropped, the ingest does not keep up")

    def close(self, deadline_s: float = CLOSE_DEADLINE_S) -> None:
        """Sends what waits, for at most ``deadline_s`` seconds, then drops the rest. Blocks.

        A record that comes later starts a thread again.
        """
        with self._changed:
            self._closing += 1
            self._changed.notify_all()
            if self._waiting > 0 and self._thread is None:
                self._start_thread()
            self._changed.wait_for(lambda: self._waiting == 0 or self._thread is None, deadline_s)
            self._closing -= 1
            if self._waiting > 0:
                self._dropped += self._waiting
                self._waiting = 0
                self._queue.clear()
            self._epoch += 1
            self._thread = None
            self._changed.notify_all()

    def _start_thread(self) -> None:
        run = threading.Thread(target=self._run, args=(self._epoch,), name="firsttoken-sender", daemon=True)
        self._thread = run
        try:
            # Not in the context of the request that happens to come first: its trace id would stand in every log line.
            contextvars.Context().run(run.start)
        except RuntimeError:
            # No thread is to be had now; the next record tries again.
            self._thread = None

    def _run(self, epoch: int) -> None:
        poster = Poster(self._address, self._timeout_s)
        try:
            while batch := self._next_batch(epoch):
                self._deliver(batch, poster, epoch)
        finally:
            guarded("internal", poster.close)

    def _next_batch(self, epoch: int) -> list[bytes]:
        """Waits for records, and for others to share their post. Empty when the thread is to end."""
        with self._changed:
            if not self._queue:
                self._changed.wait_for(lambda: self._queue or self._epoch != epoch, _IDLE_S)
            if self._epoch != epoch or not self._queue:
                # Under the same lock as the look at the queue: a record that comes now starts a thread of its own.
                self._thread = None if self._epoch == epoch else self._thread
                return []
            self._changed.wait_for(
                lambda: len(self._queue) >= _MAX_POST_RECORDS or self._closing or self._epoch != epoch, self._gather_s
            )
            return [] if self._epoch != epoch else self._take_batch()

    def _take_batch(self) -> list[bytes]:
        batch: list[bytes] = []
        size = 0
        while self._queue and len(batch) < _MAX_POST_RECORDS:
            size += len(self._queue[0])
            if batch and size > _MAX_POST_BYTES:
                break
            batch.append(self._queue.popleft())
        return batch

    def _deliver(self, batch: list[bytes], poster: Poster, epoch: int) -> None:
        failures = 0
        body = b"".join(batch)
        while True:
            outcome = poster.post(body)
            if outcome.kind != "retry":
                self._settle(outcome, len(batch), epoch)
                return
            failures += 1
            warn_once(
                "ingest_unreachable",
                f"firsttoken: the ingest takes no server timings ({outcome.reason}); trying again",
            )
            if not self._wait_to_retry(self._retry_s(failures, outcome.retry_after), epoch):
                return

    def _wait_to_retry(self, wait_s: float, epoch: int) -> bool:
        """Waits, but not while somebody closes. Returns whether anybody still wants the batch delivered."""
        with self._changed:
            closing = self._closing
            self._changed.wait_for(lambda: self._epoch != epoch or self._closing > closing, wait_s)
            return self._epoch == epoch

    def _settle(self, outcome: Outcome, records: int, epoch: int) -> None:
        refused = records if outcome.kind == "refused" else min(outcome.rejected, records)
        if refused > 0:
            why = outcome.reason or "its log says which"
            warn_once("ingest_refused", f"firsttoken: the ingest refused {refused} server timings ({why})")
        with self._changed:
            if self._epoch != epoch:
                return
            self._failed += refused
            self._sent += records - refused
            self._waiting -= records
            self._changed.notify_all()


_senders: weakref.WeakSet[Sender] = weakref.WeakSet()


def sender_stats() -> SenderStats:
    """The counts of all senders of this process together."""
    each = [sender.stats for sender in list(_senders)]
    return SenderStats(*(sum(column) for column in zip(*each))) if each else SenderStats(0, 0, 0, 0)


def _close_all() -> None:
    ends_at_s = time.monotonic() + CLOSE_DEADLINE_S
    for sender in list(_senders):
        sender.close(max(ends_at_s - time.monotonic(), 0))


def _start_empty_in_child() -> None:
    for sender in list(_senders):
        sender._start_empty()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_empty_in_child)
