"""What a server writes into its log, much of which strangers chose: messages of at most 1,000 characters that command
no terminal, without credentials, and of addresses no queries, which have tokens and names of tables; and not each of
many that are alike."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable
from weakref import WeakSet

from explorer.spec.secrets.redaction import HIDDEN, redact
from explorer.spec.text.printable import printable_lines

LOGGERS = ("", "bokeh", "panel", "tornado", "explorer")
LONGEST, LINES = 1_000, 40
"""Characters of a message, and lines of a traceback, which has its last ones."""
LOOKED_AT = 10 * LONGEST
"""Characters in which credentials are looked for, before it is cut."""
MOST, PERIOD_S = 50, 60.0
"""Messages of one place in the code that are written in each such time: what a stranger brings about a thousand times a
second would fill the disk."""
_QUERY = re.compile(r"(?<=[\w/.~%-])\?[^\s'\"<>)\]]+")


class Careful(logging.Formatter):
    """Formats as another formatter does, with what is safe to read."""

    def __init__(self, inner: logging.Formatter | None) -> None:
        super().__init__()
        self.inner = inner or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        """See logging."""
        safe = logging.makeLogRecord(record.__dict__)
        try:
            message = record.getMessage()
        except Exception:  # who logs it gave other values than the text has places for
            message = str(record.msg)
        left_out = " (more of these within a minute are left out)" if record in _last else ""
        safe.msg, safe.args, safe.exc_info = line(message) + left_out, (), None
        if record.exc_info or record.exc_text:
            trace = record.exc_text or self.inner.formatException(record.exc_info)  # type: ignore[arg-type]
            safe.exc_text = "\n".join(map(line, trace[-LINES * LOOKED_AT :].splitlines()[-LINES:]))
        return self.inner.format(safe)


_last = WeakSet[logging.LogRecord]()
"""Messages after which others of their place are left out."""


class Seldom(logging.Filter):
    """Lets so many messages of one place in the code pass in a while."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[tuple[str, str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """See logging."""
        key, now = (record.name, record.pathname, record.lineno), time.monotonic()
        began, count = self._counts.get(key, (now, 0))
        began, count = (began, count + 1) if now - began < PERIOD_S else (now, 1)
        self._counts[key] = began, count
        if count == MOST:
            _last.add(record)
        return count <= MOST


def line(text: str) -> str:
    """A text on one line, safe to read."""
    safe_text = redact(_QUERY.sub(f"?{HIDDEN}", text[:LOOKED_AT]))
    safe_text = printable_lines(safe_text).replace("\n", "⏎")
    return safe_text if len(safe_text) <= LONGEST else f"{safe_text[: LONGEST - 1]}…"


def guard(names: Iterable[str] = LOGGERS) -> None:
    """From now on, write safe lines alone.

    Args:
        names: Whose loggers: by default the server's own packages, wherever their lines go.
    """
    handlers = {handler for name in names for handler in logging.getLogger(name).handlers}
    for handler in {*handlers, *filter(None, [logging.lastResort])}:
        if not isinstance(handler.formatter, Careful):
            handler.setFormatter(Careful(handler.formatter))
            handler.addFilter(Seldom())
