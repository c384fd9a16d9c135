"""A streaming FastAPI backend with the middleware. It takes its own times too, prints its port, ends with its input."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from firsttoken import FirstTokenMiddleware, describe, mark

GAP_S = float(os.environ["GAP_MS"]) / 1_000
TOKENS = int(os.environ["TOKENS"])
TOKEN_MARK = b'"content":"token'

app = FastAPI()
app.add_middleware(FirstTokenMiddleware)
requests = itertools.count()
#: By trace id: TTFT and TPOT in milliseconds.
sent: dict[str, dict[str, float]] = {}


@app.get("/sent")
async def read_sent() -> dict[str, dict[str, float]]:
    return sent


@app.post("/api/chat")
async def chat(request: Request) -> StreamingResponse:
    await request.json()
    describe(model="tiny", route="/api/chat")
    await asyncio.sleep((6 + next(requests) % 40) / 1_000)
    mark("preprocess")
    await asyncio.sleep(0.005)
    mark("kv_load")
    await asyncio.sleep(0.015)
    mark("first_token")
    tokens = int(request.headers.get("x-demo-tokens", TOKENS))
    return StreamingResponse(stream(tokens), media_type="text/event-stream")


async def stream(tokens: int) -> AsyncIterator[str]:
    def event(body: object) -> str:
        return f"data: {json.dumps(body, separators=(',', ':'))}\n\n"

    yield event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
    for index in range(tokens):
        if index:
            await asyncio.sleep(GAP_S)
        yield event({"choices": [{"index": 0, "delta": {"content": "token "}}]})
    yield event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield event({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": tokens}})
    yield "data: [DONE]\n\n"


async def timed_by_hand(scope: Any, receive: Any, send: Any) -> None:
    """Around the middleware: its own time is the server's as well."""
    entered_ns = time.perf_counter_ns()
    times: list[int] = []

    async def sending(message: Any) -> None:
        if TOKEN_MARK in message.get("body", b""):
            times.append(time.perf_counter_ns())
        await send(message)

    await app(scope, receive, sending if scope["type"] == "http" else send)
    if len(times) > 1:
        trace_id = dict(scope["headers"])[b"x-trace-id"].decode()
        ttft_ms = (times[0] - entered_ns) / 1e6
        sent[trace_id] = {"ttftMs": ttft_ms, "tpotMs": (times[-1] - times[0]) / 1e6 / (len(times) - 1)}


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(timed_by_hand, log_level="warning", timeout_graceful_shutdown=2))

    def end_with_input() -> None:
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=end_with_input, daemon=True).start()
    print(listener.getsockname()[1], flush=True)
    server.run(sockets=[listener])


main()
