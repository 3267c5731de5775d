"""Keys that several visible rows of a snapshot have: since which commit, in which files, and why."""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.deletes.own_commit import cause_words, identifier_names, remedy_words
from explorer.spec.entries.live_files import PartitionPlace
from explorer.spec.filters.filter_text import column_text
from explorer.spec.rows.row_versions import RowEvent, RowPlace
from explorer.spec.text.names import base_name, first_of, snapshot_name
from explorer.spec.text.units import count, whole
from explorer.spec.values.values import partition_path

TWICE = "the same data file is live twice: icedive doctor has the remedy"
TOGETHER = (
    "an equality delete hides no row of its own commit. Either parallel writers got changes of one key (distribute the "
    "stream by the key before the sink), or one commit has several checkpoints"
)
MISSED = (
    "pyiceberg commits a dynamic_partition_overwrite as a delete and an append, and the delete may miss rows in files "
    "of an older spec"
)
CHECKS = "icedive doctor TABLE tells whether manifests still list what it counts (operation-contradicts)"
AGAIN = (
    "Write all files by the current spec (icedive maintain preview TABLE compact -O rewrite-all=true), then run the "
    "overwrite again: it replaces the older row too, if that is of the same partition then. An overwrite that reads "
    "this table itself would read both rows, and keep them"
)
AT_ONCE_MS = 10_000
AT_ONCE = (
    "two writers that begin at one snapshot both insert a new key, since no check refuses an append, and a MERGE that "
    "only inserts is one. Delete one of the rows, and let one writer at a time insert, or add a WHEN MATCHED clause "
    "under serializable isolation"
)
ARRIVES = ("appeared", "came back", "changed")
"""What happens to a row that is visible from a commit on."""
FILES = 5
"""Files of a key that are named."""


@dataclass(frozen=True)
class DuplicateKey:
    """A key that several rows have.

    Attributes:
        values: The key, by column.
        rows: How many rows have it.
        since: The snapshot since which it has several rows without a break; empty where that is unknown.
        files: Files that have these rows.
        why: How they came to be, as far as metadata and files tell.
        appended_by: The snapshot that appended a row beside an older one of the key; None where that is not how.
    """

    values: Mapping[str, Any]
    rows: int
    since: str = ""
    files: tuple[str, ...] = ()
    why: str = ""
    appended_by: int | None = None


@dataclass(frozen=True)
class DuplicateKeys:
    """The answer for one snapshot.

    Attributes:
        columns: The columns of the key.
        snapshot: The snapshot's name.
        keys: How many keys several rows have.
        rows: How many rows these keys have together.
        first: The keys that most rows have.
        by_schema: Whether the key is the schema's identifier fields, as none was named.
        remedy: How to get to one row a key; empty of a snapshot that is not current.
    """

    columns: tuple[str, ...]
    snapshot: str
    keys: int
    rows: int
    first: tuple[DuplicateKey, ...]
    by_schema: bool = False
    remedy: str = ""

    @property
    def words(self) -> str:
        """The answer in sentences."""
        names = ", ".join(self.columns)
        if not self.keys:
            other = (
                " That is the schema's key (its identifier fields). To look for another one, name its columns: --key "
                "COLUMN, once for each."
            )
            return f"At {self.snapshot}, no two rows have the same {names}.{other if self.by_schema else ''}"
        return (
            f"At {self.snapshot}, {count(self.keys, 'key')} ({names}) {'has' if self.keys == 1 else 'have'} several "
            f"rows: {self.rows:,} in total, {self.rows - self.keys:,} too many if keys are to be unique."
        )


def remedy_of(
    keys: Sequence[DuplicateKey], is_all: bool, columns: Sequence[str], key_in_sql: str, metadata: TableMetadata
) -> str:
    """Say how the current snapshot gets to one row a key.

    Args:
        keys: The keys that were explained.
        is_all: Whether these are all keys that several rows have.
        columns: The columns of the key.
        key_in_sql: The same, as SQL has them.
        metadata: The table's.

    Returns:
        Sentences: what going back takes away, where the newest commit appended the second rows, and how one row of each
        key is kept.
    """
    if keys and all(key.why == TWICE for key in keys):
        return ""
    keep = (
        "eep one row of each key by an INSERT OVERWRITE of the table with spark.sql.sources.partitionOverwriteMode="
        "static (in dynamic mode old rows stay in other partitions), from a SELECT that numbers the rows of each key, "
        f"row_number() OVER (PARTITION BY {key_in_sql} ORDER BY …), and takes number 1 alone, and all rows "
        "whose key has a NULL. Which row is to stay is "
        "your choice, and ORDER BY says it. SELECT DISTINCT keeps rows of a key that differ in another column. A "
        "compaction keeps all rows."
    )
    current = metadata.current_snapshot
    last = [key for key in keys if current is not None and key.appended_by == current.snapshot_id]
    together = same_transaction(metadata, current) if current is not None else None
    first = together or current
    before = metadata.snapshot(first.parent_snapshot_id) if first is not None else None
    if not last or current is None or before is None:
        return f"K{keep}"
    number = f"{'' if is_all else 'at least '}{count(len(last), 'key')}"
    own, earlier = (snapshot_name(s.snapshot_id, metadata.ordinals) for s in (current, before))
    return (
        f"{own}, the current snapshot, appended a second row of {number}. icedive refs preview TABLE rollback -s "
        f"{earlier} tells what going back before it takes away: all that came since, newer values and new keys too. "
        f"After that, have the writer MERGE the same rows ON {first_of(columns, 5)}, with WHEN MATCHED and WHEN NOT "
        f"MATCHED. Or k{keep}"
    )


def key_filter(values: Mapping[str, Any]) -> str:
    """Return the filter that rows with a key match (icedive docs filters)."""
    return " AND ".join(_equals(column_text_of(name), value) for name, value in values.items())


def column_text_of(name: str) -> str:
    """Return a column, or a field inside structs, as a filter has it."""
    return ".".join(map(column_text, name.split(".")))


def _equals(name: str, value: Any) -> str:
    if value is None:
        return f"{name} IS NULL"
    if isinstance(value, float) and math.isnan(value):
        return f"{name} IS NAN"
    if isinstance(value, (bytes, bytearray)):
        return f"{name} = X'{value.hex()}'"
    if isinstance(value, bool):
        return f"{name} = {str(value).lower()}"
    if isinstance(value, (str, datetime.date, datetime.time)):
        text = value if isinstance(value, str) else value.isoformat()
        return f"{name} = '{text.replace(chr(39), chr(39) * 2)}'"
    return f"{name} = {value}"


def duplicate_reason(
    places: Sequence[RowPlace],
    arrivals: Sequence[RowEvent],
    commit: Snapshot | None,
    partitions: Mapping[str, PartitionPlace],
    metadata: TableMetadata,
    is_hidden_at_once: bool = False,
    added_older: Collection[int] = (),
) -> str:
    """Say how a key came to have several rows.

    Args:
        places: The rows that are visible.
        arrivals: What happened at the commit since which there are several.
        commit: That commit.
        partitions: The spec and partition of each of their files.
        metadata: The table's.
        is_hidden_at_once: Whether the commit also hid a row of the key that it added itself.
        added_older: The snapshots that added the rows which were visible before that commit.
    """
    if any(place.copy for place in places):
        return TWICE
    files = {place.file for place in places}
    if len(files) == 1:
        last = max(place.pos for place in places)
        return (
            f"one file has it {len(places):,} times: its writer wrote it so, without a position delete of the earlier "
            f"row, and a compaction keeps both. Rows of a file are in the order in which they were written: the one at "
            f"position {last} is the last"
        )
    came = [event for event in arrivals if event.what in ARRIVES]
    if not came:
        return "a rewrite, a rollback or a branch brought these rows together"
    told = "; ".join(dict.fromkeys(f"{event.what}: {event.words}" for event in came))
    operation, summary = (commit.operation, commit.summary) if commit else (None, {})
    if len(came) == len(places):
        together = f"; {TOGETHER}" if _adds(summary, "equality") else ""
        return f"one commit wrote it into {count(len(files), 'file')} ({told}){together}"
    newer = {(event.file, event.pos, event.copy) for event in came}
    old = {partitions[p.file] for p in places if (p.file, p.pos, p.copy) not in newer and p.file in partitions}
    new = {partitions[event.file] for event in came if event.file in partitions}
    apart, elsewhere = _of_other_specs(old, new), _of_other_partitions(old, new, metadata)
    if summary.get("replace-partitions") == "true" and elsewhere:
        again = f". {AGAIN}" if apart and {place[0] for place in new} == {metadata.default_spec_id} else ""
        parent = metadata.snapshot(commit.parent_snapshot_id) if commit else None
        if commit and parent and commit.snapshot_id == metadata.current_snapshot_id:
            earlier = f"{snapshot_name(parent.snapshot_id, metadata.ordinals)} ({parent.snapshot_id})"
            again = f". It is the newest commit: rollback_to_snapshot to {earlier} takes it back{again}"
        return f"this {operation} (dynamic mode) replaced the partitions that it wrote to alone: {elsewhere}{again}"
    if commit and operation == "append" and (before := same_transaction(metadata, commit)):
        first = f"{snapshot_name(before.snapshot_id, metadata.ordinals)} ({before.operation})"
        return (
            f"{first} and this append were committed together, as pyiceberg commits an overwrite, and the first did "
            f"not delete the older row{f': {elsewhere}' if elsewhere else ''} ({told})"
        )
    if operation == "append":
        missed = f": {apart}. {MISSED}" if apart else ""
        by_writer = _writer_words(summary, metadata)
        at_once = _at_once(commit, metadata, added_older)
        return f"an append deletes nothing, so that the older row stays ({told}){missed}{at_once}{by_writer}"
    apart = apart and f": {apart}"
    if _adds(summary, "delete", "position", "equality"):
        if is_hidden_at_once and not _adds(summary, "equality"):
            schema = metadata.schema(metadata.current_schema_id)
            return (
                f"the deletes of this {operation or 'commit'} hide only rows that it added itself, not the older row "
                f"({told}). {cause_words(schema)} {remedy_words(schema)[:-1]}"
            )
        return f"the deletes of this {operation or 'commit'} do not reach the older row ({told}){apart}"
    removed = whole(summary.get("deleted-data-files")) or 0
    counted = f". Its summary counts {count(removed, 'data file')} as removed; {CHECKS}" if removed else ""
    return f"this {operation or 'commit'} does not delete the older row ({told}){apart}{counted}"


def _writer_words(summary: Mapping[str, str], metadata: TableMetadata) -> str:
    """Say what lets Flink delete older rows of a key, and that a table's identifier fields are not enforced."""
    schema = metadata.schema(metadata.current_schema_id)
    own = identifier_names(schema)
    words = f". The table's identifier fields ({first_of(own, 3)}) are not enforced" if own else ""
    if any(name.startswith("flink.") for name in summary):
        words += (
            ". Flink deletes rows of a key of earlier commits in upsert mode alone (write.upsert.enabled=true, or "
            "upsert-enabled of the statement), where its equality fields are the key"
        )
    return words


def _at_once(commit: Snapshot | None, metadata: TableMetadata, added_older: Collection[int]) -> str:
    """Say that another append, just before a commit, added the older row: of two that begin at one snapshot none sees
    the other's rows."""
    before = metadata.snapshot(commit.parent_snapshot_id) if commit else None
    if commit is None or before is None or before.operation != "append" or before.snapshot_id not in added_older:
        return ""
    apart = (commit.timestamp_ms or 0) - (before.timestamp_ms or 0)
    if not 0 <= apart <= AT_ONCE_MS:
        return ""
    name = snapshot_name(before.snapshot_id, metadata.ordinals)
    return f". {name}, an append too, added an older row {apart / 1000:,.1f} s before: {AT_ONCE}"


def _adds(summary: Mapping[str, str], *kinds: str) -> bool:
    """Whether a commit added delete files of some kinds, by its summary."""
    names = (f"added-{kind}{ending}" for kind in kinds for ending in ("-files", "-deletes", "-delete-files"))
    return any(summary.get(name, "0") not in ("", "0") for name in names)


def same_transaction(metadata: TableMetadata, append: Snapshot) -> Snapshot | None:
    """Find the delete or overwrite that was committed together with an append.

    Args:
        metadata: The table's.
        append: The append's snapshot.

    Returns:
        The snapshot before, if the metadata log shows that no metadata file was written between the two; else None.
    """
    before = metadata.snapshot(append.parent_snapshot_id)
    if before is None or before.operation not in ("delete", "overwrite"):
        return None
    first, last = before.timestamp_ms or 0, append.timestamp_ms or 0
    times = [entry.timestamp_ms for entry in metadata.metadata_log]
    own_file = any(first <= time < last for time in times)
    return before if first < last and not own_file and any(time < first for time in times) else None


def _of_other_partitions(
    old: Collection[PartitionPlace], new: Collection[PartitionPlace], metadata: TableMetadata
) -> str:
    """Say that older rows are in other partitions than newer ones; empty where they are not."""
    if not old or not new or not set(old).isdisjoint(new):
        return ""
    if apart := _of_other_specs(old, new):
        return apart
    names = (
        first_of(sorted({partition_path(dict(p), metadata.spec(spec), metadata) for spec, p in some}), FILES)
        for some in (old, new)
    )
    return "the older row is in partition {}, the newer one in {}".format(*names)


def _of_other_specs(old: Collection[PartitionPlace], new: Collection[PartitionPlace]) -> str:
    """Say that older rows are in files of other partition specs than newer ones; empty where they are not."""
    of_old, of_new = ({spec for spec, _ in some} for some in (old, new))
    if not of_old or not of_new or of_old & of_new:
        return ""
    specs = (" and ".join(str(one) for one in sorted(some)) for some in (of_old, of_new))
    return "the older row's file is of partition spec {}, the newer one's of spec {}".format(*specs)


def duplicate_key(
    values: Mapping[str, Any],
    rows: int,
    visible: Sequence[tuple[int, Sequence[RowPlace]]],
    events: Sequence[RowEvent],
    metadata: TableMetadata,
    partitions: Mapping[str, PartitionPlace],
    hidden_at_once: Collection[int] = (),
) -> DuplicateKey:
    """Say of one key since when it has several rows, where they are and why.

    Args:
        values: The key.
        rows: How many rows have it.
        visible: The visible rows with the key of the snapshot and its ancestors, newest first, by snapshot id.
        events: What happened to these rows.
        metadata: The table's.
        partitions: The spec and partition of each file with such rows.
        hidden_at_once: The snapshots that added a row of the key and hid it.
    """
    run = [one for one, places in visible if len(places) > 1]
    length = next((n for n, (_, places) in enumerate(visible) if len(places) < 2), len(visible))
    now = visible[0][1] if visible else []
    files = tuple(base_name(one) for one in sorted({place.file for place in now}))
    shown = (*files[:FILES], *([f"and {len(files) - FILES:,} more"] if len(files) > FILES else []))
    if not length or not run:
        return DuplicateKey(values, rows, "", shown, "files show other rows than Spark read")
    since = visible[length - 1][0]
    own = {(place.file, place.pos, place.copy) for place in now}
    arrivals = [e for e in events if e.snapshot_id == since and (e.file, e.pos, e.copy) in own]
    name = snapshot_name(since, metadata.ordinals)
    if length == len(visible) and all(event.what == "was there" for event in arrivals):
        name = f"{name} or before: older snapshots have expired"
    commit = metadata.snapshot(since)
    added_older = {e.snapshot_id for e in events if (e.file, e.pos, e.copy) in own and e.what in ARRIVES} - {since}
    why = duplicate_reason(now, arrivals, commit, partitions, metadata, since in hidden_at_once, added_older)
    came = sum(event.what in ARRIVES for event in arrivals)
    is_second = 0 < came < len(now) and why != TWICE and commit is not None and commit.operation == "append"
    return DuplicateKey(values, rows, name, shown, why, since if is_second else None)
