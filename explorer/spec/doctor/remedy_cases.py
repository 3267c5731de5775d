"""Findings of a rule that have a remedy of their own, by words of theirs."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.spec.entries.entries import NO_LIVE
from explorer.spec.schemas.stored_types import DECODES_NANOSECONDS, NO_FAR_TIME, PLAIN_DATE, RIGHT

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
ENCODED = (
    "a partition field is the name of its folder, which is URL-encoded: filters on the value itself find none of its "
    "rows, and Iceberg Java shows the code in each of them (#7612)"
)
ONE_TOO_HIGH = (
    "a partition field is one above the {} of a time before 1970, as Iceberg up to 0.10.0 wrote it: Iceberg Java "
    "allows for it, and pyiceberg skips its rows"
)
SKIPS_ROWS = "filters skip rows"
OF_DELETE = (
    "an equality delete has rows of another partition than it is recorded in: it applies to data files of its own "
    "partition alone, where no row can equal its, so it hides nothing (#11891)"
)
FORGOTTEN_PARTITION = (
    "a partition field whose column was dropped is null, as Iceberg Java writes it where it merges manifests: deletes "
    "that apply by partition no longer reach the file, and rows that they deleted may be back"
)
SHOWS_PARTITION = "filters skip rows, and Spark shows the partition's value in each row, not the file's"
WRAPPED = "has no place in {} bits, and wrapped round"
LOST_ROWS = "a replace changes no rows"
ADDS_ROWS = "a replace adds no rows"
STILL_LIVE = "which its manifests still list"
ROWS_TWICE = "row id with another visible row"
WITHOUT_PARENT = (
    "no row is lost, but a rollback to an earlier one fails ('not an ancestor of the current state'), and so do "
    "incremental reads ('is not a parent ancestor of end snapshot')"
)
OLD_FIELD = "though version 1 requires it"
UNKNOWN_PROPERTY = "which Iceberg does not know: it has no effect on Iceberg's writers and readers"
LOST_REF = (
    "were in the metadata file before, and one commit took both out before the ref was old enough: an expiry that does "
    "not know refs does so (seaweedfs/seaweedfs#10774)"
)
NO_CURRENT_ID = (
    "there is no current-snapshot-id, as the spec allows without snapshots: Iceberg Java before 1.4.0 refuses the "
    "table, in engines too ('Cannot parse missing long: current-snapshot-id', apache/iceberg-python#1164). AWS Glue "
    "4.0 has Iceberg 1.0.0; queries of Athena ran without end in 2023 (apache/iceberg#8013)"
)
EMPTY_SEGMENT = (
    "in S3 and GCS a//b and a/b are two keys. PyArrow, with which pyiceberg reads unless it is told otherwise, refuses "
    "the first, and Hadoop's file systems (s3a) ask for the second"
)
SLASH_AT_END = (
    "the table's location ends in a slash, and no path has an empty segment yet: a writer that adds a slash of its own "
    "makes keys such as a//b, which some readers do not find"
)
ONE_SLASH_AWAY = "and a file of that size is there under the key with one slash"
VOID = "a partition field that was removed, and that version 1 keeps as `void`"
NAMES_A_CLASS = "names a class: clients that honour it load code by this file"
NO_SCHEME = "its manifest list has no scheme"
OTHER_SCHEME = "its path has another scheme than the table's location: only readers that are set up for both find it"
OF_OTHER_TABLE = "a file of another table lies where the metadata log has the one before: it was overwritten"
SWAPPED = "the metadata file before it has another UUID, and no snapshot of this one: the table was replaced, or this"
WRONG_NOW = "would write what the current list says into manifests, for good"
ADDS_ROWS = "a replace adds no rows"
EMPTY_DELETE = "removed nothing, and added no delete"
CHANGED_NOTHING = "applied to no data file when it was committed: that commit changed no row"
BY_AGE = "a rule of the store that removes files by their age"
ROUNDED = "are rounded, as JSON tools do"
VOID_WITHOUT_SOURCE = (
    "whose transform is `void`, and whose column was dropped: Spark 4.1 reads the table, and INSERT, UPDATE and "
    "compaction fail ('Cannot build accessor for field: null')"
)
OLD_VOID = "a partition field that was removed from later specs, and that this one keeps as `void`"
NULL_BY_VOID = (
    "files have column {} themselves, and their partition value is null: the spec takes a value from the partition for "
    "identity alone, and readers that do so for each field of a column's name show null in it (Gluten did, "
    "apache/gluten#8352)"
)
NO_OPERATION = "its summary has no operation: Iceberg Java and pyiceberg take it for an overwrite"
NO_SUMMARY = "its summary is missing, or empty"
NO_TOTALS = (
    "its summary has no total-records, as the spec allows: no row is affected, but Redshift refuses the table "
    "('Required field total-records missing', duckdb-iceberg#633)"
)
ZERO = "has field id 0"
NO_SCHEMA_ID = (
    "the current snapshot has no schema-id, as the spec allows: Spark, Trino, pyiceberg, DuckDB and iceberg-go read "
    "it, ClickHouse 26.9 and iceberg-rust fail, and Athena failed on filters ('currentSchema is null', "
    "timeplus-io/proton#1035)"
)
NEW_UUID = (
    "its writer gave the table another UUID: it has snapshots of the metadata file before. Who opens it anew reads it; "
    "who holds it open, or commits to a REST catalog with the old UUID, is refused ('Table UUID does not match')"
)
NO_SOURCE = "comes from a column that is not there"
"""Of a partition field of the default spec: its column was dropped."""
NO_UUID = (
    "the table has no UUID, which version 1 allows: Iceberg Java loads it, but Spark's queries, INSERTs and most "
    'procedures fail (\'Cannot invoke "String.length()" because "name" is null\')'
)
CHANGED_SNAPSHOT = "snapshots never change"
NO_SCHEMA_FIELD = "the metadata file has no `schema`"
ENTRIES_SCHEMA = "its header's schema is that of manifest entries, not of the table"
DROPPED_SOURCE = (
    "comes from a column that was dropped: Spark 4.1 and pyiceberg read the rows, but Iceberg Java's metadata tables "
    "lack that field, and pyiceberg's inspect fails. Iceberg Java 1.5.2 failed ('Type cannot be null', #10626)"
)
NO_LIVE_LEFT = "a manifest without live files is"
"""What begins the words for a manifest of an old spec that only lists DELETED entries."""
REFUSES_SPEC = (
    "comes from a column that was dropped: Spark 4.1 and pyiceberg read the rows, but Iceberg Java's metadata tables "
    "files, data_files and entries fail ('Cannot partition by non-primitive source field'), and so does "
    "rewrite_manifests where it has manifests to merge. pyiceberg's inspect fails, too. Iceberg Java 1.5.2 failed "
    "('Type cannot be null', #10626)"
)
WRITES_FAIL = "Spark 4.1's DELETE, UPDATE and MERGE by merge-on-read fail ('Cannot find field')"
"""What an old spec does whose column was dropped, whether or not files of it are left."""
GREAT_VERSION = "Iceberg Java takes versions of files in a folder for 32-bit numbers, and finds no table here"
NO_HINT = "version-hint.text is not there: Iceberg opens the highest version"
HINT_UNREAD = "version-hint.text has no number, and names no metadata file of this folder"
HINT_BEHIND = "the version hint is stale"
HINT_AHEAD = "Iceberg fails ('Metadata file for version"
STRANGE_NAME = "is no name that it looks for"
VERSION_GONE = "does not see"
NO_VERSION = "its name has no version that readers know"
NOT_IN_TABLE = "which the table does not have"
SHARED_FOLDER = "tables share this folder"
OTHER_TABLE = "metadata of another table is in this folder: it"
BEHIND = "the catalog is behind its folder"
NAMED_EARLIER = "an earlier metadata file of the table was opened by its path"
BEGUN_ANEW = "the history begins anew with this metadata file"
OTHER_HEADER_SPEC = "its header's partition-spec is not that of the table metadata"
OLD_MANIFEST = (
    "its format version is 1, which a table of a later version may have: some readers refuse it ('Invalid schema "
    "detected in manifest', duckdb-iceberg#374)"
)
CROSSED = (
    "rows that another task wrote in the same commit: it does not apply to them, since their sequence numbers are "
    "equal, and they are visible"
)
OTHER_HEADER_SCHEMA = (
    "its header's schema is not that of the table metadata: ClickHouse before 26.9 refuses such a table "
    "(ClickHouse#119743)"
)
DROPPED_COLUMN = (
    "data files have a column that the schema in the manifest's header lacks, and the snapshots that added them have "
    "expired: ClickHouse 25.11 to 26.8 refuses them (ClickHouse#113324)"
)
UNORDERED_IDS = (
    "its equality ids are not in the order of the schema: Trino 392 to 401 (trinodb/trino#14693) and Presto before "
    "prestodb/presto#21975 show the rows that it deletes"
)
HAS_LOST_SCHEMA = "has the schema that is not in `schemas`:"
"""Of a manifest, before the schema's id."""
IN_HEADER = "header schema"
"""Where a manifest has the schema that it was written by."""
HEADER_ALONE = "Iceberg Java and pyiceberg do not go by the header"
"""In the words for what only a manifest's header says."""
BEYOND_KEY = (
    "an equality delete has other columns than those it deletes by: a filter on such a column may exclude the delete, "
    "and rows that it hides come back (#5852)"
)
BY_NAME = (
    "it has no field ids, so its values come through the table's name mapping: readers that do not know mappings fail, "
    "or show nulls (polars failed, polars#24915)"
)
NAME_TAKEN = "the name mapping gives the name of an older column to a newer one: in files without field ids"
"""Before what the newer column shows there."""
OF_PARTITION_ALONE = (
    "it has no column of its identity partition, as files of Hive have none: the value comes from the partition, as "
    "the spec says, and readers that do not take it from there fail or show null. iceberg-go 0.7.0 shows null (tried), "
    "as pyiceberg before 0.9 (apache/iceberg-python#1401), ClickHouse before 26.8 (ClickHouse/ClickHouse#110216) and "
    "Auron (apache/auron#2527) did; Snowflake could not read such a table (#9404)"
)
UNCOMMITTED = (
    "nobody has committed their rows. An insert's may be nowhere else; those of a compaction, UPDATE or MERGE that did "
    "not commit are in the table"
)
PREFIXES = "metadata names files by another scheme or authority than the table's location has"
SPARED = (
    "Others are orphans to remove_orphan_files alone, since it knows no other metadata, and no name in another place"
)
SAME_NAMES = (
    "two partition fields have this name: rows are read and written, but Iceberg Java's metadata tables (files, "
    "entries, partitions, position_deletes), rewrite_manifests, rewrite_position_delete_files and "
    "compute_partition_stats fail"
)
FORMER_NAME = (
    "keeps a name that a column had: rows are read and written, but Iceberg Java adds no column of that name ('Cannot "
    "create identity partition sourced from different field in schema', #11762)"
)
NAMES_IN_CASE = "in case only"
REMOVED_WITH_SNAPSHOT = (
    "when that snapshot expires by Iceberg's API (table.expireSnapshots, as Java programs and other engines call it), "
    "the file goes with it, though it is in use (#2131). Spark's procedure expire_snapshots keeps it"
)
WRONG_COUNTS = (
    "of a partition statistics file have other counts than the live files: no row is affected, but who plans by these "
    "statistics, or computes the next ones from them, goes by wrong numbers"
)
UNSET_CURRENT = "the metadata file names no current snapshot, though `main` has one: pyiceberg shows no rows"
PADDED = (
    "ends in NUL bytes, and the partition value has none: readers compare bytes, so filters skip rows (Paimon's "
    "metadata for Iceberg has such bounds, apache/paimon#5007)"
)
MAYBE_PADDED = (
    "a bound of a text ends in NUL bytes: where the values have none, readers skip rows by it, since they compare bytes"
)
NAN = "it has NaN, which bounds leave out: Spark takes NaN for the greatest, and x > 1 skips files with it"
NAN_COUNTED = f"{NAN}; where Iceberg before 1.11 answers MAX from bounds, it leaves NaN out (#15069)"
NAN_UNCOUNTED = f"{NAN}; its manifest does not count it, so MAX that Spark answers from bounds leaves it out (#15069)"
WIDE_BOUND = "which the spec allows: Spark answers {} from it, without opening the file"
OLD_ORDER = "writes of Spark with Iceberg 1.11.0, compaction among them, fail"
"""Of an older sort order that goes by a dropped column."""
LOSES = "an INSERT, a DELETE, an UPDATE, a MERGE or a compaction"
"""What leaves out a manifest in which the list counts no live file: the commits that merge manifests."""
NOT_SEEN = "Spark does not read these rows"
"""Of a list that counts no live data file, where a commit may come onto its snapshot."""
LOST_FILES = (
    f"{NOT_SEEN}, and {LOSES}{{}} by Iceberg Java leaves the manifest out: then no reader has the rows (#10919)"
)
LOST_DELETES = (
    f"Spark does not apply these deletes, so rows that were deleted are there, and {LOSES}{{}} by Iceberg Java leaves "
    "the manifest out: then no reader applies them (#10919)"
)
BY_TIME_TRAVEL = "in Spark, time travel to such a snapshot"
"""Of a list that counts no live file, and is that of an older snapshot."""
LACKS_ROWS = f"{BY_TIME_TRAVEL} lacks these rows (#10919). No commit loses them, unless the table goes back to one"
LACKS_DELETES = (
    f"{BY_TIME_TRAVEL} shows rows that were deleted (#10919). No commit loses the deletes, unless the table goes back "
    "to one"
)
NOT_MENDED = "not even without its vectorized reader"


def effect_of_wrong_partition(transform: str) -> str:
    """Return what readers do where a partition value is wrong: of identity, Iceberg Java shows it too."""
    return SHOWS_PARTITION if transform == "identity" else SKIPS_ROWS


CASES: Mapping[tuple[str, str], str] = {
    ("manifest-counts", BY_TIME_TRAVEL): "no-live-before",
    ("manifest-counts", NO_LIVE): "no-live-counted",
    ("readers-differ", OLD_ORDER): "old-order",
    ("readers-differ", ONE_TOO_HIGH.rpartition("{}")[2]): "early-partition",
    ("partition-value", WRAPPED.rpartition("{}")[2]): "wrapped-partition",
    ("partition-value", OF_DELETE): "delete-value",
    ("partition-value", FORGOTTEN_PARTITION): "partition-forgotten",
    ("partition-value", SHOWS_PARTITION): "identity-value",
    ("current-unlike-main", UNSET_CURRENT): "current-unset",
    ("property-unsafe", NAMES_A_CLASS): "property-class",
    ("path-outside", NO_SCHEME): "other-scheme",
    ("path-outside", OTHER_SCHEME): "other-scheme",
    ("uuid-changed", OF_OTHER_TABLE): "overwritten-log",
    ("uuid-changed", SWAPPED): "swapped-metadata",
    ("records-differ", WRONG_NOW): "wrong-list",
    ("operation-contradicts", ADDS_ROWS): "rows-added",
    ("copied-or-edited", ROUNDED): "rounded-ids",
    ("operation-contradicts", EMPTY_DELETE): "empty-delete",
    ("delete-dangling", CHANGED_NOTHING): "changed-nothing",
    ("metadata-field", NO_SUMMARY): "no-summary",
    ("metadata-field", NO_OPERATION): "old-field",
    ("metadata-field", OLD_FIELD): "old-field",
    ("ref-dangling", LOST_REF): "lost-ref",
    ("property-refused", UNKNOWN_PROPERTY): "property-unknown",
    ("metadata-field", NO_CURRENT_ID): "no-current-id",
    ("operation-contradicts", LOST_ROWS): "rows-lost",
    ("operation-contradicts", STILL_LIVE): "files-kept",
    ("row-ids-overlap", ROWS_TWICE): "rows-twice",
    ("deleted-file-live", REMOVED_WITH_SNAPSHOT): "file-added-again",
    ("commit-cut-off", WITHOUT_PARENT): "without-parent",
    ("readers-differ", EMPTY_SEGMENT): "empty-segment",
    ("readers-differ", SLASH_AT_END): "slash-at-end",
    ("file-missing", ONE_SLASH_AWAY): "one-slash-away",
    ("readers-differ", VOID): "void-field",
    ("readers-differ", VOID_WITHOUT_SOURCE): "void-without-source",
    ("readers-differ", OLD_VOID): "old-void-field",
    ("readers-differ", NAN): "nan-order",
    ("readers-differ", WIDE_BOUND.partition("{")[0]): "wide-bounds",
    ("readers-differ", ZERO): "field-id-zero",
    ("readers-differ", NO_SCHEMA_ID): "no-schema-id",
    ("uuid-changed", NEW_UUID): "new-uuid",
    ("uuid-changed", NO_UUID): "no-uuid",
    ("snapshot-twice", CHANGED_SNAPSHOT): "changed-snapshot",
    ("readers-differ", NO_TOTALS): "no-totals",
    ("readers-differ", BEYOND_KEY): "beyond-key",
    ("readers-differ", NAME_TAKEN): "name-taken",
    ("readers-differ", BY_NAME): "by-name",
    ("readers-differ", OF_PARTITION_ALONE): "of-partition-alone",
    ("readers-differ", NO_LIVE_LEFT): "old-spec-listed",
    ("readers-differ", DROPPED_SOURCE): "dropped-source",
    ("readers-differ", REFUSES_SPEC): "dropped-source",
    ("readers-differ", WRITES_FAIL): "old-spec-kept",
    ("readers-differ", SAME_NAMES): "partition-names",
    ("readers-differ", FORMER_NAME): "former-name",
    ("readers-differ", NAMES_IN_CASE): "names-in-case",
    ("metadata-log-file-missing", NOT_IN_TABLE): "lost-metadata",
    ("metadata-choice", OTHER_TABLE): "shared-folder",
    ("metadata-choice", SHARED_FOLDER): "shared-folder",
    ("metadata-choice", BEHIND): "catalog-behind",
    ("metadata-choice", GREAT_VERSION): "great-version",
    ("metadata-choice", NO_HINT): "hint-missing",
    ("metadata-choice", HINT_UNREAD): "hint-missing",
    ("metadata-choice", HINT_BEHIND): "hint-behind",
    ("metadata-choice", NAMED_EARLIER): "named-earlier",
    ("metadata-log-file-missing", BEGUN_ANEW): "begun-anew",
    ("metadata-choice", STRANGE_NAME): "version-misnamed",
    ("metadata-choice", HINT_AHEAD): "hint-ahead",
    ("metadata-choice", VERSION_GONE): "version-gone",
    ("metadata-choice", NO_VERSION): "without-version",
    ("spec-unknown", OTHER_HEADER_SPEC): "header-spec",
    ("schema-rebound", OTHER_HEADER_SCHEMA): "header-schema",
    ("spec-unknown", HEADER_ALONE): "header-alone",
    ("manifest-content", HEADER_ALONE): "header-alone",
    ("value-suspect", HIVE_NULL): "hive-null",
    ("value-suspect", ENCODED): "encoded-value",
    ("value-suspect", MAYBE_PADDED): "maybe-padded",
    ("statistics-file", WRONG_COUNTS): "partition-counts",
    ("orphan-files", SPARED): "spared",
    ("orphan-files", PREFIXES): "prefixes",
    ("orphan-files", UNCOMMITTED): "uncommitted",
    ("readers-differ", OLD_MANIFEST): "old-manifest",
    ("readers-differ", DROPPED_COLUMN): "dropped-column",
    ("readers-differ", UNORDERED_IDS): "unordered-ids",
    ("delete-repeated", CROSSED): "crossed-tasks",
    ("column-type", NO_FAR_TIME): "type-read-by-some",
    ("column-type", RIGHT): "type-read-right",
    ("column-type", NOT_MENDED): "type-misread",
    ("column-type", DECODES_NANOSECONDS): "type-read-by-some",
    ("column-type", PLAIN_DATE): "type-read-by-some",
}
"""By rule and words: the case."""
