"""Where a benchmark tells what it measured: between two marks of a page of docs/, which says the rest."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from pathlib import Path

BEGIN, END = "<!-- measured -->", "<!-- /measured -->"


def put(page: Path, lines: Sequence[str]) -> None:
    """Have these lines stand there, in place of those of the run before."""
    marked_part = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    page.write_text(marked_part.sub(lambda _: "\n".join([BEGIN, *lines, END]), page.read_text()))


def spread(times: Sequence[float]) -> str:
    """Cells of a table: how many times there are, their median, 95th percentile, and the longest, in seconds."""
    ordered = sorted(times) or [math.nan]
    shown = (statistics.median(ordered), ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], ordered[-1])
    return " | ".join([str(len(times)), *(f"{one:.2f}" for one in shown)])
