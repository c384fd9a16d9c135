"""All that becomes known of one request while it runs."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from .described_fields import checked_description
from .limits import MAX_STAGE_NS, MAX_SUB_STAGE_NAME, MAX_SUB_STAGES
from .stamps import Stamps
from .tokens import EngineTimes, TokenUsage
from .trace_identity import TraceIdentity


class RequestFacts:
    """Safe to use from several threads."""

    def __init__(self, identity: TraceIdentity, entered_at_ns: int) -> None:
        self.identity = identity
        self.stamps = Stamps(entered_at_ns)
        #: What the engine reported in its stream.
        self.usage: TokenUsage = {}
        self.engine: EngineTimes | None = None
        self._started_at = datetime.now(timezone.utc)
        self._lock = threading.Lock()
        self._sub_stages_ns: dict[str, int] = {}
        self._description: dict[str, Any] = {}

    def describe(self, fields: Mapping[str, Any]) -> None:
        """Later fields replace earlier ones."""
        with self._lock:
            self._description.update(fields)

    def add_sub_stage(self, name: str, duration_ns: int) -> None:
        """Pieces of one name are added up; names after the sixteenth, empty and long ones are left out."""
        with self._lock:
            known = self._sub_stages_ns.get(name)
            if known is None and len(self._sub_stages_ns) >= MAX_SUB_STAGES:
                return
            if 1 <= len(name) <= MAX_SUB_STAGE_NAME:
                self._sub_stages_ns[name] = min((known or 0) + duration_ns, MAX_STAGE_NS)

    def to_record(self, status: int | None, described: Mapping[str, Any]) -> dict[str, Any]:
        """The server's half of the request, as the ingest takes it.

        Args:
            status: HTTP status of the response; None where none was sent.
            described: What the app's ``describe`` option says; what it said during the request wins.
        """
        with self._lock:
            said = checked_description({**described, **self._description})
            record: dict[str, Any] = {
                "trace_id": self.identity.given,
                "timing_trace": str(self.stamps),
                "started_at": self._started_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            }
            if self.engine is not None:
                record["server_timing"] = _server_timing(self.engine)
            usage: Mapping[str, Any] = self.usage
            for name in ("output_tokens", "prompt_tokens", "cached_tokens"):
                if name in usage:
                    record[name] = usage[name]
            record.update(said)
            if self._sub_stages_ns:
                record["sub_stages"] = dict(self._sub_stages_ns)
        if status is not None:
            record["status"] = status
        if self.identity.parent_span_id is not None:
            record["parent_span_id"] = self.identity.parent_span_id
        return record


def _server_timing(engine: EngineTimes) -> str:
    """Fills, in the ingest, what the stamps leave open. There ``first_token`` holds the queue, so it is the sum."""
    entries = []
    if engine.queue_ms is not None:
        entries.append(f"queue;dur={engine.queue_ms:.6f}")
    if engine.prefill_ms is not None:
        entries.append(f"first_token;dur={(engine.queue_ms or 0) + engine.prefill_ms:.6f}")
    return ", ".join(entries)
