"""Quizzes about the tree of files, from the catalog's pointer to the entries of manifests (notebooks 01 and 02)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from explorer.lab.exercises.entries import ChoiceEntry, NumberEntry
from explorer.lab.exercises.quiz import Line, open_demo, quiz
from explorer.lab.exercises.reading import GONE, LOGICAL, STATUS, STORED
from explorer.queries.collection import Collection
from explorer.reports.catalog_entry import pointer
from explorer.spec.text.names import base_name, manifest_name, snapshot_name, snapshot_ordinals
from explorer.storage.locate import locate
from explorer.storage.paths import local_path
from explorer.storage.reader import TableReader
from explorer.table import Table

CATALOG, METADATA, LIST, MANIFEST, DATA = "catalog", "metadata file", "manifest list", "manifest", "data file"
COUNT = NumberEntry()
KINDS = ChoiceEntry((METADATA, LIST, MANIFEST, DATA))
PLACES = ChoiceEntry((CATALOG, METADATA, LIST, MANIFEST))
FORMATS = ChoiceEntry(("JSON", "Avro", "Parquet"))
NAMES = ChoiceEntry(("the version", "snap-", "a UUID"))
MAGIC = {b"Obj\x01": "Avro", b"PAR1": "Parquet"}
"""How files begin that are no JSON."""


def _local(path: Any) -> Path:
    return Path(str(local_path(str(path))))


def _metadata_files(table: Table) -> list[Path]:
    """The metadata files in the table's folder, oldest first."""
    return sorted(_local(table.metadata.metadata_location).parent.glob("*.metadata.json"))


def files_by_kind(table: Table) -> dict[str, Path]:
    """One file of each kind of the current snapshot."""
    snapshot = table.metadata.current_snapshot
    return {
        METADATA: _local(table.metadata.metadata_location),
        LIST: _local(snapshot.manifest_list if snapshot else ""),
        MANIFEST: _local(table.manifests()[0]["manifest_path"]),
        DATA: _local(table.files()[0]["file_path"]),
    }


def file_format(path: Path) -> str:
    """The format of a file, by how it begins."""
    with path.open("rb") as file:
        return MAGIC.get(file.read(4), "JSON")


def folder_files(metadata_location: str) -> Collection:
    """List the files of a table's metadata and data folders, each with its first four bytes.

    Args:
        metadata_location: A metadata file of the table.

    Returns:
        A row for each file: `file`, below the table's folder, and `begins_with`.
    """
    folder = _local(metadata_location).parents[1]
    paths = sorted(path for name in ("metadata", "data") for path in (folder / name).glob("[!.]*"))
    rows = [{"file": str(path.relative_to(folder)), "begins_with": str(path.read_bytes()[:4])[2:-1]} for path in paths]
    return Collection.of_rows(rows, "files")


def _beginning(path: Path) -> str:
    if re.match(r"\d{5}-[0-9a-f]{8}-", path.name):
        return "the version"
    return "snap-" if path.name.startswith("snap-") else "a UUID"


def manifest_list_names(table: Table, snapshot: str) -> list[str]:
    """The names of the manifests in the list of a snapshot."""
    ordinals = snapshot_ordinals(table.metadata)
    manifests = table.tree.manifests(table.resolve(snapshot).snapshot)
    return sorted(manifest_name(manifest, ordinals) for manifest in manifests)


def _pointer_facts(_: Any) -> Sequence[Any]:
    table = open_demo("three_inserts")
    kinds = {str(path): kind for kind, path in files_by_kind(table).items()}
    versions = [Table(TableReader(locate(f"file:{path}"))) for path in _metadata_files(table)]
    snapshots = [len(version.metadata.snapshots) for version in versions]
    return kinds[str(_local(pointer(table).metadata_location))], len(versions), snapshots[0], snapshots[2], snapshots[3]


POINTER = quiz(
    "demo.three_inserts was made by one CREATE TABLE and three INSERTs. Nothing has expired.",
    [
        Line(
            "The catalog's row has the location of a", KINDS, {LIST: "Between the pointer and the lists is one more."}
        ),
        Line("Metadata files in the folder", COUNT, {3: "CREATE TABLE commits, too.", 1: "A commit changes no file."}),
        Line("Snapshots in the first metadata file", COUNT, {1: "It was there before the first INSERT."}),
        Line(
            "Snapshots in the third one (00002-…)",
            COUNT,
            {3: "It was written by the second INSERT.", 1: "It keeps older ones."},
        ),
        Line("Snapshots in the newest one", COUNT, {1: "It keeps the snapshots before."}),
    ],
    _pointer_facts,
    (METADATA, 4, 0, 2, 3),
    nudge="Each commit writes a new metadata file and keeps what was known before.",
    look="`icedive catalog pointer demo.three_inserts`, and the metadata nodes in the graph: unfold them with +.",
    reason="The catalog stores one location: that of the newest metadata file. Every commit writes the next file with "
    "all snapshots so far, and swaps the location. The older files stay.",
)


def _name_facts(_: Any) -> Sequence[Any]:
    files = files_by_kind(open_demo("three_inserts"))
    return [_beginning(files[kind]) for kind in (METADATA, LIST, MANIFEST)]


NAMING = quiz(
    "In the folder of demo.three_inserts: how does the name of each kind of file begin?",
    [
        Line("A metadata file", NAMES, {"a UUID": "There is a UUID in it, but not first."}),
        Line("A manifest list", NAMES, {"the version": "Only metadata files are numbered."}),
        Line("A manifest", NAMES, {"the version": "Only metadata files are numbered."}),
    ],
    _name_facts,
    ("the version", "snap-", "a UUID"),
    nudge="Figures call them metadata-3 or manifest-2. Which of these numbers are in a name?",
    look="`icedive show demo.three_inserts`, or the folder itself.",
    reason="A metadata file is called version, UUID, .metadata.json; the UUID keeps two writers of one version "
    "apart. A "
    "manifest list is called snap-, snapshot id, attempt, UUID. The numbers of manifests are only names in figures.",
)


def _format_facts(_: Any) -> Sequence[Any]:
    files = files_by_kind(open_demo("three_inserts"))
    return [file_format(files[kind]) for kind in (METADATA, LIST, MANIFEST, DATA)]


FILE_FORMATS = quiz(
    "Which format has each kind of file of demo.three_inserts?",
    [
        Line("Metadata file", FORMATS),
        Line("Manifest list", FORMATS, {"Parquet": "One of the articles says so, and errs."}),
        Line("Manifest", FORMATS, {"Parquet": "One of the articles says so, and errs."}),
        Line("Data file", FORMATS, {"Avro": "It may be Avro, but nobody asked for it here."}),
    ],
    _format_facts,
    ("JSON", "Avro", "Avro", "Parquet"),
    nudge="Which of them is read as one document, which row by row, and which column by column?",
    look="the endings of the names in the folder.",
    reason="A metadata file is one JSON document. Lists and manifests are Avro, whatever the format of the data. A "
    "data "
    "file is Parquet unless a property or the writer says otherwise.",
)


def _tree_facts(_: Any) -> Sequence[Any]:
    table = open_demo("three_inserts")
    manifests = table.manifests("snapshot-3")
    entries = table.entries("snapshot-3")
    first = manifests[0]["manifest_path"]
    return (
        len(table.manifests("snapshot-2")),
        len(manifests),
        sum(entry["manifest_path"] == first for entry in entries),
        len(table.files("snapshot-3")),
        len({_local(f["file_path"]).parent for f in table.files("snapshot-3")}),
    )


TREE = quiz(
    "demo.three_inserts: each INSERT wrote one data file.",
    [
        Line("Manifests in the list of snapshot-2", COUNT, {1: "A list names the manifests of earlier commits, too."}),
        Line("Manifests in the list of snapshot-3", COUNT, {1: "A list names the manifests of earlier commits, too."}),
        Line("Entries of each of these manifests", COUNT, {3: "Each was written by one INSERT."}),
        Line("Data files that a reader of snapshot-3 finds", COUNT),
        Line("Folders that these files are in", COUNT, {3: "The table has no partitions."}),
    ],
    _tree_facts,
    (2, 3, 1, 3, 1),
    nudge="A manifest is written once. Who lists it afterwards?",
    look="`icedive inspect manifests demo.three_inserts -s snapshot-2`, or step with [ and ] in the graph.",
    reason="A snapshot has a manifest list with one record for each manifest, and a manifest has one entry for each "
    "data "
    "file. The list of a new snapshot names the older manifests again. The table is this list of files: no folder says "
    "what belongs to it.",
)


def _where_facts(_: Any) -> Sequence[Any]:
    table = open_demo("orders")
    fields = {
        CATALOG: {key.replace("-", "_") for key in pointer(table).stored.row},
        METADATA: set(table.metadata.raw),
        LIST: set(table.manifests()[0]) - {"manifest_path"} | {"manifest-path"},
        MANIFEST: set(table.entries(view="all")[0]["stored"]),
    }
    wanted = (
        "metadata_location", "schemas", "partition-specs", "sort-orders", "snapshots", "properties", "manifest-path",
        "added_snapshot_id", "added_files_count", "partitions", "record_count", "partition",
    )  # fmt: skip
    return [next(place for place, names in fields.items() if name in names) for name in wanted]


WHERE = quiz(
    "demo.orders: in which place is each of these? If it is in several, choose the highest.",
    [
        Line("The location of the current metadata file", PLACES),
        Line("Columns with their field ids, and older schemas", PLACES),
        Line("Partition specs", PLACES),
        Line("Sort orders", PLACES),
        Line(
            "The current snapshot, and all others that have not expired", PLACES, {CATALOG: "It has one location only."}
        ),
        Line("Properties such as write.delete.mode", PLACES, {CATALOG: "It has one location only."}),
        Line("The paths of the manifests of a snapshot", PLACES, {METADATA: "It names the manifest list only."}),
        Line("Which snapshot added a manifest", PLACES, {MANIFEST: "The manifest does not know it: its list does."}),
        Line("How many files a manifest adds and deletes", PLACES, {MANIFEST: "Nobody has to open it for that."}),
        Line("The range of partition values of a manifest", PLACES, {MANIFEST: "Nobody has to open it for that."}),
        Line("A data file's rows and size", PLACES, {LIST: "It counts by manifest, not by file."}),
        Line("A data file's partition values", PLACES, {METADATA: "It has the spec, not the values."}),
    ],
    _where_facts,
    (CATALOG, METADATA, METADATA, METADATA, METADATA, METADATA, LIST, LIST, LIST, LIST, MANIFEST, MANIFEST),
    nudge="What is true of the whole table, what of one manifest, what of one data file?",
    look="`icedive inspect metadata demo.orders`, `icedive inspect manifests demo.orders --output json` and "
    "`icedive inspect entries demo.orders --output json`.",
    reason="The metadata file describes the table: schemas, specs, sort orders, properties and snapshots. The manifest "
    "list of a snapshot describes manifests, with counts and ranges that let a reader skip them. Manifests describe "
    "files.",
)


def _deleted_facts(_: Any) -> Sequence[Any]:
    table = open_demo("tracked_delete")
    ordinals = snapshot_ordinals(table.metadata)
    manifests = table.tree.manifests(table.resolve("snapshot-3").snapshot)
    added = {manifest_name(m, ordinals): snapshot_name(m.added_snapshot_id, ordinals) for m in manifests}
    paths = {manifest_name(m, ordinals): m.manifest_path for m in manifests}
    entries = [e for e in table.entries("snapshot-3") if e["manifest_path"] == paths["manifest-3"]]
    return added["manifest-2"], added["manifest-3"], len(entries), STATUS[entries[0]["status"]], len(table.files())


SNAPSHOTS_3 = ChoiceEntry(("snapshot-1", "snapshot-2", "snapshot-3"))
TRACKED = quiz(
    "demo.tracked_delete: two INSERTs, then a DELETE of all that the first wrote.",
    [
        Line("The snapshot that added manifest-2", SNAPSHOTS_3, {"snapshot-3": "It only lists it again."}),
        Line("The snapshot that added manifest-3", SNAPSHOTS_3),
        Line("Entries of manifest-3", COUNT, {0: "Somewhere the delete must be told."}),
        Line("The status that manifest-3 stores", STORED, {"ADDED": "The DELETE added no file."}),
        Line("Data files that a reader of snapshot-3 reads", COUNT, {2: "One of them is deleted."}),
    ],
    _deleted_facts,
    ("snapshot-2", "snapshot-3", 1, "DELETED", 1),
    nudge="Additions and deletions are both entries of manifests.",
    look="`icedive inspect manifests demo.tracked_delete`, and `icedive inspect entries demo.tracked_delete`.",
    reason="The DELETE wrote manifest-3, with the entry of the first INSERT's file as DELETED. The record of a "
    "manifest in the list has the snapshot that added it; the list of snapshot-3 carries manifest-2 unchanged.",
)


def _list_facts(_: Any) -> Sequence[Any]:
    table = open_demo("manifest_lifecycle")
    return [" and ".join(manifest_list_names(table, f"snapshot-{n}")) for n in range(1, 6)]


LISTS = ChoiceEntry(
    ("manifest-1", "manifest-2", "manifest-1 and manifest-2", "manifest-2 and manifest-3", "manifest-3 and manifest-4",
     "manifest-3 and manifest-5", "manifest-4 and manifest-5", "manifest-3, manifest-4 and manifest-5")
)  # fmt: skip
FIVE_LISTS = quiz(
    "demo.manifest_lifecycle: snapshot-1 adds data-1 and data-2 (manifest-1), snapshot-2 deletes data-1, snapshot-3 "
    "adds "
    "data-3, snapshot-4 deletes data-2, snapshot-5 adds data-4. Each writes one manifest with its own number. What "
    "is in "
    "the manifest list of each?",
    [
        Line("snapshot-1", LISTS),
        Line(
            "snapshot-2",
            LISTS,
            {"manifest-1 and manifest-2": "manifest-2 has the entries of manifest-1, written anew."},
        ),
        Line("snapshot-3", LISTS),
        Line("snapshot-4", LISTS, {"manifest-2 and manifest-3": "The delete of data-2 changes manifest-2."}),
        Line(
            "snapshot-5",
            LISTS,
            {
                "manifest-4 and manifest-5": "manifest-3 has data-3, which is still there.",
                "manifest-3, manifest-4 and manifest-5": "manifest-4 has nothing but a DELETED entry.",
            },
        ),
    ],
    _list_facts,
    ("manifest-1", "manifest-2", "manifest-2 and manifest-3", "manifest-3 and manifest-4", "manifest-3 and manifest-5"),
    nudge="A delete replaces the manifest that has the file. An insert adds one. This writer leaves out an older "
    "manifest with nothing but DELETED entries.",
    look="`icedive history lifecycle demo.manifest_lifecycle`.",
    reason="Each delete writes the manifest with the file anew and lists the new one instead. What a commit does not "
    "touch is carried. manifest-4 has only a DELETED entry, so the last commit leaves it out.",
)


def _entry(table: Table, snapshot: str, file: str) -> Any:
    return next((e for e in table.entries(snapshot) if base_name(e["file_path"]) == f"{file}.parquet"), None)


def _reading_facts(_: Any) -> Sequence[Any]:
    table = open_demo("manifest_lifecycle")
    at_2, at_3 = ({f: _entry(table, s, f) for f in ("data-1", "data-2")} for s in ("snapshot-2", "snapshot-3"))
    logical = [
        one["logical_status"] or GONE for one in (at_2["data-1"], at_3["data-1"], at_2["data-2"], at_3["data-2"])
    ]
    return [STATUS[at_2["data-1"]["status"]], *logical[:2], STATUS[at_2["data-2"]["status"]], *logical[2:]]


MANIFEST_2 = quiz(
    "demo.manifest_lifecycle: snapshot-2 deleted data-1 and wrote manifest-2, which has data-1 and data-2. snapshot-3 "
    "lists manifest-2 again.",
    [
        Line("data-1, as manifest-2 stores it", STORED, {"ADDED": "snapshot-1 added it, and manifest-1 said so."}),
        Line(
            "data-1, as a reader of snapshot-2 reads it", LOGICAL, {GONE: "snapshot-2 itself deleted it, and tells it."}
        ),
        Line(
            "data-1, as a reader of snapshot-3 reads it", LOGICAL, {"DELETED": "An earlier snapshot told it already."}
        ),
        Line("data-2, as manifest-2 stores it", STORED, {"ADDED": "ADDED holds in snapshot-1 only."}),
        Line("data-2, as a reader of snapshot-2 reads it", LOGICAL),
        Line("data-2, as a reader of snapshot-3 reads it", LOGICAL),
    ],
    _reading_facts,
    ("DELETED", "DELETED", GONE, "EXISTING", "EXISTING", "EXISTING"),
    nudge="A stored status holds in the snapshot that added the manifest. What does a later reader make of it?",
    look="`icedive inspect entries demo.manifest_lifecycle -s snapshot-3 --view logical`, and the same of snapshot-2.",
    reason="A reader makes a logical version of each manifest: in a later snapshot ADDED becomes EXISTING, and DELETED "
    "entries are filtered out. The file of the manifest does not change.",
)


def _record_facts(_: Any) -> Sequence[Any]:
    [record] = open_demo("manifest_lifecycle").manifests("snapshot-2")
    counts = (
        "added_files_count",
        "existing_files_count",
        "deleted_files_count",
        "added_rows_count",
        "deleted_rows_count",
    )
    return [record[name] for name in counts]


RECORD = quiz(
    "The record of manifest-2 in the list of snapshot-2 counts its entries. data-1 has 2 rows, data-2 has 1.",
    [
        Line("added_files_count", COUNT, {2: "snapshot-2 added no file.", 1: "snapshot-2 added no file."}),
        Line("existing_files_count", COUNT, {2: "One of the two entries says DELETED."}),
        Line("deleted_files_count", COUNT),
        Line("added_rows_count", COUNT),
        Line("deleted_rows_count", COUNT, {1: "It counts the rows of the deleted files."}),
    ],
    _record_facts,
    (0, 1, 1, 0, 2),
    nudge="The record counts the files and rows of each status that manifest-2 stores.",
    look="`icedive inspect manifests demo.manifest_lifecycle -s snapshot-2 --output json`.",
    reason="The list counts files and rows of each status, so a reader knows without opening the manifest whether it "
    "has "
    "what it looks for.",
)


def _life_facts(_: Any) -> Sequence[Any]:
    table = open_demo("manifest_lifecycle")
    cells = {c.snapshot: c for c in table.lifecycle() if c.manifest == "manifest-2"}
    by_state = {
        state: next((s for s, c in cells.items() if c.state == state), "") for state in ("created", "rewritten")
    }
    carried = next(s for s, c in cells.items() if c.state == "carried")
    life = table.file_life("data-2.parquet")
    return by_state["created"], carried, by_state["rewritten"], life.added_by, life.deleted_by, len(life.live_in)


SNAPSHOTS_5 = ChoiceEntry(tuple(f"snapshot-{n}" for n in range(1, 6)))
LIFE = quiz(
    "demo.manifest_lifecycle: the life of manifest-2, and of data-2.parquet.",
    [
        Line("manifest-2 is made by", SNAPSHOTS_5),
        Line("manifest-2 is carried unchanged by", SNAPSHOTS_5),
        Line("manifest-2 is replaced, its entries written anew, by", SNAPSHOTS_5),
        Line("data-2.parquet is added by", SNAPSHOTS_5),
        Line("data-2.parquet is deleted by", SNAPSHOTS_5),
        Line(
            "Snapshots in which the file is live, and which must expire before it can be removed",
            COUNT,
            {
                1: "The next two snapshots have it as EXISTING, so their readers need it, too.",
                4: "snapshot-4 lists it as DELETED, so no reader of snapshot-4 needs it.",
                5: "The list of snapshot-5 leads to no entry of it.",
            },
        ),
    ],
    _life_facts,
    ("snapshot-2", "snapshot-3", "snapshot-4", "snapshot-1", "snapshot-4", 3),
    nudge="In which snapshots does a reader read the file? An entry that says DELETED only tells what the snapshot "
    "removed.",
    look="`icedive history lifecycle demo.manifest_lifecycle`, and "
    "`icedive inspect file demo.manifest_lifecycle data-2.parquet`.",
    reason="snapshot-2 made manifest-2, snapshot-3 listed it again, and snapshot-4 deleted an entry of it, so it wrote "
    "manifest-4. Three snapshots have data-2 as a live file, and time travel to them needs it. A writer may also wait "
    "until snapshot-4 has expired: the spec lets it remove a file with the snapshot that deleted it.",
)
