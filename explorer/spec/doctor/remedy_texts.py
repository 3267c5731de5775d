"""What helps against each rule, in words: letters by rule, texts by letter. Shown, never run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from explorer.spec.doctor.remedy_cases import LOSES

Remedy = Literal[
    "M", "V", "G", "L", "F", "T", "B", "R", "O", "C", "D", "K", "S", "E", "I", "P", "N", "W", "U", "J", "A", "Q", "Z",
    "X", "Y", "H",
]  # fmt: skip
REMEDY_OF: Mapping[str, Remedy] = {
    "metadata-unreadable": "M",
    "metadata-field": "M",
    "format-version-unknown": "V",
    "uuid-changed": "M",
    "current-schema-missing": "M",
    "schema-rebound": "M",
    "field-id-conflict": "M",
    "last-column-id-low": "I",
    "default-missing": "M",
    "partition-field-conflict": "M",
    "last-partition-id-low": "I",
    "partition-source-dropped": "E",
    "snapshot-twice": "M",
    "current-unlike-main": "M",
    "ref-dangling": "M",
    "parent-cycle": "P",
    "parent-expired": "H",
    "sequence-above-last": "G",
    "sequence-regresses": "E",
    "time-out-of-order": "E",
    "log-of-expired": "E",
    "log-incomplete": "W",
    "metadata-log-file-missing": "H",
    "snapshot-schema-missing": "E",
    "path-outside": "Y",
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
    "entry-snapshot": "R",
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
    "equality-id-old": "H",
    "position-deletes-v3": "C",
    "deletes-in-v1": "G",
    "row-ids-overlap": "R",
    "next-row-id": "N",
    "totals-differ": "W",
    "operation-contradicts": "E",
    "statistics-stale": "S",
    "orphan-files": "D",
    "id-beyond-64-bits": "M",
    "entry-invalid": "G",
    "delete-names-nothing": "C",
    "required-absent": "J",
    "copied-or-edited": "Y",
    "statistics-file": "S",
    "records-differ": "B",
    "readers-differ": "X",
    "avro-schema": "B",
    "property-refused": "U",
    "value-suspect": "Q",
    "sequence-twice": "A",
    "commit-cut-off": "A",
    "metadata-fork": "A",
    "commit-unnamed": "A",
    "delete-misplaced": "Z",
    "delete-dropped": "G",
    "field-ids-absent": "J",
    "metadata-choice": "Y",
    "column-type": "R",
    "delete-repeated": "Z",
    "row-ids-changed": "W",
}
"""By rule."""
STATIC = "SET spark.sql.sources.partitionOverwriteMode=static, or old rows stay in other partitions; then "
"""Before an INSERT OVERWRITE that is to replace all rows."""
MISREAD_BY = ("column-type", "field-ids-absent", "required-absent")
"""Rules whose errors keep Spark from writing rows anew as they are."""
MISREAD = (
    "First mend {}: until then Spark takes values for others than the files have, or fails on them, and would write "
    "those others for good."
)
UNOPENED = "First run doctor --deep: what Spark misreads in data files, a rewrite would write so for good. "
"""Before what writes rows anew, where no data file was opened."""
POSITION_DELETES = "CALL {catalog}.system.rewrite_position_delete_files(table => '{name}', options => map("
"""How a statement begins that writes position deletes anew."""
READS_ROWS = "A session after SET `spark.sql.iceberg.aggregate-push-down.enabled` = false"
"""What Spark does with MIN, MAX and COUNT then."""
TEXTS: Mapping[Remedy, str] = {
    "M": "Iceberg cannot load a table with this fault, or would load something wrong, so no procedure mends it. "
    "{previous}",
    "V": "Nothing in Spark mends it: use a version of Iceberg that knows this format version. {previous}",
    "G": "{back}",
    "L": "Restore the file from a backup, or else: {back}{again} Do not run expire_snapshots, which commits before it "
    "reads what is missing, and fails. In Java, table.expireSnapshots().expireSnapshotId(id).cleanExpiredFiles(false)"
    ".commit() removes a snapshot that no branch or tag needs. Files of what was lost may still lie in the table's "
    "folder, where nothing names them (icedive storage TABLE shows how many): {added} Do not run remove_orphan_files "
    "before.",
    "F": "Restore the file from a backup, or else: {back}{kept}{alone}",
    "T": "{back}{distinct} Compaction refuses ('Invalid REPLACE operation').",
    "B": "CALL {catalog}.system.rewrite_manifests('{name}'); older snapshots keep the fault until they expire.",
    "R": "CALL {catalog}.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true')); it reads "
    "every data file, and refuses where it finds more rows than are recorded. Entries of the old files, now DELETED, "
    "keep the fault until rewrite_manifests drops them, and older snapshots until they expire.",
    "O": STATIC + "INSERT OVERWRITE {table} SELECT * FROM {table}; compaction refuses where it finds more rows than "
    "are recorded. Older snapshots keep the fault until they expire.",
    "C": POSITION_DELETES
    + "'rewrite-all', 'true')); equality deletes and deletion vectors go with CALL {catalog}.system.rewrite_data_files("
    "table => '{name}', options => map('rewrite-all', 'true', 'remove-dangling-deletes', 'true')).",
    "D": "CALL {catalog}.system.remove_orphan_files(table => '{name}', dry_run => true) lists those older than three "
    "days; without dry_run it removes them.",
    "K": "The data files are intact: Spark cannot read them by the sizes that are recorded, and no procedure mends "
    "these. {back} Or add the files to a new table, by the procedure add_files.",
    "S": "{renewed}",
    "E": "Nothing is lost; the fault goes with the snapshots that have it: CALL {catalog}.system.expire_snapshots("
    "'{name}') once they are old enough.",
    "I": "Add no {fields} until this is mended: it would get an id that is in use, and the table may not be readable "
    "afterwards. No procedure mends it; keep a copy of the metadata, and ask whoever wrote it.",
    "P": "Run neither expire_snapshots nor rollback_to_snapshot: Iceberg follows the parents without end. No procedure "
    "mends it; keep a copy of the metadata, and ask whoever wrote it.",
    "N": "No procedure mends it, and each commit may make it worse: stop writes, keep a copy of the metadata, and ask "
    "whoever wrote it.",
    "W": "Nothing is lost, and nothing in Spark mends it. The writer that did this will do it again: update or report "
    "it.",
    "U": "ALTER TABLE {table} UNSET TBLPROPERTIES ('{key}'); older metadata files keep it: change the secret.",
    "J": "{fitted}",
    "A": "{regained}",
    "Q": "{corrected}",
    "Z": "Nothing in Spark makes the delete apply. If its rows are to go, delete them again, by the keys that it holds "
    "(icedive inspect file TABLE PATH --show deletes shows them) and by what tells them from newer rows: an upsert "
    "wrote a newer row of each key with the delete, and a DELETE by the key alone takes that one too (icedive data "
    "history TABLE FILTER shows all rows of a key). Compaction drops the delete.",
    "X": "Nothing in Spark mends it. Ask a reader that answers right (icedive docs readers names them), or keep such "
    "values in a column of another type.",
    "Y": "Nothing in Spark mends where files are.",
    "H": "Nothing has to be done: no row is affected. Nothing in Spark mends it.",
}
"""By letter."""
TEXTS_OF: Mapping[str, str] = {
    "property-unknown": "Nothing has to be done where another program reads it. Else set the property that was meant, "
    "and ALTER TABLE {table} UNSET TBLPROPERTIES ('{key}') takes this one away.",
    "property-refused": "ALTER TABLE {table} UNSET TBLPROPERTIES ('{key}') takes the property away: it has its default "
    "then.",
    "property-unsafe": "If it is a secret, ALTER TABLE {table} UNSET TBLPROPERTIES ('{key}'); older metadata files "
    "keep it: change the secret. If it is none, nothing has to be done.",
    "property-class": "Nothing has to be done if you know the class, and it is meant: clients that have it need the "
    "property. If not, ALTER TABLE {table} UNSET TBLPROPERTIES ('{key}') takes it away; older metadata files keep it.",
    "other-scheme": "Nothing is lost, and nothing in Spark changes the path of a file. Nothing has to be done where "
    "each reader finds it: Hadoop takes a path without scheme for one of its default file system, and Iceberg's "
    "ResolvingFileIO goes by each path's scheme. For readers that do not find it, a reader that does writes what "
    "replaces it: rewrite_data_files with rewrite-all writes data files below the table's location, and each commit a "
    "new manifest list. Older snapshots keep theirs until they expire.",
    "empty-segment": "Where Spark reads the rows, {one_slash}CALL {catalog}.system.rewrite_data_files(table => "
    "'{name}', options => map('rewrite-all', 'true'{dangling})) writes files and manifests whose paths have one slash. "
    "Older snapshots keep theirs until they expire.",
    "slash-at-end": "Nothing has to be done: the next commit by Spark takes the slash off.",
    "one-slash-away": "Copy each such file to the key that the metadata names, with a tool of the store such as aws "
    "s3api copy-object. Take no file out of the table.",
    "overwritten-log": "No row of this table is affected, and nothing in Spark mends the log. Do not go back to the "
    "file before: it opens the other table. Two tables write into one folder, under the same names. Stop the writers "
    "of both, or the next commit of one may overwrite the metadata of the other. Run remove_orphan_files on neither, "
    "and drop neither in an engine that removes the folder. CREATE TABLE ... AS SELECT writes the rows of one to "
    "another place. Where the other one is gone, only time travel by that file is lost: nothing has to be done.",
    "swapped-metadata": "First see which of the two is the table that is meant: icedive history metadata TABLE shows "
    "how they differ. If its writer replaced the table, nothing has to be done: who holds it "
    "open has to open it again. If a file was swapped, no procedure mends it. {previous}",
    "no-live-counted": f"Stop all writers{{of_branch}}, and all maintenance that commits: {LOSES} loses what the "
    "manifest has. Nothing in Spark mends a manifest list. Write each list that says so anew in its "
    "place, with the counts that are expected: icedive docs broken-tables has a program. Entries, deletes, "
    "partitions and row ids stay as they are. Keep a copy of the list. Of a table in a store, the cache keeps "
    "the old list: ask the doctor again with another, empty ICEDIVE_CACHE.{inserted}",
    "no-live-before": "Writers may go on. Do not go back to such a snapshot (rollback_to_snapshot) before its list is "
    f"mended: then {LOSES} loses what the manifest has. To read it by time travel, write each such list anew in its "
    "place, with the counts that are expected: icedive docs broken-tables has a program. The fault goes when these "
    "snapshots expire.",
    "old-order": "Nothing has to be done in the table, and nothing in Spark takes an older sort order away. Write with "
    "Iceberg 1.10.1, or with 1.12 or later.",
    "wrong-list": "Do not run rewrite_manifests or rewrite_data_files before: deletes apply by sequence numbers, and "
    "rows are read by specs and row ids that may be wrong. {back}",
    "rows-added": "See whether rows are there twice (icedive data diff TABLE BEFORE AFTER shows what came between the "
    "snapshot before and this one). If they are, going back to the snapshot before (rollback_to_snapshot) takes them "
    "away, with what was committed since; where equal rows are never meant, INSERT OVERWRITE with SELECT DISTINCT "
    "keeps that. If they are not, no row is lost, and the operation alone is wrong: incremental reads leave this "
    "commit out, so who follows the table has to read it as a whole once. Nothing in Spark changes a summary. The "
    "writer will do it again: update or report it.",
    "rounded-ids": "Nothing in Spark mends it. Take the metadata file as it was before the tool wrote it, from the "
    "original or a backup, and edit it as text. Where there is none, the current snapshot can be read as it is, and "
    "incremental reads cannot: who follows the table has to read it as a whole.",
    "old-field": "Any commit of Iceberg Java writes the field again: ALTER TABLE {table} SET TBLPROPERTIES "
    "('written-again' = 'true'), then ALTER TABLE {table} UNSET TBLPROPERTIES ('written-again').",
    "no-current-id": "Nothing has to be done for newer readers. The first commit with rows writes the field. So does "
    "any commit of Iceberg Java 1.4.0 or later: ALTER TABLE {table} SET TBLPROPERTIES ('written-again' = 'true'), then "
    "ALTER TABLE {table} UNSET TBLPROPERTIES ('written-again'). Run them in an engine that reads the table: in the one "
    "that refuses it, they fail by the same error. pyiceberg writes -1 in any commit with "
    "PYICEBERG_LEGACY_CURRENT_SNAPSHOT_ID=true in its environment. Keep that setting until the table has a snapshot: "
    "the next commit of pyiceberg without it, and without rows, leaves the field out again.",
    "log-incomplete": "Nothing is lost, and nothing in Spark brings the lines back. Name such a snapshot by its id: "
    "SELECT * FROM {table} VERSION AS OF {snapshot}. ALTER TABLE {table} CREATE TAG {tag} AS OF VERSION "
    "{snapshot} gives it a name, and keeps it from expiry.",
    "rows-lost": "{back} Do so before that snapshot expires: the rows are only in files that it reads.",
    "files-kept": "See whether rows are there twice (icedive data diff TABLE BEFORE AFTER shows what came between the "
    "snapshot before and this one). If they are: {back} Do so before that snapshot expires. If they are not, the "
    "summary alone is wrong, and nothing has to be done.",
    "rows-twice": "{back}{distinct} Compaction would keep both rows.",
    "row-ids-changed": "No row is lost, and nothing in Spark brings the old ids back. Who follows the table's changes "
    "by row ids has to read it as a whole once. The writer will do it again: update or report it.",
    "without-parent": "Nothing in Spark mends a history: the finding goes when the snapshots expire. The procedure "
    "set_current_snapshot goes to any snapshot, where rollback_to_snapshot refuses. An expiry keeps earlier snapshots "
    "by their age alone, not by their number. The writer will do it again: update or report it.",
    "encoded-value": "Where the value itself is meant, correct each such value in Spark: UPDATE … SET the column = the "
    "value WHERE the column = the code. Older snapshots keep the code until they expire, and the writer (a migration "
    "that took the values from folders' names) will write it again: update it.",
    "maybe-padded": "Nothing has to be done where the values end so too.",
    "void-field": "Nothing is wrong. Readers that do not know the transform void cannot read the table. Compare with "
    "Spark where another reader shows null in the column: update that reader. Nothing in Spark's SQL takes the field "
    "away. In a table of version 2, this does in Java: "
    'table.updateSpec().removeField("NAME").commit().',
    "old-void-field": "Nothing is wrong. For readers that differ, rewrite_data_files with rewrite-all writes the rows "
    "by the current spec. The procedure expire_snapshots with clean_expired_metadata drops the old spec, once no "
    "snapshot uses it. Nothing in Spark takes a field out of a spec.",
    "partition-source-dropped": "Nothing is lost; CALL {catalog}.system.expire_snapshots(table => '{name}', "
    "clean_expired_metadata => true) drops the spec, once no snapshot uses it.",
    "delete-dangling": "CALL {catalog}.system.rewrite_data_files(table => '{name}', options => map("
    "'remove-dangling-deletes', 'true')) drops them, and compacts as it does without the option. Iceberg before 1.12 "
    "drops none where it rewrites nothing.",
    "changed-nothing": "Look first whether its rows are there (icedive data history TABLE FILTER tells of a row). If "
    "they were to go, delete them again. The delete itself hides nothing: CALL {catalog}.system.rewrite_data_files("
    "table => '{name}', options => map('remove-dangling-deletes', 'true')) drops it, and compacts as it does without "
    "the option. Iceberg before 1.12 drops none where it rewrites nothing.",
    "empty-delete": "Nothing has to be done where no row was to go. Else look whether its rows are there (icedive data "
    "history TABLE FILTER tells of a row), and delete them again: nothing in Spark makes an old delete apply.",
    "position-bounds": POSITION_DELETES
    + "'rewrite-all', 'true')). The rows that the delete names are then gone for readers that show them now. Older "
    "snapshots keep the fault until they expire.",
    "position-deletes-v3": POSITION_DELETES + "'rewrite-all', 'true')).",
    "delete-names-nothing": POSITION_DELETES + "'rewrite-all', 'true')).",
    "delete-dropped": "Look first whether rows are back: icedive inspect file TABLE PATH --show deletes shows the keys "
    "that the delete held. icedive data history TABLE FILTER shows the rows of a key. If none is back, nothing has to "
    "be done. If some are, delete them again, by these keys: that keeps what was committed since. Or else: {back}",
    "partition-forgotten": "Look first whether rows are back: icedive inspect deletes TABLE lists the delete files "
    "that apply to nothing, and icedive inspect file TABLE PATH --show deletes shows what one held. If some are back, "
    "delete them again, by copy-on-write, since Spark 4.1 fails to write delete files here: ALTER TABLE {table} SET "
    "TBLPROPERTIES ('write.delete.mode' = 'copy-on-write'). Compact nothing before, and drop no delete: then nothing "
    "tells any more which rows these are. If none is back, nothing has to be done.",
    "dropped-source": "{void_first}CALL {catalog}.system.rewrite_data_files(table => '{name}', options => map("
    "'rewrite-all', 'true')) writes the rows by the current spec. Then INSERT INTO {table} SELECT * FROM {table} WHERE "
    "false adds no row, and its commit leaves out the manifests of the old spec. Once the older snapshots are old "
    "enough to expire, CALL {catalog}.system.expire_snapshots(table => '{name}', clean_expired_metadata => true) drops "
    "the old spec.",
    "old-spec-kept": "CALL {catalog}.system.expire_snapshots(table => '{name}', clean_expired_metadata => true) drops "
    "the spec, once no snapshot uses it. Until then they work by copy-on-write: ALTER TABLE {table} SET TBLPROPERTIES "
    "('write.delete.mode' = 'copy-on-write', 'write.update.mode' = 'copy-on-write', 'write.merge.mode' = "
    "'copy-on-write').",
    "old-spec-listed": "INSERT INTO {table} SELECT * FROM {table} WHERE false adds no row, and its commit leaves that "
    "manifest out.",
    "header-schema": "Spark reads rows by the table's schema, whatever the header says. Look which of the two has the "
    "columns of the data files (icedive inspect file TABLE PATH --show footer shows them): where only the header has, "
    "the metadata file was edited, and nothing in Spark mends that. Else no row is affected in Spark. For "
    "readers that refuse such a header, rewrite_manifests writes others, by the table's schema: icedive maintain "
    "preview TABLE rewrite-manifests has the statement, where there are several manifests to merge.",
    "uncommitted": "First ask the writer of those files, or look for their rows in the table. Where they are nowhere, "
    "insert them again, or have the procedure add_files add the files to the table, once for each (source_table => "
    "'`parquet`.`PATH`'). Where they are in the table, that doubles them, and brings back rows that deletes hide. CALL "
    "{catalog}.system."
    "remove_orphan_files(table => '{name}', dry_run => true) lists what is older than three days; without dry_run it "
    "removes them, those files too.",
    "spared": "remove_orphan_files would take files that may be live. icedive maintain preview TABLE remove-orphans "
    "tells of each why. First see who needs them: another table in this folder, or a state of this one that a catalog "
    "still has.",
    "prefixes": "remove_orphan_files may refuse, or take files in use for orphans. icedive maintain preview TABLE "
    "remove-orphans tells what it would do with each file, and prints the statement with the arguments that it needs.",
    "lost-metadata": "Where an expiry took that snapshot, nothing has to be done. Else what that metadata file has is "
    "lost to readers, and nobody was told. Do not run remove_orphan_files before you know: it takes that file and its "
    "data files. Add columns that are missing again (ALTER TABLE {table} ADD COLUMN). For its rows, the procedure "
    "register_table makes a table of that file under another name, from which they can be copied. Do not move the "
    "catalog's pointer to that file: what was committed since would be lost.",
    "shared-folder": "Nothing in Spark moves a table. Open each by its catalog, or by the path of its metadata file. "
    "See whether a catalog still has the other one, by another name "
    "(icedive overview TABLE shows the location). If so, run remove_orphan_files on neither (icedive maintain preview "
    "TABLE remove-orphans tells what it would take), and drop neither in an engine that removes the folder; CREATE "
    "TABLE ... AS SELECT writes the rows of one to another place. If not, its files may go.",
    "catalog-behind": "Nothing in Spark moves the pointer of a table that is there. See what the newer file has, by "
    "its path (icedive doctor PATH --files tells what it lacks, icedive inspect snapshots PATH shows its commits). "
    "Where these are wanted, the procedure register_table makes a table of it under another name. Do not run "
    "remove_orphan_files before: to this table what only the newer file names are orphans.",
    "beyond-key": "Nothing has to be done where those columns have the values of the rows that go. CALL {catalog}."
    "system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true', 'remove-dangling-deletes', "
    "'true')) writes the rows that stay, and drops the deletes.",
    "by-name": "Keep the property schema.name-mapping.default as it is. CALL {catalog}.system.rewrite_data_files("
    "table => '{name}', options => map('rewrite-all', 'true')) writes files that have field ids.",
    "old-manifest": "Nothing has to be done for Spark, pyiceberg and Trino. For other readers rewrite_manifests writes "
    "such manifests anew: icedive maintain preview TABLE rewrite-manifests has the statement, where there are several.",
    "unordered-ids": "Nothing has to be done for other readers. CALL {catalog}.system.rewrite_data_files(table => "
    "'{name}', options => map('rewrite-all', 'true', 'remove-dangling-deletes', 'true')) writes the rows that stay, "
    "and drops the deletes.",
    "dropped-column": "Nothing has to be done for other readers. CALL {catalog}.system.rewrite_data_files(table => "
    "'{name}', options => map('rewrite-all', 'true')) writes files without the column.",
    "crossed-tasks": "If these rows are to go, delete them again in a later commit, by the keys that the delete holds "
    "(icedive inspect file TABLE PATH --show deletes shows them): a DELETE in Spark does. A row that the task of the "
    "delete wrote with the same key is newer, and may be meant to stay (icedive data history TABLE FILTER shows all). "
    "In Flink, distribute the stream by its key (keyBy, or write.distribution-mode=hash on the equality fields) before "
    "the sink, so that one task has all changes of a key.",
    "delete-repeated": "Nothing in Spark tells which of the rows with one key was meant. icedive data history TABLE "
    "FILTER shows them, with the file of each. Delete them by their key, and insert the newest again. A job will do it "
    "again whose parallel writers get changes of one key (distribute its stream by the key before the sink), or whose "
    "sink commits two checkpoints at once (update it).",
    "of-partition-alone": "CALL {catalog}.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', "
    "'true')) writes files that have the column. Spark, Trino, DuckDB 1.5.5, ClickHouse 26.9, polars 2.1, iceberg-rust "
    "and pyiceberg 0.9 need nothing.",
    "great-version": "Nothing in Spark mends a folder. Open the table through its catalog, or by the path of its "
    "metadata file. Leave the hint as it is: readers that do open the folder go by it.",
    "file-replaced": "Another file took its place. Restore the file from a backup, or else: {back} The rows that it "
    "has now can be read by a new table: the procedure add_files adds such files to one, with their present sizes.",
    "path-outside": "Nothing in Spark mends it, and nothing is lost. If you trust the folder, let it be read (--root).",
    "copied-or-edited": "Nothing in Spark mends it in place. Reading needs nothing; a copy that is to be written to is "
    "made by the procedure rewrite_table_path, from the original. Where there is no original, as after a move, move "
    "the folder back to that place before anybody writes.",
    "column-type": "Only Spark's other reader takes the values as they are, so first ALTER TABLE {table} SET "
    "TBLPROPERTIES ('read.parquet.vectorization.enabled'='false') (and let no session set spark.sql.iceberg."
    "vectorization.enabled), and then CALL {catalog}.system.rewrite_data_files(table => '{name}', options => map("
    "'rewrite-all', 'true')), which writes them in the spec's types. Without the first, the second writes what Spark "
    "misreads, for good. Older snapshots keep the fault until they expire.",
    "no-summary": "The next commit that Spark makes, an INSERT say, has a summary, and what is current then can be "
    "read. Nothing in Spark mends the snapshots that lack one: the finding goes when they expire.",
    "no-totals": "Later commits of Iceberg Java lack it too, since they count on from the summary before. CREATE OR "
    "REPLACE TABLE {table} USING iceberg AS SELECT * FROM {table} begins anew, and counts. It writes all rows, and "
    "keeps neither partitioning nor sort order unless the statement names them.",
    "field-id-zero": "Nothing in Spark mends it in place. CREATE TABLE ... AS SELECT makes a table whose field ids "
    "begin with 1, for readers that refuse 0.",
    "no-schema-id": "The next snapshot that Iceberg Java commits has one: any INSERT, or CALL {catalog}.system."
    "rewrite_manifests('{name}') where manifests can be merged. Older snapshots stay as they are.",
    "loads-anyway": "Nothing has to be done for Iceberg Java, which loads the table. Nothing in Spark changes this "
    "field: the writer will do it again, so update or report it.",
    "current-unset": "Nothing is lost, but no procedure mends it. Copy the metadata file under another name in its "
    "folder, give the copy the field current-snapshot-id with the snapshot-id of refs.main, and register the copy with "
    "register_table under another name. The old name is taken until the catalog's own tool removes the broken entry. "
    "Both have the same files: run neither expire_snapshots nor remove_orphan_files while there are two.",
    "schema-in-header": "Iceberg cannot load the table, so no procedure mends it. {mended}The old name is taken until "
    "the catalog's own tool removes the broken entry. Both have the same files: run neither expire_snapshots nor "
    "remove_orphan_files while there are two.{else_back}",
    "no-uuid": "No row is affected: readers that ask for no UUID read the table (icedive readers TABLE names them). No "
    "procedure of Spark writes a UUID: SET TBLPROPERTIES commits without one, and an upgrade to version 2 is refused. "
    "pyiceberg 0.12 cannot commit either ('Table UUID does not match'). {mended}",
    "changed-snapshot": "Iceberg loads the table as it is, and nothing in Spark changes a snapshot. icedive history "
    "metadata TABLE shows how the two metadata files differ; ask the writer of the newer one. Where the older one is "
    "right, the snapshots after it can be committed anew from there; going back to it loses them.",
    "nan-order": f"{READS_ROWS} reads NaN too, for MAX. Iceberg 1.11 and later do so by themselves where NaN is "
    "counted. In filters, ask for NaN by its name: x > 1 OR isnan(x).",
    "wide-bounds": f"{READS_ROWS} reads the rows. CALL {{catalog}}.system.rewrite_data_files(table => '{{name}}', "
    "options => map('rewrite-all', 'true')) writes files with bounds that are values.",
    "new-uuid": "Nothing is lost, no row is affected, and nothing in Spark sets a UUID: open the table again where it "
    "is refused. Have its writer keep the UUID of the table.",
    "type-read-right": "Nothing has to be done. Any rewrite writes the spec's types.",
    "type-read-by-some": "Spark reads the values as they are, so it can write them anew: CALL {catalog}.system."
    "rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true')) writes the spec's types, which all "
    "readers take. Older snapshots keep the fault until they expire.",
    "type-misread": "No procedure mends it: a rewrite would fail, or write other values for good. pyiceberg may read "
    "the file. Where Spark reads it by itself (SELECT * FROM parquet.`PATH`, with a CAST), delete the rows of the file "
    "by a filter that takes it whole, and insert what was read from its path, before any snapshot expires. Otherwise "
    "have the rows written again from where they came.",
    "identity-value": "See which of the two is right. {by_path} If the "
    "partition is: rewrite_data_files with rewrite-all writes its value into the files, for good.{or_back}",
    "delete-value": "Nothing in Spark makes the delete apply. Do not drop it before you know which of the two is "
    "wrong. icedive inspect file TABLE PATH --show deletes shows the keys that it holds. If the column is wrong in the "
    "delete (a writer that mixed up its columns), its rows are in its partition: delete them there again, by the other "
    "columns of the key. If the partition is wrong, delete them again by the whole key. Look at the rows first: an "
    "upsert wrote a newer row of each key, and icedive data history TABLE FILTER shows all rows of a key. Where no row "
    "has to go, compaction may drop the delete. The writer will do it again: update or report it.",
    "hint-missing": "Nothing has to be done for Spark. Any commit that Spark makes in this folder writes the file, for "
    "readers that need it: ALTER TABLE {table} SET TBLPROPERTIES ('written-again' = 'true'), then ALTER TABLE {table} "
    "UNSET TBLPROPERTIES ('written-again').",
    "named-earlier": "Nothing has to be done to look at an earlier state. Have each engine that was given this path "
    "open the table by its folder, or its name in a catalog. Let no writer and no maintenance begin from this file.",
    "begun-anew": "Nothing in Spark mends it, and what this state has can be read. If rows are missing, ask whoever "
    "wrote this file, or a backup, for what was there before.",
    "hint-behind": "Nothing has to be done for Spark, which goes on to the newest. Let no writer and no maintenance "
    "that stops at the hint run before it is mended. The next commit that Spark makes in this folder writes the "
    "number anew, for readers that stop at it: ALTER TABLE {table} SET TBLPROPERTIES ('written-again' = 'true'), then "
    "ALTER TABLE {table} UNSET TBLPROPERTIES ('written-again').",
    "version-misnamed": "Nothing in Spark mends a folder. Copy the file under a name that Iceberg looks for (v, the "
    "number, .metadata.json; unpacked where it is compressed): then Spark opens it.",
    "hint-ahead": "No statement of Spark opens the folder before that is mended. Restore the metadata file of that "
    "version from a backup: it may have commits that the others lack. Where there is none, take version-hint.text "
    "away: then Spark opens the highest version that is there, and what only the lost one had is lost to readers. The "
    "next commit writes the hint again.",
    "version-gone": "No statement of Spark leads over the gap, and a commit now makes another history in it: stop the "
    "writers. Restore the metadata file that is missing from a backup, or write the number of the version that is to "
    "be the table's into version-hint.text: Spark opens that version, and goes on while the next one exists.",
    "without-version": "Nothing has to be done for readers that ask a catalog for the table: they take any name, and "
    "its next commit writes a file whose name has a version. For readers of the folder, copy the newest metadata file "
    "as v1.metadata.json beside it, and write 1 into version-hint.text: they read the table as it is now. ClickHouse "
    "looks at the name of each file in the folder: where it fails, give it iceberg_use_version_hint = 1 as well. Copy "
    "the file anew after each commit. Where no catalog has the table, make a table of it in one, by the procedure "
    "register_table, and commit there. The old names stay in the folder: ClickHouse has to ask the catalog then.",
    "metadata-choice": "Nothing in Spark mends a folder. Open the table by its catalog, or by the path of its metadata "
    "file, and take out of the folder what misleads readers: a version-hint.text that is wrong, or metadata files of "
    "another table that no catalog has any more.",
}
"""By rule, or by what a finding of a rule is: in place of the letter's."""
LETTER_OF_CASE: Mapping[str, Remedy] = {
    "property-class": "U",
    "empty-segment": "R",
    "slash-at-end": "H",
    "one-slash-away": "H",
    "other-scheme": "Y",
    "overwritten-log": "Y",
    "swapped-metadata": "Y",
    "no-live-counted": "N",
    "no-live-before": "H",
    "old-order": "H",
    "wrong-list": "G",
    "rows-added": "W",
    "rounded-ids": "Y",
    "crossed-tasks": "Z",
    "old-manifest": "H",
    "dropped-column": "R",
    "unordered-ids": "C",
    "partition-counts": "S",
    "spared": "D",
    "prefixes": "D",
    "file-size": "K",
    "early-partition": "R",
    "wrapped-partition": "J",
    "changed-nothing": "C",
    "empty-delete": "H",
    "partition-forgotten": "H",
    "delete-value": "Z",
    "identity-value": "G",
    "hive-null": "Q",
    "encoded-value": "Q",
    "maybe-padded": "H",
    "position-bounds": "C",
    "avro-refused": "G",
    "type-read-right": "H",
    "type-read-by-some": "R",
    "no-summary": "E",
    "old-field": "J",
    "no-current-id": "J",
    "rows-lost": "G",
    "files-kept": "G",
    "rows-twice": "T",
    "without-parent": "W",
    "void-field": "H",
    "old-void-field": "H",
    "nan-order": "X",
    "wide-bounds": "R",
    "no-schema-id": "H",
    "new-uuid": "W",
    "no-uuid": "X",
    "loads-anyway": "W",
    "current-unset": "X",
    "schema-in-header": "X",
    "changed-snapshot": "W",
    "field-id-zero": "H",
    "type-misread": "X",
    "header-spec": "B",
    "header-alone": "B",
    "header-schema": "X",
    "great-version": "Y",
    "hint-missing": "Y",
    "hint-behind": "Y",
    "named-earlier": "Y",
    "begun-anew": "Y",
    "version-misnamed": "Y",
    "hint-ahead": "Y",
    "version-gone": "Y",
    "without-version": "Y",
    "catalog-behind": "Y",
    "lost-metadata": "Y",
    "shared-folder": "Y",
    "uncommitted": "D",
    "dropped-source": "R",
    "void-without-source": "J",
    "old-spec-listed": "E",
    "old-spec-kept": "E",
    "partition-names": "J",
    "names-in-case": "J",
    "former-name": "J",
    "property-unknown": "U",
    "lost-ref": "A",
    "file-added-again": "A",
    "by-name": "R",
    "name-taken": "J",
    "no-totals": "O",
    "of-partition-alone": "R",
    "beyond-key": "C",
    "file-replaced": "F",
}
"""By what a finding of a rule is, where that is not the rule's."""
