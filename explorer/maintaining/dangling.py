"""Deletes that apply to no data file: which operations drop each, and whether it may have been meant for rows that are
there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from explorer.core.batches import Parts
from explorer.core.dangling import OLDEST, by_place, dropped_by, oldest
from explorer.core.units import count
from explorer.metadata_tree import MetadataTree
from explorer.model.metadata import Snapshot
from explorer.table import Table


def plan_dangling(table: Table, tree: MetadataTree) -> tuple[list[str], list[dict[str, Any]]]:
    """What drops the deletes of the current snapshot that apply to nothing: sentences, and a row a delete."""
    snapshot = table.metadata.current_snapshot
    known = table.row_reader.deletes(snapshot, tree)
    lowest = _lowest(tree, snapshot) if known.dangling else {}
    reasons = {delete.key: why for delete in known.dangling if (why := known.doubt(delete))}
    rows = [
        {
            "file": delete.path,
            "kind": delete.kind,
            "dropped_by": "; ".join(dropped_by(table.metadata, delete, lowest)) or "nothing that runs by itself",
            "reason": known.why_alone(delete),
            "may_be_needed": reasons.get(delete.key, ""),
            "sequence_number": delete.sequence_number,
            "bytes": delete.bytes,
            "record_count": delete.record_count,
        }
        for delete in known.dangling
    ]  # fmt: skip
    explained = [
        f"{count(len(rows), 'delete')} of {len(known.files.deletes)} apply to no data file: they hide nothing."
    ]
    explained += _warning(list(reasons.values()))
    ways = Counter(way for delete in known.dangling for way in dropped_by(table.metadata, delete, lowest))
    explained += [f"{count(number, 'delete')} would be dropped by {way}." for way, number in ways.most_common()]
    if rows:
        explained.append("Until then, each is read by whoever plans a scan of its partition.")
    return explained, rows


def _lowest(tree: MetadataTree, snapshot: Snapshot | None) -> dict[str, int | None]:
    data = [m for m in tree.manifests(snapshot) if m.content == 0]
    return by_place(tree.read(Parts(data, False, oldest, OLDEST)))


def _warning(reasons: Sequence[str]) -> list[str]:
    if not reasons:
        return []
    first = Counter(reasons).most_common(1)[0][0]
    return [
        f"Look before you drop them: {len(reasons):,} of them may have been meant for rows that are "
        f"there ({first}). fate TABLE FILTER tells of a row."
    ]
