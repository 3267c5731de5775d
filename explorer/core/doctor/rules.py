"""The doctor's rules: what each is called, how bad it is, where it is written, what would help."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from explorer.core.names import NOWHERE, in_sql

Severity = Literal["fatal", "error", "warning", "info"]
Depth = Literal["quick", "files", "deep"]
Remedy = Literal["A", "L", "B", "R", "C", "D", "S", "W", "X", "U", ""]

REMEDIES = {
    "A": "Restore the file or field from a backup, or else go back to a snapshot that is whole{whole}.",
    "L": "Restore the file from a backup, or else go back to a snapshot that is whole{whole}. The procedure "
    "expire_snapshots reads what is missing, and fails: in Java, table.expireSnapshots().expireSnapshotId(id)"
    ".cleanExpiredFiles(false).commit() does it, and remove_orphan_files afterwards frees the space.",
    "B": "CALL {catalog}.system.rewrite_manifests('{name}'); older snapshots keep the fault until they expire.",
    "R": "CALL {catalog}.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true')); "
    "rewrite_manifests refuses where the number of files is wrong. Older snapshots keep the fault until they expire.",
    "C": "CALL {catalog}.system.rewrite_position_delete_files(table => '{name}', options => map('rewrite-all', "
    "'true')); equality deletes go with CALL {catalog}.system.rewrite_data_files(table => '{name}', options => map("
    "'rewrite-all', 'true', 'remove-dangling-deletes', 'true')).",
    "D": "CALL {catalog}.system.remove_orphan_files(table => '{name}', dry_run => true) lists those older than three "
    "days; without dry_run it removes them.",
    "S": "CALL {catalog}.system.compute_table_stats('{name}'), or compute_partition_stats for partition statistics.",
    "W": "Nothing is lost; the writer that did this will do it again: update or report it.",
    "X": "Stop writes, compaction and expiry: each may make this worse. No procedure mends it; keep a copy of the "
    "metadata, and ask whoever wrote it.",
    "U": "ALTER TABLE {catalog}.{name} UNSET TBLPROPERTIES ('{key}'); older metadata files keep it: change the secret.",
    "": "",
}
"""By letter: what would help. Shown, never run."""


@dataclass(frozen=True)
class Rule:
    """`number` is that in docs/doctor.md, `source` the section of the spec, or issues of Iceberg's that tell of cases
    (#n; py, rs and go are iceberg-python, -rust and -go). `depth` is what the rule has to be allowed to read."""

    number: int
    id: str
    severity: Severity
    title: str
    source: str
    remedy: Remedy = ""
    depth: Depth = "quick"


def remedy(rule: Rule, table: str, whole: int | None = None, key: str = "") -> str:
    """What would help; `whole` is a snapshot to go back to, `key` a property to unset."""
    catalog, name = in_sql(table)
    back = f": CALL {catalog}.system.set_current_snapshot('{name}', {whole}), then expire those that are not"
    back = "" if whole is None else back
    if not re.fullmatch(r"[\w.-]*", key):  # no strange name becomes a part of SQL
        (catalog, name), back, key = NOWHERE, "", "name"
    return REMEDIES[rule.remedy].format(catalog=catalog, name=name, whole=back, key=key)


_METADATA, _SNAPSHOTS, _LISTS = "Table Metadata Fields", "Snapshots", "Manifest Lists"
_ENTRIES, _DELETES, _FILES = "Manifest Entry Fields", "Delete Formats", "Data File Fields"
RULES = (
    Rule(1, "metadata-unreadable", "fatal", "The metadata file cannot be parsed", _METADATA, "A"),
    Rule(1, "metadata-field", "error", "A field is missing, said twice, or of another type", _METADATA, "A"),
    Rule(2, "format-version-unknown", "fatal", "The format version is not known", "Format Versioning"),
    Rule(3, "uuid-changed", "error", "The table's UUID is missing or changed", _METADATA, "X"),
    Rule(4, "current-schema-missing", "error", "The current schema is not in schemas", "Schemas", "A"),
    Rule(5, "schema-rebound", "error", "One schema or spec id stands for two", "Schemas", "X"),
    Rule(6, "field-id-conflict", "error", "A field id is used twice, or reserved", "Reserved Field IDs", "X"),
    Rule(7, "last-column-id-low", "warning", "last-column-id is below an id in use", _METADATA, "W"),
    Rule(8, "default-missing", "error", "The default spec or sort order is not there", "Partition Specs", "A"),
    Rule(9, "partition-field-conflict", "error", "A partition field id stands for two fields", "#14755", "X"),
    Rule(10, "last-partition-id-low", "warning", "last-partition-id is below an id in use", _METADATA, "W"),
    Rule(11, "partition-source-dropped", "warning", "A partition field's source column was dropped", "#4563", "W"),
    Rule(12, "snapshot-twice", "error", "Two snapshots have one id", _SNAPSHOTS, "X"),
    Rule(13, "current-unlike-main", "error", "current-snapshot-id is not what main points to", "References", "A"),
    Rule(14, "ref-dangling", "error", "A ref points to a snapshot that is not there", "References", "A"),
    Rule(15, "parent-cycle", "error", "The parents of a snapshot run in a circle", _SNAPSHOTS, "A"),
    Rule(15, "parent-expired", "info", "A snapshot's parent has expired", _SNAPSHOTS),
    Rule(16, "sequence-above-last", "error", "A sequence number is above the one it must not exceed",
         "Sequence Numbers", "X"),
    Rule(17, "sequence-regresses", "warning", "A snapshot's sequence number is not above its parent's",
         "Sequence Numbers", "W"),
    Rule(18, "time-out-of-order", "warning", "Times run backwards by over a minute", "#1109, #17358", "W"),
    Rule(19, "log-of-expired", "warning", "The snapshot log names a snapshot that is not there", _METADATA, "W"),
    Rule(20, "metadata-log-file-missing", "info", "An older metadata file is gone", _METADATA),
    Rule(21, "snapshot-schema-missing", "warning", "A snapshot's schema is not in schemas", "py#247", "W"),
    Rule(22, "path-outside", "warning", "A path lies outside the table's folders, or lacks the scheme", _METADATA, "W"),
    Rule(23, "property-unsafe", "warning", "Properties hold a secret, or name a class to load", "py#3931", "U"),
    Rule(24, "manifest-list-missing", "fatal", "A manifest list is missing or cannot be read", "#1944, #12792", "L"),
    Rule(25, "manifest-list-empty", "error", "A manifest list lacks what the summary counts", _LISTS, "A"),
    Rule(26, "manifest-missing", "fatal", "A manifest is missing or cannot be read", "#13568", "L"),
    Rule(27, "manifest-length", "warning", "A manifest's length is not what the list says", "#16905", "B"),
    Rule(28, "manifest-counts", "error", "A manifest's counts are not those of its entries", _LISTS, "R"),
    Rule(29, "spec-unknown", "error", "A manifest's partition spec is unknown, or unlike its header's", "go#1855", "X"),
    Rule(30, "manifest-content", "error", "A manifest's content is unlike its header's or its entries'", _LISTS, "X"),
    Rule(31, "min-sequence", "error", "min_sequence_number is above a live entry's", _LISTS, "B"),
    Rule(32, "partition-summary", "error", "A partition summary excludes an entry", _LISTS, "B"),
    Rule(33, "manifest-twice", "error", "A manifest is listed twice", _LISTS, "X"),
    Rule(34, "null-sequence", "error", "An EXISTING or DELETED entry has no sequence number",
         "Sequence Number Inheritance", "X"),
    Rule(35, "file-twice", "error", "A live file is listed twice in a snapshot", "#3064, #2735", "X"),
    Rule(36, "entry-snapshot", "warning", "An entry carries a snapshot id that cannot be its own", "py#3236", "W"),
    Rule(37, "deleted-file-live", "error", "A file that was deleted is live again", "rs#2203", "A"),
    Rule(38, "file-missing", "error", "A file is missing, or has another size", "#7007, #1980", "A", "files"),
    Rule(39, "record-count", "error", "record_count is not what the file's footer says", _FILES, "X", "deep"),
    Rule(40, "metrics-wrong", "error", "Counts or bounds contradict each other or the data", _FILES, "X"),
    Rule(41, "split-offsets", "warning", "split_offsets are no places where row groups begin", "#8860", "W"),
    Rule(42, "partition-value", "error", "A partition value is not the transform of the data", "#9767", "X", "deep"),
    Rule(43, "two-vectors", "error", "A data file has two deletion vectors", "go#1372", "X"),
    Rule(44, "vector-wrong", "error", "A deletion vector is not what the manifest says", _DELETES, "A", "deep"),
    Rule(45, "delete-partition", "error", "A delete is in another partition than its data file", "#16957", "X"),
    Rule(46, "delete-dangling", "warning", "Deletes apply to no data file", "#6126, #4127, #8743", "C"),
    Rule(47, "equality-id-unknown", "error", "An equality delete goes by a field of no schema", "go#1951", "X"),
    Rule(47, "equality-id-old", "info", "An equality delete goes by a field of older schemas only", "go#1951"),
    Rule(48, "position-deletes-v3", "warning", "New position delete files in a table of version 3", _DELETES, "C"),
    Rule(49, "deletes-in-v1", "error", "Delete files in a table of version 1", _DELETES, "X"),
    Rule(50, "row-ids-overlap", "error", "Row ids of two files overlap", "go#741, #13232", "X"),
    Rule(51, "next-row-id", "error", "next-row-id is at or below an assigned row id", "Row Lineage", "X"),
    Rule(52, "totals-differ", "warning", "A summary's totals are not those of the entries", "rs#2390, #12823", "W"),
    Rule(53, "operation-contradicts", "warning", "A snapshot's operation contradicts its changes", _SNAPSHOTS, "W"),
    Rule(54, "statistics-stale", "info", "Statistics are older than the data", "Table Statistics", "S"),
    Rule(55, "orphan-files", "info", "Files that nothing leads to", "#4194", "D", "files"),
    Rule(56, "id-beyond-64-bits", "warning", "An id has no place in 64 bits", _SNAPSHOTS, "W"),
    Rule(57, "entry-invalid", "error", "An entry's fields contradict the spec", _FILES, "X"),
    Rule(58, "delete-names-nothing", "warning", "A position delete names no file of the snapshot: it hides nothing",
         _DELETES, "C", "deep"),
    Rule(59, "required-absent", "warning", "A required column is absent from a file, or null in it",
         "Column Projection", "W"),
    Rule(60, "copied-or-edited", "info", "The table was copied or edited: lengths and absolute paths disagree", _LISTS),
    Rule(61, "statistics-file", "warning", "A statistics file is missing, or is not what the metadata says",
         "Table Statistics", "S"),
    Rule(62, "records-differ", "warning", "Two lists tell different things of one manifest", _LISTS, "W"),
    Rule(64, "avro-schema", "warning", "An Avro schema or header is not the spec's", "Manifests", "W"),
    Rule(72, "field-ids-absent", "warning", "Files have no field ids, and the table no name mapping", "#11650",
         depth="deep"),
    Rule(73, "metadata-choice", "warning", "The folder contains another table state that readers may open", _METADATA),
)  # fmt: skip
BY_ID = {rule.id: rule for rule in RULES}
