"""Rule 50, of rows: a row that a commit writes anew keeps its row id, so two visible rows with one id are one row that
is there twice (spec: "Row Lineage")."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import NotNow, UnreadableFile
from explorer.spec.deletes.deletes import Applicability
from explorer.spec.doctor.findings import Finding, finding
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.remedy_cases import ROWS_TWICE
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.entries.numpy_columns import Ints
from explorer.spec.text.units import count
from explorer.storage.rows import equality_schema
from explorer.table import Table

ROWS = 5_000_000
"""Rows that have row ids of their own in their files, which are compared."""


def repeated_row_rules(
    table: Table, lists: Lists, opened: Mapping[str, tuple[int, int]], with_ids: Collection[str]
) -> Iterator[Finding]:
    """Compare the row ids of the visible rows of the current snapshot.

    Args:
        table: The table.
        lists: Its manifest lists.
        opened: By path of each data file: its rows, and the snapshots that read it, as a mask.
        with_ids: The files whose rows have ids of their own.
    """
    snapshot = table.metadata.current_snapshot
    if snapshot is None or snapshot.snapshot_id not in lists.lists or snapshot.snapshot_id in lists.unread:
        return
    manifests = [m for m in lists.lists[snapshot.snapshot_id] if not m.content]
    files = [f for some in table.row_reader.live_files(manifests, snapshot) for f in some if f.path in opened]
    own = [f for f in files if f.path in with_ids]
    others = [f for f in files if f.path not in with_ids]
    if not own or sum(f.record_count for f in own) > ROWS:
        return
    try:
        places = table.row_reader.applicability(snapshot)
        ids = [_visible_ids(table, places, file) for file in own]
        pairs = [*_among(own, ids), *_beside(table, places, own, ids, others)]
    except (NotNow, UnreadableFile, pa.ArrowException):  # another rule tells of it
        return
    if not pairs:
        return
    file, other, row_id, _ = pairs[0]
    number = count(sum(times for *_, times in pairs), "visible row shares its", "visible rows share their")
    yield finding(
        "row-ids-overlap",
        f"{number} {ROWS_TWICE}: a commit wrote a row anew, and did not remove it where it was",
        file.path,
        f"named in {file.manifest_path}",
        found=f"row id {row_id}",
        expected=f"the row of that id in {other.path} removed",
        snapshots=lists.listing(opened[file.path][1] & opened[other.path][1]),
        examples=tuple(dict.fromkeys(f.path for f, *_ in pairs))[:3],
        node=("file", file.path),
    )


SharedIds = tuple[LiveFile, LiveFile, int, int]
"""A file, another one, a row id of a visible row of both, and how many they have in common."""


def _visible_ids(table: Table, places: Applicability, file: LiveFile) -> Ints:
    rows = table.row_reader.rows(file, equality_schema(table.metadata, ()), lineage=True)
    ids = rows["_row_id"].filter(pc.invert(pc.is_in(rows["_pos"], _hidden(table, places, file))))
    return np.asarray(ids.drop_null().to_numpy(), np.int64)


def _hidden(table: Table, places: Applicability, file: LiveFile) -> pa.Array:
    """The positions that deletes hide."""
    hits = table.row_reader.hits(table.row_reader.verdicts(places, file))
    return pa.chunked_array([pa.array([], pa.int64()), *(hit.positions.cast(pa.int64()) for hit in hits)]).unique()


def _among(files: Sequence[LiveFile], ids: Sequence[Ints]) -> Iterator[SharedIds]:
    """Ids that two of the files have, or that one has twice."""
    every, which = np.concatenate(ids), np.repeat(np.arange(len(ids)), [len(some) for some in ids])
    order = np.lexsort((which, every))
    every, which = every[order], which[order]
    again = np.flatnonzero(every[1:] == every[:-1])
    codes = which[again + 1].astype(np.int64) << 32 | which[again]
    for code, first, times in zip(*np.unique(codes, return_index=True, return_counts=True), strict=True):
        later, earlier = int(code) >> 32, int(code) & 0xFFFFFFFF
        yield files[later], files[earlier], int(every[again[first]]), int(times)


def _beside(
    table: Table, places: Applicability, files: Sequence[LiveFile], ids: Sequence[Ints], others: Sequence[LiveFile]
) -> Iterator[SharedIds]:
    """Ids of these files that rows of others have by their place in them."""
    others = sorted((f for f in others if f.first_row_id is not None), key=lambda f: f.first_row_id or 0)
    if not others:
        return
    starts = np.array([f.first_row_id for f in others], np.int64)
    ends = starts + np.array([f.record_count for f in others], np.int64)
    for file, some in zip(files, ids, strict=True):
        some = np.sort(some)
        begins, stops = np.searchsorted(some, starts), np.searchsorted(some, ends)
        for n in np.flatnonzero(begins < stops).tolist():
            common = some[begins[n] : stops[n]]
            hidden = np.asarray(_hidden(table, places, others[n]).to_numpy(), np.int64) + starts[n]
            visible = common[~np.isin(common, hidden)]
            if len(visible):
                yield file, others[n], int(visible[0]), len(visible)
