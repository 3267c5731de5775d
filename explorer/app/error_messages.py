"""The message that tells a page why there is no answer."""

from __future__ import annotations

import logging
from typing import Any

from explorer.app import protocol
from explorer.errors import ExplorerError, WrongUsage
from explorer.progress import Cancelled
from explorer.render.text import clean_lines
from explorer.spark_engine.failures import explain
from explorer.spec.filters.filter_text import FilterError
from explorer.spec.secrets.redaction import redact


def error_message(request: int, error: Exception) -> dict[str, Any]:
    """Return the message of an error. One that is a fault of ours is logged: nobody else would tell it.

    Args:
        request: The number of the request.
        error: What was raised.

    Returns:
        The message, without credentials, and with the place in the filter where that is known.
    """
    if isinstance(error, Cancelled):
        return protocol.error(request, "Cancelled.", "cancelled")
    if not isinstance(error, ExplorerError):
        logging.getLogger(__name__).error("a request of a page failed", exc_info=error)
        return protocol.error(request, clean_lines(redact(explain(error, lost=False))))
    kind = "usage" if isinstance(error, WrongUsage) else "error"
    position = error.__cause__.position if isinstance(error.__cause__, FilterError) else None
    return protocol.error(request, clean_lines(redact(str(error))), kind, position)
