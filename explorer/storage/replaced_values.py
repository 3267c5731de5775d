"""The values of a table's columns, and what takes their place: in a database on disk, since a table may have more than
fit into memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from explorer.progress import check_cancellation
from explorer.spec.bundle.ordered_values import ZERO, Family, in_order, numbers_in_order

AT_ONCE = 10_000
"""Values that are written in one transaction."""
REMEMBERED = 50_000
HELD = 500_000
"""Values that are held in memory at most: a hundred bytes each."""
CACHE_KIB = 256 << 10


class ReplacedValues:
    """First it collects packed values (`replace` gives each back), then, after `decide`, it gives what takes their
    place. Used by one thread."""

    def __init__(self, folder: Path) -> None:
        self._db = sqlite3.connect(folder / "values.db", isolation_level=None)
        self._db.executescript(
            f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -{CACHE_KIB};"
            "CREATE TABLE own (domain TEXT, value BLOB, PRIMARY KEY (domain, value)) WITHOUT ROWID;"
            "CREATE TABLE other (domain TEXT, value BLOB, given BLOB, PRIMARY KEY (domain, value)) WITHOUT ROWID;"
        )
        self._waiting: set[tuple[str, bytes]] = set()
        self._families: dict[str, tuple[Family, Sequence[int]]] = {}
        self._decided = False
        self._held: dict[tuple[str, bytes], bytes] = {}
        self._given = lru_cache(REMEMBERED)(self._look_up)

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def replace(self, domain: str, family: Family, value: bytes, widths: Sequence[int] = (1,)) -> bytes:
        """Collect a value, or give what takes its place.

        Args:
            domain: What the value is compared with: a column, the paths.
            family: How the domain's values are ordered.
            value: The value, packed.
            widths: Of numbers, the widths to which the table truncates them (see `numbers_in_order`).

        Returns:
            The value itself while values are collected, then its replacement, packed.

        Raises:
            KeyError: The value was not collected.
        """
        if self._decided:
            return self._given(domain, value)
        self._families.setdefault(domain, (family, widths))
        self._waiting.add((domain, value))
        if len(self._waiting) >= AT_ONCE:
            self._write()
        return value

    def decide(self) -> dict[str, int]:
        """Give each collected value its replacement.

        Returns:
            How many values each domain has.
        """
        self._write()
        for domain, (family, widths) in self._families.items():
            check_cancellation()
            pairs = self._numbers(domain, widths) if family in ("number", "real") else self._in_order(domain, family)
            self._db.execute("BEGIN")
            self._db.executemany("INSERT INTO other VALUES (?, ?, ?)", pairs)
            self._db.execute("COMMIT")
        self._decided = True
        counts = self._db.execute("SELECT domain, count(*) FROM own GROUP BY domain").fetchall()
        self._db.execute("DROP TABLE own")
        if sum(number for _, number in counts) <= HELD:
            rows = self._db.execute("SELECT domain, value, given FROM other")
            self._held = {(domain, value): given for domain, value, given in rows}
        return dict(counts)

    def _in_order(self, domain: str, family: Family) -> Iterator[tuple[str, bytes, bytes]]:
        own = self._values("SELECT value FROM own WHERE domain = ? ORDER BY value", domain)
        values = self._values("SELECT value FROM own WHERE domain = ? ORDER BY value", domain)
        for value, given in zip(values, in_order(own, family), strict=True):
            yield domain, value, given

    def _numbers(self, domain: str, widths: Sequence[int]) -> Iterator[tuple[str, bytes, bytes]]:
        above = "SELECT value FROM own WHERE domain = ? AND value >= ? ORDER BY value"
        below = "SELECT value FROM own WHERE domain = ? AND value < ? ORDER BY value DESC"
        for statement, is_above in ((above, True), (below, False)):
            numbers = (int.from_bytes(v, "big") - ZERO for v in self._values(statement, domain, _number(0)))
            for number, given in numbers_in_order(numbers, widths, is_above):
                yield domain, _number(number), _number(given)

    def _values(self, statement: str, *arguments: object) -> Iterator[bytes]:
        for (value,) in self._db.execute(statement, arguments):
            check_cancellation()
            yield value

    def _look_up(self, domain: str, value: bytes) -> bytes:
        if self._held:
            return self._held[domain, value]
        found = self._db.execute("SELECT given FROM other WHERE domain = ? AND value = ?", (domain, value)).fetchone()
        if found is None:
            raise KeyError(f"{domain}: a value that was not there before")
        return bytes(found[0])

    def _write(self) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT OR IGNORE INTO own VALUES (?, ?)", self._waiting)
        self._db.execute("COMMIT")
        self._waiting.clear()


def _number(value: int) -> bytes:
    return (value + ZERO).to_bytes(16, "big")
