"""The maps of counts and bounds of entries, looked up by field (spec: "Data File Fields")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from explorer.spec.entries.numpy_columns import Ints, amounts


class MetricMaps:
    """Some of the maps of entries, opened up once: for each field the rows that have a value of it, and the values.

    Args:
        entries: The entries, with their maps.
        names: Which maps.
        only: The only field that will be looked up; None for all.
    """

    def __init__(self, entries: pa.Table, names: Sequence[str], only: int | None = None) -> None:
        self.size = entries.num_rows
        self._maps = {name: _open(entries[name], only) for name in names}

    def of(self, name: str, field_id: int) -> tuple[Ints, pa.Array]:
        """The numbers of the rows, and their values, in a map of that name: in order, each as often as it is there."""
        rows, values, places = self._maps[name]
        first, last = places.get(field_id, (0, 0))
        return rows[first:last], values.slice(first, last - first)

    def numbers(self, name: str, field_id: int) -> tuple[Ints, Ints]:
        """`of` a map of counts."""
        rows, values = self.of(name, field_id)
        return rows, amounts(pa.chunked_array([values]))

    def column(self, name: str, field_id: int) -> pa.Array:
        """The value of each row, null where it has none; of several, the last."""
        rows, values = self.of(name, field_id)
        if len(rows) == self.size and (rows == np.arange(self.size)).all():
            return values
        places = np.full(self.size, -1, np.int64)
        places[rows] = np.arange(len(rows))
        return values.take(pa.array(places, mask=places < 0))


def _open(column: pa.ChunkedArray, only: int | None) -> tuple[Ints, pa.Array, dict[int, tuple[int, int]]]:
    """The row and the value of each item of all maps, those of one field together; where each field's begin and end."""
    maps = column.combine_chunks()
    maps = maps.chunk(0) if isinstance(maps, pa.ChunkedArray) else maps
    rows: Ints = np.arange(len(maps))
    if maps.null_count:
        rows = np.flatnonzero(maps.is_valid().to_numpy(zero_copy_only=False))
        maps = maps.drop_null()
    if not len(maps):
        return np.zeros(0, np.int64), pa.nulls(0, column.type.item_type), {}
    offsets = maps.offsets.to_numpy()
    first, count = int(offsets[0]), int(offsets[-1] - offsets[0])
    keys = maps.keys.slice(first, count).to_numpy(zero_copy_only=False)
    if only is not None:
        order = np.flatnonzero(keys == only)
        rows = rows[np.searchsorted(offsets, order + first, "right") - 1]
        return rows, maps.items.slice(first, count).take(pa.array(order)), {only: (0, len(order))}
    if count and keys.min() >= -(2**15) and keys.max() < 2**15:
        keys = keys.astype(np.int16)  # these are sorted without comparing them
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=keys[:1] - 1)) if len(keys) else np.zeros(0, np.int64)
    places = zip(starts.tolist(), [*starts[1:].tolist(), len(keys)][: len(starts)], strict=True)
    return (
        np.repeat(rows, np.diff(offsets))[order], maps.items.slice(first, count).take(pa.array(order)),
        dict(zip(keys[starts].tolist(), places, strict=True)),
    )  # fmt: skip
