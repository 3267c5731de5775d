"""Two sets of manifests held against each other, by the files that their entries name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import polars
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.spec.entries.entries import DELETED
from explorer.spec.entries.lazy_table import MakePart, Parts
from explorer.spec.entries.manifest_sets import Comparison, RowsByManifest, Sets
from explorer.spec.entries.table_protocol import Tree

KEY = ("file_path", "content_offset", "content_size_in_bytes")
"""What tells a file, or a deletion vector, from others."""


def compare(
    tree: Tree, ours: Sequence[ManifestFile], theirs: Sequence[ManifestFile], by: Sequence[str] = KEY
) -> Comparison:
    """Hold the entries of two sets of manifests against each other, in this process; the first should be the smaller
    one. `by` are the columns that tell files apart: KEY, or `file_path` alone where a file is meant with all blobs in
    it."""
    first, second = _Set(tree, ours, by), _Set(tree, theirs, by)
    shared: set[tuple[int, int]] = set()
    for one in first.blocks():
        for other in second.blocks():
            pairs = one.join(other, on=by, how="inner", suffix="_2")
            shared |= set(pairs.select("manifest", "manifest_2").unique().iter_rows())
            both = pairs.filter(polars.col("live") & polars.col("live_2"))
            first.add_shared_rows(both.select("manifest", "row"))
            second.add_shared_rows(
                both.select(polars.col("manifest_2").alias("manifest"), polars.col("row_2").alias("row"))
            )
    return Comparison((first.live, second.live), (first.alone(), second.alone()), frozenset(shared))


def rows_at(manifests: Sequence[ManifestFile], rows: RowsByManifest, of: MakePart, schema: pa.Schema) -> Parts:
    """What `of` makes of some stored entries of these manifests: the rows of each, such as those that are `alone`."""
    bits = {}
    for at, rows_of_one in rows.items():
        chosen = np.zeros(int(rows_of_one[-1]) + 1, bool)
        chosen[rows_of_one] = True
        bits[manifests[at].manifest_path] = np.packbits(chosen).tobytes()
    some = [manifest for at, manifest in enumerate(manifests) if at in rows]
    return Parts(some, False, partial(_choose_rows, bits, of), schema)


def _choose_rows(bits: Mapping[str, bytes], of: MakePart, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    rows = np.unpackbits(np.frombuffer(bits[manifest.manifest_path], np.uint8))
    return of(manifest, stored.take(pa.array(np.flatnonzero(rows))))


# -- the same where no process has both sets: keys are dealt out, and each deal is held together -----------------------
KEYS = pa.schema(
    [
        (KEY[0], pa.large_string()), (KEY[1], pa.int64()), (KEY[2], pa.int64()), ("comparison", pa.int32()),
        ("side", pa.int8()), ("manifest", pa.int32()), ("row", pa.int64()), ("live", pa.bool_()),
    ]
)  # fmt: skip
FOUND = pa.schema(
    [("what", pa.int8()), *(KEYS.field(n) for n in ("comparison", "side", "manifest")), ("of", pa.int64())]
)
"""`of` is a number of live entries, a row that is alone, or the other manifest, of those that share a file."""
LIVE, ALONE, SHARED = 0, 1, 2


def keys_of(comparisons: Sequence[Sets], by: Sequence[str] = KEY) -> Parts:
    """KEYS of several comparisons: the entries of all their manifests, once for each set that one is in."""
    places: dict[str, list[tuple[int, int, int]]] = {}
    manifests: dict[str, ManifestFile] = {}
    for number, sets in enumerate(comparisons):
        for side, some in enumerate(sets):
            for at, manifest in enumerate(some):
                places.setdefault(manifest.manifest_path, []).append((number, side, at))
                manifests[manifest.manifest_path] = manifest
    return Parts(list(manifests.values()), False, partial(_keys_of, places, by), KEYS)


def _keys_of(
    places: Mapping[str, Sequence[tuple[int, int, int]]], by: Sequence[str], manifest: ManifestFile, stored: pa.Table
) -> pa.Table:
    tables = []
    for number, side, at in places[manifest.manifest_path]:
        there = {"comparison": number, "side": side, "manifest": at}
        columns = {**_key_columns(stored, by), "row": pa.array(np.arange(stored.num_rows)), "live": _live(stored)}
        columns |= {name: pa.repeat(pa.scalar(n, KEYS.field(name).type), stored.num_rows) for name, n in there.items()}
        nulls = {n: pa.nulls(stored.num_rows, KEYS.field(n).type) for n in KEYS.names if n not in columns}
        readable = pa.Table.from_pylist([{**there, "row": -1, "live": False}], KEYS)
        tables += [pa.table({**columns, **nulls}).select(KEYS.names).cast(KEYS), readable]
    return pa.concat_tables(tables)


def compare_keys(by: Sequence[str], keys: pa.Table) -> pa.Table:
    """FOUND, of KEYS that have all those of each file that they have any of."""
    frame = polars.DataFrame(polars.from_arrow(keys))
    one, other = frame.filter(side=0), frame.filter(side=1)
    same = ["comparison", *by]
    place = ["comparison", "side", "manifest"]
    pairs = one.join(other, on=same, how="inner", suffix="_2")
    shared = pairs.select(*place, polars.col("manifest_2").alias("of").cast(polars.Int64)).unique()
    live = frame.group_by(place).agg(polars.col("live").sum().cast(polars.Int64).alias("of"))
    sides = (one.filter("live"), other.filter("live"))
    alone = [own_side.join(other_side, on=same, how="anti") for own_side, other_side in (sides, sides[::-1])]
    rows = polars.concat(alone).select(*place, polars.col("row").alias("of"))
    all_three = ((LIVE, live), (ALONE, rows), (SHARED, shared))
    tables = polars.concat([t.insert_column(0, polars.lit(n, polars.Int8).alias("what")) for n, t in all_three])
    return tables.to_arrow().cast(FOUND)


def comparisons(keys: pa.Table, count: int) -> list[Comparison]:
    """So many comparisons, of FOUND of all keys."""
    frame = polars.DataFrame(polars.from_arrow(keys))
    live: list[tuple[dict[int, int], dict[int, int]]] = [({}, {}) for _ in range(count)]
    alone: list[tuple[dict[int, npt.NDArray[np.int64]], ...]] = [({}, {}) for _ in range(count)]
    shared: list[set[tuple[int, int]]] = [set() for _ in range(count)]
    place = ["comparison", "side", "manifest"]
    for number, side, at, entries in (
        frame.filter(what=LIVE).group_by(place).agg(polars.col("of").sum())[[*place, "of"]].iter_rows()
    ):
        live[number][side][at] = entries
    for key, rows in frame.filter(what=ALONE).partition_by(place, as_dict=True).items():
        number, side, at = key
        alone[number][side][at] = rows["of"].sort().to_numpy()
    for number, at, other in frame.filter(what=SHARED)[["comparison", "manifest", "of"]].iter_rows():
        shared[number].add((at, other))
    return [Comparison(live[n], (alone[n][0], alone[n][1]), frozenset(shared[n])) for n in range(count)]


def _live(entries: pa.Table) -> pa.ChunkedArray:
    return pc.fill_null(pc.not_equal(entries["status"], DELETED), True)


def _key_columns(entries: pa.Table, by: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """Nulls as -1, so that they join."""
    numbers = {name: pc.fill_null(entries[name].cast(pa.int64()), -1) for name in by if name != KEY[0]}
    return {KEY[0]: entries[KEY[0]].cast(pa.large_string()), **numbers}


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
        for manifest, entries in self._tree.stored_entries(self._manifests):
            held.append(self._keys(self._place[manifest.manifest_path], entries))
            if sum(map(len, held)) >= self._tree.at_once:
                any_yet = True
                yield polars.concat(held)
                held = []
        if held or not any_yet:
            yield polars.concat([_NO_KEYS.select(*self._by, "manifest", "row", "live"), *held])

    def _keys(self, at: int, entries: pa.Table) -> polars.DataFrame:
        live = _live(entries)
        if at not in self._left:
            self._left[at] = live.to_numpy().copy()
            self.live[at] = int(self._left[at].sum())
        table = {
            **_key_columns(entries, self._by),
            "manifest": pa.repeat(pa.scalar(at, pa.int32()), entries.num_rows),
            "row": pa.array(np.arange(entries.num_rows)),
            "live": live,
        }
        return polars.DataFrame(polars.from_arrow(pa.table(table)))

    def add_shared_rows(self, rows: polars.DataFrame) -> None:
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
