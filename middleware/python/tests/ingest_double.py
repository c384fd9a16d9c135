"""A stand-in for the ingest: a real HTTP server that records what it is posted."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, NamedTuple


class Post(NamedTuple):
    """One post as the ingest got it."""

    path: str
    headers: Mapping[str, str]
    size: int
    records: list[dict[str, Any]]


class Answer(NamedTuple):
    status: int = 202
    headers: Mapping[str, str] = {}
    body: bytes | None = None
    #: Closes the connection after this many bytes of the body.
    cut_after: int | None = None
    #: Closes the connection after the answer without saying so.
    hang_up: bool = False


class IngestDouble:
    """Use as a context manager."""

    def __init__(self) -> None:
        self.posts: list[Post] = []
        #: The records of all posts that were answered 202.
        self.records: list[dict[str, Any]] = []
        #: Decides the answers; None leaves the post without one.
        self.answer: Callable[[Post], Answer | None] = lambda post: Answer()
        self.connections = 0
        self._changed = threading.Condition()
        self._released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> IngestDouble:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def until(self, met: Callable[[], bool], timeout_s: float = 20) -> None:
        """Returns when ``met`` holds, at once or after one of the next posts."""
        with self._changed:
            assert self._changed.wait_for(met, timeout_s), f"not met after {timeout_s} s: {len(self.posts)} posts"

    def _take(self, post: Post) -> Answer | None:
        with self._changed:
            self.posts.append(post)
            answer = self.answer(post)
            if answer and answer.status == 202:
                self.records.extend(post.records)
            self._changed.notify_all()
        return answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        double = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                double.connections += 1
                super().setup()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                records = [json.loads(line) for line in body.splitlines()]
                answer = double._take(Post(self.path, dict(self.headers), len(body), records))
                if answer is None:
                    double._released.wait()
                    self.close_connection = True
                    return
                content = answer.body
                if content is None:
                    content = json.dumps({"accepted": len(records), "rejected": []}).encode()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: answer.cut_after])
                if answer.hang_up or answer.cut_after is not None:
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler
