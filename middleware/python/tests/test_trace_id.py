from __future__ import annotations

import hashlib
from typing import Any

import pytest
from contract_files import golden
from hypothesis import given
from hypothesis import strategies as st

from firsttoken.trace_id import parse_traceparent, trace_key
from firsttoken.trace_identity import identify

IDS = golden("trace-ids")
T = "0af7651916cd43dd8448eb211c80319c"
P = "b7ad6b7169203331"
OTHER = "c4d1e2f3a4b5e6f7b8491a2b3c4d5e6f"


@pytest.mark.parametrize("case", [each for each in IDS["valid"] if "format" not in each], ids=lambda case: case["name"])
def test_golden_ids(case: dict[str, Any]) -> None:
    assert trace_key(case["given"]) == case["key"]


@pytest.mark.parametrize(
    "case", [each for each in IDS["invalid"] if "format" not in each], ids=lambda case: case["name"]
)
def test_golden_no_ids(case: dict[str, Any]) -> None:
    assert trace_key(case["given"]) is None


@pytest.mark.parametrize("case", IDS["traceparent_valid"], ids=lambda case: case["name"])
def test_golden_parents(case: dict[str, Any]) -> None:
    assert parse_traceparent(case["given"]) == (case["trace_id"], case["parent_id"])


@pytest.mark.parametrize("case", IDS["traceparent_invalid"], ids=lambda case: case["name"])
def test_golden_no_parents(case: dict[str, Any]) -> None:
    assert parse_traceparent(case["given"]) is None


@given(st.text(max_size=140))
def test_a_key_is_32_hex_digits_or_none(text: str) -> None:
    key = trace_key(text)
    assert key is None or (len(key) == 32 and set(key) <= set("0123456789abcdef"))


def scope(*headers: tuple[str, str], query: bytes = b"") -> dict[str, Any]:
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    return {"headers": raw, "query_string": query}


@pytest.mark.parametrize(
    ("headers", "expected", "key", "parent"),
    [
        ([("X-Trace-ID", OTHER), ("traceparent", f"00-{T}-{P}-01")], OTHER, OTHER, None),
        (
            [("X-Trace-ID", "7F3C9A10-55D2-4B8E-9C01-2E6FA4B7D813")],
            "7F3C9A10-55D2-4B8E-9C01-2E6FA4B7D813",
            "7f3c9a1055d24b8e9c012e6fa4b7d813",
            None,
        ),
        ([("X-Trace-ID", P)], P, f"0000000000000000{P}", None),
        (
            [("X-Trace-ID", "chatcmpl-abc123")],
            "chatcmpl-abc123",
            hashlib.sha256(b"chatcmpl-abc123").hexdigest()[:32],
            None,
        ),
        ([("traceparent", f"00-{T}-{P}-00")], T, T, P),
        ([("X-Trace-ID", T), ("traceparent", f"00-{T}-{P}-01")], T, T, P),
        ([("X-Trace-ID", "-"), ("traceparent", f"00-{T}-{P}-01")], T, T, P),
        (
            [("X-Trace-ID", "0" * 32), ("traceparent", f"00-{T.upper()}-{P}-01"), ("X-Request-ID", OTHER)],
            OTHER,
            OTHER,
            None,
        ),
        ([("X-Trace-ID", T), ("x-trace-id", T), ("X-Request-ID", OTHER)], OTHER, OTHER, None),
        ([("traceparent", f"00-{T}-{P}-01"), ("traceparent", f"00-{T}-{P}-01")], "fromquery", None, None),
    ],
)
def test_sources_in_order(headers: list[tuple[str, str]], expected: str, key: str | None, parent: str | None) -> None:
    identity = identify(scope(*headers, query=b"a=1&trace_id=fromquery"))
    assert (identity.given, identity.parent_span_id) == (expected, parent)
    assert key is None or identity.key == key


@pytest.mark.parametrize(
    "query",
    [
        f"trace_id={T}&trace_id={T}".encode(),
        b"trace_id=",
        b"trace_id",
        b"trace_id=x%0d%0aSet-Cookie:%20a=b",
        b"trace_id=%E5%8C%97",
        b"trace_id=\xe5\x8c\x97",
        b"xtrace_id=a",
        b"",
    ],
)
def test_without_a_valid_id_each_request_gets_a_random_one(query: bytes) -> None:
    ids = {identify(scope(("X-Trace-ID", "\xe5\x8c\x97"), query=query)).given for _ in range(3)}
    assert len(ids) == 3
    assert all(len(each) == 32 and trace_key(each) == each for each in ids)


def test_the_query_parameter_is_decoded() -> None:
    assert identify(scope(query=b"trace_id=a%20b+c")).given == "a b c"
    assert identify(scope(query=b"trace_id=%")).given == "%"
