"""A part of a run that is too long for one sitting: with ICEDIVE_PART=3/12, every twelfth test from the third on."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

VARIABLE = "ICEDIVE_PART"


def part_of(tests: Sequence[str], part: str) -> list[str]:
    """Return the tests of a part. All parts together have each test once.

    Args:
        tests: All tests, by their names; their order does not matter.
        part: Which part of how many, such as 3/12; all of them if it is empty.

    Returns:
        Their names, sorted.

    Raises:
        ValueError: There is no such part.
    """
    words = re.fullmatch(r"(\d{1,4})/(\d{1,4})", part or "1/1")
    if words is None or not 1 <= int(words[1]) <= int(words[2]):
        raise ValueError(f"{VARIABLE} is {part!r}: say which part of how many, such as 3/12")
    return sorted(tests)[int(words[1]) - 1 :: int(words[2])]


def chosen(tests: Sequence[str]) -> list[str]:
    """Return the tests of the part that the environment names."""
    return part_of(tests, os.environ.get(VARIABLE, ""))
