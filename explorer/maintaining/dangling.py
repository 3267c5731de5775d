"""Deletes that apply to no data file: which operations drop each, and whether it may have been meant for rows that are
there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from explorer.core.dangling import dropped_by, oldest_data
from explorer.core.deletes import refusal
from explorer.core.snapshot_deletes import Deletes
from explorer.core.units import count
from explorer.metadata_tree import MetadataTree
from explorer.table import Table


def dangling_rows(table: Table, tree: MetadataTree, known: Deletes) -> list[dict[str, Any]]:
    """A row for each delete of the current snapshot that applies to nothing."""
    oldest = oldest_data(tree.manifests(table.metadata.current_snapshot))
    return [
        {
            "file": delete.path,
            "kind": delete.kind,
            "dropped_by": "; ".join(dropped_by(delete, oldest)),
            "reason": known.why_alone(delete),
            "may_be_needed": known.doubt(delete),
            "sequence_number": delete.sequence_number,
            "bytes": delete.bytes,
            "record_count": delete.record_count,
        }
        for delete in known.dangling
    ]  # fmt: skip


def dangling_words(known: Deletes, rows: Sequence[dict[str, Any]]) -> list[str]:
    """What is to be said of `dangling_rows`."""
    words = [f"{count(len(rows), 'delete')} of {len(known.files.deletes)} apply to no data file: they hide nothing."]
    if doubts := _doubts(known):
        words.append(f"Look before you drop them: {doubts}.")
    if rows and known.refused:
        words.append(f"Nothing drops them now: {refusal(known.refused)}.")
        return words
    ways = Counter(way for row in rows for way in row["dropped_by"].split("; "))
    words += [f"{count(number, 'delete')} would be dropped by {way}." for way, number in ways.most_common()]
    if rows:
        words.append(
            "Until then whoever plans a scan reads their entries in manifests; no reader opens the delete files."
        )
    return words


def removal_refusal(known: Deletes) -> str:
    """Why remove-dangling-deletes must not be asked for; empty where it drops only what nobody needs."""
    if not known.dangling:
        return ""
    if known.refused:
        return f"Spark would fail: {refusal(known.refused)}."
    doubts = _doubts(known)
    return f"Do not run this with remove-dangling-deletes: of what it drops, {doubts}." if doubts else ""


def removal_words(known: Deletes, rewrites: bool) -> str:
    """What remove-dangling-deletes does in a rewrite of data files, or in one that finds nothing to rewrite."""
    number = len(known.dangling)
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


def _doubts(known: Deletes) -> str:
    """How many of the deletes may be needed, and why; empty where none may."""
    reasons = [why for delete in known.dangling if (why := known.doubt(delete))]
    if not reasons:
        return ""
    first = Counter(reasons).most_common(1)[0][0]
    return (
        f"{len(reasons):,} of them may have been meant for rows that are there ({first}). fate TABLE FILTER tells of a "
        "row"
    )
