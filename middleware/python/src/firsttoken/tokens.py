"""Which events of a stream bear a token, as ``contract/tokens.ts`` reads them."""

from __future__ import annotations

import json
from typing import Any, Callable, NamedTuple, NoReturn, TypedDict, cast

from .limits import MAX_STAGE_NS, MAX_TOKENS
from .sse import SseEvent


class TokenUsage(TypedDict, total=False):
    """Token counts that an engine reported. What it did not report is absent, so that later reports add to it."""

    #: All generated tokens, those of the reasoning included.
    output_tokens: int
    reasoning_tokens: int
    #: All tokens of the prompt, cached ones included.
    prompt_tokens: int
    cached_tokens: int


class EngineTimes(NamedTuple):
    """What an engine measured of its own work, milliseconds."""

    #: From the engine's taking the request to its first scheduling.
    queue_ms: float | None
    #: From its first scheduling to the first token.
    prefill_ms: float | None


class TokenFacts(NamedTuple):
    """What one event of a stream says."""

    #: It bears at least one generated token: text, reasoning, or a tool call's name or arguments.
    token: bool = False
    #: It bears text for the user. Implies ``token``.
    visible: bool = False
    #: It bears reasoning. Implies ``token``.
    reasoning: bool = False
    #: The answer ended properly: a finish reason or an end marker. Usage and a marker may still follow.
    terminator: bool = False
    #: Nothing follows, though the connection may stay open.
    last: bool = False
    error: bool = False
    usage: TokenUsage | None = None
    engine: EngineTimes | None = None


#: Reads one event.
TokenPreset = Callable[[SseEvent], TokenFacts]

#: The name of the event that carries the server's own facts to an ``EventSource``; never part of the answer.
FIRSTTOKEN_EVENT = "firsttoken"

NO_FACTS = TokenFacts()
_DONE = TokenFacts(terminator=True, last=True)


def _get(value: Any, *names: str) -> Any:
    """A step into untrusted JSON gives None, never an error, on whatever stands there."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _filled(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_set(value: Any) -> bool:
    """As JavaScript has it, so that both languages agree: an empty object is something."""
    return isinstance(value, (dict, list)) or bool(value)


def _count(value: Any) -> int | None:
    whole = (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and value.is_integer()
    )
    return int(value) if whole and 0 <= value <= MAX_TOKENS else None


def _usage(**counts: int | None) -> TokenUsage | None:
    """The absent stays absent: a usage without any count is no usage."""
    known = {name: count for name, count in counts.items() if count is not None}
    return cast(TokenUsage, known) if known else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _from_json(read: Callable[[Any, SseEvent], TokenFacts]) -> TokenPreset:
    """What the presets share: the end marker, our own event, and JSON that does not parse."""

    def preset(event: SseEvent) -> TokenFacts:
        if event.event == FIRSTTOKEN_EVENT:
            return NO_FACTS
        if event.data == "[DONE]":
            return _DONE
        try:
            body = _DECODER.decode(event.data)
        except (ValueError, RecursionError):
            return TokenFacts(error=event.event == "error")
        return read(body, event)

    return preset


def _any_text(parts: Any) -> bool:
    """Some servers put text and thinking as parts in a list where others have a string."""
    return isinstance(parts, list) and any(_filled(_get(part, "text")) for part in parts)


def _any_thinking(parts: Any) -> bool:
    return isinstance(parts, list) and any(
        _filled(_get(part, "thinking")) or _any_text(_get(part, "thinking")) for part in parts
    )


def _names_tool(call: Any) -> bool:
    return isinstance(call, dict) and any(
        _filled(_get(part, name))
        for part in (call, call.get("function"), call.get("custom"))
        for name in ("name", "arguments", "input")
    )


def _type_of(body: Any, event: SseEvent) -> str:
    kind = _get(body, "type")
    return kind if isinstance(kind, str) else event.event


def _milliseconds(value: Any) -> float | None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= MAX_STAGE_NS / 1e6 else None


def _engine_times(body: Any) -> EngineTimes | None:
    """vLLM adds ``metrics`` to the event with the usage when it is started with ``--enable-per-request-metrics``."""
    metrics = _get(body, "metrics")
    if metrics is None:
        return None
    # Its "time to first token" begins when the request is scheduled, so it holds no queue.
    times = EngineTimes(
        _milliseconds(_get(metrics, "queue_time_ms")), _milliseconds(_get(metrics, "time_to_first_token_ms"))
    )
    return times if times != (None, None) else None


def _read_openai_chat(body: Any, event: SseEvent) -> TokenFacts:
    """OpenAI chat completions, older ``text`` completions, and the reasoning fields of vLLM, DeepSeek, OpenRouter."""
    visible = reasoning = tool = terminator = False
    error = event.event == "error" or _is_set(_get(body, "error"))
    for choice in _list(_get(body, "choices")):
        if not isinstance(choice, dict):
            continue
        delta = choice.get("delta")
        visible = visible or _filled(choice.get("text"))
        if isinstance(delta, dict):
            content = delta.get("content")
            visible = visible or _filled(content) or _filled(delta.get("refusal")) or _any_text(content)
            reasoning = reasoning or _filled(delta.get("reasoning_content")) or _filled(delta.get("reasoning"))
            reasoning = reasoning or _any_thinking(content)
            calls = [delta.get("function_call"), *_list(delta.get("tool_calls"))]
            tool = tool or any(map(_names_tool, calls))
        finish = choice.get("finish_reason")
        terminator = terminator or _filled(finish)
        error = error or finish == "error"
    usage = _get(body, "usage")
    return TokenFacts(
        token=visible or reasoning or tool,
        visible=visible,
        reasoning=reasoning,
        terminator=terminator,
        error=error,
        usage=None if usage is None else _chat_usage(usage),
        engine=_engine_times(body),
    )


def _chat_usage(usage: Any) -> TokenUsage | None:
    return _usage(
        output_tokens=_count(_get(usage, "completion_tokens")),
        reasoning_tokens=_count(_get(usage, "completion_tokens_details", "reasoning_tokens")),
        prompt_tokens=_count(_get(usage, "prompt_tokens")),
        cached_tokens=_count(_get(usage, "prompt_tokens_details", "cached_tokens")),
    )


def _read_openai_responses(body: Any, event: SseEvent) -> TokenFacts:
    """OpenAI responses: a token is a non-empty ``delta`` of any kind, or the name of a tool in an item just added."""
    kind = _type_of(body, event)
    delta = kind.endswith(".delta") and _filled(_get(body, "delta"))
    terminator = kind in ("response.completed", "response.incomplete")
    error = kind in ("error", "response.failed") or _is_set(_get(body, "error"))
    usage = _get(body, "response", "usage")
    return TokenFacts(
        token=delta or (kind == "response.output_item.added" and _filled(_get(body, "item", "name"))),
        visible=delta and ("output_text" in kind or "refusal" in kind),
        reasoning=delta and "reasoning" in kind,
        terminator=terminator,
        last=terminator or error,
        error=error,
        usage=_usage(
            output_tokens=_count(_get(usage, "output_tokens")),
            reasoning_tokens=_count(_get(usage, "output_tokens_details", "reasoning_tokens")),
            prompt_tokens=_count(_get(usage, "input_tokens")),
            cached_tokens=_count(_get(usage, "input_tokens_details", "cached_tokens")),
        ),
    )


def _read_anthropic(body: Any, event: SseEvent) -> TokenFacts:
    """Anthropic messages. Its ``input_tokens`` leave out what the cache gave or took; the prompt is the sum."""
    kind = _type_of(body, event)
    parts = {"content_block_start": "content_block", "content_block_delta": "delta"}
    part = _get(body, parts[kind]) if kind in parts else None
    visible = _filled(_get(part, "text"))
    reasoning = _filled(_get(part, "thinking"))
    last = kind == "message_stop"
    usage = _get(body, "usage")
    if usage is None:
        usage = _get(body, "message", "usage")
    fresh = _count(_get(usage, "input_tokens"))
    cached = _count(_get(usage, "cache_read_input_tokens"))
    created = _count(_get(usage, "cache_creation_input_tokens"))
    return TokenFacts(
        token=visible or reasoning or _filled(_get(part, "name")) or _filled(_get(part, "partial_json")),
        visible=visible,
        reasoning=reasoning,
        terminator=last or (kind == "message_delta" and _filled(_get(body, "delta", "stop_reason"))),
        last=last or kind == "error",
        error=kind == "error",
        usage=_usage(
            # The count of ``message_start`` is a beginning; only that of ``message_delta`` is the sum so far.
            output_tokens=_count(_get(usage, "output_tokens")) if kind == "message_delta" else None,
            prompt_tokens=None if fresh is None else _count(fresh + (cached or 0) + (created or 0)),
            cached_tokens=cached,
        ),
    )


def _read_raw(event: SseEvent) -> TokenFacts:
    """Text as it is: every non-empty event is a visible token. The terminator of such a stream is its clean end."""
    if event.event == FIRSTTOKEN_EVENT:
        return NO_FACTS
    if event.event == "error":
        return TokenFacts(error=True)
    if event.data == "[DONE]":
        return _DONE
    return TokenFacts(token=True, visible=True) if event.data else NO_FACTS


#: The presets by name. None of them ever raises: what it cannot read bears no token.
TOKEN_PRESETS: dict[str, TokenPreset] = {
    "openai-chat": _from_json(_read_openai_chat),
    "openai-responses": _from_json(_read_openai_responses),
    "anthropic": _from_json(_read_anthropic),
    "raw": _read_raw,
}
