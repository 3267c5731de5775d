"""Two sets of manifests held against each other, by the files that their entries name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.spec.entries.entries import DELETED
from explorer.spec.entries.lazy_table import MakePart, Parts
from explorer.spec.entries.manifest_sets import Comparison, RowsByManifest, Sets
from explorer.spec.entries.numpy_columns import Ints, flags, ints
from explorer.spec.entries.table_protocol import Tree
from explorer.spec.values.equality import first_places, group_places, is_among, join_rows, number_rows

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
            if not len(one) or not len(other):
                continue
            of_one, of_other = number_rows([one[name] for name in by], [other[name] for name in by])
            pairs = _shared_places(of_one, ints(one["manifest"], 0), of_other, ints(other["manifest"], 0))
            shared.update(zip(*(places.tolist() for places in pairs), strict=True))
            live, live_there = flags(one["live"]), flags(other["live"])
            first.add_shared_rows(one.select(PLACED).filter(pa.array(live & is_among(of_one, of_other[live_there]))))
            second.add_shared_rows(other.select(PLACED).filter(pa.array(live_there & is_among(of_other, of_one[live]))))
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
    rows = np.flatnonzero(np.unpackbits(np.frombuffer(bits[manifest.manifest_path], np.uint8)))
    return of(manifest, stored if len(rows) == stored.num_rows else stored.take(pa.array(rows)))


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
PLACED = ["manifest", "row"]
LIVE, ALONE, SHARED = 0, 1, 2
PLACE = (1 << 32) - 1
"""The bits of a place beside which the number of a row is."""


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
    place = ["comparison", "side", "manifest"]
    [places] = number_rows([keys[name] for name in place])
    [files] = number_rows([keys[name] for name in ("comparison", *by)])
    live, named, ours = flags(keys["live"]), flags(pc.is_valid(keys[KEY[0]])), ints(keys["side"], 0) == 0
    first = first_places(places)
    counts = np.bincount(places[live], minlength=len(first))
    alone = live & ~np.where(ours, is_among(files, files[live & ~ours]), is_among(files, files[live & ours]))
    pairs = _shared_places(*(numbers[named & side] for side in (ours, ~ours) for numbers in (files, places)))
    found = (
        (LIVE, first, counts),
        (ALONE, np.flatnonzero(alone), ints(keys["row"], 0)[alone]),
        (SHARED, first[pairs[0]], ints(keys["manifest"], 0)[first[pairs[1]]]),
    )
    tables = []
    for what, rows, of in found:
        columns = {name: keys[name].take(pa.array(rows)) for name in place}
        tables.append(pa.table({"what": np.full(len(rows), what, np.int8), **columns, "of": of}).cast(FOUND))
    return pa.concat_tables(tables)


def _shared_places(ours: Ints, our_places: Ints, theirs: Ints, their_places: Ints) -> tuple[Ints, Ints]:
    """The places of both sides that have rows with the same number, each pair of them once."""
    sides = ((ours, our_places, theirs), (theirs, their_places, ours))
    distinct = [_distinct((rows << 32 | places)[is_among(rows, others)]) for rows, places, others in sides]
    one, other = join_rows(distinct[0] >> 32, distinct[1] >> 32)
    pairs = _distinct((distinct[0][one] & PLACE) << 32 | (distinct[1][other] & PLACE))
    return pairs >> 32, pairs & PLACE


def _distinct(values: Ints) -> Ints:
    """Each value once, in order."""
    values = np.sort(values)
    distinct: Ints = values[np.diff(values, prepend=values[:1] - 1) != 0]
    return distinct


def comparisons(keys: pa.Table, count: int) -> list[Comparison]:
    """So many comparisons, of FOUND of all keys."""
    live: list[tuple[dict[int, int], dict[int, int]]] = [({}, {}) for _ in range(count)]
    alone: list[tuple[dict[int, npt.NDArray[np.int64]], ...]] = [({}, {}) for _ in range(count)]
    shared: list[set[tuple[int, int]]] = [set() for _ in range(count)]
    place = ["comparison", "side", "manifest"]
    of_live, of_alone, of_shared = (keys.filter(pc.equal(keys["what"], what)) for what in (LIVE, ALONE, SHARED))
    sums = of_live.group_by(place).aggregate([("of", "sum")])
    for number, side, at, entries in zip(*(sums[name].to_pylist() for name in (*place, "of_sum")), strict=True):
        live[number][side][at] = entries
    rows = ints(of_alone["of"], 0)
    for _, some in group_places(number_rows([of_alone[name] for name in place])[0]):
        number, side, at = (of_alone[name][int(some[0])].as_py() for name in place)
        alone[number][side][at] = np.sort(rows[some])
    for number, at, other in zip(
        *(of_shared[name].to_pylist() for name in ("comparison", "manifest", "of")), strict=True
    ):
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

    def blocks(self) -> Iterator[pa.Table]:
        """The keys of all entries, nulls as -1 so that they join, some manifests at a time; one block at least."""
        held: list[pa.Table] = []
        any_yet = False
        for manifest, entries in self._tree.stored_entries(self._manifests):
            held.append(self._keys(self._place[manifest.manifest_path], entries))
            if sum(map(len, held)) >= self._tree.at_once:
                any_yet = True
                yield pa.concat_tables(held)
                held = []
        if held or not any_yet:
            yield pa.concat_tables([KEYS.empty_table().select([*self._by, *PLACED, "live"]), *held])

    def _keys(self, at: int, entries: pa.Table) -> pa.Table:
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
        return pa.table(table).select([*self._by, *PLACED, "live"])

    def add_shared_rows(self, rows: pa.Table) -> None:
        """The other set has these entries too."""
        of_all = ints(rows["row"], 0)
        for at, some in group_places(ints(rows["manifest"], 0)):
            self._left[at][of_all[some]] = False

    def alone(self) -> dict[int, npt.NDArray[np.int64]]:
        """The rows of each manifest that nothing was met for."""
        return {at: np.flatnonzero(left) for at, left in self._left.items() if left.any()}
