"""What the middleware was asked to do, from its arguments or the environment."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Callable, NamedTuple

from .tokens import TOKEN_PRESETS, TokenPreset

DEFAULT_HOLD_MS = 1_000.0
DEFAULT_TOKENS = "openai-chat"

#: Fields that the same server says of all its requests, and the variables that say them.
_DESCRIBED_BY = {
    "model": "FIRSTTOKEN_MODEL",
    "variant": "FIRSTTOKEN_VARIANT",
    "tier": "FIRSTTOKEN_TIER",
    "backend": "FIRSTTOKEN_BACKEND",
}


class Settings(NamedTuple):
    """Checked options."""

    #: None: only the headers are added.
    ingest_url: str | None
    token: str | None
    preset: TokenPreset
    hold_s: float
    #: What the environment says of every request.
    described: Mapping[str, str]


def read_settings(
    ingest_url: str | None,
    token: str | None,
    hold_ms: float | None,
    tokens: str | Callable[..., object] | None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """An argument wins over its variable; an empty variable counts as absent.

    Raises:
        ValueError: Names the argument or the variable that is wrong.
    """

    def variable(name: str) -> str | None:
        return environment.get(name, "").strip() or None

    described = {field: value for field, name in _DESCRIBED_BY.items() if (value := variable(name)) is not None}
    return Settings(
        ingest_url=variable("FIRSTTOKEN_INGEST_URL") if ingest_url is None else ingest_url,
        token=variable("FIRSTTOKEN_TOKEN") if token is None else token,
        preset=(
            _preset(variable("FIRSTTOKEN_TOKENS") or DEFAULT_TOKENS, "FIRSTTOKEN_TOKENS")
            if tokens is None
            else _preset(tokens, "tokens")
        ),
        hold_s=(
            _hold_s(variable("FIRSTTOKEN_HOLD_MS") or DEFAULT_HOLD_MS, "FIRSTTOKEN_HOLD_MS")
            if hold_ms is None
            else _hold_s(hold_ms, "hold_ms")
        ),
        described=described,
    )


def _preset(tokens: str | Callable[..., object], name: str) -> TokenPreset:
    if callable(tokens):
        return tokens  # type: ignore[return-value]  # checked where it is called
    if isinstance(tokens, str) and tokens in TOKEN_PRESETS:
        return TOKEN_PRESETS[tokens]
    raise ValueError(f"{name} must be a function or one of {', '.join(TOKEN_PRESETS)}")


def _hold_s(hold_ms: str | float, name: str) -> float:
    try:
        value = float(hold_ms)
    except (TypeError, ValueError):
        value = math.nan
    if 0 <= value < 2**31:
        return value / 1_000
    raise ValueError(f"{name} must be a number of milliseconds, 0 or more")
