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
from explorer.spec.text.names import base_name
from explorer.spec.text.units import count
from explorer.table import Table

NOTHING = "nothing now"


def dangling_rows(table: Table, tree: MetadataTree, deletes: Deletes) -> list[dict[str, Any]]:
    """A row for each delete of the current snapshot that hides nothing."""
    oldest, fails = oldest_data(tree.manifests(table.metadata.current_snapshot)), bool(_failure(deletes))

    def ways(delete: LiveFile) -> str:
        drops = operations_that_drop(delete, oldest, delete.key in deletes.spent_keys)
        return "; ".join(way for way in drops if not (fails and way == REMOVAL)) or NOTHING

    return [
        {
            "file": delete.path,
            "kind": delete.kind,
            "dropped_by": ways(delete),
            "reason": deletes.why_idle(delete),
            "may_be_needed": deletes.doubt(delete),
            "sequence_number": delete.sequence_number,
            "bytes": delete.bytes,
            "record_count": delete.record_count,
        }
        for delete in (*deletes.dangling, *deletes.spent)
    ]  # fmt: skip


def _why_they_stay(table: Table, tree: MetadataTree, deletes: Deletes) -> str:
    """Which data files keep deletes from being dropped by themselves; empty where none does."""
    listed = tree.manifests(table.metadata.current_snapshot)
    oldest = oldest_data(listed)
    kept = [d for d in deletes.dangling if oldest is not None and (d.sequence_number or 0) >= oldest]
    data = [m for m in listed if m.content == 0 and not m.is_only_deleted]
    holding = next((m for m in data if m.min_sequence_number == oldest), None)
    if not kept or holding is None:
        return ""
    stay = "stays by itself" if len(kept) == 1 else "stay by themselves"
    return (
        f"{count(len(kept), 'delete')} {stay}: a commit drops a delete only if each live data file has a greater "
        f"sequence number, and manifest {base_name(holding.manifest_path)} has data of {oldest}. Once a compaction has "
        "written that data anew (where, rewrite-all), commits drop the deletes that are older than all data."
    )


def dangling_words(table: Table, tree: MetadataTree, deletes: Deletes, rows: Sequence[dict[str, Any]]) -> list[str]:
    """What is to be said of `dangling_rows`."""
    number = len(deletes.files.deletes)
    words = [f"{count(len(deletes.dangling), 'delete')} of {number} apply to no data file: they hide nothing."]
    if spent := len(deletes.spent):
        words.append(
            f"{count(spent, 'position delete file')} of {number} {'hides' if spent == 1 else 'hide'} nothing, but "
            "readers open them: compaction wrote the data files anew with the old sequence number "
            "(use-starting-sequence-number), and left their deletes. remove-dangling-deletes leaves them too."
        )
    if unopened := deletes.unopened:
        words.append(
            f"{count(unopened, 'position delete file')} more {'is' if unopened == 1 else 'are'} of several data "
            "files, and only their rows tell whether these are all gone: icedive doctor TABLE --deep reads them."
        )
    if doubts := _doubts(deletes):
        words.append(f"Look before you drop them: {doubts}.")
    if deletes.dangling and (failure := _failure(deletes)):
        words.append(f"remove-dangling-deletes would fail: {failure}.")
    words += filter(None, [_why_they_stay(table, tree, deletes)])
    ways = Counter(way for row in rows for way in row["dropped_by"].split("; ") if way != NOTHING)
    words += [f"{count(number, 'delete')} would be dropped by {way}." for way, number in ways.most_common()]
    if deletes.dangling:
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


def rewrite_words(deletes: Deletes) -> list[str]:
    """What is to be said of a rewrite of position delete files that hide nothing."""
    idle = [d for d in (*deletes.dangling, *deletes.spent) if d.kind == "position_deletes"]
    if not idle:
        return []
    these = f"{count(len(idle), 'position delete file')} of the table {'hides' if len(idle) == 1 else 'hide'} nothing"
    return [f"At least {these}: rows that name no live data file are not written again, and fewer files come out."]


def rewrite_refusal(deletes: Deletes) -> str:
    """Why rewrite_position_delete_files must not be asked for; empty where it drops only what nobody needs."""
    doubts = _doubts(deletes, "position_deletes")
    return f"Do not run rewrite_position_delete_files: of what it drops, {doubts}." if doubts else ""


def removal_words(deletes: Deletes, rewrites: bool) -> str:
    """What remove-dangling-deletes does in a rewrite of data files, or in one that finds nothing to rewrite."""
    number = len(deletes.dangling)
    if rewrites:
        now = f": {count(number, 'delete applies', 'deletes apply')} to none now" if number else ""
        return (
            "Afterwards remove-dangling-deletes drops what applies to no data file then, in a commit of its own"
            f"{now} (see dangling-deletes)."
        )
    spent = " rewrite_position_delete_files drops those that hide nothing (see dangling-deletes)."
    if not number:
        words = "remove-dangling-deletes would drop nothing: there is no delete that applies to no data file."
        return words + (spent if deletes.spent else "")
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


def _doubts(deletes: Deletes, kind: str = "") -> str:
    """How many of the deletes (of one kind) may be needed, and why; empty where none may."""
    some = (delete for delete in deletes.dangling if kind in ("", delete.kind))
    reasons = [why for delete in some if (why := deletes.doubt(delete))]
    if not reasons:
        return ""
    first = Counter(reasons).most_common(1)[0][0]
    return (
        f"{len(reasons):,} of them may have been meant for rows that are there ({first}). icedive data history "
        "TABLE FILTER tells of a row"
    )
