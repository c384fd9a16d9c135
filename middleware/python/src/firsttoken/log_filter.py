"""The trace id on every log record."""

from __future__ import annotations

import logging

from .current_request import current_trace_id


class TraceIdFilter(logging.Filter):
    """Puts ``trace_id`` on each record, so that formatters can write ``%(trace_id)s``.

    Add it to handlers, not loggers: a logger's filters see only what is logged to that very logger. A record that has a
    ``trace_id`` already keeps it.
    """

    def __init__(self, outside: str = "-") -> None:
        """``outside`` stands for the id where no request is being served."""
        super().__init__()
        self._outside = outside

    def filter(self, record: logging.LogRecord) -> bool:
        """Changes the record, and lets it pass."""
        if not hasattr(record, "trace_id"):
            record.trace_id = current_trace_id() or self._outside
        return True
