"""Rows that are kept, in parts: in memory, or on the disk (io.spool), of which a part at a time is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from explorer.core.columns import Ints


class Kept:
    """All rows of a table. `counts` says how many each part has, `part` opens one, and the one that was opened last
    stays open."""

    def __init__(self, schema: pa.Schema, counts: Sequence[int], part: Callable[[int], pa.Table]) -> None:
        self.schema, self._part = schema, part
        self._starts = np.cumsum([0, *counts])
        self._last: tuple[int, pa.Table] | None = None

    @classmethod
    def of(cls, table: pa.Table) -> Kept:
        """What is in memory."""
        parts = table.to_batches()
        return cls(table.schema, [len(part) for part in parts], lambda at: pa.Table.from_batches([parts[at]]))

    def __len__(self) -> int:
        return int(self._starts[-1])

    def _opened(self, at: int) -> pa.Table:
        last = self._last
        if last is None or last[0] != at:
            last = self._last = at, self._part(at)
        return last[1]

    def read(self) -> Iterator[pa.Table]:
        """All rows, a part at a time, in order."""
        return (self._opened(at) for at in range(len(self._starts) - 1))

    def whole(self) -> pa.Table:
        """All rows at once: those on the disk are mapped, and are in memory when they are looked at."""
        return pa.concat_tables([self.schema.empty_table(), *map(self._part, range(len(self._starts) - 1))])

    def picked(self, places: Ints) -> pa.Table:
        """The rows in these places, in that order."""
        order = np.argsort(places, kind="stable")
        parts = np.searchsorted(self._starts, places[order], "right") - 1
        found = [self.schema.empty_table()]
        for part in np.unique(parts).tolist():
            own = pa.array(places[order][parts == part] - self._starts[part])
            found.append(self._opened(part).take(own))
        return pa.concat_tables(found).unify_dictionaries().combine_chunks().take(pa.array(np.argsort(order)))
