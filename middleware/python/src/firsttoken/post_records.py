"""Posts batches of records to the ingest. Runs in the sender's thread, and may wait there."""

from __future__ import annotations

import http.client
import json
import re
import time
from typing import Literal, NamedTuple
from urllib.parse import SplitResult, urlsplit

# Of an answer longer than this only the status counts.
_MAX_ANSWER_BYTES = 1_048_576
# Without a blank or a control character: a line feed at the end of a token read from a file is found at the start.
_TOKEN = re.compile(r"[\x21-\x7e]+")


class Outcome(NamedTuple):
    """What became of one post."""

    #: ``refused``: the ingest will never take this.
    kind: Literal["taken", "refused", "retry"]
    #: Records that were refused out of a batch that was taken.
    rejected: int = 0
    reason: str = ""
    retry_after: str | None = None


class IngestAddress(NamedTuple):
    """Where to post, and as whom."""

    secure: bool
    host: str
    port: int | None
    path: str
    headers: dict[str, str]


def ingest_address(ingest_url: str, token: str | None) -> IngestAddress:
    """Checks the ingest's base URL and the write token.

    Raises:
        ValueError: When the URL is no http or https URL, or the token cannot stand in a header. The token is not
        repeated.
    """
    wrong = ValueError("ingest_url must be an http or https URL")
    try:
        url: SplitResult = urlsplit(ingest_url)
        port = url.port
    except ValueError:
        raise wrong from None
    if url.scheme not in ("http", "https") or not url.hostname or re.search(r"[\x00-\x20\x7f-\U0010ffff]", ingest_url):
        raise wrong
    headers = {"Content-Type": "application/x-ndjson"}
    if token:
        if not _TOKEN.fullmatch(token):
            raise ValueError("token must be visible ASCII characters, to stand in the header Authorization")
        headers["Authorization"] = f"Bearer {token}"
    path = url.path.rstrip("/") + "/v1/server-timings" + (f"?{url.query}" if url.query else "")
    return IngestAddress(url.scheme == "https", url.hostname, port, path, headers)


class Poster:
    """One connection, kept open between posts. For one thread."""

    def __init__(self, address: IngestAddress, timeout_s: float) -> None:
        """``timeout_s``: seconds without a byte after which a post is given up."""
        kind = http.client.HTTPSConnection if address.secure else http.client.HTTPConnection
        self._connection = kind(address.host, address.port, timeout=timeout_s)
        self._address = address
        self._timeout_s = timeout_s

    def post(self, body: bytes) -> Outcome:
        """Posts one NDJSON body. Never raises."""
        was_open = self._connection.sock is not None
        try:
            return self._exchange(body)
        except (ConnectionError, http.client.BadStatusLine) as error:
            self.close()
            # An idle connection may be closed by the other side at any time; a new one shows whether the ingest is
            # there. A record that comes twice is joined once.
            return self._post_anew(body) if was_open else _failed(error)
        except Exception as error:
            self.close()
            return _failed(error)

    def close(self) -> None:
        """Closes the connection; the next post opens a new one."""
        self._connection.close()

    def _post_anew(self, body: bytes) -> Outcome:
        try:
            return self._exchange(body)
        except Exception as error:
            self.close()
            return _failed(error)

    def _exchange(self, body: bytes) -> Outcome:
        ends_at_s = time.monotonic() + self._timeout_s
        self._connection.request("POST", self._address.path, body, self._address.headers)
        response = self._connection.getresponse()
        answer = bytearray()
        while len(answer) <= _MAX_ANSWER_BYTES and (part := response.read1(65_536)):
            answer += part
            if time.monotonic() > ends_at_s:
                raise TimeoutError(f"no whole answer within {self._timeout_s} s")
        if len(answer) > _MAX_ANSWER_BYTES:
            self.close()
        elif response.length:
            # read1 is silent about an answer that was cut off.
            raise http.client.IncompleteRead(bytes(answer), response.length)
        response.close()
        return _outcome_of(response.status, response.getheader("Retry-After"), bytes(answer))


def _failed(error: Exception) -> Outcome:
    return Outcome("retry", reason=f"{type(error).__name__}: {error}")


def _outcome_of(status: int, retry_after: str | None, answer: bytes) -> Outcome:
    if 200 <= status <= 299:
        return Outcome("taken", rejected=_rejected_in(answer))
    # 408 and 5xx are what proxies say while the ingest is away.
    if status in (408, 429) or status >= 500:
        return Outcome("retry", reason=f"status {status}", retry_after=retry_after)
    return Outcome("refused", reason=f"status {status}")


def _rejected_in(answer: bytes) -> int:
    try:
        rejected = json.loads(answer).get("rejected")
    except (ValueError, AttributeError, RecursionError):
        return 0
    return len(rejected) if isinstance(rejected, list) else 0
