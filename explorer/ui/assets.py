"""The graph's script and style sheet of the dashboard, as one text each."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

PARTS = (
    "pure.js",
    "dom.js",
    "card.js",
    "minimap.js",
    "canvas.js",
    "timeline.js",
    "way.js",
    "copy.js",
    "inspector.js",
    "legend.js",
    "view.js",
)
"""The modules of ui/static, each after those that it imports."""
FIRST = "first.js"
"""What comes after them in what the dashboard shows first."""
IMPORT = re.compile(r'^import \{[^}]*\} from "\./[\w.]+";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=function|class|const)", re.MULTILINE)


def asset(name: str) -> str:
    """The text of a file in explorer/ui/static."""
    return files("explorer.ui").joinpath("static").joinpath(name).read_text(encoding="utf-8")


@cache
def script() -> str:
    """All parts as one module: their imports of each other fall away, and only the last one exports."""
    return "\n".join(map(_inner, PARTS))


def _inner(part: str) -> str:
    return EXPORT.sub("", IMPORT.sub("", asset(part)))


@cache
def first_script() -> str:
    """The same for what a page shows before the rest of it is there."""
    return f"{script()}\n{_inner(FIRST)}"


@cache
def first_style() -> str:
    """The style sheet of that, too."""
    return f"{style()}\n{asset('first.css')}"


def statement_script() -> str:
    """The script of a statement that can be copied."""
    return f"{_inner('copy.js')}\n{_inner('statement.js')}"


@cache
def browser_script() -> str:
    """The script of what the page has of the browser."""
    return "\n".join(map(_inner, ("copy.js", "grids.js", "figures.js"))) + "\n" + IMPORT.sub("", asset("browser.js"))


@cache
def style() -> str:
    """The style sheet; it knows no kind of node, status or mark (see graph.vocabulary)."""
    return asset("view.css")
