"""How many rows of the data files that a commit removed its parent's deletes can have hidden."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.metadata import Snapshot
from explorer.reports.doctor.delete_rules import removed_entries
from explorer.spec.deletes.delete_pairs import DeletePairs
from explorer.spec.deletes.deletes import Applicability
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.entries.entries import live_entries
from explorer.spec.entries.live_files import LiveFile, LiveFiles, live_files
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.table import Table

FILES_COMPARED = 20_000
"""Removed data files and their parents' deletes that one check of a table compares."""


class RemovedRows:
    """Asked about one commit after the other, as long as they have few files."""

    def __init__(self, table: Table, not_checked: list[str]) -> None:
        self._table, self._not_checked, self._left = table, not_checked, FILES_COMPARED

    def count_hidden(self, lists: Lists, snapshot: Snapshot, parent: Snapshot) -> int | None:
        """Count the rows that deletes hide at most, in the data files that a commit removed.

        Args:
            lists: The manifest lists.
            snapshot: The commit.
            parent: The snapshot that it began from.

        Returns:
            The number; None where that would compare too many files, or a file's sequence number is not known.
        """
        own, before = (lists.lists[one.snapshot_id] for one in (snapshot, parent))
        sums = {m.manifest_path: lists.held[m.manifest_path].sums for m in (*own, *before)}
        removing = [m for m in own if not m.content and m.added_snapshot_id == snapshot.snapshot_id]
        removing = [m for m in removing if sums[m.manifest_path]["removed_data_files"]]
        deleting = [m for m in before if m.content]
        self._left -= sum(sums[m.manifest_path]["removed_data_files"] for m in removing)
        self._left -= sum(sums[m.manifest_path]["delete_files"] for m in deleting)
        if self._left < 0:
            name = snapshot_name(snapshot.snapshot_id, snapshot_ordinals(lists.meta))
            self._not_checked.append(
                f"whether {name} lost rows: more than {FILES_COMPARED:,} files would be compared; icedive data diff "
                "tells"
            )
            return None
        deletes: list[LiveFile] = []
        for manifest, stored in self._table.tree.stored_entries(deleting, metrics=True):
            deletes += live_files(live_entries(stored, manifest), manifest.partition_spec_id, manifest.manifest_path)
        pairs = DeletePairs(Applicability(self._table.metadata, LiveFiles.of([]), deletes))
        hidden_alone, by_positions = 0, set[int]()
        for manifest, stored in self._table.tree.stored_entries(removing, metrics=True):
            data = removed_entries(stored, manifest)
            if data["inherited_sequence_number"].null_count:
                return None
            by_equality = pa.array(pairs.count(data, manifest.partition_spec_id).sums["equality"] > 0)
            hidden_alone += pc.sum(data["record_count"].filter(by_equality)).as_py() or 0  # one may hide any number
            others = data.filter(pc.invert(by_equality))
            by_positions |= {*pairs.count(others, manifest.partition_spec_id).used.tolist()}
        return hidden_alone + sum({deletes[at].key: deletes[at].record_count for at in by_positions}.values())
