"""FastAPI and Starlette apps behind a real server."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, Callable

import httpx
import pytest
from fastapi import BackgroundTasks, FastAPI, WebSocket
from ingest_double import IngestDouble
from serving import ask, served
from stamp_reading import stamps_of, taken
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from firsttoken import FirstTokenMiddleware, TraceIdFilter, current_trace_id, describe, mark, span

TOKEN = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
PAUSE_S = 0.1

Records = list[dict[str, Any]]


def starlette(endpoint: Callable[..., Any], records: Records, path: str = "/") -> Starlette:
    app = Starlette(routes=[Route(path, endpoint)])
    app.add_middleware(FirstTokenMiddleware, on_record=records.append)
    return app


def fastapi(records: Records, **options: Any) -> FastAPI:
    app = FastAPI()
    app.add_middleware(FirstTokenMiddleware, on_record=records.append, **options)
    return app


def test_a_stream_is_measured_to_its_end_and_what_the_endpoint_sets_is_seen() -> None:
    set_by_endpoint: contextvars.ContextVar[str] = contextvars.ContextVar("set_by_endpoint", default="unset")
    seen: list[str | None] = []
    produced_ns: list[int] = []
    finished_ns: list[int] = []
    first_chunk_is_read = threading.Event()

    async def endpoint(request: Any) -> StreamingResponse:
        set_by_endpoint.set("by the endpoint")
        mark("preprocess")

        async def stream() -> AsyncIterator[str]:
            for at in range(3):
                await asyncio.sleep(PAUSE_S)
                if at == 0:
                    mark("first_token")
                else:
                    # A first chunk that is held back would never be read.
                    assert await asyncio.get_running_loop().run_in_executor(None, first_chunk_is_read.wait, 20)
                produced_ns.append(time.perf_counter_ns())
                yield TOKEN

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def outermost(scope: Any, receive: Any, send: Any) -> None:
        await timed(scope, receive, send)
        seen.extend([set_by_endpoint.get(), current_trace_id()])

    def take(record: dict[str, Any]) -> None:
        finished_ns.append(time.perf_counter_ns())
        records.append(record)

    records: Records = []
    timed = FirstTokenMiddleware(Starlette(routes=[Route("/", endpoint)]), on_record=take)
    with served(outermost) as port, httpx.stream("GET", f"http://127.0.0.1:{port}/", timeout=20) as answer:
        # The header cannot tell the future: what it tells is true, and the rest is 0.
        assert taken(answer.headers["x-timing-trace"]) == "012-45-"
        for _ in answer.iter_raw():
            first_chunk_is_read.set()
    (record,) = records
    stamps = stamps_of(record["timing_trace"])
    assert taken(record["timing_trace"]) == "012-456"
    assert finished_ns[0] - stamps[0] >= 3 * PAUSE_S * 1e9
    assert stamps[6] - stamps[0] >= PAUSE_S * 1e9 and stamps[4] - stamps[2] >= PAUSE_S * 1e9
    assert produced_ns[0] <= stamps[5] <= stamps[6] < produced_ns[1]
    assert seen == ["by the endpoint", None]


def test_an_endpoint_in_a_worker_thread_and_its_background_task_are_in_the_request() -> None:
    records: Records = []
    in_background: list[Any] = []
    done = threading.Event()
    app = fastapi(records)

    def later() -> None:
        in_background.append((current_trace_id(), len(records)))
        done.set()

    @app.post("/chat/{room}")
    def chat(room: str, background: BackgroundTasks, body: dict[str, Any]) -> dict[str, Any]:
        assert threading.current_thread() is not threading.main_thread()
        mark("preprocess")
        with span("db"):
            pass
        describe(tier="vip")
        background.add_task(later)
        return {"trace_id": current_trace_id()}

    with served(app) as port:
        answer = httpx.post(
            f"http://127.0.0.1:{port}/chat/7", json={"a": 1}, headers={"X-Trace-ID": "a" * 32}, timeout=20
        )
        assert done.wait(20)
    assert answer.json() == {"trace_id": "a" * 32}
    # The record does not wait for the background task.
    assert in_background == [("a" * 32, 1)]
    (record,) = records
    assert taken(record["timing_trace"]) == "012--56"
    assert (record["route"], record["tier"], list(record["sub_stages"])) == ("/chat/{room}", "vip", ["db"])


def test_a_generator_in_worker_threads_and_a_task_of_its_own_are_in_the_request() -> None:
    records: Records = []
    app = fastapi(records)

    def stream() -> Iterator[str]:
        mark("first_token")
        yield f"data: {current_trace_id()}\n\n"
        with span("later"):
            yield TOKEN

    @app.get("/")
    async def chat() -> StreamingResponse:
        async def work() -> bool:
            return mark("preprocess")

        assert await asyncio.create_task(work())
        return StreamingResponse(stream(), media_type="text/event-stream")

    with served(app) as port:
        answer = ask(port, headers={"X-Trace-ID": "b" * 32})
    assert answer.body.decode() == f"data: {'b' * 32}\n\n{TOKEN}"
    assert taken(records[0]["timing_trace"]) == "012-456"
    assert list(records[0]["sub_stages"]) == ["later"]
    assert current_trace_id() is None


def test_requests_at_the_same_time_do_not_mix() -> None:
    records: Records = []
    entered: list[str] = []
    app = fastapi(records)

    async def handle(own: str) -> str:
        describe(model=own)
        if int(own[-1], 16) % 2 == 0:
            mark("preprocess")
        async with span(own):
            await asyncio.sleep(0)
        return current_trace_id() or ""

    @app.get("/{own}")
    async def chat(own: str) -> str:
        entered.append(own)
        # All of them are in the middle at once.
        while len(entered) < 20:
            await asyncio.sleep(0.001)
        return await handle(own)

    async def ask_all(port: int) -> list[Any]:
        async with httpx.AsyncClient(timeout=20) as client:
            urls = [f"http://127.0.0.1:{port}/{own}" for own in ids]
            return await asyncio.gather(*(client.get(url, headers={"X-Trace-ID": url[-32:]}) for url in urls))

    ids = [format(number, "x").rjust(32, "a") for number in range(20)]
    with served(app) as port:
        answers = asyncio.run(ask_all(port))
    assert [answer.json() for answer in answers] == ids
    assert [answer.headers["x-trace-id"] for answer in answers] == ids
    assert len(records) == 20
    for record in records:
        own = record["trace_id"]
        assert (record["model"], list(record["sub_stages"])) == (own, [own])
        assert taken(record["timing_trace"])[2] == ("2" if int(own[-1], 16) % 2 == 0 else "-")


def test_a_connection_that_is_used_again_starts_afresh() -> None:
    records: Records = []

    async def endpoint(request: Any) -> PlainTextResponse:
        return PlainTextResponse(current_trace_id())

    with served(starlette(endpoint, records)) as port, httpx.Client(timeout=20) as client:
        bodies = [client.get(f"http://127.0.0.1:{port}/").text for _ in range(3)]
    assert len(set(bodies)) == 3
    assert [record["trace_id"] for record in records] == bodies


def test_inner_middleware_and_exception_handlers_are_in_the_request() -> None:
    records: Records = []
    seen: list[Any] = []
    app = FastAPI()

    @app.exception_handler(KeyError)
    async def handle(request: Any, error: Exception) -> PlainTextResponse:
        seen.append(current_trace_id())
        return PlainTextResponse("handled", 503)

    @app.get("/")
    async def chat() -> None:
        raise KeyError("x")

    async def dispatch(request: Any, call_next: Any) -> Any:
        seen.append(current_trace_id())
        return await call_next(request)

    app.add_middleware(BaseHTTPMiddleware, dispatch=dispatch)
    app.add_middleware(FirstTokenMiddleware, on_record=records.append)
    with served(app) as port:
        answer = ask(port, headers={"X-Trace-ID": "c" * 32})
    assert (answer.status, answer.body) == (503, b"handled")
    assert seen == ["c" * 32] * 2
    assert (records[0]["status"], taken(records[0]["timing_trace"])) == (503, "01-----")


def test_an_exception_that_nobody_handles_is_a_500() -> None:
    records: Records = []

    async def endpoint(request: Any) -> None:
        raise RuntimeError("broken")

    with served(starlette(endpoint, records)) as port:
        assert ask(port).status == 500
    assert [record["status"] for record in records] == [500]


def test_a_stream_whose_client_leaves_gives_one_record() -> None:
    records: Records = []
    ended = threading.Event()

    async def endpoint(request: Any) -> StreamingResponse:
        async def stream() -> AsyncIterator[str]:
            try:
                while True:
                    yield TOKEN
                    await asyncio.sleep(0.005)
            finally:
                ended.set()

        return StreamingResponse(stream(), media_type="text/event-stream")

    with served(starlette(endpoint, records)) as port:
        with httpx.stream("GET", f"http://127.0.0.1:{port}/", timeout=20) as answer:
            next(answer.iter_raw())
        assert ended.wait(20)
    assert len(records) == 1
    assert (records[0]["status"], taken(records[0]["timing_trace"])) == (200, "01---56")


def test_log_records_carry_the_trace_id() -> None:
    lines: list[str] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler = Lines()
    handler.addFilter(TraceIdFilter())
    handler.setFormatter(logging.Formatter("%(trace_id)s %(name)s"))
    own, access = logging.getLogger("own"), logging.getLogger("uvicorn.access")
    app = fastapi([])

    @app.get("/")
    def chat() -> str:
        own.warning("in a worker thread")
        own.warning("with its own", extra={"trace_id": "given"})
        return ""

    for logger in (own, access):
        logger.addHandler(handler)
    access.setLevel(logging.INFO)
    try:
        with served(app) as port:
            ask(port, headers={"X-Trace-ID": "d" * 32})
        own.warning("outside")
    finally:
        for logger in (own, access):
            logger.removeHandler(handler)
        access.setLevel(logging.NOTSET)
    assert lines == [f"{'d' * 32} own", "given own", f"{'d' * 32} uvicorn.access", "- own"]


def test_websockets_and_what_routers_leave_in_the_scope_are_untouched() -> None:
    records: Records = []
    scopes: list[Any] = []
    app = fastapi(records)

    @app.websocket("/ws")
    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text(f"{await socket.receive_text()} {current_trace_id()}")
        await socket.close()

    @app.get("/items/{item}")
    async def item(item: str) -> str:
        return item

    async def outermost(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)
        await app(scope, receive, send)

    client = TestClient(outermost)
    with client.websocket_connect("/ws") as socket:
        socket.send_text("hello")
        assert socket.receive_text() == "hello None"
    assert client.get("/items/7").json() == "7"
    assert not any("firsttoken" in str(key) for key in scopes[0])
    assert scopes[1]["path_params"] == {"item": "7"}
    assert len(records) == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_test_client_and_its_asgi_relatives_work(method: str) -> None:
    records: Records = []

    async def endpoint(request: Any) -> PlainTextResponse:
        return PlainTextResponse(await request.body())

    app = Starlette(routes=[Route("/", endpoint, methods=["GET", "POST"])])
    app.add_middleware(FirstTokenMiddleware, on_record=records.append)
    answer = TestClient(app).request(method, "/", content=b"x" if method == "POST" else None)
    assert answer.text == ("x" if method == "POST" else "")
    assert taken(records[0]["timing_trace"]) == ("01---56" if method == "POST" else "01-----")


def test_the_sender_s_records_arrive_before_the_lifespan_ends(ingest: IngestDouble) -> None:
    app = FastAPI()
    app.add_middleware(FirstTokenMiddleware, ingest_url=ingest.url)

    @app.get("/")
    async def chat() -> str:
        return "x"

    for runs in (1, 2):
        with served(app, lifespan="on") as port:
            assert ask(port).body == b'"x"'
        # The sender would have gathered for a second.
        assert len(ingest.records) == runs
