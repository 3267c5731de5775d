"""Where a benchmark tells what it measured: between two marks of a page of docs/, which says the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

BEGIN, END = "<!-- measured -->", "<!-- /measured -->"


def put(page: Path, lines: Sequence[str]) -> None:
    """Have these lines stand there, in place of those of the run before."""
    marked_part = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    page.write_text(marked_part.sub(lambda _: "\n".join([BEGIN, *lines, END]), page.read_text()))
