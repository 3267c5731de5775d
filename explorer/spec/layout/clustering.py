"""How well files are clustered by a column: how many a query for one value must open, by their bounds alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from explorer.model.manifest import ManifestFile
from explorer.spec.entries.entries import live_entries
from explorer.spec.filters.expressions import FilterColumn
from explorer.spec.scan.ranges import Bounds, decode_bounds, join_values, look_up, order_numbers

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


def bounds_of(fields: Sequence[int], manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """A row for each live data file of one manifest: its rows, and of each field its lower and its upper bound, as
    stored."""
    files = live_entries(stored, manifest)
    maps = {"low": "lower_bounds", "high": "upper_bounds"}
    bounds = {f"{end}_{i}": look_up(files, name, i) for i in fields for end, name in maps.items()}
    return pa.table({"record_count": files["record_count"], **bounds}, schema=bounds_schema(fields))


def bounds_schema(fields: Sequence[int]) -> pa.Schema:
    """The columns of `bounds_of`."""
    columns = [(f"{end}_{i}", pa.binary()) for i in dict.fromkeys(fields) for end in ("low", "high")]
    return pa.schema([("record_count", pa.int64()), *columns])


class Overlaps:
    """The bounds of some columns, gathered manifest by manifest: 16 bytes a file and number column, more for texts."""

    def __init__(self, columns: Sequence[FilterColumn], parts: Iterable[pa.Table]) -> None:
        self._files = 0
        bounds: list[list[tuple[Bounds, Bounds]]] = [[] for _ in columns]
        for part in parts:
            self._files += part.num_rows
            for column, gathered in zip(columns, bounds, strict=True):
                low, high = (part[f"{end}_{column.field_id}"].combine_chunks() for end in ("low", "high"))
                gathered.append((decode_bounds(low, column.kind), decode_bounds(high, column.kind)))
        self._each = []
        for column in columns:
            self._each.append(self._of(column.name, bounds.pop(0)))  # whose bounds are not kept

    def clustering(self) -> list[Clustering]:
        """What was gathered, a column each, the best clustered first; columns without bounds last."""
        return sorted(self._each, key=lambda c: (c.bounded == 0, c.average))

    def _of(self, name: str, gathered: Sequence[tuple[Bounds, Bounds]]) -> Clustering:
        both = [low.known & high.known for low, high in gathered]
        lows = join_values([low.values[k] for (low, _), k in zip(gathered, both, strict=True)])
        highs = join_values([high.values[k] for (_, high), k in zip(gathered, both, strict=True)])
        unknown = self._files - len(lows)
        if not len(lows):
            return Clustering(name, self._files, 0, float(self._files), (self._files,) * len(QUANTILES))
        points = order_numbers(join_values([lows, highs]))
        starts, ends = np.sort(points[: len(lows)]), np.sort(points[len(lows) :])
        opened = np.searchsorted(starts, points, "right") - np.searchsorted(ends, points, "left") + unknown
        at = np.quantile(opened, QUANTILES, method="higher")
        return Clustering(name, self._files, len(lows), float(opened.mean()), tuple(int(x) for x in at))
