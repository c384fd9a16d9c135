from __future__ import annotations

from typing import Any

import pytest
from contract_files import golden
from hypothesis import given
from hypothesis import strategies as st
from stamp_reading import stamps_of, taken

from firsttoken.described_fields import _DESCRIBABLE, checked_description
from firsttoken.request_facts import RequestFacts
from firsttoken.stamps import STAMPED_STAGES, Stamps
from firsttoken.tokens import EngineTimes
from firsttoken.trace_identity import TraceIdentity

RECORDS = golden("server-records")


def facts() -> RequestFacts:
    return RequestFacts(TraceIdentity("a" * 32, "a" * 32, None), 1_000)


@given(st.lists(st.tuples(st.sampled_from(STAMPED_STAGES), st.integers(1, 30)), max_size=12))
def test_stamps_never_fall_and_are_taken_once(ends: list[tuple[Any, int]]) -> None:
    stamps = Stamps(5)
    for stage, at_ns in ends:
        before = stamps_of(str(stamps))
        accepted = stamps.end(stage, at_ns)
        after = stamps_of(str(stamps))
        assert (before != after) == accepted
        assert all(now == then for now, then in zip(after, before) if then)
        known = [stamp for stamp in after if stamp]
        assert known == sorted(known)


def test_a_stamp_past_two_to_the_53_is_exact() -> None:
    stamps = Stamps(9_007_199_254_740_993)
    stamps.end("receive", 9_007_199_254_740_995)
    assert str(stamps) == "9007199254740993,9007199254740995,0,0,0,0,0"


@pytest.mark.parametrize("case", RECORDS["valid"], ids=lambda case: case["name"])
def test_what_the_ingest_takes_is_kept(case: dict[str, Any]) -> None:
    described = {name: value for name, value in case["record"].items() if name in _DESCRIBABLE}
    known = {name: value for name, value in described.items() if value is not None}
    assert checked_description(described) == known


@pytest.mark.parametrize(
    "case",
    [
        each
        for each in RECORDS["invalid"]
        if each["code"] == "invalid_field" and set(each["record"]) & set(_DESCRIBABLE)
    ],
    ids=lambda case: case["name"],
)
def test_what_the_ingest_would_refuse_stays_out(case: dict[str, Any]) -> None:
    described = {name: value for name, value in case["record"].items() if name in _DESCRIBABLE}
    assert checked_description(described) != described


@pytest.mark.parametrize("value", [True, float("nan"), float("inf"), [], {}, "1", 10**400])
def test_what_is_no_number_stays_out(value: Any) -> None:
    assert checked_description({"batch_size": value, "temperature": value, "unknown": 1, "tier": None}) == {}


def test_what_was_said_during_the_request_wins_over_the_option_and_the_engine() -> None:
    said = facts()
    said.usage = {"output_tokens": 9, "prompt_tokens": 812, "cached_tokens": 512, "reasoning_tokens": 4}
    said.describe({"model": "from-handler", "output_tokens": 7})
    said.describe({"tier": "vip"})
    record = said.to_record(200, {"model": "from-option", "route": "/api/chat"})
    assert {name: record[name] for name in ("model", "route", "tier", "output_tokens", "prompt_tokens")} == {
        "model": "from-handler",
        "route": "/api/chat",
        "tier": "vip",
        "output_tokens": 7,
        "prompt_tokens": 812,
    }
    assert "reasoning_tokens" not in record


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        (EngineTimes(5.5, 24), "queue;dur=5.500000, first_token;dur=29.500000"),
        (EngineTimes(None, 24), "first_token;dur=24.000000"),
        (EngineTimes(1e-5, None), "queue;dur=0.000010"),
    ],
)
def test_the_engine_s_times_go_into_server_timing(engine: EngineTimes, expected: str) -> None:
    reported = facts()
    reported.engine = engine
    assert reported.to_record(200, {})["server_timing"] == expected
    assert reported.to_record(200, {"server_timing": "db;dur=1"})["server_timing"] == "db;dur=1"


def test_sub_stages_are_summed_by_name_and_bounded() -> None:
    measured = facts()
    for name, ns in [("db", 5), ("db", 7), ("", 1), ("x" * 65, 1), ("long", 10**13)]:
        measured.add_sub_stage(name, ns)
    for number in range(20):
        measured.add_sub_stage(f"n{number}", 1)
    measured.add_sub_stage("db", 1)
    sub_stages = measured.to_record(None, {})["sub_stages"]
    assert list(sub_stages) == ["db", "long", *(f"n{number}" for number in range(14))]
    assert (sub_stages["db"], sub_stages["long"]) == (13, 3_600_000_000_000)


def test_a_record_without_anything_has_what_is_required() -> None:
    record = facts().to_record(None, {})
    assert set(record) == {"trace_id", "timing_trace", "started_at"}
    assert taken(record["timing_trace"]) == "0------"
