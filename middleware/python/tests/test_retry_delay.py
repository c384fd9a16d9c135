from __future__ import annotations

import pytest

from firsttoken.retry_delay import retry_delay_s

# 2026-12-01T08:00:00Z
NOW_S = 1_796_112_000.0


@pytest.mark.parametrize(
    ("failures", "retry_after", "least_s", "most_s"),
    [
        (1, None, 0.25, 0.5),
        (2, None, 0.5, 1),
        (5, None, 4, 8),
        (50, None, 15, 30),
        (5_000, None, 15, 30),
        (1, "0", 0, 0.25),
        (9, "7", 7, 7.25),
        (1, "86400", 300, 300.25),
        (1, "9" * 400, 300, 300.25),
        (1, "Tue, 01 Dec 2026 08:00:05 GMT", 5, 5.25),
        (1, "Tue, 01 Dec 2026 07:00:00 GMT", 0, 0.25),
        (1, "soon", 0.25, 0.5),
        (1, "\u00b2", 0.25, 0.5),
    ],
)
def test_delay(failures: int, retry_after: str | None, least_s: float, most_s: float) -> None:
    assert retry_delay_s(failures, retry_after, NOW_S, 0) == least_s
    assert retry_delay_s(failures, retry_after, NOW_S, 1) == most_s
