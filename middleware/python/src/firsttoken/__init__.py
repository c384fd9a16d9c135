"""What a Python application adds: stamps of its streamed answers, posted to the ingest in the background."""

from .current_request import MarkedStage, current_trace_id, describe, facts_event, mark, span
from .log_filter import TraceIdFilter
from .middleware import FirstTokenMiddleware
from .sender import SenderStats, sender_stats
from .sse import SseEvent
from .tokens import TokenFacts, TokenPreset, TokenUsage

__all__ = [
    "FirstTokenMiddleware",
    "MarkedStage",
    "SenderStats",
    "SseEvent",
    "TokenFacts",
    "TokenPreset",
    "TokenUsage",
    "TraceIdFilter",
    "current_trace_id",
    "describe",
    "facts_event",
    "mark",
    "sender_stats",
    "span",
]
