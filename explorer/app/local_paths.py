"""Local paths say on whose machine, and under whose name, a table lies. Files that people pass on have none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

FOLDERS = 20
"""So many of a table's folders are looked for, the first ones that are named."""
_URI = re.compile(r"file:/[^\s\"'<>]*")
_NAMED = 2
"""So many last parts of another local URI stay: a file's name and its folder's."""


class LocalPaths:
    """Cuts local paths: one below a folder of the table begins with that folder's name, one below the home with ~."""

    def __init__(self, folders: Iterable[str]) -> None:
        """Take the folders of a table.

        Args:
            folders: The folders, the table's own first. Those that are not local count for nothing.
        """
        self._names: dict[str, str] = {}
        for folder in folders:
            path = _local(folder)
            if path.count("/") > 1 and not any(path == one or path.startswith(f"{one}/") for one in self._names):
                self._names[path] = path.rpartition("/")[2]
            if len(self._names) == FOLDERS:
                break
        self._names.setdefault(str(Path.home()), "~")
        self._names |= {escape(path): escape(name) for path, name in self._names.items()}
        forms = "|".join(re.escape(path) for path in sorted(self._names, key=len, reverse=True))
        self._paths = re.compile(rf"(?<![\w./-])(?:file:(?://)?)?({forms})(?![\w-])")

    def cut(self, text: str) -> str:
        """Return a text without local paths."""
        text = self._paths.sub(lambda match: self._names[match[1]], text)
        return _URI.sub(lambda match: "/".join(match[0].rstrip("/").rsplit("/", _NAMED)[-_NAMED:]), text)

    def cut_all(self, value: Any) -> Any:
        """Return a value of JSON whose texts have no local paths."""
        if isinstance(value, str):
            return self.cut(value)
        if isinstance(value, dict):
            return {self.cut(name): self.cut_all(one) for name, one in value.items()}
        return [self.cut_all(one) for one in value] if isinstance(value, (list, tuple)) else value


def _local(path: str) -> str:
    """A local path without its scheme; empty for one that is not local."""
    plain = path.removeprefix("file:")
    return f"/{plain.strip('/')}" if plain.startswith("/") else ""
