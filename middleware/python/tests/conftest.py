"""Fixtures of all tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

import pytest
from ingest_double import IngestDouble

from firsttoken import FirstTokenMiddleware, trouble
from firsttoken.sender import Sender


@pytest.fixture(autouse=True)
def _warnings_said_anew() -> None:
    trouble._said.clear()


@pytest.fixture
def ingest() -> Iterator[IngestDouble]:
    with IngestDouble() as double:
        yield double


@pytest.fixture
def timed(ingest: IngestDouble) -> Iterator[Callable[..., Any]]:
    """Wraps an app so that it reports to the ingest double."""
    senders: list[Sender] = []

    def wrap(app: Any, **options: Any) -> FirstTokenMiddleware:
        middleware = FirstTokenMiddleware(app, **{"ingest_url": ingest.url, "token": "write-token", **options})
        if middleware._sender is not None:
            senders.append(middleware._sender)
        return middleware

    yield wrap
    for sender in senders:
        sender.close(0)
