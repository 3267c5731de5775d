"""Catalogs in Glue, asked by pyiceberg through boto, whose event `before-send` has each request sent here: boto itself
takes an answer of any length, and waits for ever. Here it has as many bytes, and takes as long, as a REST server's may
(storage.catalogs.answers)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import botocore.exceptions as boto
import botocore.session
import requests
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from pyiceberg.catalog import Catalog
from requests.utils import get_environ_proxies

from explorer.storage.catalogs import answers, deadlines
from explorer.storage.catalogs.answers import AnswerBudget, AnswerTooLong, BadAnswer, BoundedAdapter

ALL_BYTES = 4 << 30
"""How much all answers of one connection may have: of a table in a list Glue answers the columns, too."""


def bound_answers(catalog: Catalog) -> None:
    """Have a catalog of Glue read no more of an answer than it may have.

    Args:
        catalog: pyiceberg's catalog.
    """
    profile = catalog.properties.get("glue.profile-name") or catalog.properties.get("client.profile-name")
    events = catalog.glue.meta.events  # type: ignore[attr-defined]
    events.register("before-send.glue", _sender(_certificates(profile)))


def _certificates(profile: str | None) -> str | bool:
    """Whose certificates count: as boto has it."""
    named = botocore.session.Session(profile=profile).get_config_variable("ca_bundle")
    return named or os.environ.get("REQUESTS_CA_BUNDLE") or True


def _sender(verify: str | bool) -> Callable[..., AWSResponse]:
    adapter = BoundedAdapter(AnswerBudget(answers.ANSWER_BYTES, ALL_BYTES))

    def send(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        headers = dict(request.headers.items())
        asked = requests.Request(request.method, request.url, headers=headers, data=request.body).prepare()
        began = time.monotonic()
        try:
            answer = adapter.send(asked, verify=verify, proxies=get_environ_proxies(request.url, None))
        except BadAnswer:
            raise
        except OSError as error:  # of requests, too
            if time.monotonic() - began >= deadlines.SECONDS:
                raise AnswerTooLong(f"its answer takes more than {deadlines.SECONDS} s") from error  # not asked again
            raise _failure(error, request.url) from error
        return AWSResponse(request.url, answer.status_code, answer.headers, _Body(answer.content))

    return send


def _failure(error: OSError, url: str) -> Exception:
    """The error as boto's own, by which it decides whether it asks again."""
    for kind, theirs in (
        (requests.exceptions.SSLError, boto.SSLError),
        (requests.exceptions.ConnectTimeout, boto.ConnectTimeoutError),
        (requests.exceptions.ReadTimeout, boto.ReadTimeoutError),
    ):
        if isinstance(error, kind):
            return theirs(endpoint_url=url, error=error)
    if isinstance(error, requests.exceptions.ProxyError):
        return boto.ProxyConnectionError(proxy_url="(not shown)", error=error)
    return boto.EndpointConnectionError(endpoint_url=url, error=error)


class _Body:
    """The body of an answer, which has been read."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self) -> Iterator[bytes]:
        """The body, as AWSResponse asks for it."""
        yield self._content
