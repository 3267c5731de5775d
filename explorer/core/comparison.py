"""Two sets of manifests held against each other, by the files that their entries name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars
import pyarrow as pa
import pyarrow.compute as pc

from explorer.core.entries import DELETED
from explorer.core.tree import Tree
from explorer.model.manifest import ManifestFile

KEY = ("file_path", "content_offset", "content_size_in_bytes")
"""What tells a file, or a deletion vector, from others."""


@dataclass(frozen=True)
class Comparison:
    """Of each of two sets of manifests, which go by their place in it: `live` has those that could be read, with how
    many of their entries are not DELETED; `alone` the rows of such entries whose file the other set has no such entry
    for. `shared` are the pairs of manifests that name one file, whatever its status."""

    live: tuple[Mapping[int, int], Mapping[int, int]]
    alone: tuple[Mapping[int, npt.NDArray[np.int64]], Mapping[int, npt.NDArray[np.int64]]]
    shared: frozenset[tuple[int, int]]


def compare(
    tree: Tree, mine: Sequence[ManifestFile], theirs: Sequence[ManifestFile], by: Sequence[str] = KEY
) -> Comparison:
    """Hold the entries of two sets of manifests against each other; the first should be the smaller one. `by` are the
    columns that tell files apart: KEY, or `file_path` alone where a file is meant with all blobs in it."""
    first, second = _Set(tree, mine, by), _Set(tree, theirs, by)
    shared: set[tuple[int, int]] = set()
    for one in first.blocks():
        for other in second.blocks():
            pairs = one.join(other, on=by, how="inner", suffix="_2")
            shared |= set(pairs.select("manifest", "manifest_2").unique().iter_rows())
            both = pairs.filter(polars.col("live") & polars.col("live_2"))
            first.met(both.select("manifest", "row"))
            second.met(both.select(polars.col("manifest_2").alias("manifest"), polars.col("row_2").alias("row")))
    return Comparison((first.live, second.live), (first.alone(), second.alone()), frozenset(shared))


def rows_at(
    tree: Tree, manifests: Sequence[ManifestFile], rows: Mapping[int, npt.NDArray[np.int64]]
) -> Iterator[tuple[ManifestFile, pa.Table]]:
    """Some stored entries of these manifests, by the rows of each, such as those that are `alone`."""
    place = {m.manifest_path: at for at, m in enumerate(manifests)}
    for manifest, entries in tree.stored([m for at, m in enumerate(manifests) if at in rows]):
        yield manifest, entries.take(pa.array(rows[place[manifest.manifest_path]]))


class _Set:
    """The entries of some manifests, and which of them nothing was met for yet."""

    def __init__(self, tree: Tree, manifests: Sequence[ManifestFile], by: Sequence[str]) -> None:
        self._tree, self._manifests, self._by = tree, manifests, by
        self._place = {m.manifest_path: at for at, m in enumerate(manifests)}
        self._left: dict[int, npt.NDArray[np.bool_]] = {}
        self.live: dict[int, int] = {}

    def blocks(self) -> Iterator[polars.DataFrame]:
        """The keys of all entries, nulls as -1 so that they join, some manifests at a time; one block at least."""
        held: list[polars.DataFrame] = []
        any_yet = False
        for manifest, entries in self._tree.stored(self._manifests):
            held.append(self._keys(self._place[manifest.manifest_path], entries))
            if sum(map(len, held)) >= self._tree.at_once:
                any_yet = True
                yield polars.concat(held)
                held = []
        if held or not any_yet:
            yield polars.concat([_NO_KEYS.select(*self._by, "manifest", "row", "live"), *held])

    def _keys(self, at: int, entries: pa.Table) -> polars.DataFrame:
        live = pc.fill_null(pc.not_equal(entries["status"], DELETED), True)
        if at not in self._left:
            self._left[at] = live.to_numpy().copy()
            self.live[at] = int(self._left[at].sum())
        keys = {name: pc.fill_null(entries[name].cast(pa.int64()), -1) for name in self._by if name != KEY[0]}
        table = {
            KEY[0]: entries[KEY[0]].cast(pa.large_string()),
            **keys,
            "manifest": pa.repeat(pa.scalar(at, pa.int32()), entries.num_rows),
            "row": pa.array(np.arange(entries.num_rows)),
            "live": live,
        }
        return polars.DataFrame(polars.from_arrow(pa.table(table)))

    def met(self, rows: polars.DataFrame) -> None:
        """The other set has these entries too."""
        for (at,), some in rows.partition_by("manifest", as_dict=True).items():
            self._left[at][some["row"].to_numpy()] = False

    def alone(self) -> dict[int, npt.NDArray[np.int64]]:
        """The rows of each manifest that nothing was met for."""
        return {at: np.flatnonzero(left) for at, left in self._left.items() if left.any()}


_NO_KEYS = polars.DataFrame(
    schema={
        KEY[0]: polars.String, KEY[1]: polars.Int64, KEY[2]: polars.Int64, "manifest": polars.Int32,
        "row": polars.Int64, "live": polars.Boolean,
    }
)  # fmt: skip
