"""A real server for an app, and a client that sees how its answer arrives."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.up.set()


@contextmanager
def served(app: Any, **options: Any) -> Iterator[int]:
    """Serves ``app`` with uvicorn on a free port, which is given."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = _Server(uvicorn.Config(app, log_config=None, **{"lifespan": "off", **options}))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        assert server.up.wait(20), "the server did not start"
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


class Answer:
    """A whole answer, with its chunks as they came."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.raw_headers = response.getheaders()
        self.headers = {name.lower(): value for name, value in self.raw_headers}
        self.chunks: list[bytes] = []
        self.cut = False
        try:
            while part := response.read1(1_048_576):
                self.chunks.append(part)
            # read1 is silent about an answer with a length that was cut off.
            self.cut = bool(response.length)
        except (http.client.HTTPException, ConnectionError):
            self.cut = True

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)


def ask(
    port: int,
    path: str = "/",
    method: str = "GET",
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    body: bytes | None = None,
) -> Answer:
    """Sends one request on a connection of its own and reads the whole answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        return Answer(begin(connection, path, method, headers, body))
    finally:
        connection.close()


def begin(
    connection: http.client.HTTPConnection,
    path: str = "/",
    method: str = "GET",
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    body: bytes | None = None,
) -> http.client.HTTPResponse:
    """Sends one request and returns when the start of the answer is there."""
    connection.putrequest(method, path)
    for name, value in headers.items() if isinstance(headers, Mapping) else headers:
        connection.putheader(name, value.encode("latin-1"))
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    return connection.getresponse()
