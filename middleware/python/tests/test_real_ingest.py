"""A FastAPI app reports to the real ingest with its own PostgreSQL, which joins and gives back the row."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from contract_files import REPOSITORY
from fastapi import FastAPI
from serving import served
from stamp_reading import stamps_of
from starlette.responses import StreamingResponse

from firsttoken import FirstTokenMiddleware, describe, mark, span

WRITE_TOKEN = "write-token-of-the-tests"


class Ingest(NamedTuple):
    url: str

    def request(self, trace_id: str) -> dict[str, Any]:
        """The row, once its server half has come."""
        gives_up_at_s = time.monotonic() + 20
        while True:
            answer = httpx.get(
                f"{self.url}/v1/requests/{trace_id}", headers={"Authorization": f"Bearer {WRITE_TOKEN}"}, timeout=20
            )
            if answer.status_code == 200 or time.monotonic() > gives_up_at_s:
                row: dict[str, Any] = answer.raise_for_status().json()
                return row
            time.sleep(0.02)


@pytest.fixture(scope="module")
def real_ingest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ingest]:
    node = shutil.which("node")
    if node is None:
        pytest.fail("this test needs Node 20 or later: apt-get install nodejs")
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
        "PORT": "0",
        "ADMIN_PORT": "0",
        "DATA_DIR": str(tmp_path_factory.mktemp("data")),
        "INGEST_TOKEN": WRITE_TOKEN,
    }
    process = subprocess.Popen(
        [node, "--import", "tsx", "ingest/main.ts"],
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            fact = json.loads(line)
            if fact["message"] == "ready":
                yield Ingest(fact["public"])
                break
        else:
            pytest.fail(f"the ingest did not start: {''.join(lines)}")
    finally:
        process.terminate()
        assert process.wait(20) == 0


def test_the_joined_row(real_ingest: Ingest) -> None:
    app = FastAPI()
    app.add_middleware(FirstTokenMiddleware, ingest_url=real_ingest.url, token=WRITE_TOKEN)

    @app.post("/api/chat")
    async def chat(body: dict[str, Any]) -> StreamingResponse:
        async with span("db"):
            mark("preprocess")
        mark("kv_load")
        describe(model="llama-3-70b", tier="vip", variant="int4", batch_size=8, temperature=0.7)

        async def stream() -> AsyncIterator[str]:
            mark("first_token")
            yield 'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'
            yield 'data: {"choices":[],"usage":{"prompt_tokens":812,"completion_tokens":9}}\n\n'
            yield "data: [DONE]\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    with served(app, lifespan="on") as port:
        answer = httpx.post(f"http://127.0.0.1:{port}/api/chat", json={}, timeout=20)
    trace_id = answer.headers["x-trace-id"]
    beacon = {"v": 1, "trace_id": trace_id, "status": "complete", "ttft_ms": 1000, "end_ms": 1200}
    as_text = {"Content-Type": "text/plain"}
    httpx.post(f"{real_ingest.url}/v1/beacons", content=json.dumps(beacon), headers=as_text).raise_for_status()

    row = real_ingest.request(trace_id)
    header = stamps_of(answer.headers["x-timing-trace"])
    assert (row["joined"], row["status"], row["flags"]) == (True, "complete", [])
    names = ("receive", "preprocess", "kv_load", "first_token", "serialize")
    stages = {name: header[at + 1] - header[at] for at, name in enumerate(names)}
    assert {name: row["stages_ns"][name] for name in stages} == stages
    assert row["stages_ns"]["send"] > 0 and row["stages_ns"]["unattributed"] == 0
    assert list(row["sub_stages_ns"]) == ["db"]
    server = row["server"]
    assert server["ttft_ns"] == sum(row["stages_ns"][name] for name in (*names[1:], "send"))
    assert row["stages_ns"]["network"] == 1_000_000_000 - server["ttft_ns"] - row["stages_ns"]["receive"]
    expected = {
        "source": "direct",
        "ttft_basis": "t1-t6",
        "model": "llama-3-70b",
        "route": "/api/chat",
        "tier": "vip",
        "variant": "int4",
        "batch_size": 8,
        "temperature": 0.7,
        "prompt_tokens": 812,
        "output_tokens": 9,
        "status": 200,
    }
    assert {name: server[name] for name in expected} == expected


def test_an_engine_s_own_times_fill_the_waterfall_where_the_app_marks_nothing(real_ingest: Ingest) -> None:
    app = FastAPI()
    app.add_middleware(FirstTokenMiddleware, ingest_url=real_ingest.url, token=WRITE_TOKEN)

    @app.get("/")
    async def chat() -> StreamingResponse:
        time.sleep(0.01)
        metrics = '"metrics":{"queue_time_ms":2,"time_to_first_token_ms":5.5}'
        text = f'data: {{"choices":[{{"text":"Hi"}}]}}\n\ndata: {{"choices":[],"usage":{{}},{metrics}}}\n\n'
        return StreamingResponse(iter([text]), media_type="text/event-stream")

    with served(app, lifespan="on") as port:
        answer = httpx.get(f"http://127.0.0.1:{port}/", timeout=20)
    row = real_ingest.request(answer.headers["x-trace-id"])
    stages = row["stages_ns"]
    assert (stages["queue"], stages["first_token"]) == (2_000_000, 5_500_000)
    assert stages["unattributed"] == row["server"]["ttft_ns"] - stages["send"] - 7_500_000 > 0


PROGRAM = """
import os
from fastapi import FastAPI
from firsttoken import FirstTokenMiddleware
app = FastAPI()
app.add_middleware(FirstTokenMiddleware, describe=lambda scope: {"backend": f"worker-{os.getpid()}"})

@app.get("/")
async def chat():
    return os.getpid()
"""


def test_each_worker_process_sends_its_own_and_a_stop_loses_nothing(real_ingest: Ingest, tmp_path: Path) -> None:
    (tmp_path / "chat.py").write_text(PROGRAM)
    environment = {**os.environ, "FIRSTTOKEN_INGEST_URL": real_ingest.url, "FIRSTTOKEN_TOKEN": WRITE_TOKEN}
    command = [sys.executable, "-m", "uvicorn", "chat:app", "--workers", "2", "--port", "0"]
    server = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        url, ready = "", 0
        for line in server.stderr:
            url = line.split("running on ")[1].split()[0] if "running on " in line else url
            ready += "startup complete" in line
            if ready == 2:
                break
        # Each on a connection of its own, so that both workers get some; which of them takes one is the system's to
        # say.
        answers = [httpx.get(url, timeout=20) for _ in range(40)]
    finally:
        server.terminate()
        server.wait(20)
        if server.stderr is not None:
            server.stderr.close()
    for answer in answers:
        row = real_ingest.request(answer.headers["x-trace-id"])
        assert row["server"]["backend"] == f"worker-{answer.json()}"
