"""Runs a real vLLM on the CPU with the middleware, and compares its own figures with ours.

The engine's ``vllm:time_to_first_token_seconds`` runs from its taking the parsed request to its first token; ours from
the last byte of the request to the first token's bytes handed to the network. So ours must never be shorter, and longer
only by the work of the HTTP front: reading and checking the JSON, the chat template, writing the event.
"""

from __future__ import annotations

import concurrent.futures
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from engine import TOKENS, Engine, engine
from ingest_double import IngestDouble
from stamp_reading import stamps_of

SINGLE_STREAMS = 40
CONCURRENT_STREAMS = 60
#: What the HTTP front may add to the engine's own figure, milliseconds.
MOST_ADDED_MS = 20.0
#: The engine takes its arrival from the wall clock, which the system may slew.
CLOCK_TOLERANCE_MS = 0.5


def record_of(ingest: IngestDouble, trace_id: str) -> dict[str, Any]:
    def found() -> list[dict[str, Any]]:
        return [record for record in ingest.records if record["trace_id"] == trace_id]

    ingest.until(lambda: len(found()) == 1)
    return found()[0]


def ttft_ms(record: dict[str, Any]) -> float:
    stamps = stamps_of(record["timing_trace"])
    return (stamps[6] - stamps[1]) / 1e6


def reported_ms(record: dict[str, Any]) -> dict[str, float]:
    """The entries of ``server_timing``."""
    entries = (entry.split(";dur=") for entry in record["server_timing"].split(", "))
    return {name: float(duration) for name, duration in entries}


def compare_single(running: Engine, ingest: IngestDouble) -> None:
    """One after the other, each request's own difference is known."""
    added_ms = []
    for number in range(SINGLE_STREAMS):
        before, _ = running.total("vllm:time_to_first_token_seconds")
        record = record_of(ingest, running.stream(number))
        after, _ = running.total("vllm:time_to_first_token_seconds")
        added_ms.append(ttft_ms(record) - (after - before) * 1e3)
        assert record["route"] == "/v1/chat/completions" and record["backend"] == "this-machine", record
        assert record["output_tokens"] == TOKENS and record["status"] == 200, record
    added_ms.sort()
    print(
        f"{SINGLE_STREAMS} single streams: our TTFT exceeds vLLM's by {statistics.median(added_ms):.2f} ms (median), "
        f"{added_ms[0]:.2f} to {added_ms[-1]:.2f} ms"
    )
    assert added_ms[0] >= -CLOCK_TOLERANCE_MS, "ours is shorter than the engine's"
    assert statistics.median(added_ms) <= MOST_ADDED_MS


def compare_concurrent(running: Engine, ingest: IngestDouble) -> None:
    """Two at a time in the engine and six outside: the others queue, and the sums tell whether both saw the same."""
    names = {
        "ttft": "vllm:time_to_first_token_seconds",
        "queue": "vllm:request_queue_time_seconds",
        "prefill": "vllm:request_prefill_time_seconds",
    }
    before = {name: running.total(metric) for name, metric in names.items()}
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        trace_ids = list(pool.map(running.stream, range(CONCURRENT_STREAMS)))
    records = [record_of(ingest, trace_id) for trace_id in trace_ids]
    after = {name: running.total(metric) for name, metric in names.items()}
    assert all(after[name][1] - before[name][1] == CONCURRENT_STREAMS for name in names)
    engine_ms = {name: (after[name][0] - before[name][0]) * 1e3 / CONCURRENT_STREAMS for name in names}
    reported = [reported_ms(record) for record in records]
    ours_ms = {
        "ttft": statistics.mean(map(ttft_ms, records)),
        "queue": statistics.mean(each["queue"] for each in reported),
        "prefill": statistics.mean(each["first_token"] - each["queue"] for each in reported),
    }
    for name in names:
        print(
            f"{CONCURRENT_STREAMS} streams, six at a time, mean {name}: "
            f"ours {ours_ms[name]:.2f} ms, vLLM's {engine_ms[name]:.2f} ms"
        )
    # Requests that wait for a processor wait in the front too, where only we see it.
    most_added_ms = max(MOST_ADDED_MS, 0.1 * engine_ms["ttft"])
    assert -CLOCK_TOLERANCE_MS <= ours_ms["ttft"] - engine_ms["ttft"] <= most_added_ms
    assert engine_ms["queue"] > 1, "nothing queued: the comparison proves nothing"
    for name in ("queue", "prefill"):
        assert abs(ours_ms[name] - engine_ms[name]) <= max(0.01 * engine_ms[name], 0.01), name
    for record in records:
        assert reported_ms(record)["first_token"] <= ttft_ms(record) + CLOCK_TOLERANCE_MS


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="firsttoken-vllm-"))
    try:
        with IngestDouble() as ingest, engine(ingest.url, folder) as running:
            for number in range(5):
                record_of(ingest, running.stream(number))
            compare_single(running, ingest)
            compare_concurrent(running, ingest)
            status, _ = running.get("/v1/models")
            assert status == 200
            trace_ids = [record["trace_id"] for record in ingest.records]
            assert len(trace_ids) == len(set(trace_ids))
    finally:
        shutil.rmtree(folder)
    print("the figures agree")


if __name__ == "__main__":
    main()
