"""The same bytes with and without the middleware, whatever the ingest does."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Callable

import pytest
from ingest_double import Answer as IngestAnswer
from ingest_double import IngestDouble, Post
from serving import ask, served
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from firsttoken import FirstTokenMiddleware

BIG = os.urandom(4_000_000)
TOKEN = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'


async def pieces(size: int) -> AsyncIterator[bytes]:
    for at in range(0, len(BIG), size):
        yield BIG[at : at + size]


async def echo(request: Any) -> Response:
    return Response(await request.body())


async def cookies(request: Any) -> Response:
    response = JSONResponse({"a": "\u5317"}, 201, {"X-A": "1"})
    response.set_cookie("a", "1")
    response.set_cookie("b", "2")
    return response


async def broken_stream(request: Any) -> Response:
    async def stream() -> AsyncIterator[bytes]:
        yield TOKEN
        raise RuntimeError("broken")

    return StreamingResponse(stream(), media_type="text/event-stream")


async def events(request: Any) -> Response:
    async def stream() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield TOKEN
        yield b""
        yield b"data: [DONE]\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream")


def routes() -> list[Any]:
    async def plain(request: Any) -> Response:
        return Response("text", background=BackgroundTask(lambda: None))

    async def nothing(request: Any) -> Response:
        return Response(status_code=204)

    async def not_modified(request: Any) -> Response:
        return Response(status_code=304, headers={"ETag": '"a"'})

    async def redirect(request: Any) -> Response:
        return RedirectResponse("/elsewhere")

    async def file(request: Any) -> Response:
        return FileResponse(Path(__file__))

    async def large(request: Any) -> Response:
        return Response(BIG)

    async def chunked(request: Any) -> Response:
        return StreamingResponse(pieces(70_000))

    async def of_a_length(request: Any) -> Response:
        return StreamingResponse(pieces(70_000), headers={"Content-Length": str(len(BIG))})

    async def failing(request: Any) -> Response:
        raise RuntimeError("broken")

    endpoints = (plain, nothing, not_modified, redirect, file, large, chunked, of_a_length, failing)
    named = [Route(f"/{each.__name__}", each) for each in (*endpoints, cookies, events, broken_stream)]
    return [*named, Route("/echo", echo, methods=["POST"]), Mount("/mounted", routes=[Route("/plain", plain)])]


PATHS = [
    *("plain", "nothing", "not_modified", "redirect", "file", "large", "chunked", "of_a_length", "failing"),
    *("cookies", "events", "broken_stream", "mounted/plain", "unknown"),
]


async def passing(request: Any, call_next: Any) -> Any:
    return await call_next(request)


STACKS: dict[str, Callable[[], list[Middleware]]] = {
    "bare": lambda: [],
    "gzip": lambda: [Middleware(GZipMiddleware)],
    "base and cors": lambda: [
        Middleware(CORSMiddleware, allow_origins=["https://app.example"], expose_headers=["X-Timing-Trace"]),
        Middleware(BaseHTTPMiddleware, dispatch=passing),
    ],
}

OURS = {"x-timing-trace", "x-trace-id", "date"}


def seen(answer: Any) -> tuple[Any, ...]:
    headers = [(name, value) for name, value in answer.raw_headers if name.lower() not in OURS]
    return answer.status, headers, answer.body, answer.cut


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("outermost", [True, False])
def test_the_same_status_headers_and_bytes(stack: str, outermost: bool, ingest: IngestDouble) -> None:
    ours = Middleware(FirstTokenMiddleware, ingest_url=ingest.url)
    bare = Starlette(routes=routes(), middleware=STACKS[stack]())
    with_ours = [ours, *STACKS[stack]()] if outermost else [*STACKS[stack](), ours]
    timed = Starlette(routes=routes(), middleware=with_ours)
    headers = {"Accept-Encoding": "gzip", "Origin": "https://app.example"}
    requests = 0
    with served(bare) as bare_port, served(timed, lifespan="on") as timed_port:
        for path in PATHS:
            for method in ("GET", "HEAD", "OPTIONS"):
                answers = [ask(port, f"/{path}", method, headers) for port in (bare_port, timed_port)]
                assert seen(answers[0]) == seen(answers[1]), (method, path)
                assert (
                    "x-timing-trace" in answers[1].headers or (path, method) == ("failing", "GET") or method == "HEAD"
                )
                requests += 1
        for body in (b"", b"x", BIG):
            assert ask(timed_port, "/echo", "POST", headers=[("X-Trace-ID", "a")], body=body).body == body
            requests += 1
    assert len(ingest.records) == requests


@pytest.mark.parametrize("ingest_is", ["down", "hanging", "unable", "refusing"])
def test_the_same_answers_while_the_ingest_is_away_and_memory_stays_bounded(
    ingest: IngestDouble, ingest_is: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        down = f"http://127.0.0.1:{closed.getsockname()[1]}"
    answers: dict[str, Callable[[Post], Any]] = {
        "hanging": lambda _: None,
        "unable": lambda _: IngestAnswer(503),
        "refusing": lambda _: IngestAnswer(401),
    }
    ingest.answer = answers.get(ingest_is, ingest.answer)
    app = Starlette(routes=routes())
    timed = FirstTokenMiddleware(app, ingest_url=down if ingest_is == "down" else ingest.url)
    sender = timed._sender
    assert sender is not None
    sender._max_waiting, sender._gather_s = 20, 0
    with served(app) as bare_port, served(timed) as timed_port:
        expected = seen(ask(bare_port, "/events"))
        assert seen(ask(timed_port, "/events")) == expected
        if ingest_is != "down":
            ingest.until(lambda: len(ingest.posts) > 0)
        for _ in range(50):
            assert seen(ask(timed_port, "/events")) == expected
    stats = sender.stats
    assert sum(stats) == 51 and stats.sent == 0
    if ingest_is != "refusing":
        assert (stats.waiting, stats.dropped) == (20, 31)
    assert sum(thread.name == "firsttoken-sender" for thread in threading.enumerate()) <= 2
    sender.close(0)
