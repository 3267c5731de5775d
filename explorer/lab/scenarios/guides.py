"""What to watch for in the graph of each teaching table, and questions that its exported page asks. A page needs no
kernel, so nothing judges an answer there: the reader unfolds it. tests/unit/test_guides.py computes every answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PageQuestion:
    """A question that the graph answers, and its answer with the reason."""

    question: str
    answer: str


@dataclass(frozen=True)
class Guide:
    """What to look at in a table's graph, in one or two sentences, and what its page asks."""

    watch: str
    questions: tuple[PageQuestion, ...]


def _guide(watch: str, *questions: tuple[str, str]) -> Guide:
    return Guide(watch, tuple(PageQuestion(*one) for one in questions))


_COMPACTED = (
    "Compaction has hidden the deleted rows for good. Why are the two delete files of snapshot-4 still live?",
    "Iceberg 1.12 does not remove a position delete file only because its data file has gone. They delete nothing "
    "any more; rewrite_position_delete_files removes them.",
)

GUIDES: Mapping[str, Guide] = {
    "three_inserts": _guide(
        "Step from snapshot-1 to snapshot-3. Each manifest list names the manifests of earlier commits again. "
        "Unfold metadata-1 and metadata-2: each metadata file knows all snapshots so far.",
        ("How many manifests does the list of snapshot-2 name, and how many of them did snapshot-2 write?",
         "Two, and it wrote one of them. A list is of the whole table, not of a commit."),
        ("Which snapshots does metadata-2 know?",
         "snapshot-1 and snapshot-2. metadata-0, which CREATE TABLE wrote, knows none."),
    ),
    "tracked_delete": _guide(
        "In snapshot-3, manifest-3 stands where manifest-1 stood. Its only entry is DELETED, and manifest-2 stays "
        "as it is.",
        ("snapshot-3 deletes a file. Which manifest is gone, and which one is not written again?",
         "manifest-1 is gone: manifest-3 has its entry, with status DELETED. manifest-2 had nothing to change, so "
         "the new list names it again."),
    ),
    "manifest_lifecycle": _guide(
        "Follow data-1 through the five snapshots: ADDED, DELETED, and then no list leads to it. Follow "
        "manifest-4: snapshot-5 drops it.",
        ("What is the status of data-2 in each of the five snapshots?",
         "ADDED, EXISTING, EXISTING, DELETED, and in snapshot-5 it is gone. ADDED and DELETED hold only in the "
         "snapshot that made the change."),
        ("Why does the list of snapshot-5 not name manifest-4?",
         "manifest-4 has only a DELETED entry, which no later snapshot needs. MergeAppend drops such a manifest."),
    ),
    "manifest_lifecycle_fast_append": _guide(
        "The commits are those of manifest_lifecycle. Compare snapshot-5 in both: here manifest-4 is still in the "
        "list.",
        ("How many manifests does the list of snapshot-5 name, and how many of them lead to a live file?",
         "Three, and two do. FastAppend takes the older list as it is, so manifest-4 with its DELETED entry comes "
         "along."),
    ),
    "copy_on_write_update": _guide(
        "Look at what snapshot-2 changed: one file DELETED and one ADDED, each with three rows, though one row "
        "was updated.",
        ("One row of three was updated. How many rows were written?",
         "Three. Copy-on-write writes the file anew: the rows that do not change are copied."),
    ),
    "position_deletes": _guide(
        "In snapshot-2 the first data file stays. A second manifest, of deletes, leads to a delete file that "
        "names it.",
        ("How many rows has the table in snapshot-2, and how many rows do its data files have together?",
         "Three, and four. The delete file hides the old row of jack by its position in the first data file."),
        ("Which row does the delete file hide?",
         "Position 0 of the first data file: both its bounds of the position are 0."),
    ),
    "equality_deletes": _guide(
        "Compare the sequence numbers: 1, 2 and 3 for the data files, 2 for the delete file. Each data file has a "
        "row with name 'jack'.",
        ("The delete file says name = 'jack'. In which data files does it hide rows?",
         "Only in the file of snapshot-1. An equality delete applies to files with a lower data sequence number: "
         "1 is less than 2; 2 and 3 are not."),
    ),
    "streaming_upserts": _guide(
        "Each checkpoint writes new rows and an equality delete of their keys. snapshot-2 has a position delete "
        "file, too.",
        ("Why does snapshot-2 need two delete files?",
         "It wrote id 4 twice, and deleted id 5, which it had written. Its equality delete hides rows of earlier "
         "snapshots only: its own rows have the same sequence number. So a position delete hides these two."),
    ),
    "deletion_vectors": _guide(
        "snapshot-2 adds a deletion vector in a Puffin file. In snapshot-3 that vector is DELETED, and a new one "
        "is ADDED.",
        ("Two commits deleted a row each. How many deletion vectors are live, and of how many rows?",
         "One, of two rows. A data file has at most one vector, so the second one contains the first."),
        ("Which row id has the row that the update of snapshot-2 wrote to its new file?",
         "Still 0, not 3: the id that the row had. A file's rows count on from its first_row_id only where no id "
         "is written."),
    ),
    "mixed_modes": _guide(
        "snapshot-2, a DELETE, adds a delete file. snapshot-3, a MERGE, writes the data file anew.",
        ("Is the delete file of snapshot-2 still needed in snapshot-3?",
         "No. It names the file that MERGE has replaced. It is still listed, and hides nothing."),
    ),
    "compaction_bin_pack": _guide(
        "Four commits make three small files and two delete files. Look at what snapshot-5 changed: three files "
        "DELETED, one ADDED.",
        ("Three files with twelve rows became one with ten. Where are the other two rows?",
         "They were deleted by snapshot-4. Compaction reads rows as a reader does, so it writes only visible "
         "ones."),
        _COMPACTED,
    ),
    "compaction_sort": _guide(
        "The commits are those of compaction_bin_pack, but snapshot-5 sorts the rows by name.",
        ("The new file has the same bounds as that of compaction_bin_pack. What is sorting good for here?",
         "For nothing: there is one file, and bounds are of a whole file. Sorting helps where rows go to several "
         "files, as in sorted_files."),
        _COMPACTED,
    ),
    "compaction_z_order": _guide(
        "The commits are those of compaction_bin_pack, but snapshot-5 orders the rows by name and colour at once.",
        ("When does z-order help more than a sort?",
         "Where some filters are on one column and some on another. A sort keeps bounds narrow only for its first "
         "column."),
        _COMPACTED,
    ),
    "unsorted_files": _guide(
        "Click each data file, and read the bounds of its names in the inspector.",
        ("The filter is name = 'jack'. How many of the four files must be read?",
         "All four: 'jack' is between the lower and the upper bound of each."),
    ),
    "sorted_files": _guide(
        "Click each data file, and read the bounds of its names: they do not overlap. The rows are those of "
        "unsorted_files.",
        ("The filter is name = 'jack'. How many of the four files must be read?",
         "One: only the file from 'eve' to 'leo' can have such a name."),
    ),
    "column_statistics": _guide(
        "Click the data files. Bounds of place end after 16 letters; one file has no bounds of reading, and no "
        "file has bounds of note.",
        ("Three places begin with 'weather station'. What is the upper bound of place in their files?",
         "'weather station!'. A text is cut after 16 letters, and an upper bound must not be too low, so its last "
         "letter is the next higher one."),
    ),
    "wide_table": _guide(
        "Click a data file: of its 111 columns, 100 have bounds.",
        ("A filter is on the last column. Which files can a reader skip?",
         "None. Iceberg keeps statistics of the first 100 columns, unless the table's properties say otherwise."),
    ),
    "bloom_filter": _guide(
        "Click the three data files: the bounds of badge overlap in all of them.",
        ("The filter is badge = 'm50'. How many files do the bounds exclude?",
         "None: 'm50' is between the bounds of all three. Only the Bloom filter in each file tells more, and a "
         "reader opens the file for it."),
    ),
    "hidden_partitioning": _guide(
        "Click a data file: its partition has a value for each transform, such as a bucket of id and the month of "
        "joined.",
        ("Nobody wrote a bucket or a month into the rows. Where do the partition values come from?",
         "Iceberg computes them from the columns when it writes. A filter on the column is enough for a reader."),
        ("The second spec has eight fields, as the first one has, though note was dropped. Why?",
         "In format version 1 the places of fields must stay. So the field stays, with the transform void."),
    ),
    "partition_evolution": _guide(
        "Click the files: three have spec 0, with hours, and two have spec 1, with days.",
        ("How many files did the change from hours to days write anew?",
         "None. Each manifest says by which spec its files were written, and a reader plans each spec by itself."),
    ),
    "schema_evolution": _guide(
        "Click the three files, and compare the columns that have bounds. snapshot-1 wrote name; it is called "
        "fruit now.",
        ("color was dropped, and added again. Do rows of snapshot-2 show the color that they were written with?",
         "No, null. The new color has field id 7, and the file has values of field id 6."),
    ),
    "events": _guide(
        "Three files have three formats: Parquet, ORC, Avro. The oldest one has a month as its partition, the "
        "others a day.",
        ("Which of the three files has no bounds?",
         "The Avro file: Iceberg keeps no bounds for Avro."),
        ("What does the oldest file give for the column source, which came later?",
         "null: it has no field with that id."),
    ),
    "orders": _guide(
        "The column name was dropped, and added again. Compare the bounds of the first two files with those of "
        "the third.",
        ("Which name do the first two orders show?",
         "None (null). They have values of field id 2; the new name has field id 4."),
    ),
    "branches_and_tags": _guide(
        "Three refs point into six snapshots. Follow each snapshot's parent, and find the one that main has left.",
        ("snapshot-3 and snapshot-5 add the same row. How do they differ?",
         "snapshot-3 was staged: no ref led to it. snapshot-5 is its copy, which a cherry-pick published on main."),
        ("snapshot-6 is the newest one. Why is it not current?",
         "main was rolled back to snapshot-5. snapshot-6 stays in the metadata until it expires."),
    ),
    "upgraded_v1": _guide(
        "Look at the sequence numbers of the manifests: 0 for those that version 1 wrote.",
        ("Why do the manifests of version 1 have sequence number 0?",
         "Version 1 has no sequence numbers, and readers take 0. So every delete of a later version applies to "
         "their files."),
        ("The delete file of snapshot-3 is Parquet, that of snapshot-5 is Puffin. Why?",
         "snapshot-3 was written in version 2, as a position delete file; snapshot-5 in version 3, as a deletion "
         "vector."),
    ),
    "long_history": _guide(
        "300 commits of four files each, but the current list has few manifests. The page has the newest 50 "
        "snapshots.",
        ("How many manifests does the current list name?",
         "Three. Every hundred commits Iceberg merges small manifests, so that a plan does not open 300."),
    ),
}  # fmt: skip
"""The guide of each teaching table, by the table's name."""
