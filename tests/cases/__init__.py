"""Thirty small tables that reproduce troubles from public reports; README.md says what is right for each."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
NAMES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/build.py")))


def build_case(name: str, folder: Path) -> Path:
    """Write one table.

    Args:
        name: The case's folder, or the number it begins with, such as "18".
        folder: Where to write it; the table is in a new folder below, named after the case.

    Returns:
        The table's folder.
    """
    [full_name] = [n for n in NAMES if n == name or n.split("-")[0] == name]
    place = folder / full_name
    arguments, sys.argv = sys.argv, ["build.py", str(place)]
    try:
        runpy.run_path(str(FOLDER / full_name / "build.py"))
    finally:
        sys.argv = arguments
    return place
