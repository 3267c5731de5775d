"""How well files are clustered by a column: how many a query for one value must open, by their bounds alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from explorer.core.entries import live
from explorer.core.expressions import Column
from explorer.core.ranges import Bounds, decoded, joined, looked_up

QUANTILES = (0.5, 0.9, 1.0)


@dataclass(frozen=True)
class Clustering:
    """One column over the live data files of a snapshot. A query for one value opens every file whose bounds hold it,
    and all without bounds. `opened` is that number, on average and by QUANTILES, for values at the files' own bounds:
    an estimate, since bounds may be wider than values, and queries may ask for others."""

    name: str
    files: int
    bounded: int
    average: float
    quantiles: tuple[int, ...]

    @property
    def share(self) -> float | None:
        """The average as a share of all files; None without any."""
        return self.average / self.files if self.files else None


class Overlaps:
    """The bounds of some columns, gathered manifest by manifest: 16 bytes a file and number column, more for texts."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._files = 0
        self._bounds: list[list[tuple[Bounds, Bounds]]] = [[] for _ in columns]

    def add(self, entries: pa.Table) -> None:
        """The data files of one manifest's logical entries, with their metrics."""
        files = live(entries)
        self._files += files.num_rows
        for column, gathered in zip(self._columns, self._bounds, strict=True):
            lower, upper = (looked_up(files, name, column.field_id) for name in ("lower_bounds", "upper_bounds"))
            gathered.append((decoded(lower, column.kind), decoded(upper, column.kind)))

    def clustering(self) -> list[Clustering]:
        """What was gathered, a column each, the best clustered first; columns without bounds last."""
        found = [self._of(c.name, bounds) for c, bounds in zip(self._columns, self._bounds, strict=True)]
        return sorted(found, key=lambda c: (c.bounded == 0, c.average))

    def _of(self, name: str, gathered: Sequence[tuple[Bounds, Bounds]]) -> Clustering:
        both = [low.known & high.known for low, high in gathered]
        lows = joined([low.values[k] for (low, _), k in zip(gathered, both, strict=True)])
        highs = joined([high.values[k] for (_, high), k in zip(gathered, both, strict=True)])
        unknown = self._files - len(lows)
        if not len(lows):
            return Clustering(name, self._files, 0, float(self._files), (self._files,) * len(QUANTILES))
        points = np.concatenate([lows, highs])
        starts, ends = np.sort(lows), np.sort(highs)
        opened = np.searchsorted(starts, points, "right") - np.searchsorted(ends, points, "left") + unknown
        at = np.quantile(opened, QUANTILES, method="higher")
        return Clustering(name, self._files, len(lows), float(opened.mean()), tuple(int(x) for x in at))
