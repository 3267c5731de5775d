"""A message to a webhook: JSON by POST, to the URL that a person gave, and to no other."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import requests

from explorer.errors import NotPossible, WrongUsage
from explorer.storage.catalogs.deadlines import ending_session

SECONDS = 10


def post(url: str, message: dict[str, Any]) -> None:
    """Send a message. Errors name the host alone: the path of a webhook is a secret.

    Args:
        url: Where to, by http or https.
        message: JSON data.

    Raises:
        WrongUsage: The URL is none of http or https.
        NotPossible: Nobody answers, or the answer is no success. Redirects are not followed.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        raise WrongUsage("--webhook: this is no URL") from error
    if parts.scheme not in ("http", "https") or not host:
        raise WrongUsage("--webhook: give a URL of http or https")
    with ending_session() as session:
        try:
            with session.post(url, json=message, timeout=SECONDS, allow_redirects=False, stream=True) as answer:
                status = answer.status_code
        except (requests.RequestException, OSError, ValueError) as error:
            raise NotPossible(f"the webhook at {host} does not answer ({type(error).__name__})") from None
    if not 200 <= status < 300:
        raise NotPossible(f"the webhook at {host} answered {status}")
