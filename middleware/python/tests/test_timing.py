"""Stamps in header and record of apps behind a real server."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from datetime import datetime, timezone
from typing import Any

import pytest
from ingest_double import IngestDouble
from raw_apps import DONE, ROLE, SSE, TOKEN, USAGE, Timed, chunk, read_body, records_of, start
from serving import ask, served
from stamp_reading import stamps_of, taken

from firsttoken import TokenFacts, facts_event, mark, span


def test_all_seven_in_order_in_the_record_those_there_are_at_the_first_chunk_in_the_header(
    timed: Timed, ingest: IngestDouble
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        mark("preprocess")
        mark("kv_load")
        mark("first_token")
        await start(send)
        await chunk(send, TOKEN)
        await chunk(send, USAGE + DONE, more=False)

    app = timed(app)
    before = datetime.now(timezone.utc)
    with served(app) as port:
        answer = ask(port, method="POST", body=b'{"messages":[]}')
    assert answer.body == TOKEN + USAGE + DONE
    header = answer.headers["x-timing-trace"]
    assert taken(header) == "012345-"
    (record,) = records_of(app, ingest)
    stamps = stamps_of(record["timing_trace"])
    assert taken(record["timing_trace"]) == "0123456"
    assert stamps == sorted(stamps) and stamps[:6] == stamps_of(header)[:6]
    assert record["trace_id"] == answer.headers["x-trace-id"]
    assert {name: record[name] for name in ("status", "output_tokens", "prompt_tokens", "cached_tokens")} == {
        "status": 200,
        "output_tokens": 9,
        "prompt_tokens": 812,
        "cached_tokens": 512,
    }
    assert record["server_timing"] == "queue;dur=5.000000, first_token;dur=25.000000"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record["started_at"])
    started_at = datetime.fromisoformat(record["started_at"].replace("Z", "+00:00"))
    assert (before - started_at).total_seconds() < 0.001 and started_at <= datetime.now(timezone.utc)


def test_a_role_frame_first_leaves_t4_to_t6_at_zero_in_the_header_the_record_has_them(
    timed: Timed, ingest: IngestDouble
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        mark("preprocess")
        await start(send)
        await chunk(send, ROLE)
        await asyncio.sleep(0)
        mark("first_token")
        await chunk(send, TOKEN)
        await chunk(send, DONE, more=False)

    app = timed(app)
    with served(app) as port:
        assert taken(ask(port).headers["x-timing-trace"]) == "012----"
    (record,) = records_of(app, ingest)
    assert taken(record["timing_trace"]) == "012-456"
    assert "output_tokens" not in record and "server_timing" not in record


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([b": comment\n\n", ROLE + DONE], "01-----"),
        ([TOKEN[:30], TOKEN[30:]], "01---56"),
        ([b"", TOKEN], "01---56"),
        ([], "01-----"),
    ],
)
def test_a_stream_has_t5_and_t6_when_an_event_bears_a_token(
    timed: Timed, ingest: IngestDouble, chunks: list[bytes], expected: str
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send)
        for each in chunks:
            await chunk(send, each)
        await chunk(send, b"", more=False)

    app = timed(app)
    with served(app) as port:
        answer = ask(port)
    assert answer.body == b"".join(chunks)
    assert taken(answer.headers["x-timing-trace"]) == "01-----"
    assert taken(records_of(app, ingest)[0]["timing_trace"]) == expected


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_chunk_of_any_byte_type_is_read(timed: Timed, ingest: IngestDouble, kind: Any) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send)
        await chunk(send, kind(TOKEN), more=False)

    app = timed(app)
    with served(app, http="h11") as port:
        assert ask(port).body == TOKEN
    assert taken(records_of(app, ingest)[0]["timing_trace"]) == "01---56"


def test_a_mark_is_taken_once_and_not_after_a_later_stage(timed: Timed, ingest: IngestDouble) -> None:
    results = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        results.extend([mark("kv_load"), mark("kv_load"), mark("preprocess")])
        await start(send, headers=[])
        await chunk(send, b"{}", more=False)
        results.append(mark("first_token"))
        results.append(mark("send"))  # type: ignore[arg-type]

    app = timed(app)
    with served(app) as port:
        ask(port)
    assert results == [True, False, False, False, False]
    assert taken(records_of(app, ingest)[0]["timing_trace"]) == "01-3-56"
    assert mark("preprocess") is False


def test_t1_is_when_the_last_part_of_the_body_was_given_to_the_app(timed: Timed, ingest: IngestDouble) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = await read_body(receive)
        mark("preprocess")
        await start(send, headers=[])
        await chunk(send, body, more=False)

    app = timed(app)
    text = b"x" * 1_000_000
    with served(app) as port:
        assert ask(port, method="POST", body=text).body == text
    assert taken(records_of(app, ingest)[0]["timing_trace"]) == "012--56"


def test_t1_stays_zero_when_the_app_never_reads_the_body(timed: Timed, ingest: IngestDouble) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send, headers=[])
        await chunk(send, b"{}", more=False)

    app = timed(app)
    with served(app) as port, socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
        client.recv(100)
    assert taken(records_of(app, ingest)[0]["timing_trace"]) == "0----56"


@pytest.mark.parametrize(("status", "method"), [(500, "GET"), (302, "GET"), (204, "GET"), (200, "HEAD")])
def test_what_is_no_answer_bears_no_token(timed: Timed, ingest: IngestDouble, status: int, method: str) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send, status, [])
        await chunk(send, b"" if status == 204 else b'{"error":{}}', more=False)

    app = timed(app)
    with served(app) as port:
        answer = ask(port, method=method)
    assert answer.status == status
    assert taken(answer.headers["x-timing-trace"]) == "01-----"
    (record,) = records_of(app, ingest)
    assert (record["status"], taken(record["timing_trace"])) == (status, "01-----")


@pytest.mark.parametrize(("encoding", "expected"), [(b"gzip", "01-----"), (b"Identity", "01---56")])
def test_a_compressed_event_stream_cannot_be_read(
    timed: Timed, ingest: IngestDouble, encoding: bytes, expected: str
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send, headers=[*SSE, (b"Content-Encoding", encoding)])
        await chunk(send, TOKEN, more=False)

    app = timed(app)
    with served(app) as port:
        ask(port)
    assert taken(records_of(app, ingest)[0]["timing_trace"]) == expected


def test_an_app_s_own_function_decides_and_may_fail(timed: Timed, ingest: IngestDouble) -> None:
    def tokens(event: Any) -> TokenFacts:
        if event.data == "bad":
            raise RuntimeError("cannot read this")
        return TokenFacts(token=True, usage={"output_tokens": int(event.data)})

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send)
        for data in (b"bad", b"1", b"2"):
            await chunk(send, b"data: %b\n\n" % data)
        await chunk(send, b"", more=False)

    app = timed(app, tokens=tokens)
    with served(app) as port:
        assert ask(port).body == b"data: bad\n\ndata: 1\n\ndata: 2\n\n"
    (record,) = records_of(app, ingest)
    assert (taken(record["timing_trace"]), record["output_tokens"]) == ("01---56", 2)


@pytest.mark.parametrize("cut", range(0, len(USAGE), 20))
def test_usage_is_found_after_the_first_token_however_it_is_cut(timed: Timed, ingest: IngestDouble, cut: int) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send)
        for each in (TOKEN, TOKEN + USAGE[:cut], USAGE[cut:] + DONE):
            await chunk(send, each)
        await chunk(send, b"", more=False)

    async def drive() -> None:
        async def receive() -> Any: ...
        async def send(message: Any) -> None: ...

        await wrapped({"type": "http", "method": "GET", "headers": []}, receive, send)

    wrapped = timed(app)
    asyncio.run(drive())
    assert records_of(wrapped, ingest)[0]["output_tokens"] == 9


def test_an_event_source_gets_the_stamps_as_the_last_event_of_its_stream(timed: Timed, ingest: IngestDouble) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await start(send)
        await chunk(send, TOKEN)
        await chunk(send, facts_event().encode(), more=False)

    app = timed(app)
    with served(app) as port:
        body = ask(port, "/?trace_id=from-the-page").body.decode()
    found = re.search(r"\n\nevent: firsttoken\ndata: (.*)\n\n$", body)
    assert found
    (record,) = records_of(app, ingest)
    assert json.loads(found[1]) == {"trace_id": "from-the-page", "timing_trace": record["timing_trace"]}
    assert taken(record["timing_trace"]) == "01---56"
    assert facts_event() == ""


def test_sub_stages_nested_concurrent_of_one_name_failed_and_more_than_sixteen(
    timed: Timed, ingest: IngestDouble
) -> None:
    async def tick(name: str) -> None:
        async with span(name):
            await asyncio.sleep(0)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        async with span("retrieval"):
            await asyncio.gather(tick("db"), tick("db"))
            with span("auth"):
                pass
        with pytest.raises(RuntimeError, match="a"), span("failure"):
            raise RuntimeError("a")
        for name in ["", "x" * 65, *(f"n{number}" for number in range(20)), "db"]:
            with span(name):
                pass
        await start(send, headers=[])
        await chunk(send, b"x", more=False)

    app = timed(app)
    with served(app) as port:
        ask(port)
    sub_stages = records_of(app, ingest)[0]["sub_stages"]
    assert list(sub_stages) == ["db", "auth", "retrieval", "failure", *(f"n{number}" for number in range(12))]
    assert all(isinstance(ns, int) and ns >= 0 for ns in sub_stages.values())
    with span("outside"):
        pass
