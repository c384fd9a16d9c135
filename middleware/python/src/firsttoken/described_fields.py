"""What the app can say about a request; the rest of the record is measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .limits import MAX_SERVER_TIMING_LENGTH, MAX_TEXT_LENGTH, MAX_TOKENS
from .trouble import warn_once


class _Text(NamedTuple):
    max_length: int = MAX_TEXT_LENGTH

    def fits(self, value: Any) -> bool:
        return isinstance(value, str) and 1 <= len(value) <= self.max_length


class _Number(NamedTuple):
    least: int
    most: int
    whole: bool = True

    def fits(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        # Not a number compares as false with everything.
        return self.least <= value <= self.most and (not self.whole or value == int(value))


_TOKENS = _Number(0, MAX_TOKENS)

_DESCRIBABLE: dict[str, _Text | _Number] = {
    "server_timing": _Text(MAX_SERVER_TIMING_LENGTH),
    "model": _Text(),
    "route": _Text(),
    "variant": _Text(),
    "tier": _Text(),
    "backend": _Text(),
    "prompt_tokens": _TOKENS,
    "cached_tokens": _TOKENS,
    "output_tokens": _TOKENS,
    "quantization": _Text(),
    "decoding": _Text(),
    "temperature": _Number(0, 1_000, whole=False),
    "top_k": _Number(-1, 1_000_000_000),
    "batch_size": _Number(0, 32_767),
}


def checked_description(description: Mapping[str, Any]) -> dict[str, Any]:
    """Keeps the fields that the ingest will take.

    One wrong field would cost the whole record there, so it is left out here, and said once. None means the same as
    absent.
    """
    kept = {}
    for name, value in description.items():
        if value is None:
            continue
        if name in _DESCRIBABLE and _DESCRIBABLE[name].fits(value):
            kept[name] = value
        else:
            warn_once("field_ignored", f"firsttoken: the described field {name!r} is unknown or out of its bounds")
    return kept
