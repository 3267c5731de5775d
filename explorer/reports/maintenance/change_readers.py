"""Readers of changes that have to pass snapshots which are no appends: where they stop, what they miss, and how else
all changes can be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from explorer.queries.metadata_tree import MetadataTree
from explorer.reports.maintenance.expiry import RULES_SHOWN, reader_name
from explorer.reports.maintenance.procedure_calls import is_printable, name_argument, procedure_call
from explorer.spec.snapshots.change_readers import named_changes, skip_words, stream_error
from explorer.spec.snapshots.reader_positions import STREAMS, HistoryLeft, ReaderOutcome
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.spec.text.units import instant
from explorer.table import Table


def change_words(table: Table, tree: MetadataTree, readers: Sequence[ReaderOutcome]) -> Iterator[str]:
    """Say which readers of changes stop at a snapshot, or pass over some, by the operations of what they have to read.

    Args:
        table: The table.
        tree: Its manifest lists.
        readers: What becomes of the readers that were named.

    Yields:
        Sentences.
    """
    ordinals = snapshot_ordinals(tree.metadata)
    changing = [reader for reader in readers if reader.other_changes][:RULES_SHOWN]
    streams = [reader for reader in changing if reader.position.use in STREAMS]
    for reader in streams:
        first = reader.other_changes[0]
        at = snapshot_name(first.snapshot_id, ordinals)
        yield (
            f"{reader_name(reader)} stops at {at}, whatever expires, if no option passes over it: Spark fails: "
            f"{stream_error(first)}."
        )
    if streams:
        most = max(streams, key=lambda reader: len(reader.other_changes))
        yield from skip_words(most.other_changes, ordinals)
    for reader in changing:
        if reader.position.use not in STREAMS:
            yield (
                f"{reader_name(reader)} reads appends alone, unless it is a changelog view: without an error it passes "
                f"over {named_changes(reader.other_changes, ordinals)}."
            )
    unread = [reader.position for reader in changing if reader.position.use != "Spark stream, AvailableNow"]
    places = dict.fromkeys((position.snapshot_id, position.time_ms) for position in unread)
    yield from filter(None, dict.fromkeys(_changelog_words(table, tree, *place) for place in places))


def _changelog_words(table: Table, tree: MetadataTree, own: int | None, time_ms: int | None) -> str:
    """Say whether a changelog view has all changes after a snapshot or a time, and which statement makes it. It begins
    after the oldest snapshot that is left where the one before is gone: its files may be gone, too."""
    main, ordinals = HistoryLeft.all_of(tree.metadata).main, snapshot_ordinals(tree.metadata)
    if time_ms is None:
        places = {snapshot.snapshot_id: number for number, snapshot in enumerate(main)}
        start = own if own in places else main[-1].snapshot_id
        after = main[: places[start]]
        option, after_words = f"'start-snapshot-id', '{start}'", snapshot_name(start, ordinals)
    else:
        after = [snapshot for snapshot in main if (snapshot.timestamp_ms or 0) > time_ms]
        option, after_words = f"'start-timestamp', '{time_ms}'", instant(time_ms)
    read = [snapshot for snapshot in after if snapshot.operation != "replace"]
    if not read:
        return ""
    with_deletes = next((s for s in reversed(read) if any(m.content for m in tree.manifests(s))), None)
    if with_deletes is not None:
        return (
            f"A changelog view cannot read the changes after {after_words}: "
            f"{snapshot_name(with_deletes.snapshot_id, ordinals)} lists delete files, and create_changelog_view fails: "
            "Delete files are currently not supported in changelog scans."
        )
    statement = procedure_call(
        table, "create_changelog_view", f"table => {name_argument(table)}", f"options => map({option})"
    )
    made = f": {statement}" if is_printable(table, statement) else ""
    return f"A changelog view has all changes after {after_words}, deleted rows too{made}."
