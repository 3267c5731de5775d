"""Answers as files that a browser saves."""

from __future__ import annotations

import io
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from explorer.app.blocks import ShownAnswer
from explorer.app.protocol import Ask
from explorer.app.row_pages import RowPages
from explorer.errors import NotPossible
from explorer.progress import check_cancellation
from explorer.queries.collection import Collection
from explorer.questions.answers import Answer
from explorer.render.pictures import with_white_ground
from explorer.render.row_formats import table_pieces
from explorer.render.text import json_text
from explorer.spec.text.units import human_bytes

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
"""Of a file."""
SMALL, LEAST_FREE = 16 << 20, 512 << 20
"""A file of more bytes than the first leaves as many free as the second: the server and its machine need some."""


def file_name(request: Ask, form: str) -> str:
    """Return the name of a file: after the table and the question, in letters that every system takes."""
    words = f"{request.table or request.catalog} {request.question}"
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', words).strip('-')[-100:] or 'answer'}.{form}"


def file_of(answer: ShownAnswer, form: str, block: int = 0) -> BinaryIO:
    """Write the file of an answer.

    Args:
        answer: The answer.
        form: One of TYPES.
        block: Which of its lists of rows, where the file has rows.

    Returns:
        The file, at its beginning; the system removes it once it is closed.

    Raises:
        NotPossible: The answer has no rows, or no picture.
    """
    file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
    limited = _Limited(file)
    try:
        if form in ("csv", "parquet"):
            _write_rows(answer.rows(block), form, limited)
        else:
            for piece in _pieces(answer.result, form):
                check_cancellation()
                limited.write(piece.encode("utf-8", "replace"))
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _write_rows(listed: RowPages | None, form: str, file: _Limited) -> None:
    if listed is None:
        raise NotPossible("this answer has no rows: save it as json or txt")
    if form == "csv":
        listed.rows.to_csv(file, for_spreadsheet=True)
    else:
        listed.rows.to_parquet(file)


def _pieces(result: Any, form: str) -> Iterable[str]:
    """The text of a file that is no table, in pieces."""
    if isinstance(result, Collection):
        if form == "json":
            return table_pieces(result.iter_tables(), is_array=True)
        if form == "txt":
            return result.text_pieces()
    if form == "json":
        return [json_text(result.to_json()), "\n"]
    if form == "txt":
        return [str(result.to_text())]
    if not isinstance(result, Answer):
        raise NotPossible("a list of rows has no picture: save it as csv, parquet or json")
    return [result.to_html() if form == "html" else with_white_ground(result.to_svg())]


class _Limited(io.RawIOBase):
    """Writes to a file that has at most MOST_BYTES."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def writable(self) -> bool:
        """See io.RawIOBase."""
        return True

    def tell(self) -> int:
        """See io.RawIOBase."""
        return self._file.tell()

    def write(self, data: Any) -> int:
        """See io.RawIOBase."""
        size = self._file.tell()
        if size > SMALL and shutil.disk_usage(tempfile.gettempdir()).free < LEAST_FREE:
            raise NotPossible("the server has too little room on its disk for this file: filter the rows, or try later")
        if size > MOST_BYTES:
            most = human_bytes(MOST_BYTES)
            raise NotPossible(f"the file would be larger than {most}: filter the rows, or use the command line")
        return self._file.write(data)
