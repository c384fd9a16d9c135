"""What the Python middleware costs: an answer with it and one without it by turns, in this process, without a network.

Prints the processor time that it adds to an answer, and what of it comes before the first token. Run it with the
interpreter that .ci/python makes: middleware/python/.venv/current/bin/python bench/middleware/python_cost.py
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from firsttoken import FirstTokenMiddleware

TOKENS = 200
ANSWERS = 1_500
WARM_UP = 300

App = Callable[[Any, Any, Any], Awaitable[None]]


async def app(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    for token in range(TOKENS):
        # As a generator waits for its engine.
        await asyncio.sleep(0)
        chunk = {"id": "chatcmpl-0123456789", "choices": [{"index": 0, "delta": {"content": f" token{token}"}}]}
        await send({"type": "http.response.body", "body": f"data: {json.dumps(chunk)}\n\n".encode(), "more_body": True})
    usage = {"choices": [], "usage": {"prompt_tokens": 812, "completion_tokens": TOKENS}}
    last = f"data: {json.dumps(usage)}\n\ndata: [DONE]\n\n".encode()
    await send({"type": "http.response.body", "body": last, "more_body": False})


async def answer(served: App) -> tuple[float, float]:
    """Processor time of the thread: the whole answer, and up to its first chunk; microseconds."""
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/chat",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json"), (b"x-trace-id", b"4bf92f3577b34da6a3ce929d0e0e4736")],
    }
    first_ns = 0

    async def receive() -> Any:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal first_ns
        if first_ns == 0 and message.get("body"):
            first_ns = time.thread_time_ns()

    began_ns = time.thread_time_ns()
    await served(scope, receive, send)
    return (time.thread_time_ns() - began_ns) / 1e3, (first_ns - began_ns) / 1e3


class Ingest(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(202)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


async def main() -> None:
    ingest = ThreadingHTTPServer(("127.0.0.1", 0), Ingest)
    Thread(target=ingest.serve_forever, daemon=True).start()
    timed = FirstTokenMiddleware(app, ingest_url=f"http://127.0.0.1:{ingest.server_port}", token="bench")
    added: list[tuple[float, float]] = []
    plain: list[float] = []
    for index in range(WARM_UP + ANSWERS):
        order = (app, timed) if index % 2 else (timed, app)
        taken = {served: await answer(served) for served in order}
        if index < WARM_UP:
            continue
        plain.append(taken[app][0])
        added.append((taken[timed][0] - taken[app][0], taken[timed][1] - taken[app][1]))
    whole, first = (statistics.median(each) for each in zip(*added))
    print(f"an answer of {TOKENS} tokens, the app alone: {statistics.median(plain):.0f} µs, without any server")
    print(f"the middleware adds {whole:.0f} µs to it, {first:.0f} µs of them before the first token")
    ingest.shutdown()


asyncio.run(main())
