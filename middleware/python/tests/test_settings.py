from __future__ import annotations

from typing import Any

import pytest

from firsttoken import FirstTokenMiddleware, TokenFacts
from firsttoken.settings import read_settings
from firsttoken.tokens import TOKEN_PRESETS


async def app(scope: Any, receive: Any, send: Any) -> None: ...


def test_the_environment_stands_in_for_arguments() -> None:
    environment = {
        "FIRSTTOKEN_INGEST_URL": "http://ingest:8080",
        "FIRSTTOKEN_TOKEN": " secret ",
        "FIRSTTOKEN_HOLD_MS": "20",
        "FIRSTTOKEN_TOKENS": "raw",
        "FIRSTTOKEN_MODEL": "llama-3-70b",
        "FIRSTTOKEN_TIER": "",
    }
    settings = read_settings(None, None, None, None, environment)
    assert settings == ("http://ingest:8080", "secret", TOKEN_PRESETS["raw"], 0.02, {"model": "llama-3-70b"})
    assert read_settings("http://other", "t", 0, "anthropic", environment)[:4] == (
        "http://other",
        "t",
        TOKEN_PRESETS["anthropic"],
        0,
    )


def test_without_anything_only_the_headers_are_added() -> None:
    assert read_settings(None, None, None, None, {}) == (None, None, TOKEN_PRESETS["openai-chat"], 1, {})


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"hold_ms": -1}, "hold_ms"),
        ({"hold_ms": float("nan")}, "hold_ms"),
        ({"hold_ms": "soon"}, "hold_ms"),
        ({"tokens": "gpt"}, "tokens"),
        ({"tokens": 3}, "tokens"),
        ({"tokens": []}, "tokens"),
        ({"ingest_url": "localhost:8080"}, "ingest_url"),
        ({"ingest_url": "ftp://x"}, "ingest_url"),
        ({"ingest_url": ""}, "ingest_url"),
        ({"ingest_url": "/v1"}, "ingest_url"),
        ({"ingest_url": "http://x:port"}, "ingest_url"),
        ({"ingest_url": "http://x\ny"}, "ingest_url"),
        ({"ingest_url": "http://x", "token": "secret\n"}, "token"),
    ],
)
def test_a_wrong_option_is_named_at_once_and_no_secret_repeated(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=rf"^{named} must be") as error:
        FirstTokenMiddleware(app, **options)
    assert "secret" not in str(error.value)


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTTOKEN_HOLD_MS", "1s")
    with pytest.raises(ValueError, match=r"^FIRSTTOKEN_HOLD_MS must be"):
        FirstTokenMiddleware(app)


def test_an_app_s_own_function_is_taken() -> None:
    FirstTokenMiddleware(app, tokens=lambda event: TokenFacts(token=event.data == "x"))
