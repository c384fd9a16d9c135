from __future__ import annotations

import json
from typing import Any

import pytest
from contract_files import contract_limit
from hypothesis import given
from hypothesis import strategies as st

from firsttoken import limits
from firsttoken.sse import SseEvent, SseReader
from firsttoken.tokens import TOKEN_PRESETS, TokenFacts


def event_of(data: Any, event: str = "message") -> SseEvent:
    return SseEvent(event, data if isinstance(data, str) else json.dumps(data))


def facts_of(preset: str, data: Any) -> TokenFacts:
    return TOKEN_PRESETS[preset](event_of(data))


def brief(facts: TokenFacts) -> str:
    """The facts that are set, in a few words."""
    names = ("token", "visible", "reasoning", "terminator", "last", "error")
    return " ".join(name for name in names if getattr(facts, name))


def chat(delta: Any, **rest: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, **rest}]}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (chat({"role": "assistant", "content": ""}), ""),
        (chat({"role": "assistant"}), ""),
        (chat({"content": None}), ""),
        (chat({"content": "Yes"}), "token visible"),
        (chat({"content": " "}), "token visible"),
        (chat({"content": None, "reasoning_content": "Let"}), "token reasoning"),
        (chat({"content": "", "reasoning": " me"}), "token reasoning"),
        (chat({"content": [{"type": "text", "text": "Hi"}]}), "token visible"),
        (chat({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}]}), "token reasoning"),
        (chat({"refusal": "No"}), "token visible"),
        (chat({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "weather", "arguments": ""}}]}), "token"),
        (chat({"tool_calls": [{"index": 0, "function": {"arguments": '{"c'}}]}), "token"),
        (chat({"tool_calls": [{"index": 0, "function": {"arguments": ""}}]}), ""),
        (chat({"tool_calls": [{"index": 0, "custom": {"input": "x"}}]}), "token"),
        (chat({"function_call": {"name": "f"}}), "token"),
        (chat({}, finish_reason="stop"), "terminator"),
        (chat({"content": "."}, finish_reason="length"), "token visible terminator"),
        (chat({"content": "."}, finish_reason=None), "token visible"),
        ({"choices": [{"text": "old"}]}, "token visible"),
        ({"choices": []}, ""),
        ({"choices": [], "usage": {"completion_tokens": 9}}, ""),
        ({"error": {"message": "x"}}, "error"),
        ({"error": {}}, "error"),
        ({"error": 0, **chat({"content": "a"})}, "token visible"),
        ({"error": None, **chat({"content": "a"})}, "token visible"),
        (chat({}, finish_reason="error"), "terminator error"),
        ("[DONE]", "terminator last"),
        ('{"choi', ""),
        ("", ""),
        ("null", ""),
        ("3", ""),
        ("NaN", ""),
        ({"choices": "x"}, ""),
        ({"choices": [None, 1, "x", {"delta": "y"}, {"delta": {"tool_calls": [None, 7]}}]}, ""),
    ],
)
def test_openai_chat(data: Any, expected: str) -> None:
    assert brief(facts_of("openai-chat", data)) == expected


def test_openai_chat_usage_is_what_was_reported_and_only_that() -> None:
    def read(usage: Any) -> Any:
        return facts_of("openai-chat", {"choices": [], "usage": usage}).usage

    assert read(
        {
            "completion_tokens": 9,
            "prompt_tokens": 812,
            "completion_tokens_details": {"reasoning_tokens": 4},
            "prompt_tokens_details": {"cached_tokens": 512},
        }
    ) == {"output_tokens": 9, "reasoning_tokens": 4, "prompt_tokens": 812, "cached_tokens": 512}
    assert read({"completion_tokens": 0}) == {"output_tokens": 0}
    assert read({"completion_tokens": -1, "prompt_tokens": 1.5}) is None
    assert read({"completion_tokens": 1e12}) is None
    assert read({"completion_tokens": True}) is None
    assert read(None) is None


def test_vllm_reports_its_own_times_with_the_usage() -> None:
    def read(metrics: Any) -> Any:
        return facts_of("openai-chat", {"choices": [], "metrics": metrics}).engine

    assert read({"queue_time_ms": 5.5, "time_to_first_token_ms": 24}) == (5.5, 24.0)
    assert read({"queue_time_ms": 0.04, "time_to_first_token_ms": None}) == (0.04, None)
    for nothing in (None, {}, "x", {"queue_time_ms": -1, "time_to_first_token_ms": "3"}, {"queue_time_ms": 1e10}):
        assert read(nothing) is None


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"type": "response.created", "response": {"usage": None}}, ""),
        ({"type": "response.output_text.delta", "delta": "Hi"}, "token visible"),
        ({"type": "response.output_text.delta", "delta": ""}, ""),
        ({"type": "response.output_text.done", "text": "Hi"}, ""),
        ({"type": "response.refusal.delta", "delta": "No"}, "token visible"),
        ({"type": "response.reasoning_text.delta", "delta": "Hm"}, "token reasoning"),
        ({"type": "response.reasoning_summary_text.delta", "delta": "Hm"}, "token reasoning"),
        ({"type": "response.function_call_arguments.delta", "delta": "{"}, "token"),
        ({"type": "response.output_item.added", "item": {"type": "function_call", "name": "f"}}, "token"),
        ({"type": "response.output_item.added", "item": {"type": "message", "content": []}}, ""),
        ({"type": "response.incomplete", "response": {}}, "terminator last"),
        ({"type": "response.failed", "response": {"error": {"message": "x"}}}, "last error"),
        ({"type": "error", "message": "x"}, "last error"),
        ({"type": {"toString": 1, "valueOf": 1}}, ""),
    ],
)
def test_openai_responses(data: Any, expected: str) -> None:
    assert brief(facts_of("openai-responses", data)) == expected


def test_openai_responses_final_event_brings_the_usage() -> None:
    usage = {
        "input_tokens": 812,
        "input_tokens_details": {"cached_tokens": 512},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 4},
    }
    facts = facts_of("openai-responses", {"type": "response.completed", "response": {"usage": usage}})
    assert brief(facts) == "terminator last"
    assert facts.usage == {"output_tokens": 9, "reasoning_tokens": 4, "prompt_tokens": 812, "cached_tokens": 512}


def delta(value: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": value}


def start(value: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": 0, "content_block": value}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"type": "ping"}, ""),
        (start({"type": "text", "text": ""}), ""),
        (start({"type": "tool_use", "id": "t1", "name": "weather", "input": {}}), "token"),
        (delta({"type": "text_delta", "text": "Hi"}), "token visible"),
        (delta({"type": "text_delta", "text": ""}), ""),
        (delta({"type": "thinking_delta", "thinking": "Hm"}), "token reasoning"),
        (delta({"type": "signature_delta", "signature": "abc"}), ""),
        (delta({"type": "input_json_delta", "partial_json": ""}), ""),
        (delta({"type": "input_json_delta", "partial_json": '{"c'}), "token"),
        ({"type": "content_block_stop", "index": 0}, ""),
        ({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, "terminator"),
        ({"type": "message_stop"}, "terminator last"),
        ({"type": "error", "error": {"type": "overloaded_error"}}, "last error"),
    ],
)
def test_anthropic(data: Any, expected: str) -> None:
    assert brief(facts_of("anthropic", data)) == expected


def test_anthropic_prompt_is_known_at_the_start_the_output_only_from_message_delta_on() -> None:
    usage = {
        "input_tokens": 300,
        "cache_read_input_tokens": 500,
        "cache_creation_input_tokens": 12,
        "output_tokens": 1,
    }
    first = facts_of("anthropic", {"type": "message_start", "message": {"usage": usage}})
    assert first.usage == {"prompt_tokens": 812, "cached_tokens": 500}
    later = facts_of("anthropic", {"type": "message_delta", "usage": {"output_tokens": 9}})
    assert later.usage == {"output_tokens": 9}


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (event_of("text"), "token visible"),
        (event_of(""), ""),
        (event_of("[DONE]"), "terminator last"),
        (event_of("x", "error"), "error"),
        (event_of("{}", "firsttoken"), ""),
    ],
)
def test_raw(event: SseEvent, expected: str) -> None:
    assert brief(TOKEN_PRESETS["raw"](event)) == expected


KEYS = st.sampled_from(
    ["choices", "delta", "content", "tool_calls", "function", "name", "type", "usage", "error", "message", "item"]
)
JSON = st.recursive(
    st.sampled_from([None, 0, "", "content_block_delta", "x", True, 1.5, -1]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
)


@given(JSON | st.text(), st.sampled_from(["message", "error", "toString"]))
def test_no_event_can_make_a_preset_raise_and_what_is_visible_is_a_token(data: Any, event: str) -> None:
    for preset in TOKEN_PRESETS.values():
        facts = preset(event_of(data, event))
        assert facts.token or not (facts.visible or facts.reasoning)


def test_json_nested_deeper_than_the_call_stack_is_no_crash() -> None:
    deep = '{"choices":[{"delta":{"content":' + '[{"thinking":' * 100_000 + "1" + "}]" * 100_000 + "}}]}"
    assert brief(facts_of("openai-chat", deep)) == ""


def test_the_first_token_of_any_kind_and_the_first_visible_one_are_two_events() -> None:
    stream = [
        (1000, ": OPENROUTER PROCESSING\n\n"),
        (1500, 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'),
        (2100, 'data: {"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"Let"}}]}\n\n'),
        (2200, 'data: {"choices":[{"index":0,"delta":{"content":"","reasoning_content":" me"}}]}\n\n'),
        (7300, 'data: {"choices":[{"index":0,"delta":{"content":"Yes"}}]}\n\n'),
        (7400, 'data: {"choices":[{"index":0,"delta":{"content":"."}}]}\n\n'),
        (7400, 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'),
    ]
    events: list[SseEvent] = []
    reader = SseReader(events.append)
    tokens_at, visible_at = [], []
    for at, text in stream:
        events.clear()
        reader.push(text.encode())
        assert at > 1000 or not events
        for facts in map(TOKEN_PRESETS["openai-chat"], events):
            tokens_at += [at] * facts.token
            visible_at += [at] * facts.visible
    assert tokens_at == [2100, 2200, 7300, 7400]
    assert visible_at[0] == 7300


@pytest.mark.parametrize(
    "name",
    [
        "MAX_SUB_STAGES",
        "MAX_SUB_STAGE_NAME",
        "MAX_TRACE_ID_LENGTH",
        "MAX_TEXT_LENGTH",
        "MAX_SERVER_TIMING_LENGTH",
        "MAX_TOKENS",
        "MAX_STAGE_NS",
    ],
)
def test_the_bounds_are_the_contract_s(name: str) -> None:
    assert getattr(limits, name) == contract_limit(name)
    assert contract_limit("MAX_SSE_EVENT_CHARACTERS") == limits.MAX_SSE_EVENT_BYTES
