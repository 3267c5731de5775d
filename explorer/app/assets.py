"""The bundled front end, as text: what widgets and exported files take of it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def asset(name: str) -> str:
    """Return a file of explorer/app/static."""
    return files("explorer.app").joinpath("static").joinpath(name).read_text(encoding="utf-8")
