from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsttoken.limits import MAX_SSE_EVENT_BYTES
from firsttoken.sse import SseEvent, SseReader


def read(chunks: list[bytes], max_event_bytes: int = MAX_SSE_EVENT_BYTES) -> list[SseEvent]:
    events: list[SseEvent] = []
    reader = SseReader(events.append, max_event_bytes)
    for chunk in chunks:
        reader.push(chunk)
    reader.end()
    return events


def data_of(events: list[SseEvent]) -> list[str]:
    return [event.data for event in events]


def read_every_way(text: bytes, max_event_bytes: int = MAX_SSE_EVENT_BYTES) -> list[SseEvent]:
    """Whole, cut once at every byte, and byte by byte; all must agree."""
    whole = read([text], max_event_bytes)
    for cut in range(len(text) + 1):
        assert read([text[:cut], text[cut:]], max_event_bytes) == whole
    assert read([text[at : at + 1] for at in range(len(text))], max_event_bytes) == whole
    return whole


def test_a_crlf_cut_between_two_chunks_is_one_line_end() -> None:
    chunks = [b"data: A\r\n", b"data: B\r", b"\ndata: C\r\n", b"\r\n"]
    assert data_of(read(chunks)) == ["A\nB\nC"]
    assert data_of(read_every_way(b"".join(chunks))) == ["A\nB\nC"]


def test_a_character_cut_between_chunks_survives_and_its_event_exists_only_with_its_blank_line() -> None:
    chunks = [
        bytes.fromhex("646174613a207b2263686f69636573223a5b7b2264656c7461223a7b22636f6e74656e74223a22e5"),
        bytes.fromhex("8c97f09f"),
        bytes.fromhex("8c8d227d7d5d7d0a0a"),
    ]
    events: list[SseEvent] = []
    seen_after = []
    reader = SseReader(events.append)
    for chunk in chunks:
        reader.push(chunk)
        seen_after.append(len(events))
    assert seen_after == [0, 0, 1]
    assert data_of(events) == ['{"choices":[{"delta":{"content":"\u5317\U0001f30d"}}]}']
    read_every_way(b"".join(chunks))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('data:{"choices":\ndata:[{"delta":{"content":"Hi"}}]}\n\n', ['{"choices":\n[{"delta":{"content":"Hi"}}]}']),
        ("data:  x\n\n", [" x"]),
        ("data\n\n", [""]),
        ("data\ndata\n\n", ["\n"]),
        (": comment\n\n:\n\n", []),
        ("event: x\n\ndata: 1\n\n", ["1"]),
        ("\ufeffdata: 1\n\n\ufeffdata: 2\n\n", ["1"]),
        ("data: half", []),
        ("data: half\n", []),
        ("data: a\r\rdata: b\r\r", ["a", "b"]),
        ("data: a\n\r\ndata: b\r\n\n", ["a", "b"]),
        ("unknown: 1\nretry: 3\nDATA: 2\ndata : 3\ndata: 4\n\n", ["4"]),
    ],
)
def test_fields(text: str, expected: list[str]) -> None:
    assert data_of(read_every_way(text.encode())) == expected


def test_types_are_per_event_ids_last_until_the_next_an_id_with_nul_is_none() -> None:
    assert read_every_way(b"data:1\n\nevent:ping\nid:7\ndata:2\n\nid:\0x\ndata:3\n\nid\ndata:4\n\n") == [
        SseEvent("message", "1", None),
        SseEvent("ping", "2", "7"),
        SseEvent("message", "3", "7"),
        SseEvent("message", "4", ""),
    ]


@pytest.mark.parametrize("ending", [b"\n\n", b"\r\r", b"\r\n\r\n", b"\r\n\r", b"\n\r"])
def test_dispatches_at_once(ending: bytes) -> None:
    events: list[SseEvent] = []
    reader = SseReader(events.append)
    for byte in b"data: 1" + ending:
        reader.push(bytes([byte]))
    assert data_of(events) == ["1"]
    reader.push(b"\ndata: 2\n\n")
    assert data_of(events) == ["1", "2"]


def test_an_event_over_the_limit_is_dropped_up_to_its_blank_line_wherever_it_is_cut() -> None:
    text = (
        b"data: " + b"x" * 40 + b"\ndata: y\n\ndata: ok\n\n" + b"data: 12345678\n" * 5
        + b"\ndata: ok\r\n\r\n:" + b"c" * 40 + b"\n\ndata: z\n\n"
    )  # fmt: skip
    assert data_of(read_every_way(text, 32)) == ["ok", "ok", "z"]


def test_an_endless_line_keeps_no_more_than_the_limit() -> None:
    events: list[SseEvent] = []
    reader = SseReader(events.append, 1_000)
    for _ in range(100):
        reader.push(b"data: ".ljust(100_000, b"x"))
        assert len(reader._line) <= 1
    reader.push(b"\n\ndata: after\n\n")
    assert data_of(events) == ["after"]


def test_after_the_end_a_reader_starts_afresh() -> None:
    events: list[SseEvent] = []
    reader = SseReader(events.append)
    reader.push(b"data: half\r")
    reader.end()
    reader.push(b"\ndata: whole\n\n")
    assert data_of(events) == ["whole"]


PIECES = st.lists(
    st.sampled_from(
        [
            *("\r", "\n", "\r\n", "data", "data:", "data: ", "event: ", "id: ", ":", " ", "x"),
            *("\u5317", "\U0001f30d", "\ufeff", "\0"),
        ]
    ),
    max_size=24,
)


@settings(deadline=None)
@given(PIECES, st.integers(1, 12))
def test_any_text_gives_the_same_events_however_it_is_cut(pieces: list[str], limit: int) -> None:
    read_every_way("".join(pieces).encode())
    read_every_way("".join(pieces).encode(), limit)


@settings(deadline=None)
@given(st.binary(max_size=30))
def test_any_bytes_give_the_same_events_however_they_are_cut(tail: bytes) -> None:
    read_every_way(b"data:" + tail + b"\n\n")


LINES = st.lists(
    st.text(st.characters(blacklist_characters="\r\n\ufeff", blacklist_categories=["Cs"]), max_size=8),
    min_size=1,
    max_size=3,
)


@given(st.lists(LINES, max_size=4), st.sampled_from(["\r", "\n", "\r\n"]))
def test_events_that_were_written_are_read_back(events: list[list[str]], end: str) -> None:
    text = "".join("".join(f"data: {line}{end}" for line in lines) + end for lines in events)
    assert data_of(read([text.encode()])) == ["\n".join(lines) for lines in events]


@given(st.lists(st.binary(max_size=6) | st.sampled_from([b"data: x\n\n", b"\n", b"\r", b"data"]), max_size=6))
def test_between_events_nothing_is_half_read(chunks: list[bytes]) -> None:
    events: list[SseEvent] = []
    reader = SseReader(events.append)
    for chunk in chunks:
        reader.push(chunk)
    if reader.between_events:
        before = len(events)
        reader.push(b"\n\n")
        assert len(events) == before
