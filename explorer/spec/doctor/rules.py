"""The doctor's rules: what each is called, how bad it is, where it is written; what helps is in remedies.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Severity = Literal["fatal", "error", "warning", "info"]
Depth = Literal["quick", "files", "deep"]
Level = Literal["ok", "incomplete", "warning", "error"]
EXIT_CODES: Mapping[Level, int] = {"ok": 0, "incomplete": 3, "warning": 5, "error": 6}
"""What the command exits with, by how good its answer is."""


@dataclass(frozen=True)
class Rule:
    """`number` is that in docs/doctor.md, `source` the section of the spec, or issues of Iceberg's that tell of cases
    (#n; py, rs and go are iceberg-python, -rust and -go). `depth` is what the rule has to be allowed to read."""

    number: int
    id: str
    severity: Severity
    title: str
    source: str
    depth: Depth = "quick"


_METADATA, _SNAPSHOTS, _LISTS = "Table Metadata Fields", "Snapshots", "Manifest Lists"
_ENTRIES, _DELETES, _FILES = "Manifest Entry Fields", "Delete Formats", "Data File Fields"
RULES = (
    Rule(1, "metadata-unreadable", "fatal", "The metadata file cannot be read", _METADATA),
    Rule(1, "metadata-field", "error", "A field is missing, said twice, or of another type", _METADATA),
    Rule(2, "format-version-unknown", "fatal", "The format version is not known", "Format Versioning"),
    Rule(3, "uuid-changed", "error", "The table's UUID is missing or changed", _METADATA),
    Rule(4, "current-schema-missing", "error", "The current schema is not in schemas", "Schemas"),
    Rule(5, "schema-rebound", "error", "One schema or spec id stands for two", "Schemas"),
    Rule(6, "field-id-conflict", "error", "A field id or name is used twice, or an id is reserved",
         "Reserved Field IDs"),
    Rule(7, "last-column-id-low", "warning", "last-column-id is below an id in use", _METADATA),
    Rule(8, "default-missing", "error", "The default spec or sort order is not there", "Partition Specs"),
    Rule(9, "partition-field-conflict", "error", "A partition field id stands for two fields", "#14755"),
    Rule(10, "last-partition-id-low", "warning", "last-partition-id is below an id in use", _METADATA),
    Rule(11, "partition-source-dropped", "warning", "A partition field's source column was dropped", "#4563"),
    Rule(12, "snapshot-twice", "error", "Two snapshots have one id, or one is not as it was", _SNAPSHOTS),
    Rule(13, "current-unlike-main", "error", "current-snapshot-id is not what main points to", "References"),
    Rule(14, "ref-dangling", "error", "A ref points to a snapshot that is not there", "References"),
    Rule(15, "parent-cycle", "error", "The parents of a snapshot run in a circle", _SNAPSHOTS),
    Rule(15, "parent-expired", "info", "A snapshot's parent has expired", _SNAPSHOTS),
    Rule(16, "sequence-above-last", "error", "A sequence number is above the one it must not exceed",
         "Sequence Numbers"),
    Rule(17, "sequence-regresses", "warning", "A snapshot's sequence number is not above its parent's",
         "Sequence Numbers"),
    Rule(18, "time-out-of-order", "warning", "Times run backwards by over a minute", "#1109, #17358"),
    Rule(19, "log-of-expired", "warning", "The snapshot log names a snapshot that is not there", _METADATA),
    Rule(20, "metadata-log-file-missing", "info", "An older metadata file is gone, or not in the log", _METADATA),
    Rule(21, "snapshot-schema-missing", "warning", "A snapshot's schema is not in schemas", "py#247"),
    Rule(22, "path-outside", "warning", "A path lies outside the table's folders, or lacks the scheme", _METADATA),
    Rule(23, "property-unsafe", "warning", "Properties hold a secret, or name a class to load", "py#3931"),
    Rule(24, "manifest-list-missing", "fatal", "A manifest list is missing or cannot be read", "#1944, #12792"),
    Rule(25, "manifest-list-empty", "error", "A manifest list lacks what the summary counts", _LISTS),
    Rule(26, "manifest-missing", "fatal", "A manifest is missing or cannot be read", "#13568"),
    Rule(27, "manifest-length", "warning", "A manifest's length is not what the list says", "#16905"),
    Rule(28, "manifest-counts", "error", "A manifest's counts are not those of its entries", _LISTS),
    Rule(29, "spec-unknown", "error", "A manifest's partition spec is unknown, or unlike its header's", "go#1855"),
    Rule(30, "manifest-content", "error", "A manifest's content is unlike its header's or its entries'", _LISTS),
    Rule(31, "min-sequence", "error", "min_sequence_number is above a live entry's", _LISTS),
    Rule(32, "partition-summary", "error", "A partition summary excludes an entry", _LISTS),
    Rule(33, "manifest-twice", "error", "A manifest is listed twice", _LISTS),
    Rule(34, "null-sequence", "error", "An EXISTING or DELETED entry has no sequence number",
         "Sequence Number Inheritance"),
    Rule(35, "file-twice", "error", "A live file is listed twice in a snapshot", "#3064, #2735"),
    Rule(36, "entry-snapshot", "warning", "An entry carries a snapshot id that cannot be its own", "py#3236"),
    Rule(37, "deleted-file-live", "error", "A file that was deleted is live again", "rs#2203"),
    Rule(38, "file-missing", "error", "A file is missing, or has another size", "#7007, #1980, #2932",
         depth="files"),
    Rule(39, "record-count", "error", "record_count is not what the file's footer says", _FILES, depth="deep"),
    Rule(40, "metrics-wrong", "error", "Counts or bounds contradict each other or the data", _FILES),
    Rule(41, "split-offsets", "warning", "split_offsets are no places where row groups begin", "#8860"),
    Rule(42, "partition-value", "error", "A partition value is not the transform of the data", "#9767"),
    Rule(43, "two-vectors", "error", "A data file has two deletion vectors", "go#1372"),
    Rule(44, "vector-wrong", "error", "A deletion vector is not what the manifest says", _DELETES, depth="deep"),
    Rule(45, "delete-partition", "error", "A delete is in another partition than its data file", "#16957"),
    Rule(46, "delete-dangling", "warning", "Deletes apply to no data file", "#6126, #4127, #8743"),
    Rule(47, "equality-id-unknown", "error", "An equality delete goes by a field of no schema", "go#1951"),
    Rule(47, "equality-id-old", "info", "An equality delete goes by a field of older schemas only", "go#1951"),
    Rule(48, "position-deletes-v3", "warning", "New position delete files in a table of version 3", _DELETES),
    Rule(49, "deletes-in-v1", "error", "Delete files in a table of version 1", _DELETES),
    Rule(50, "row-ids-overlap", "error", "Row ids of two files overlap", "go#741, #13232"),
    Rule(51, "next-row-id", "error", "next-row-id is at or below an assigned row id", "Row Lineage"),
    Rule(52, "totals-differ", "warning", "A summary's totals are not those of the entries", "rs#2390, #12823"),
    Rule(53, "operation-contradicts", "warning", "A snapshot's operation contradicts its changes", _SNAPSHOTS),
    Rule(54, "statistics-stale", "info", "The current snapshot has no statistics of its own", "Table Statistics"),
    Rule(55, "orphan-files", "info", "Files that nothing leads to", "#4194", depth="files"),
    Rule(56, "id-beyond-64-bits", "error", "An id has no place in 64 bits", _SNAPSHOTS),
    Rule(57, "entry-invalid", "error", "An entry's fields contradict the spec", _FILES),
    Rule(58, "delete-names-nothing", "warning", "A position delete names no file of the snapshot: it hides nothing",
         "#8743"),
    Rule(59, "required-absent", "warning", "A required column is absent from a file, or null in it",
         "Column Projection"),
    Rule(60, "copied-or-edited", "info", "The table was copied or edited: lengths and absolute paths disagree", _LISTS),
    Rule(61, "statistics-file", "warning", "A statistics file is missing, or is not what the metadata says",
         "Table Statistics"),
    Rule(62, "records-differ", "warning", "Two lists tell different things of one manifest", _LISTS),
    Rule(63, "readers-differ", "warning", "The spec allows it, and readers differ in what they make of it",
         "#14216, #15069"),
    Rule(64, "avro-schema", "warning", "An Avro schema or header is not the spec's", "Manifests"),
    Rule(65, "property-refused", "error", "Spark cannot read a table property, or does not know it",
         "Spark: Read options"),
    Rule(66, "value-suspect", "warning", "Values look like another unit, a sign for null, a code, or are padded",
         "#15332"),
    Rule(67, "sequence-twice", "error", "One sequence number is that of two commits", "Sequence Numbers"),
    Rule(68, "commit-cut-off", "warning", "A commit was not made on the snapshot before it", _SNAPSHOTS),
    Rule(69, "metadata-fork", "warning", "Two metadata files are of one version", "Optimistic Concurrency"),
    Rule(70, "delete-misplaced", "warning", "An equality delete is in another partition than its rows", _DELETES),
    Rule(71, "delete-dropped", "error", "A commit dropped a delete that its own files need", "#10312"),
    Rule(72, "field-ids-absent", "warning", "Files have no field ids, and the table no name mapping", "#11650",
         depth="deep"),
    Rule(73, "metadata-choice", "error", "Readers of the folder may open another table state, or fail", _METADATA),
    Rule(74, "column-type", "error", "A column is not stored in the spec's Parquet type", "#18173", depth="deep"),
    Rule(75, "delete-repeated", "warning", "Tasks of one commit had the same keys", "#11008",
         depth="deep"),
    Rule(76, "row-ids-changed", "warning", "A rewrite gave rows other row ids", "Row Lineage", depth="deep"),
    Rule(77, "commit-unnamed", "warning", "A commit that the table does not have lies in its folder", "#970"),
    Rule(78, "log-incomplete", "warning", "The snapshot log lacks snapshots that were current", "#5442"),
)  # fmt: skip
BY_ID = {rule.id: rule for rule in RULES}
