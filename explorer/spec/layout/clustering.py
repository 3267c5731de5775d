"""How well files are clustered by a column: how many a query for one value must open, by their bounds alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.spec.entries.entries import stored_live
from explorer.spec.entries.metric_maps import MetricMaps
from explorer.spec.filters.expressions import FilterColumn
from explorer.spec.scan.ranges import Bounds, decode_bounds, join_values, order_numbers

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


def bounds_of(fields: Sequence[int], _: ManifestFile, stored: pa.Table) -> pa.Table:
    """A row for each live data file of manifests: its rows, and of each field its lower and its upper bound, as
    stored."""
    files = stored_live(stored)
    names = {"low": "lower_bounds", "high": "upper_bounds"}
    maps = MetricMaps(files, tuple(names.values()))
    bounds = {f"{end}_{i}": maps.column(name, i) for i in fields for end, name in names.items()}
    return pa.table({"record_count": files["record_count"], **bounds}, schema=bounds_schema(fields))


def bounds_schema(fields: Sequence[int]) -> pa.Schema:
    """The columns of `bounds_of`."""
    columns = [(f"{end}_{i}", pa.binary()) for i in dict.fromkeys(fields) for end in ("low", "high")]
    return pa.schema([("record_count", pa.int64()), *columns])


class Overlaps:
    """The bounds of some columns, gathered part by part: 16 bytes a file and column, and each text once a part."""

    def __init__(self, columns: Sequence[FilterColumn], parts: Iterable[pa.Table]) -> None:
        self._files = 0
        bounds: list[list[pa.DictionaryArray | Bounds]] = [[] for _ in columns]
        for part in parts:
            self._files += part.num_rows
            for column, gathered in zip(columns, bounds, strict=True):
                for end in ("low", "high"):
                    stored = part[f"{end}_{column.field_id}"].combine_chunks()
                    is_text = column.kind == "string"
                    gathered.append(_texts(stored) if is_text else decode_bounds(stored, column.kind))
        self._each = []
        for column in columns:
            self._each.append(self._of(column.name, _in_numbers(bounds.pop(0))))  # whose bounds are not kept

    def clustering(self) -> list[Clustering]:
        """What was gathered, a column each, the best clustered first; columns without bounds last."""
        return sorted(self._each, key=lambda c: (c.bounded == 0, c.average))

    def _of(self, name: str, ends: Sequence[Bounds]) -> Clustering:
        both = [low.known & high.known for low, high in zip(ends[::2], ends[1::2], strict=True)]
        lows, highs = (
            join_values([end.values[k] for end, k in zip(ends[first::2], both, strict=True)]) for first in (0, 1)
        )
        unknown = self._files - len(lows)
        if not len(lows):
            return Clustering(name, self._files, 0, float(self._files), (self._files,) * len(QUANTILES))
        points = order_numbers(join_values([lows, highs]))
        starts, ends_of_files = np.sort(points[: len(lows)]), np.sort(points[len(lows) :])
        opened = np.concatenate([
            np.searchsorted(starts, some, "right") - np.searchsorted(ends_of_files, some, "left")
            for some in (starts, ends_of_files)  # values in order are found much faster
        ])  # fmt: skip
        opened += unknown
        at = np.quantile(opened, QUANTILES, method="higher")
        return Clustering(name, self._files, len(lows), float(opened.mean()), tuple(int(x) for x in at))


def _texts(stored: pa.Array) -> pa.DictionaryArray:
    """Bounds that are texts, null where they are none."""
    try:
        texts = stored.cast(pa.large_string())
    except pa.ArrowInvalid:  # one is no UTF-8
        bounds = decode_bounds(stored, "string")
        values = bounds.values.astype(object)
        values[~bounds.known] = None
        texts = pa.array(values, pa.large_string())
    return texts.dictionary_encode()


def _in_numbers(ends: Sequence[pa.DictionaryArray | Bounds]) -> list[Bounds]:
    """The bounds of a column; numbers that order as they do in place of texts."""
    if not ends or isinstance(ends[0], Bounds):
        return list(ends)
    chunks = pa.chunked_array(ends).unify_dictionaries().chunks
    in_order = pc.sort_indices(chunks[0].dictionary).to_numpy()
    numbers = np.zeros(len(in_order) + 1, np.int64)
    numbers[in_order] = np.arange(len(in_order))
    return [
        Bounds(numbers[chunk.indices.fill_null(len(in_order)).to_numpy()], chunk.is_valid().to_numpy(False))
        for chunk in chunks
    ]
