"""Deletes that apply to no data file: which operations drop each, and whether it may have been meant for rows that are
there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from explorer.queries.metadata_tree import MetadataTree
from explorer.spec.deletes.deletes import refusal
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.maintenance.dangling_deletes import REMOVAL, oldest_data, operations_that_drop
from explorer.spec.text.units import count
from explorer.table import Table

NOTHING = "nothing now"


def dangling_rows(table: Table, tree: MetadataTree, deletes: Deletes) -> list[dict[str, Any]]:
    """A row for each delete of the current snapshot that applies to nothing."""
    oldest, fails = oldest_data(tree.manifests(table.metadata.current_snapshot)), bool(_failure(deletes))

    def ways(delete: LiveFile) -> str:
        return "; ".join(w for w in operations_that_drop(delete, oldest) if not (fails and w == REMOVAL)) or NOTHING

    return [
        {
            "file": delete.path,
            "kind": delete.kind,
            "dropped_by": ways(delete),
            "reason": deletes.why_alone(delete),
            "may_be_needed": deletes.doubt(delete),
            "sequence_number": delete.sequence_number,
            "bytes": delete.bytes,
            "record_count": delete.record_count,
        }
        for delete in deletes.dangling
    ]  # fmt: skip


def dangling_words(deletes: Deletes, rows: Sequence[dict[str, Any]]) -> list[str]:
    """What is to be said of `dangling_rows`."""
    words = [f"{count(len(rows), 'delete')} of {len(deletes.files.deletes)} apply to no data file: they hide nothing."]
    if doubts := _doubts(deletes):
        words.append(f"Look before you drop them: {doubts}.")
    if rows and (failure := _failure(deletes)):
        words.append(f"remove-dangling-deletes would fail: {failure}.")
    ways = Counter(way for row in rows for way in row["dropped_by"].split("; ") if way != NOTHING)
    words += [f"{count(number, 'delete')} would be dropped by {way}." for way, number in ways.most_common()]
    if rows:
        words.append(
            "Until then whoever plans a scan reads their entries in manifests; no reader opens the delete files."
        )
    return words


def removal_refusal(deletes: Deletes) -> str:
    """Why remove-dangling-deletes must not be asked for; empty where it drops only what nobody needs."""
    if not deletes.dangling:
        return ""
    if failure := _failure(deletes):
        return f"Spark would fail: {failure}."
    doubts = _doubts(deletes)
    return f"Do not run this with remove-dangling-deletes: of what it drops, {doubts}." if doubts else ""


def removal_words(deletes: Deletes, rewrites: bool) -> str:
    """What remove-dangling-deletes does in a rewrite of data files, or in one that finds nothing to rewrite."""
    number = len(deletes.dangling)
    if rewrites:
        now = f": {count(number, 'delete applies', 'deletes apply')} to none now" if number else ""
        return (
            "Afterwards remove-dangling-deletes drops what applies to no data file then, in a commit of its own"
            f"{now} (see dangling-deletes)."
        )
    if not number:
        return "remove-dangling-deletes would drop nothing: there is no delete that applies to no data file."
    return (
        f"remove-dangling-deletes drops {count(number, 'delete')} all the same, in a commit of its own: "
        f"{'it applies' if number == 1 else 'they apply'} to no data file (see dangling-deletes)."
    )


def _failure(deletes: Deletes) -> str:
    """Why Spark can drop no delete that applies to nothing: it plans a scan, and counts the bytes of what it drops."""
    if deletes.refused:
        return refusal(deletes.refused)
    unsized = [d for d in deletes.files.deletes if d.kind == "deletion_vector" and d.content_size is None]
    return f"the deletion vector {unsized[0].path} has no content_size_in_bytes in its manifest" if unsized else ""


def _doubts(deletes: Deletes) -> str:
    """How many of the deletes may be needed, and why; empty where none may."""
    reasons = [why for delete in deletes.dangling if (why := deletes.doubt(delete))]
    if not reasons:
        return ""
    first = Counter(reasons).most_common(1)[0][0]
    return (
        f"{len(reasons):,} of them may have been meant for rows that are there ({first}). icedive data history "
        "TABLE FILTER tells of a row"
    )
