"""Commits that added several position delete files for one data file: their tasks share data files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from explorer.model.metadata import TableMetadata
from explorer.spec.commits.commit_writers import UNKNOWN, commit_writer
from explorer.spec.deletes.deletes import target_file
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.text.names import shorten, snapshot_name
from explorer.spec.text.units import count

SHOWN = 3
"""Commits that are told of, those of the most delete files."""
WIDTH = 60
"""Characters of what a summary says."""


def shared_target_words(metadata: TableMetadata, deletes: Iterable[LiveFile]) -> list[str]:
    """Say which commits added several delete files for one data file.

    Args:
        metadata: The table's.
        deletes: The delete files of a snapshot.

    Returns:
        A sentence for each of them, that of the most delete files first.
    """
    numbers: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for delete in deletes:
        target = target_file(delete) if delete.kind == "position_deletes" else None
        if target is not None and delete.file_sequence_number:
            numbers[delete.file_sequence_number][target] += 1
    by_number = {snapshot.sequence_number: snapshot for snapshot in metadata.snapshots}
    told = []
    for number, targets in numbers.items():
        several = sorted(times for times in targets.values() if times > 1)
        snapshot = by_number.get(number)
        if not several or snapshot is None:
            continue
        name = snapshot_name(snapshot.snapshot_id, metadata.ordinals)
        writer = commit_writer(snapshot, name)
        engine = writer.engine or (writer.writer if writer.writer != UNKNOWN else "")
        who = ", ".join(shorten(part, WIDTH) for part in (engine, snapshot.operation) if part)
        least, most = several[0], several[-1]
        each = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        files = f"each of {count(len(several), 'data file')}" if len(several) > 1 else "one data file"
        words = f"{name}{f' ({who})' if who else ''} added {each} delete files for {files}: its tasks share data files."
        told.append((sum(several), words))
    return [words for _, words in sorted(told, key=lambda one: -one[0])[:SHOWN]]
