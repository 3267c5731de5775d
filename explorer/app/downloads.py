"""Answers as files that a browser saves."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping

from explorer.app.blocks import ShownAnswer
from explorer.app.protocol import Ask
from explorer.errors import NotPossible
from explorer.questions.answers import Answer
from explorer.render.pictures import with_white_ground
from explorer.render.text import json_text

TYPES: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
    "svg": "image/svg+xml",
    "html": "text/html; charset=utf-8",
}
"""What a file can be, by the end of its name."""
MOST_BYTES = 1 << 30
"""Of a file: it is written in memory."""


def file_name(request: Ask, form: str) -> str:
    """Return the name of a file: after the table and the question, in letters that every system takes."""
    words = f"{request.table or request.catalog} {request.question}"
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', words).strip('-')[-100:] or 'answer'}.{form}"


def file_of(answer: ShownAnswer, form: str, block: int = 0) -> bytes | str:
    """Return the file of an answer.

    Args:
        answer: The answer.
        form: One of TYPES.
        block: Which of its lists of rows, where the file has rows.

    Returns:
        The file's content.

    Raises:
        NotPossible: The answer has no rows, or no picture.
    """
    result = answer.result
    if form in ("csv", "parquet"):
        listed = answer.rows(block)
        if listed is None:
            raise NotPossible("this answer has no rows: save it as json or txt")
        file = _Limited()
        if form == "csv":
            listed.rows.to_csv(file, for_spreadsheet=True)
        else:
            listed.rows.to_parquet(file)
        return file.getvalue()
    if form == "json":
        return json_text(result.to_json()) + "\n"
    if form == "txt":
        return str(result.to_text())
    if not isinstance(result, Answer):
        raise NotPossible("a list of rows has no picture: save it as csv, parquet or json")
    return result.to_html() if form == "html" else with_white_ground(result.to_svg())


class _Limited(io.BytesIO):
    """A file in memory, of at most MOST_BYTES."""

    def write(self, data: object) -> int:
        """See io.BytesIO."""
        if self.tell() > MOST_BYTES:
            raise NotPossible("the file would be larger than 1 GiB: filter the rows, or use the command line")
        return super().write(data)  # type: ignore[arg-type]
