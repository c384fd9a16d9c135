"""How long to wait before the next attempt."""

from __future__ import annotations

import random as random_numbers
import time
from email.utils import parsedate_to_datetime

_FIRST_S = 0.5
_LONGEST_S = 30.0
# A server that asks for more than this is asked again sooner: the queue is bounded, and waiting loses records.
_LONGEST_ASKED_S = 300.0


def retry_delay_s(
    failures: int,
    retry_after: str | None = None,
    now_s: float | None = None,
    random: float | None = None,
) -> float:
    """Doubles from half a second to half a minute, or what the server asked for, and a little.

    Of the doubled time the upper half is random, so that many processes do not come back at once.

    Args:
        failures: How often the batch failed so far, from 1.
        retry_after: The ``Retry-After`` header: seconds or an HTTP date.
        now_s: Seconds since the epoch.
        random: From 0 to 1.

    Returns:
        Seconds.
    """
    share = random_numbers.random() if random is None else random
    asked_s = _read_retry_after_s(retry_after, time.time() if now_s is None else now_s)
    if asked_s is not None:
        return min(asked_s, _LONGEST_ASKED_S) + _FIRST_S / 2 * share
    # Without the inner bound the power would grow for as long as the ingest is away.
    doubled_s = min(_FIRST_S * 2.0 ** min(failures - 1, 16), _LONGEST_S)
    return doubled_s * (0.5 + share / 2)


def _read_retry_after_s(text: str | None, now_s: float) -> float | None:
    if text is None:
        return None
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        return max(parsedate_to_datetime(text).timestamp() - now_s, 0.0)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
