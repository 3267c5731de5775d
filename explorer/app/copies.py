"""Whose the copies of teaching tables are: who made one changes it, and nobody else."""

from __future__ import annotations

import threading
from typing import Literal

from explorer.errors import AccessRefused
from explorer.lab.scenarios import origin
from explorer.reports.maintenance.runs import is_teaching, is_writable
from explorer.table import Table

Writing = Literal["", "copy", "here"]
"""Whether a table may be changed here, only a copy of it, or neither."""


class Owners:
    """Who owns each copy. A copy that nobody owns (it was made before the server started, or by the command line)
    belongs to whoever changes it first."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}
        self._lock = threading.Lock()

    def note(self, copy: str, owner: str) -> None:
        """Note who has made a copy, named with its catalog."""
        with self._lock:
            self._owners[copy] = owner

    def check(self, table: Table, owner: str) -> None:
        """Check that somebody may change a table, as far as its owner is concerned. Raises AccessRefused."""
        if not origin(table.name):
            return
        with self._lock:
            if self._owners.setdefault(table.name, owner) != owner:
                raise AccessRefused(f"{table.name} is somebody else's copy: make a copy of your own")

    def writing(self, table: Table, owner: str) -> Writing:
        """Return whether somebody may change a table."""
        if is_teaching(table):
            return "copy"
        if not is_writable(table):
            return ""
        return "here" if self._owners.get(table.name, owner) == owner else "copy"


OWNERS = Owners()
"""Of this process."""
