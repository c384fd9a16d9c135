"""A real ``vllm serve`` on the CPU with the middleware, random weights and no network."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tiny_model import write_model

#: Output tokens of every stream.
TOKENS = 24
START_TIMEOUT_S = 240


class Engine(NamedTuple):
    """A running ``vllm serve``."""

    port: int
    model: str

    def get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def total(self, metric: str) -> tuple[float, float]:
        """Sum (seconds) and count of a histogram."""
        _, text = self.get("/metrics")
        return tuple(  # type: ignore[return-value]
            sum(
                float(value) for value in re.findall(rf"^{re.escape(metric)}_{part}\{{.*\}} (\S+)$", text, re.MULTILINE)
            )
            for part in ("sum", "count")
        )

    def stream(self, number: int) -> str:
        """One chat completion, read to its end. Returns its trace id."""
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": f"number {number}: " + "tell me more " * 20}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": TOKENS,
            "min_tokens": TOKENS,
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        assert answer.status == 200 and text.endswith(b"data: [DONE]\n\n"), (answer.status, text[-500:])
        trace_id = answer.getheader("X-Trace-ID")
        assert trace_id, "the middleware is not there"
        return trace_id


def _free_port() -> int:
    """vLLM takes no port 0. This one lies below those that the system gives out, so that nobody else gets it."""
    while True:
        port = random.randrange(20_000, 30_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@contextmanager
def engine(ingest_url: str, folder: Path) -> Iterator[Engine]:
    """Starts the server and stops it; offline, so that a missing file fails instead of being fetched."""
    port = _free_port()
    model = folder / "tiny"
    write_model(model)
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "FIRSTTOKEN_INGEST_URL": ingest_url,
        "FIRSTTOKEN_BACKEND": "this-machine",
    }
    options = "--load-format dummy --enforce-eager --max-model-len 1024 --max-num-seqs 2 --no-enable-prefix-caching"
    command = [str(Path(sys.executable).parent / "vllm"), "serve", str(model), *options.split()]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    command += ["--middleware", "firsttoken.FirstTokenMiddleware", "--enable-per-request-metrics"]
    log = folder / "vllm.log"
    with log.open("w") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        running = Engine(port, str(model))
        _wait_until_up(running, process, log)
        yield running
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_up(running: Engine, process: subprocess.Popen[bytes], log: Path) -> None:
    gives_up_at_s = time.monotonic() + START_TIMEOUT_S
    while True:
        with contextlib.suppress(OSError):
            if running.model in running.get("/v1/models")[1]:
                return
        if process.poll() is not None or time.monotonic() > gives_up_at_s:
            raise SystemExit(f"vLLM did not start:\n{log.read_text()[-4_000:]}")
        time.sleep(0.2)
