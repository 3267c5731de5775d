"""What every manifest entry inherits, and what its status means as of a snapshot (spec: "Manifest Entry Fields",
"Sequence Number Inheritance", "First Row ID Assignment").

Stored columns are never changed: inheritance adds columns beside them, each with the words for where its value came
from, so that all three states of an entry can be shown side by side."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import STATUS, ManifestFile

EXISTING, ADDED, DELETED = 0, 1, 2
INHERITED = ("snapshot_id", "sequence_number", "file_sequence_number", "first_row_id")
STORED_ORIGIN = "stored"
WORDS = pa.dictionary(pa.int32(), pa.string())
"""The type of reasons and origins: few are different."""
NO_LIVE = "the manifest list counts no live file in it"
"""Why Iceberg Java does not open a manifest, and leaves it out of a commit that merges manifests."""
LIVE = ("ADDED", "EXISTING")
"""Logical statuses of what readers see."""


def fill_nulls(stored: pa.Table, manifest: ManifestFile) -> dict[str, pa.ChunkedArray]:
    """Each name of INHERITED with the nulls filled that anything fills."""
    # v1 manifests have no sequence numbers: the spec reads them as 0. Otherwise only ADDED entries inherit.
    number, nothing = pa.scalar(manifest.sequence_number, pa.int64()), pa.scalar(None, pa.int64())
    of_added: pa.ChunkedArray | pa.Scalar = number
    if manifest.sequence_number != 0:
        of_added = pc.if_else(pc.fill_null(pc.equal(stored["status"], ADDED), False), number, nothing)
    return {
        "snapshot_id": snapshot_ids(stored, manifest),
        **{name: pc.coalesce(stored[name], of_added) for name in ("sequence_number", "file_sequence_number")},
        "first_row_id": _first_row_ids(stored, manifest),
    }


def origins(sequence_number: int) -> dict[str, tuple[str, str, str]]:
    """What is said of each name of INHERITED in a manifest of that sequence number: where the value is stored, where it
    was filled, and where it stays null."""
    listed = "inherited: the manifest list's {} for this manifest"
    sequence = (
        "inherited: 0, since version 1 has no sequence numbers"
        if sequence_number == 0
        else listed.format("sequence_number")
    )
    invalid = "null: only ADDED entries may inherit it, so this entry is invalid"
    lineage = "inherited: the manifest's first_row_id, plus the rows of earlier files without one"
    no_snapshot = "null: the manifest list has no added_snapshot_id"
    return {
        "snapshot_id": (STORED_ORIGIN, listed.format("added_snapshot_id"), no_snapshot),
        "sequence_number": (STORED_ORIGIN, sequence, invalid),
        "file_sequence_number": (STORED_ORIGIN, sequence, invalid),
        "first_row_id": (STORED_ORIGIN, lineage, "null: no row lineage"),
    }


def inherit(stored: pa.Table, manifest: ManifestFile) -> pa.Table:
    """Add `inherited_<name>` and `<name>_origin` for each name of INHERITED. Rows and stored columns stay as they are.

    A null that nothing fills stays null, and its origin says why."""
    table, texts = stored, origins(manifest.sequence_number)
    for name, filled in fill_nulls(stored, manifest).items():
        was_null, still_null = pc.is_null(stored[name]), pc.is_null(filled)
        origin = _take_texts(pc.if_else(still_null, 2, pc.if_else(was_null, 1, 0)), texts[name])
        table = table.append_column(f"inherited_{name}", filled).append_column(f"{name}_origin", origin)
    return table


def snapshot_ids(stored: pa.Table, manifest: ManifestFile) -> pa.ChunkedArray:
    """The snapshot that each entry stores, or else inherits."""
    return pc.fill_null(stored["snapshot_id"], pa.scalar(manifest.added_snapshot_id, pa.int64()))


def _take_texts(index: pa.ChunkedArray, texts: Sequence[str]) -> pa.ChunkedArray:
    """The words at each index, written once."""
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.cast(pa.int32()), pa.array(texts, pa.string())) for chunk in index.chunks
    ]
    return pa.chunked_array(chunks, WORDS)


def _first_row_ids(stored: pa.Table, manifest: ManifestFile) -> pa.ChunkedArray:
    """Nulls are filled even for EXISTING entries; the running sum counts only the files that were filled."""
    if manifest.first_row_id is None or manifest.content != 0:
        return stored["first_row_id"]
    takes = pc.and_(pc.is_null(stored["first_row_id"]), pc.not_equal(stored["status"], DELETED))
    rows = pc.if_else(takes, stored["record_count"], pa.scalar(0, pa.int64()))
    before = pc.subtract(pc.cumulative_sum(rows), rows)
    own_ids = pc.if_else(takes, pc.add(before, manifest.first_row_id), pa.scalar(None, pa.int64()))
    return pc.coalesce(stored["first_row_id"], own_ids)


def reasons(manifest: ManifestFile, snapshot_id: int | None) -> list[tuple[str | None, str]]:
    """The logical status, and the reason, of each stored status 0, 1 and 2, and of any other, as of a snapshot."""
    unknown = None, "the stored status is not 0, 1 or 2, so the entry is invalid"
    if snapshot_id is not None and manifest.added_snapshot_id == snapshot_id:
        own = "this snapshot added the manifest, so the stored status stands"
        return [*((name, f"stored {name}; {own}") for name in STATUS.values()), unknown]
    by = f"an earlier snapshot ({manifest.added_snapshot_id}) added the manifest"
    gone = f"stored DELETED, filtered out: {by}, so the file was gone before this snapshot"
    return [
        ("EXISTING", f"stored EXISTING: {by}"),
        ("EXISTING", f"stored ADDED, reads as EXISTING: {by}"),
        (None, gone),
        unknown,
    ]


def as_of(table: pa.Table, manifest: ManifestFile, snapshot_id: int | None) -> pa.Table:
    """Add `logical_status` (ADDED, EXISTING, DELETED or null when filtered out) as of a snapshot (None: one after that
    which added the manifest), and the `reason`."""
    stored = table["status"]
    said = reasons(manifest, snapshot_id)
    index = pc.fill_null(pc.index_in(stored, pa.array(list(STATUS), pa.int32())), len(STATUS))
    status = pc.take(pa.array([status for status, _ in said], pa.string()), index)
    reason = _take_texts(index, [text for _, text in said])
    return table.append_column("logical_status", status).append_column("reason", reason)


def as_of_snapshot(stored: pa.Table, manifest: ManifestFile, snapshot_id: int | None) -> pa.Table:
    """`inherit`, then `as_of`: everything that is said of a manifest's entries."""
    return as_of(inherit(stored, manifest), manifest, snapshot_id)


def live_entries(stored: pa.Table, manifest: ManifestFile) -> pa.Table:
    """The live files of a manifest with what they inherit: the same in every snapshot that lists it. `logical_status`
    is that of snapshots after the one that added it."""
    return live(as_of_snapshot(stored, manifest, None))


def stored_live(stored: pa.Table) -> pa.Table:
    """The stored entries of which `live_entries` are made."""
    return chosen_rows(stored, are_live(stored))


def are_live(stored: pa.Table) -> pa.ChunkedArray:
    """Whether stored entries are live in snapshots after the one that added their manifest."""
    return pc.is_in(stored["status"], pa.array([EXISTING, ADDED], pa.int32()))


def read_as(logical_status: str | None) -> str:
    """A logical status in words: an entry without one is filtered out."""
    return logical_status or "filtered out"


def live(table: pa.Table) -> pa.Table:
    """The entries a reader of that snapshot sees: logical status ADDED or EXISTING."""
    return chosen_rows(table, pc.is_in(table["logical_status"], pa.array(LIVE)))


def chosen_rows(table: pa.Table, chosen: pa.ChunkedArray) -> pa.Table:
    """The rows of which `chosen` is true. All of them are not copied: counts and bounds are large."""
    return table if pc.all(chosen, min_count=0, skip_nulls=False).as_py() else table.filter(chosen)


def status_counts(table: pa.Table) -> dict[str, int]:
    """Entries by logical status; filtered ones under "filtered"."""
    counts = {"ADDED": 0, "EXISTING": 0, "DELETED": 0, "filtered": 0}
    for item in pc.value_counts(table["logical_status"]).to_pylist():
        counts[item["values"] or "filtered"] += item["counts"]
    return counts
