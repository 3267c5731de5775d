"""Local paths say on whose machine, and under whose name, a table lies. Files that people pass on have none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape, unescape
from pathlib import Path
from typing import Any

FOLDERS = 20
"""So many of a table's folders are looked for, the first ones that are named."""
_URI = re.compile(r"file:/[^\s\"'<>]*")
_NAMED = 2
"""So many last parts of another local URI stay: a file's name and its folder's."""
_SCHEMES = ("file://", "file:", "")
_BEFORE, _AFTER = re.compile(r"[\w./-]"), re.compile(r"[\w-]")
"""What stands neither before nor after a path that stands for itself."""
_TEXT = re.compile(r">[^<>]+")
"""A text between two tags of a picture."""


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

    def cut(self, text: str) -> str:
        """Return a text without local paths. A stranger names these folders: no pattern is made of them."""
        parts, done = [], 0
        for begin, end, name in sorted(self._places(text), key=lambda place: (place[0], -place[1])):
            if begin >= done:
                parts += [text[done:begin], name]
                done = end
        text = "".join((*parts, text[done:]))
        return _URI.sub(lambda match: "/".join(match[0].rstrip("/").rsplit("/", _NAMED)[-_NAMED:]), text)

    def _places(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where the folders stand in a text, with their names."""
        for path, name in self._names.items():
            at = text.find(path)
            while at >= 0:
                end = at + len(path)
                for scheme in _SCHEMES if not _AFTER.match(text, end) else ():
                    begin = at - len(scheme)
                    if text[max(begin, 0) : at] == scheme and not (begin and _BEFORE.match(text, begin - 1)):
                        yield begin, end, name
                        break
                at = text.find(path, end)

    def cut_picture(self, picture: str) -> str:
        """Return an SVG of ours whose texts have no local paths; its tags stay as they are, whatever a folder is
        called."""
        return _TEXT.sub(lambda match: f">{escape(self.cut(unescape(match[0][1:])))}", picture)

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
