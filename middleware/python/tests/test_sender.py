from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from ingest_double import Answer, IngestDouble

from firsttoken import sender_stats
from firsttoken.sender import Sender

senders: list[Sender] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    for sender in senders:
        sender.close(0)
    senders.clear()


def start(ingest: IngestDouble, **settings: Any) -> Sender:
    options = {"ingest_url": ingest.url, "token": "write-token", "gather_s": 0.001, "retry_s": lambda *_: 0.001}
    senders.append(Sender(**{**options, **settings}))
    return senders[-1]


def record(number: int) -> dict[str, Any]:
    return {"trace_id": str(number).rjust(32, "a"), "timing_trace": "1,2,3,4,5,6,7"}


def send(sender: Sender, count: int) -> None:
    for number in range(count):
        sender.send(record(number))


def ids_of(records: list[dict[str, Any]]) -> list[int]:
    return [int(each["trace_id"].replace("a", "")) for each in records]


def test_posts_ndjson_with_the_token(ingest: IngestDouble) -> None:
    sender = start(ingest, ingest_url=f"{ingest.url}/prefix/", gather_s=20)
    send(sender, 3)
    sender.close()
    (post,) = ingest.posts
    assert (post.path, post.records) == ("/prefix/v1/server-timings", [record(0), record(1), record(2)])
    assert post.headers["Authorization"] == "Bearer write-token"
    assert post.headers["Content-Type"] == "application/x-ndjson"
    assert sender.stats == (3, 0, 0, 0)


def test_without_a_token_sends_no_authorization(ingest: IngestDouble) -> None:
    sender = start(ingest, token=None)
    send(sender, 1)
    sender.close()
    assert "Authorization" not in ingest.posts[0].headers


def test_at_most_500_records_and_512_kib_a_post_in_order_on_one_connection(ingest: IngestDouble) -> None:
    sender = start(ingest, gather_s=20)
    send(sender, 1_201)
    sender.close()
    assert [len(post.records) for post in ingest.posts] == [500, 500, 201]
    assert ids_of(ingest.records) == list(range(1_201))
    assert ingest.connections == 1
    ingest.posts.clear()
    for number in range(200):
        sender.send({**record(number), "server_timing": "x" * 8_000})
    sender.close()
    assert len(ingest.posts) > 2
    assert all(post.size <= 524_288 for post in ingest.posts)


@pytest.mark.parametrize("status", [429, 408, 500, 503])
def test_tries_again_after_what_retry_after_says(ingest: IngestDouble, status: int) -> None:
    asked = []

    def retry_s(failures: int, retry_after: str | None) -> float:
        asked.append((failures, retry_after))
        return 0.001

    ingest.answer = lambda _: Answer(status, {"Retry-After": "7"}) if len(ingest.posts) < 3 else Answer()
    sender = start(ingest, retry_s=retry_s)
    send(sender, 2)
    ingest.until(lambda: len(ingest.records) == 2)
    assert asked == [(1, "7"), (2, "7")]
    sender.close()
    assert len(ingest.posts) == 3
    assert sender.stats == (2, 0, 0, 0)


@pytest.mark.parametrize("status", [400, 401, 413, 301])
def test_what_is_refused_is_not_tried_again(ingest: IngestDouble, status: int) -> None:
    ingest.answer = lambda _: Answer(status, body=b'{"error":{}}') if len(ingest.posts) < 2 else Answer()
    sender = start(ingest, gather_s=20)
    send(sender, 2)
    sender.close()
    send(sender, 1)
    sender.close()
    assert sender.stats == (1, 0, 2, 0)


def test_single_rejected_records_are_counted(ingest: IngestDouble) -> None:
    ingest.answer = lambda _: Answer(
        body=b'{"accepted":2,"rejected":[{"index":1,"code":"invalid_field","message":""}]}'
    )
    sender = start(ingest)
    send(sender, 3)
    sender.close()
    assert sender.stats == (2, 0, 1, 0)


@pytest.mark.parametrize("body", [b"", b"[]", b"3", b"[" * 100_000, b'{"rejected":7}', b"x" * 1_500_000])
def test_an_answer_that_says_nothing_is_as_good_as_its_status(ingest: IngestDouble, body: bytes) -> None:
    ingest.answer = lambda _: Answer(body=body)
    sender = start(ingest)
    for _ in range(2):
        send(sender, 1)
        sender.close()
    assert sender.stats == (2, 0, 0, 0)


def test_while_the_ingest_is_away_the_queue_keeps_the_newest_and_they_arrive_when_it_is_back(
    ingest: IngestDouble,
) -> None:
    ingest.answer = lambda _: Answer(503)
    sender = start(ingest, max_waiting=100)
    send(sender, 1)
    ingest.until(lambda: len(ingest.posts) > 2)
    send(sender, 1_000)
    assert sender.stats == (0, 901, 0, 100)
    assert len(sender._queue) == 99
    ingest.answer = lambda _: Answer()
    sender.close()
    assert sender.stats == (100, 901, 0, 0)
    assert ids_of(ingest.records) == [0, *range(901, 1_000)]


def test_a_hanging_ingest_is_given_up_after_the_time_out_and_asked_again(ingest: IngestDouble) -> None:
    ingest.answer = lambda _: None if len(ingest.posts) < 3 else Answer()
    sender = start(ingest, timeout_s=0.02)
    send(sender, 1)
    ingest.until(lambda: len(ingest.records) == 1)
    assert len(ingest.posts) == 3


def test_an_answer_cut_off_in_the_middle_is_tried_again(ingest: IngestDouble) -> None:
    ingest.answer = lambda _: Answer(cut_after=5) if len(ingest.posts) < 3 else Answer()
    sender = start(ingest)
    send(sender, 1)
    ingest.until(lambda: len(ingest.posts) == 3)
    sender.close()
    assert sender.stats == (1, 0, 0, 0)


def test_a_connection_that_was_closed_while_idle_costs_no_failure(
    ingest: IngestDouble, caplog: pytest.LogCaptureFixture
) -> None:
    ingest.answer = lambda _: Answer(hang_up=True)
    sender = start(ingest, gather_s=0, retry_s=lambda *_: 20)
    for number in range(3):
        sender.send(record(number))
        ingest.until(lambda expected=number + 1: len(ingest.records) == expected)  # type: ignore[misc]
    sender.close()
    assert sender.stats == (3, 0, 0, 0)
    assert not caplog.records


def test_a_close_gives_up_at_its_deadline_and_twice_is_no_harm(ingest: IngestDouble) -> None:
    ingest.answer = lambda _: None
    sender = start(ingest, timeout_s=60)
    send(sender, 2)
    ingest.until(lambda: len(ingest.posts) == 1)
    closers = [threading.Thread(target=sender.close, args=(0.02,)) for _ in range(2)]
    for closer in closers:
        closer.start()
    for closer in closers:
        closer.join()
    assert sender.stats == (0, 2, 0, 0)


def test_a_record_after_a_close_is_sent_too(ingest: IngestDouble) -> None:
    sender = start(ingest)
    sender.close()
    send(sender, 1)
    sender.close()
    assert sender.stats == (1, 0, 0, 0)
    assert sender_stats().sent >= 1


def test_its_thread_ends_with_the_work(ingest: IngestDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firsttoken.sender._IDLE_S", 0.01)
    sender = start(ingest, gather_s=0)
    send(sender, 1)
    thread = sender._thread
    assert thread is not None
    thread.join(20)
    assert not thread.is_alive() and sender._thread is None
    send(sender, 1)
    ingest.until(lambda: len(ingest.records) == 2)


def test_many_threads_lose_and_double_nothing(ingest: IngestDouble) -> None:
    sender = start(ingest, gather_s=0)

    def send_from(first: int) -> None:
        for number in range(first, first + 200):
            sender.send(record(number))

    threads = [threading.Thread(target=send_from, args=(first,)) for first in range(0, 1_600, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sender.close(20)
    assert sorted(ids_of(ingest.records)) == list(range(1_600))
    assert sender.stats == (1_600, 0, 0, 0)


def test_trouble_is_said_once(ingest: IngestDouble, caplog: pytest.LogCaptureFixture) -> None:
    ingest.answer = lambda _: Answer(503) if len(ingest.posts) < 4 else Answer(400)
    sender = start(ingest)
    send(sender, 1)
    sender.close()
    assert [each.levelno for each in caplog.records] == [logging.WARNING] * 2
    assert "503" in caplog.messages[0] and "400" in caplog.messages[1]


def test_sending_never_waits_for_the_ingest(ingest: IngestDouble) -> None:
    ingest.answer = lambda _: None
    sender = start(ingest, gather_s=0)
    send(sender, 1)
    ingest.until(lambda: len(ingest.posts) == 1)
    began_s = time.perf_counter()
    send(sender, 10_000)
    # A post takes as long as its time-out, 10 s; ten thousand records take some hundredths of one.
    assert time.perf_counter() - began_s < 5
    assert sender.stats.waiting == 10_000


PROGRAM = """
import os, sys
from firsttoken.sender import Sender
sender = Sender({url!r}, gather_s={gather_s})
sender.send({{"trace_id": "parent"}})
if {forks}:
    child = os.fork()
    if child == 0:
        assert sender.stats == (0, 0, 0, 0), sender.stats
        sender.send({{"trace_id": "child"}})
        sender.close()
        os._exit(0 if sender.stats == (1, 0, 0, 0) else 1)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize(("forks", "expected"), [(False, ["parent"]), (True, ["child", "parent"])])
def test_a_process_that_ends_sends_what_waits_and_a_fork_sends_only_its_own(
    ingest: IngestDouble, forks: bool, expected: list[str]
) -> None:
    if forks and not hasattr(os, "fork"):
        pytest.fail("this test needs a system that can fork")
    program = PROGRAM.format(url=ingest.url, gather_s=20, forks=forks)
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=30)
    assert sorted(each["trace_id"] for each in ingest.records) == expected


def test_a_dead_ingest_keeps_no_process_longer_than_the_deadline(ingest: IngestDouble) -> None:
    program = PROGRAM.format(url="http://127.0.0.1:1", gather_s=0, forks=False)
    program += "import firsttoken.sender\nfirsttoken.sender.CLOSE_DEADLINE_S = 0.1\n"
    run = subprocess.run([sys.executable, "-c", program], check=True, timeout=30, capture_output=True, text=True)
    assert run.stderr.count("trying again") <= 1


def test_what_json_cannot_say_raises_before_it_is_queued(ingest: IngestDouble) -> None:
    sender = start(ingest)
    with pytest.raises(TypeError):
        sender.send({"trace_id": object()})
    assert sender.stats == (0, 0, 0, 0)
    assert json.dumps(sender.stats._asdict())
