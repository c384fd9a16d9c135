"""One record per request, whatever becomes of it."""

from __future__ import annotations

import asyncio
import http.client
import threading
from typing import Any

import pytest
from ingest_double import IngestDouble
from raw_apps import DONE, TOKEN, USAGE, Timed, chunk, records_of, start
from serving import ask, begin, served
from stamp_reading import taken

from firsttoken import describe


def test_when_the_client_leaves_in_mid_stream(timed: Timed, ingest: IngestDouble) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send)
        await chunk(send, TOKEN)
        while (await receive())["type"] != "http.disconnect":
            pass
        await chunk(send, USAGE)
        await chunk(send, DONE, more=False)

    app = timed(app)
    with served(app) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        begin(connection).read1(len(TOKEN))
        connection.close()
        ingest.until(lambda: len(ingest.records) == 1)
    (record,) = records_of(app, ingest)
    assert (record["status"], taken(record["timing_trace"])) == (200, "01---56")
    assert "output_tokens" not in record


def test_when_the_client_leaves_before_the_response_starts(timed: Timed, ingest: IngestDouble) -> None:
    entered = threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        entered.set()
        while (await receive())["type"] != "http.disconnect":
            pass

    app = timed(app)
    with served(app) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/")
        assert entered.wait(20)
        connection.close()
        ingest.until(lambda: len(ingest.records) == 1)
    (record,) = records_of(app, ingest)
    assert "status" not in record


@pytest.mark.parametrize(
    ("sends", "status", "body", "cut"),
    [
        (0, 500, b"Internal Server Error", False),
        (1, 200, b"", True),
        (2, 200, TOKEN, True),
        (3, 200, TOKEN + DONE, False),
    ],
)
def test_when_the_app_fails(
    timed: Timed, ingest: IngestDouble, sends: int, status: int, body: bytes, cut: bool
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if sends > 0:
            await start(send)
        if sends > 1:
            await chunk(send, TOKEN)
        if sends > 2:
            await chunk(send, DONE, more=False)
        raise RuntimeError("broken")

    wrapped = timed(app)
    for each in (app, wrapped):
        with served(each) as port:
            answer = ask(port)
        assert (answer.status, answer.body, answer.cut) == (status, body, cut)
    (record,) = records_of(wrapped, ingest)
    assert record["status"] == status
    assert taken(record["timing_trace"]) == ("01---56" if sends > 1 else "01-----")


@pytest.mark.parametrize("sends", [0, 1, 2])
def test_when_the_app_returns_too_early(timed: Timed, ingest: IngestDouble, sends: int) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if sends > 0:
            await start(send)
        if sends > 1:
            await chunk(send, TOKEN)

    answers = []
    wrapped = timed(app)
    for each in (app, wrapped):
        with served(each) as port:
            answer = ask(port)
            answers.append((answer.status, answer.body, answer.cut))
    assert answers[0] == answers[1]
    assert len(records_of(wrapped, ingest)) == 1


def test_when_the_app_is_cancelled(timed: Timed, ingest: IngestDouble) -> None:
    sent = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send)
        await asyncio.sleep(60)

    async def drive() -> None:
        async def send(message: Any) -> None:
            sent.append(message["type"])

        task = asyncio.ensure_future(wrapped({"type": "http", "method": "GET", "headers": []}, None, send))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    wrapped = timed(app)
    asyncio.run(drive())
    assert sent == ["http.response.start"]
    assert len(records_of(wrapped, ingest)) == 1


def test_when_the_event_loop_ends_before_the_app(timed: Timed, ingest: IngestDouble) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send)
        await asyncio.sleep(0)

    async def send(message: Any) -> None: ...

    wrapped = timed(app, hold_ms=0)
    call = wrapped({"type": "http", "method": "GET", "headers": []}, None, send)
    assert call.send(None) is None
    call.close()
    assert len(records_of(wrapped, ingest)) == 1


def test_also_when_the_middleware_stands_there_twice(timed: Timed, ingest: IngestDouble) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send, headers=[])
        await chunk(send, b"x", more=False)

    inner = timed(app)
    outer = timed(inner)
    with served(outer) as port:
        answer = ask(port)
    assert [name.lower() for name, _ in answer.raw_headers].count("x-timing-trace") == 1
    inner._sender.close()
    assert len(records_of(outer, ingest)) == 1


def test_without_an_ingest_only_the_headers(timed: Timed) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send, headers=[])
        await chunk(send, b"x", more=False)

    wrapped = timed(app, ingest_url=None)
    with served(wrapped) as port:
        assert taken(ask(port).headers["x-timing-trace"]) == "01---5-"
    assert wrapped._sender is None


def test_described_fields_from_everywhere_what_the_ingest_would_refuse_stays_out(
    timed: Timed, ingest: IngestDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        describe(tier="vip", output_tokens=7, model="from-handler")
        await start(send, headers=[])
        await chunk(send, b"x", more=False)

    monkeypatch.setenv("FIRSTTOKEN_MODEL", "from-environment")
    monkeypatch.setenv("FIRSTTOKEN_BACKEND", "gpu-03")
    app = timed(
        app, describe=lambda scope: {"model": "from-option", "route": scope["path"], "top_k": 1.5, "variant": ""}
    )
    with served(app) as port:
        ask(port, "/api/chat")
    (record,) = records_of(app, ingest)
    described = ("tier", "output_tokens", "model", "route", "backend", "top_k", "variant")
    assert [record.get(name) for name in described] == [
        *("vip", 7, "from-handler", "/api/chat", "gpu-03"),
        *(None, None),
    ]
    describe(model="outside")


@pytest.mark.parametrize("failing", [lambda scope: 1 / 0, lambda scope: None, lambda scope: 7])
def test_a_describe_option_that_fails_costs_its_fields_only(timed: Timed, ingest: IngestDouble, failing: Any) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send, headers=[])
        await chunk(send, b"x", more=False)

    app = timed(app, describe=failing)
    with served(app) as port:
        assert ask(port).body == b"x"
    assert len(records_of(app, ingest)) == 1


def test_a_scope_that_cannot_be_read_is_served_unobserved(timed: Timed, ingest: IngestDouble) -> None:
    sent = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send)
        await chunk(send, b"x", more=False)

    async def send(message: Any) -> None:
        sent.append(message)

    wrapped = timed(app)
    asyncio.run(wrapped({"type": "http", "method": "GET", "headers": [3]}, None, send))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert records_of(wrapped, ingest) == []
