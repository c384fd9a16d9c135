"""When the start of a response leaves, and with what."""

from __future__ import annotations

import asyncio
import http.client
import threading
from typing import Any

import pytest
from ingest_double import IngestDouble
from raw_apps import DONE, TOKEN, Timed, chunk, records_of, start
from serving import ask, begin, served
from stamp_reading import taken

from firsttoken import FirstTokenMiddleware, mark


@pytest.mark.parametrize(("options", "expected"), [({}, "01---5-"), ({"hold_ms": 0}, "01-----")])
def test_with_the_first_chunk_when_that_is_sent(
    timed: Timed, ingest: IngestDouble, options: dict[str, Any], expected: str
) -> None:
    read = threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send)
        await chunk(send, TOKEN)
        await asyncio.get_running_loop().run_in_executor(None, read.wait, 20)
        await chunk(send, DONE, more=False)

    with served(timed(app, **options)) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        response = begin(connection)
        assert taken(response.headers["x-timing-trace"]) == expected
        assert response.read1(len(TOKEN)) == TOKEN
        read.set()
        assert response.read() == DONE
        connection.close()


@pytest.mark.parametrize(
    ("flush", "options"),
    [
        (lambda send: chunk(send, b""), {}),
        (lambda send: asyncio.sleep(0), {"hold_ms": 20}),
        (lambda send: asyncio.sleep(0), {"hold_ms": 0}),
    ],
    ids=["an empty chunk", "hold_ms", "hold_ms 0"],
)
def test_before_any_chunk_with_the_stamps_there_are(
    timed: Timed, ingest: IngestDouble, flush: Any, options: dict[str, Any]
) -> None:
    seen = threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        mark("preprocess")
        await start(send)
        mark("kv_load")
        await flush(send)
        await asyncio.get_running_loop().run_in_executor(None, seen.wait, 20)
        await chunk(send, TOKEN, more=False)

    app = timed(app, **options)
    with served(app) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        response = begin(connection)
        assert taken(response.headers["x-timing-trace"]) == ("012----" if options == {"hold_ms": 0} else "0123---")
        seen.set()
        assert response.read() == TOKEN
        connection.close()
    assert taken(records_of(app, ingest)[0]["timing_trace"]) == "0123-56"


def test_the_headers_stand_there_once_also_where_the_app_sent_its_own(timed: Timed) -> None:
    headers = [(b"X-Timing-Trace", b"1,2,3,4,5,6,7"), (b"x-trace-id", b"its-own"), (b"x-timing-trace", b"8")]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send, headers=headers)
        await chunk(send, b"x", more=False)

    with served(timed(app)) as port:
        answer = ask(port, headers={"X-Trace-ID": "given"})
    values = [value for name, value in answer.raw_headers if name.lower() == "x-timing-trace"]
    assert len(values) == 1 and taken(values[0]) == "01---5-"
    assert [value for name, value in answer.raw_headers if name.lower() == "x-trace-id"] == ["its-own"]
    assert len(headers) == 3


def test_a_blank_around_an_id_stays_in_the_record_and_out_of_the_header(timed: Timed, ingest: IngestDouble) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send, headers=[])
        await chunk(send, b"x", more=False)

    app = timed(app)
    with served(app, http="h11") as port:
        answer = ask(port, "/?trace_id=%20a%20")
    assert (answer.body, "x-trace-id" in answer.headers) == (b"x", False)
    assert records_of(app, ingest)[0]["trace_id"] == " a "


def test_a_chunk_waits_for_a_start_that_is_on_its_way() -> None:
    sent = []
    leaving: list[asyncio.Event] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send)
        await leaving[0].wait()
        await chunk(send, TOKEN, more=False)

    async def drive() -> None:
        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                leaving[0].set()
                for _ in range(5):
                    await asyncio.sleep(0)
            sent.append(message["type"])

        leaving.append(asyncio.Event())
        middleware = FirstTokenMiddleware(app, hold_ms=1)
        await middleware({"type": "http", "method": "GET", "headers": []}, None, send)  # type: ignore[arg-type]

    asyncio.run(drive())
    assert sent == ["http.response.start", "http.response.body"]


def test_what_the_server_raises_reaches_the_app() -> None:
    raised = []
    failing: list[asyncio.Event] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await start(send)
            await failing[-1].wait()
            await asyncio.sleep(0)
            await chunk(send, TOKEN)
        except OSError as error:
            raised.append(error)
            raise

    async def drive(hold_ms: float) -> None:
        async def send(message: Any) -> None:
            failing[-1].set()
            raise OSError("gone")

        failing.append(asyncio.Event())
        if hold_ms > 100:
            failing[-1].set()
        middleware = FirstTokenMiddleware(app, hold_ms=hold_ms, on_record=records.append)
        with pytest.raises(OSError, match="gone"):
            await middleware({"type": "http", "method": "GET", "headers": []}, None, send)  # type: ignore[arg-type]

    records: list[Any] = []
    for hold_ms in (0, 1, 1_000):
        asyncio.run(drive(hold_ms))
    assert len(raised) == len(records) == 3
