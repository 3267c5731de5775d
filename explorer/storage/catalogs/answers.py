"""What the server of a catalog may answer: so many bytes, for so long, and no redirect, which would take a person's
credentials to another server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import requests
from urllib3.util.retry import Retry

from explorer.progress import check_cancellation
from explorer.spec.text.units import human_bytes
from explorer.storage.catalogs.deadlines import EndingAdapter, answer_ends

TIMEOUT_S = (10.0, 60.0)
"""To connect, and without an answer."""
ANSWER_BYTES, ANSWER_S = 128 << 20, 120
"""How large an answer may be (it has a table's metadata file in it), and how long it may take."""
SMALL_BYTES = 512 << 10
"""The same of a configuration, a token, an error."""
ALL_BYTES, REQUESTS = 256 << 20, 100_000
"""How much all answers of one connection may have, and how many there may be."""


class BadAnswer(requests.ConnectionError):
    """A server answers what no server should."""


class AnswerTooLong(Exception):
    """A server says more, or takes longer, than it may."""


@dataclass
class AnswerBudget:
    """What the server of one catalog may still answer: `most` bytes next, and what is left of `in_all` (ALL_BYTES, if
    it is not said) and of REQUESTS."""

    most: int = SMALL_BYTES
    in_all: int | None = None
    taken: int = 0
    requests: int = 0


class Bounded:
    """The body of an answer, which ends with an error after ANSWER_BYTES, or fewer, or ANSWER_S."""

    def __init__(self, raw: Any, most: int | None = None) -> None:
        self._raw, self._until = raw, time.monotonic() + ANSWER_S
        self._most = ANSWER_BYTES if most is None else most

    def stream(self, size: int = 1 << 16, decode_content: bool | None = None) -> Iterator[bytes]:
        """The body, as it comes: `stream` of urllib3 waits until a part is full."""
        read = 0
        while part := self._raw.read1(size, decode_content=decode_content):
            read += len(part)
            if read > self._most:
                most = f"{self._most >> 20} MiB" if self._most >> 20 else human_bytes(self._most)
                raise BadAnswer(f"its answer has more than {most}")
            check_cancellation()
            if time.monotonic() > self._until:
                raise BadAnswer(f"its answer takes more than {ANSWER_S} s")
            yield part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


class BoundedAdapter(EndingAdapter):
    """Sends requests of a session, follows no redirect, and reads no more of an answer, nor of all, than there may be.

    Args:
        budget: What there may be; several sessions may share it.
        max_retries: How often a connection that fails is tried again.
    """

    def __init__(self, budget: AnswerBudget, max_retries: int | Retry = 0) -> None:
        self._budget = budget
        super().__init__(max_retries=max_retries)

    def build_response(self, req: requests.PreparedRequest, resp: Any) -> requests.Response:
        """See requests. The body is bounded."""
        most = self._budget.most if resp.status < 400 else SMALL_BYTES
        in_all = ALL_BYTES if self._budget.in_all is None else self._budget.in_all
        left = in_all - self._budget.taken
        return super().build_response(req, Bounded(resp, min(most, ANSWER_BYTES, left)))

    def send(
        self, request: requests.PreparedRequest, stream: bool = False, timeout: Any = None, *more: Any, **options: Any
    ) -> requests.Response:
        """See requests. The answer is read now, whatever the session asks for. Raises requests' errors, Cancelled."""
        check_cancellation()
        self._budget.requests += 1
        if self._budget.requests > REQUESTS:
            raise BadAnswer(f"it was asked {REQUESTS:,} times already")
        response = super().send(request, True, TIMEOUT_S, *more, **options)
        try:
            with answer_ends(response.raw):
                if response.is_redirect:
                    raise BadAnswer("it sends us to another address, which would get your credentials")
                self._budget.taken += len(response.content)  # is kept
        except BaseException:
            response.close()
            raise
        return response


def mount_bounded(session: requests.Session, budget: AnswerBudget) -> None:
    """Bound the answers of a session.

    Args:
        session: The session.
        budget: What they may be.
    """
    for scheme in ("http://", "https://"):
        session.mount(scheme, BoundedAdapter(budget))
