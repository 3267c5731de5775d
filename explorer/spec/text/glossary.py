"""What the words of Iceberg mean, said once: the command line lists it, and heads of tables and the inspector's fields
tell it on hover. Sections are those of the Iceberg spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.errors import NotFoundInTable


@dataclass(frozen=True)
class Definition:
    """A definition, and the spec's section that it comes from; "" where it is this product's word."""

    meaning: str
    section: str = ""

    def __str__(self) -> str:
        return f"{self.meaning} (spec, “{self.section}”)" if self.section else self.meaning


_LIST, _ENTRY, _SEQUENCE = "Manifest Lists", "Manifests", "Sequence Numbers"
_DELETES, _SNAPSHOT, _REFS = "Row-level Deletes", "Snapshots", "Snapshot References"
_METADATA, _PARTITIONING, _PLANNING = "Table Metadata Fields", "Partitioning", "Scan Planning"

TERMS: Mapping[str, Definition] = {
    # things
    "catalog": Definition(
        "What holds the pointer to a table's current metadata file and swaps it atomically", "Overview"
    ),
    "metadata file": Definition(
        "The JSON that holds a table's schemas, specs, properties, snapshots and refs", _METADATA
    ),
    "snapshot": Definition("The state of a table at some time: one manifest list, and what made it", _SNAPSHOT),
    "manifest list": Definition(
        "The Avro file of a snapshot that names its manifests, with counts and summaries", _LIST
    ),
    "manifest": Definition("An immutable Avro file that lists data files or delete files, not both", _ENTRY),
    "entry": Definition("A manifest's record of one file: its status, sequence numbers and metrics", _ENTRY),
    "data file": Definition("A Parquet, ORC or Avro file with rows of one partition", "Overview"),
    "delete file": Definition(
        "A file that says which rows of data files are deleted, by position or by value", _DELETES
    ),
    "deletion vector": Definition(
        "A bitmap of one data file's deleted positions, in a Puffin file (v3)", "Deletion Vectors"
    ),
    "position delete": Definition("A row deleted by its data file's path and its place in it", "Position Delete Files"),
    "equality delete": Definition(
        "Rows deleted by the values of some columns, in older data files", "Equality Delete Files"
    ),
    "dangling delete": Definition("A delete that is still listed and applies to no data file"),
    "branch": Definition("A named reference to a snapshot that commits move on", _REFS),
    "tag": Definition("A named reference to a snapshot that stays where it is", _REFS),
    "orphan": Definition("A file below the table's location that no metadata refers to"),
    "partition spec": Definition("How partition values are made from columns, field by field", _PARTITIONING),
    "sort order": Definition("How a writer sorted a file's rows; id 0 is unsorted", "Sorting"),
    "schema": Definition(
        "Columns by field ids, which stay when names, order or types change", "Schemas and Data Types"
    ),
    "retry": Definition("Trying a commit again after another came first, as often as commit.retry.num-retries says"),
    "copy-on-write": Definition("Deleting or updating rows by writing their data files anew, without them"),
    "merge-on-read": Definition("Deleting or updating rows by delete files, which readers merge with data files"),
    "upsert": Definition(
        "A new row in place of those with its key; sinks write an equality delete and the row, in any write mode"
    ),
    "residual": Definition("What is still to be asked of a file's rows after its partition answered a part", _PLANNING),
    "void": Definition(
        "A transform whose values are all null: version 1 keeps a partition field that was removed so", _PARTITIONING
    ),
    # statuses
    "ADDED": Definition("Added by the snapshot that wrote the manifest; to later snapshots it is existing", _ENTRY),
    "EXISTING": Definition("Carried over from an older manifest; it keeps its snapshot and sequence numbers", _ENTRY),
    "DELETED": Definition("Removed by the snapshot that wrote the manifest; later snapshots leave it out", _ENTRY),
    "status": Definition("As stored: 0 EXISTING, 1 ADDED, 2 DELETED; relative to the snapshot that wrote it", _ENTRY),
    "logical_status": Definition("The status as of the snapshot in view; empty: filtered out, deleted earlier"),
    # of entries and files
    "snapshot_id": Definition(
        "The snapshot that added the file or deleted it; null: inherited from the manifest", _ENTRY
    ),
    "sequence_number": Definition(
        "Data sequence number, the age of rows: position deletes and vectors apply to files of "
        "their own and lower ones, equality deletes to lower ones; null: inherited",
        _SEQUENCE,
    ),
    "file_sequence_number": Definition("When the file itself was added; stays when it is carried over", _SEQUENCE),
    "content": Definition(
        "Of files 0 data, 1 position deletes, 2 equality deletes; of manifests 0 data, 1 deletes", _ENTRY
    ),
    "file_path": Definition("The full URI of the file", _ENTRY),
    "file_format": Definition("parquet, orc, avro or puffin", _ENTRY),
    "partition": Definition("The file's values of its partition spec: transformed, as month 650 for 2024-03", _ENTRY),
    "spec_id": Definition("The partition spec of the manifest that lists the file", _PARTITIONING),
    "record_count": Definition("Rows of the file, or deleted positions of a deletion vector", _ENTRY),
    "file_size_in_bytes": Definition("Size of the whole file", _ENTRY),
    "split_offsets": Definition("Where readers may split the file: offsets of its row groups", _ENTRY),
    "equality_ids": Definition("Field ids of the columns by which an equality delete file deletes", _ENTRY),
    "sort_order_id": Definition("The sort order by which the file was written", _ENTRY),
    "first_row_id": Definition(
        "The id of the first row; null: assigned on reading, or no row lineage (v3)", "Row Lineage"
    ),
    "referenced_data_file": Definition("The only data file that a delete file refers to", _ENTRY),
    "content_offset": Definition("Where a deletion vector begins in its Puffin file", "Deletion Vectors"),
    "content_size_in_bytes": Definition("How long a deletion vector is in its Puffin file", "Deletion Vectors"),
    "lower_bounds": Definition("By field id a value that no value of the column is below; may be truncated", _ENTRY),
    "upper_bounds": Definition("By field id a value that no value of the column is above; may be truncated", _ENTRY),
    "value_counts": Definition("By field id the number of values, null and NaN among them", _ENTRY),
    "null_value_counts": Definition("By field id the number of nulls", _ENTRY),
    "nan_value_counts": Definition("By field id the number of NaN", _ENTRY),
    "column_sizes": Definition("By field id the bytes of the column in the file", _ENTRY),
    "ordinal": Definition("The entry's place in its manifest"),
    "reason": Definition("Why the entry has this logical status"),
    # of manifest lists
    "manifest_path": Definition("Where the manifest is", _LIST),
    "manifest_length": Definition("Bytes of the manifest", _LIST),
    "partition_spec_id": Definition("The spec by which the manifest's files are partitioned", _LIST),
    "min_sequence_number": Definition("The lowest data sequence number of the manifest's live entries", _LIST),
    "added_snapshot_id": Definition("The snapshot that wrote the manifest", _LIST),
    "added_files_count": Definition("Entries of the manifest that are stored as ADDED", _LIST),
    "existing_files_count": Definition("Entries of the manifest that are stored as EXISTING", _LIST),
    "deleted_files_count": Definition("Entries of the manifest that are stored as DELETED", _LIST),
    "added_rows_count": Definition("Rows of the files that are stored as ADDED", _LIST),
    "existing_rows_count": Definition("Rows of the files that are stored as EXISTING", _LIST),
    "deleted_rows_count": Definition("Rows of the files that are stored as DELETED", _LIST),
    "partitions": Definition("By partition field: whether there is null or NaN, and bounds of the values", _LIST),
    # of snapshots and costs
    "operation": Definition("append, replace (same rows, other files), overwrite (rows changed) or delete", _SNAPSHOT),
    "parent-snapshot-id": Definition("The snapshot that this one was made from", _SNAPSHOT),
    "timestamp-ms": Definition("When the snapshot was made, in milliseconds since 1970 UTC", _SNAPSHOT),
    "summary": Definition(
        "What the commit says of itself: the operation, and counts that nobody has to keep", _SNAPSHOT
    ),
    "write amplification": Definition("Bytes that a commit wrote for each byte of rows that it added"),
}


def meanings() -> dict[str, str]:
    """Each term's meaning as one text."""
    return {name: str(term) for name, term in TERMS.items()}


def find_terms(term: str) -> dict[str, Definition]:
    """The terms that have these letters in their name, or else in their meaning. Raises NotFoundInTable."""
    wanted = term.lower().replace("-", " ").replace("_", " ").strip()
    named = {n: t for n, t in TERMS.items() if wanted in n.lower().replace("-", " ").replace("_", " ")}
    terms = named or {n: t for n, t in TERMS.items() if wanted in t.meaning.lower()}
    if not terms:
        raise NotFoundInTable(f"no term has {term!r} in its name or meaning: `glossary` alone lists all")
    return terms
