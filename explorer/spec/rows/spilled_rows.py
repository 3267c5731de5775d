"""Rows in parts that are there to stay: in memory, or on the disk (storage.spill), where one part at a time is
opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from explorer.spec.entries.numpy_columns import Ints
from explorer.spec.values.values import no_rows


class RowParts:
    """All rows of a table. `counts` says how many each part has, `part` opens one, and the one that was opened last
    stays open. `on_disk` is how many bytes they take there."""

    def __init__(
        self, schema: pa.Schema, counts: Sequence[int], part: Callable[[int], pa.Table], on_disk: int = 0
    ) -> None:
        self.schema, self._part, self.on_disk = schema, part, on_disk
        self._starts = np.cumsum([0, *counts])
        self._last: tuple[int, pa.Table] | None = None

    @classmethod
    def of(cls, table: pa.Table) -> RowParts:
        """What is in memory."""
        parts = [part for part in table.to_batches() if len(part)]
        return cls(table.schema, [len(part) for part in parts], lambda at: pa.Table.from_batches([parts[at]]))

    def __len__(self) -> int:
        return int(self._starts[-1])

    def _open(self, at: int) -> pa.Table:
        last = self._last
        if last is None or last[0] != at:
            last = self._last = at, self._part(at)
        return last[1]

    def _together(self, parts: Sequence[pa.Table]) -> pa.Table:
        return pa.concat_tables(parts) if parts else no_rows(self.schema)

    def read(self) -> Iterator[pa.Table]:
        """All rows, a part at a time, in order."""
        return (self._open(at) for at in range(len(self._starts) - 1))

    def whole(self) -> pa.Table:
        """All rows at once: those on the disk are mapped, and are in memory when they are looked at."""
        return self._together([self._part(at) for at in range(len(self._starts) - 1)])

    def take(self, places: Ints) -> pa.Table:
        """The rows in these places, in that order."""
        if len(places) and np.array_equal(places, np.arange(places[0], places[0] + len(places))):
            return self._together([part.slice(*of) for part, of in self._within(int(places[0]), len(places))])
        order = np.argsort(places, kind="stable")
        own = places[order]
        bounds = np.searchsorted(own, self._starts)
        tables = [
            self._open(at).take(pa.array(own[bounds[at] : bounds[at + 1]] - self._starts[at]))
            for at in np.flatnonzero(np.diff(bounds)).tolist()
        ]
        if len(tables) > 1:
            tables = [pa.concat_tables(tables).unify_dictionaries().combine_chunks()]
        return self._together([table.take(pa.array(np.argsort(order))) for table in tables])

    def _within(self, first: int, count: int) -> Iterator[tuple[pa.Table, tuple[int, int]]]:
        """The parts of consecutive rows, and which rows of each these are."""
        at = int(np.searchsorted(self._starts, first, "right")) - 1
        while count:
            start, end = self._starts[at : at + 2].tolist()
            some = min(end - first, count)
            yield self._open(at), (first - start, some)
            at, first, count = at + 1, first + some, count - some

    def __reduce__(self) -> Any:
        return RowParts.of, (self.whole(),)
