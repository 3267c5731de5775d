"""What helps against what each rule finds: tests/spark/test_remedies.py runs every statement in Spark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from explorer.core.manifest_merges import rewrite_manifests
from explorer.core.names import NOWHERE, in_sql
from explorer.core.units import count, whole
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata

Remedy = Literal["M", "G", "L", "F", "T", "B", "R", "O", "C", "D", "K", "S", "E", "I", "P", "N", "W", "U", ""]
REMEDY_OF: Mapping[str, Remedy] = {
    "metadata-unreadable": "M",
    "metadata-field": "M",
    "format-version-unknown": "",
    "uuid-changed": "M",
    "current-schema-missing": "M",
    "schema-rebound": "M",
    "field-id-conflict": "M",
    "last-column-id-low": "I",
    "default-missing": "M",
    "partition-field-conflict": "M",
    "last-partition-id-low": "I",
    "partition-source-dropped": "W",
    "snapshot-twice": "M",
    "current-unlike-main": "M",
    "ref-dangling": "M",
    "parent-cycle": "P",
    "parent-expired": "",
    "sequence-above-last": "G",
    "sequence-regresses": "E",
    "time-out-of-order": "E",
    "log-of-expired": "E",
    "metadata-log-file-missing": "",
    "snapshot-schema-missing": "E",
    "path-outside": "W",
    "property-unsafe": "U",
    "manifest-list-missing": "L",
    "manifest-list-empty": "G",
    "manifest-missing": "L",
    "manifest-length": "B",
    "manifest-counts": "R",
    "spec-unknown": "G",
    "manifest-content": "G",
    "min-sequence": "B",
    "partition-summary": "B",
    "manifest-twice": "G",
    "null-sequence": "G",
    "file-twice": "T",
    "entry-snapshot": "W",
    "deleted-file-live": "G",
    "file-missing": "F",
    "record-count": "O",
    "metrics-wrong": "R",
    "split-offsets": "B",
    "partition-value": "O",
    "two-vectors": "G",
    "vector-wrong": "F",
    "delete-partition": "G",
    "delete-dangling": "C",
    "equality-id-unknown": "G",
    "equality-id-old": "",
    "position-deletes-v3": "C",
    "deletes-in-v1": "G",
    "row-ids-overlap": "R",
    "next-row-id": "N",
    "totals-differ": "W",
    "operation-contradicts": "W",
    "statistics-stale": "S",
    "orphan-files": "D",
    "id-beyond-64-bits": "M",
    "entry-invalid": "G",
    "delete-names-nothing": "C",
    "required-absent": "W",
    "copied-or-edited": "",
    "statistics-file": "S",
    "records-differ": "W",
    "readers-differ": "",
    "avro-schema": "W",
    "property-refused": "U",
    "value-suspect": "W",
    "sequence-twice": "",
    "commit-cut-off": "",
    "metadata-fork": "",
    "delete-misplaced": "",
    "delete-dropped": "",
    "field-ids-absent": "",
    "metadata-choice": "",
}
"""By rule."""
TEXTS: Mapping[Remedy, str] = {
    "M": "Iceberg cannot load a table with this fault, or would load something wrong, so no procedure mends it. "
    "{previous}",
    "G": "{back}",
    "L": "Restore the file from a backup, or else: {back} Do not run expire_snapshots, which commits before it reads "
    "what is missing, and fails. In Java, table.expireSnapshots().expireSnapshotId(id).cleanExpiredFiles(false)"
    ".commit() does it, and remove_orphan_files afterwards frees the space.",
    "F": "Restore the file from a backup, or else: {back}",
    "T": "{back}{distinct} Compaction refuses ('Invalid REPLACE operation').",
    "B": "CALL {catalog}.system.rewrite_manifests('{name}'); older snapshots keep the fault until they expire.",
    "R": "CALL {catalog}.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true')); it reads "
    "every data file, and refuses where it finds more rows than are recorded. Entries of the old files, now DELETED, "
    "keep the fault until rewrite_manifests drops them, and older snapshots until they expire.",
    "O": "INSERT OVERWRITE {table} SELECT * FROM {table}; compaction refuses where it finds more rows than are "
    "recorded. Older snapshots keep the fault until they expire.",
    "C": "CALL {catalog}.system.rewrite_position_delete_files(table => '{name}', options => map('rewrite-all', "
    "'true')); equality deletes go with CALL {catalog}.system.rewrite_data_files(table => '{name}', options => map("
    "'rewrite-all', 'true', 'remove-dangling-deletes', 'true')).",
    "D": "CALL {catalog}.system.remove_orphan_files(table => '{name}', dry_run => true) lists those older than three "
    "days; without dry_run it removes them.",
    "K": "The data files are intact: Spark cannot read them by the sizes that are recorded, and no procedure mends "
    "these. {back} Or add the files to a new table, by the procedure add_files.",
    "S": "CALL {catalog}.system.compute_table_stats('{name}'), or compute_partition_stats for partition statistics.",
    "E": "Nothing is lost; the fault goes with the snapshots that have it: CALL {catalog}.system.expire_snapshots("
    "'{name}') once they are old enough.",
    "I": "Add no {fields} until this is mended: it would get an id that is in use, and the table may not be readable "
    "afterwards. No procedure mends it; keep a copy of the metadata, and ask whoever wrote it.",
    "P": "Run neither expire_snapshots nor rollback_to_snapshot: Iceberg follows the parents without end. No procedure "
    "mends it; keep a copy of the metadata, and ask whoever wrote it.",
    "N": "No procedure mends it, and each commit may make it worse: stop writes, keep a copy of the metadata, and ask "
    "whoever wrote it.",
    "W": "Nothing is lost; the writer that did this will do it again: update or report it.",
    "U": "ALTER TABLE {table} UNSET TBLPROPERTIES ('{key}'); older metadata files keep it: change the secret.",
    "": "",
}
"""By letter: what helps. Shown, never run."""
GOES_BACK = ("G", "L", "F", "T")
"""Remedies that lead to an older snapshot."""
REWRITES = ("R", "B", "C")
"""Remedies that read all that the current snapshot lists."""
NOT_LOADED = frozenset(
    {
        "metadata-field", "current-schema-missing", "default-missing", "snapshot-twice", "current-unlike-main",
        "ref-dangling", "id-beyond-64-bits",
    }
)  # fmt: skip
"""Rules whose findings keep Iceberg from loading the table: no statement on it runs."""
NOT_EXPIRED = frozenset({"manifest-list-missing", "manifest-missing", "parent-cycle"})
"""Rules whose findings on any snapshot make an expiry fail, or never end."""
NOT_REWRITTEN = frozenset(
    {
        "manifest-list-missing", "manifest-missing", "manifest-twice", "spec-unknown", "manifest-content",
        "null-sequence", "file-twice", "file-missing", "two-vectors", "vector-wrong", "delete-partition",
        "equality-id-unknown", "entry-invalid", "partition-field-conflict",
    }
)  # fmt: skip
"""Rules whose findings on the current snapshot make rewriting it fail."""


@dataclass(frozen=True)
class Situation:
    """What a remedy depends on beside its rule.

    Attributes:
        table: The table's name, with its catalog.
        metadata: None for a table that cannot be opened.
        whole: The newest ancestor of the current snapshot in which nothing is wrong.
        rules: The rules that found something in the current snapshot or in the metadata file.
        not_loaded: The rules that found what keeps Iceberg from loading the table.
        anywhere: The rules that found something in any snapshot or in the metadata file.
        listed: The current snapshot's manifests.
        previous: The metadata file before this one, where it lacks the faults of this one.
    """

    table: str
    metadata: TableMetadata | None = None
    whole: int | None = None
    rules: frozenset[str] = frozenset()
    not_loaded: frozenset[str] = frozenset()
    anywhere: frozenset[str] = frozenset()
    listed: Sequence[ManifestFile] = ()
    previous: str = ""


def remedy(
    rule: str, situation: Situation, snapshots: Sequence[int] = (), file: str = "", node: Any = None, location: str = ""
) -> str:
    """Say what helps against one finding, on this table.

    Args:
        rule: The rule's id.
        situation: The table's.
        snapshots: The snapshots that have the fault.
        file: The file concerned.
        node: What the graph draws of it: a kind, and an id or path.
        location: Where the fault is in the file, as a JSON pointer or record.

    Returns:
        Sentences, with statements that can be executed as they are.
    """
    letter = _letter(rule, situation, file, node, location)
    metadata = situation.metadata
    blocked = _blocked(rule, letter, situation)
    if blocked:
        return f"First mend {blocked}: until then Iceberg fails on this table."
    current = metadata.current_snapshot_id if metadata else None
    if letter in (*GOES_BACK, *REWRITES, "O") and snapshots and current not in snapshots:
        return _older(letter)
    catalog, name = in_sql(situation.table)
    key = location.removeprefix("/properties/") if location.startswith("/properties/") else ""
    if not re.fullmatch(r"[\w.-]*", key):  # no strange name becomes a part of SQL
        (catalog, name), key = NOWHERE, "name"
    return TEXTS[letter].format(
        catalog=catalog, name=name, table=f"{catalog}.{name}", key=key,
        back=_back(situation, catalog, name), previous=previous_words(situation.previous, catalog, name),
        distinct=_distinct(situation, f"{catalog}.{name}"),
        fields="partition field" if rule == "last-partition-id-low" else "column",
    )  # fmt: skip


def keeps_from_loading(rule: str, location: str) -> bool:
    """Return whether a finding keeps Iceberg from loading the table.

    Args:
        rule: The finding's rule.
        location: Where the fault is in the metadata file, as a JSON pointer.
    """
    if rule == "snapshot-twice" and ")/" in location:  # a field of a snapshot was another one in the file before
        return False
    times = rule == "time-out-of-order" and location.startswith(("/last-updated-ms", "/snapshot-log"))
    return times or rule in NOT_LOADED


def may_be_needed(number: int, reason: str) -> str:
    """Say why deletes that apply to nothing are not to be dropped.

    Args:
        number: How many of them may be needed.
        reason: Why, of the first of them.

    Returns:
        Sentences.
    """
    return (
        f"Do not drop them before you know: {number:,} of them may have been meant for rows that are "
        f"there ({reason}). iceberg-explorer fate tells of a row; the writer has to delete it again."
    )


def previous_words(previous: str, catalog: str, name: str) -> str:
    """Say how the metadata file before a broken one is brought back.

    Args:
        previous: That file; empty when there is none that can be read.
        catalog: The catalog's name in SQL.
        name: The table's name there.

    Returns:
        Sentences.
    """
    if not previous or re.search(r"['\"\\`;\s]", previous):  # it becomes a part of SQL
        return "Restore the metadata file from a backup, or ask whoever wrote it."
    return (
        f"Restore the metadata file from a backup, or go back to the one before: CALL {catalog}.system.register_table("
        f"table => '{_beside(name, 'restored')}', metadata_file => '{previous}') makes a table of it under another "
        "name, without what was committed since (the old name is taken until the catalog's own tool removes the broken "
        "entry). Both have the same files: run neither expire_snapshots nor remove_orphan_files while there are two."
    )


def _beside(name: str, what: str) -> str:
    """A name beside a table's, in SQL."""
    return f"{name[:-1]}_{what}`" if name.endswith("`") else f"{name}_{what}"


def _letter(rule: str, situation: Situation, file: str, node: Any, location: str) -> Remedy:
    """The remedy of a rule, for this table."""
    letter, metadata = REMEDY_OF.get(rule, ""), situation.metadata
    if rule == "file-size":  # see findings
        return "K"
    if metadata is None:
        return letter
    if rule == "sequence-above-last" and file == metadata.metadata_location:
        return "M"
    if rule == "time-out-of-order" and keeps_from_loading(rule, location):
        return "M"
    if rule == "partition-value" and any(f.transform == "identity" for s in metadata.partition_specs for f in s.fields):
        return "G"  # Spark takes the value from the metadata, not from the data
    if letter == "B" and not _is_rewritten(situation, node):
        return "R"
    return letter


def _is_rewritten(situation: Situation, node: Any) -> bool:
    """Whether rewrite_manifests writes a manifest anew; of other nodes, whether it does so with all manifests."""
    metadata = situation.metadata
    assert metadata is not None
    try:
        plans = rewrite_manifests(situation.listed, metadata.properties, metadata.default_spec_id or 0)
    except ValueError:
        return False
    rewritten = {m.manifest_path for plan in plans if plan.rewritten for m in plan.manifests}
    wanted = {node[1]} if node and node[0] == "manifest" else {m.manifest_path for m in situation.listed}
    return bool(wanted) and wanted <= rewritten


def _blocked(rule: str, letter: Remedy, situation: Situation) -> str:
    """The other finding that keeps a remedy's statement from running; empty where there is none."""
    if letter in ("", "M", "I", "N", "P", "W"):
        return ""
    blockers = (NOT_REWRITTEN & situation.rules) - {rule} if letter in (*REWRITES, "O") else frozenset()
    blockers |= NOT_EXPIRED & situation.anywhere if letter == "E" else frozenset()
    blockers |= {"parent-cycle"} & situation.anywhere if letter in (*GOES_BACK, "K") else frozenset()
    return ", ".join(sorted(blockers | situation.not_loaded))


def _distinct(situation: Situation, table: str) -> str:
    """How equal rows become one, where Spark can compare them and read the table."""
    metadata = situation.metadata
    schema = metadata.schema(metadata.current_schema_id) if metadata else None
    if schema is None or (NOT_REWRITTEN - {"file-twice"}) & situation.rules:
        return ""
    if any(isinstance(field.type, Mapping) and field.type.get("type") == "map" for field in schema.by_id.values()):
        return ""
    return (
        " Where equal rows are never meant, this helps too, and keeps later commits: INSERT OVERWRITE "
        f"{table} SELECT DISTINCT * FROM {table}."
    )


def _older(letter: Remedy) -> str:
    if letter == "L":
        return (
            "The current snapshot does not need it: only older ones cannot be read. Restore the file from a backup. Do "
            "not run expire_snapshots, which commits before it reads what is missing, and fails. In Java, table"
            ".expireSnapshots().expireSnapshotId(id).cleanExpiredFiles(false).commit() removes such a snapshot."
        )
    return "Only older snapshots have it: the current one is not affected, and it goes when they expire."


def _back(situation: Situation, catalog: str, name: str) -> str:
    """How to go back to a snapshot without faults, and what that costs."""
    metadata = situation.metadata
    target = metadata.snapshot(situation.whole) if metadata and situation.whole is not None else None
    if metadata is None or target is None:
        return (
            "No older snapshot is without faults, so no procedure mends it: keep a copy of the metadata, and ask "
            "whoever wrote it."
        )
    return (
        f"Go back to the newest snapshot without faults: CALL {catalog}.system.rollback_to_snapshot('{name}', "
        f"{target.snapshot_id}). {_cost(metadata.current_snapshot, target)}"
    )


def _cost(current: Snapshot | None, target: Snapshot) -> str:
    """What going back loses, by the summaries of both snapshots."""
    then, now = (
        [whole(s.summary.get(name)) if s else None for name in ("total-data-files", "total-records")]
        for s in (target, current)
    )
    if None in then or None in now:
        return "What was committed since is lost to readers."
    return (
        f"By their summaries it has {count(then[0] or 0, 'data file')} and {count(then[1] or 0, 'row')}, the current "
        f"one {now[0]:,} and {now[1]:,}; what was committed since is lost to readers."
    )
