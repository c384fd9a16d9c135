"""Apps written in bare ASGI, and what they send."""

from __future__ import annotations

from typing import Any, Callable

from ingest_double import IngestDouble

ROLE = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
TOKEN = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
USAGE = (
    b'data: {"choices":[],"usage":{"prompt_tokens":812,"completion_tokens":9,'
    b'"prompt_tokens_details":{"cached_tokens":512}},"metrics":{"queue_time_ms":5,"time_to_first_token_ms":20}}\n\n'
)
DONE = b"data: [DONE]\n\n"
SSE = [(b"content-type", b"text/event-stream")]

Timed = Callable[..., Any]


async def start(send: Any, status: int = 200, headers: list[tuple[bytes, bytes]] = SSE) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def chunk(send: Any, body: bytes, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def read_body(receive: Any) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


def records_of(app: Any, ingest: IngestDouble) -> list[dict[str, Any]]:
    app._sender.close()
    return ingest.records
