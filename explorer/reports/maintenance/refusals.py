"""Why Spark would refuse a procedure on a table, or why its result would not be what the plan promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import OutsideRoots, UnreadableFile
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.miscounted_manifests import LIVE_FILE_COUNTS
from explorer.queries.parquet_groups import columns_spark_cannot_rewrite
from explorer.spec.deletes.delete_pairs import fitting
from explorer.spec.deletes.deletes import lacks_place, target_file
from explorer.spec.doctor.loading import explain_not_loaded
from explorer.spec.doctor.remedy_cases import LOSES, NO_UUID
from explorer.spec.entries.entries import DELETED, live_entries
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.entries.live_files import LiveFile, place
from explorer.spec.entries.numpy_columns import Ints, ints
from explorer.spec.text.names import shorten
from explorer.spec.text.units import count
from explorer.spec.values.hashes import hashes
from explorer.spec.values.values import partition_dicts
from explorer.storage.rows import read_schema

MANIFEST_FIELD_IDS = frozenset({0, 1, 2, 3, 4, *range(100, 147)})
"""Ids of the fields of manifest entries and data files, which the spec keeps below 1000."""
MAX_CHECKED_FILES = 1000
"""Files whose sizes are compared with what the manifests say."""
MAX_OPENED_FILES = 100
"""Files whose footers are read."""
PATH_WIDTH = 200
"""Characters of a path in a sentence."""
NOTHING = pa.schema([("manifest_path", pa.string())])
PLACES = pa.schema([("file_path", pa.string()), ("place", pa.string())])


def check_readable_by_iceberg(metadata: TableMetadata) -> None:
    """Raise ValueError when Iceberg Java cannot load a table, or read any manifest of it: no statement on it runs."""
    if reason := explain_unreadable(metadata):
        raise ValueError(reason)


def explain_unreadable(metadata: TableMetadata) -> str:
    """Return why Iceberg Java cannot load a table, or read any manifest of it; empty where it can."""
    if reason := explain_not_loaded(metadata):
        does = "query" if NO_UUID in reason else "load"
        return f"it cannot {does} this table, since {reason}: icedive doctor TABLE has the way back"
    for spec in metadata.partition_specs:
        for field in spec.fields:
            if field.field_id in MANIFEST_FIELD_IDS:
                return (
                    f"partition field {field.name!r} has the id {field.field_id}, which a field of every manifest has "
                    "too: Iceberg cannot read the manifests of this table"
                )
    return ""


def find_unfit_manifest(tree: MetadataTree, merges: bool = True) -> str:
    """Return why nothing may be written anew where a manifest of the current snapshot has live deletes among data
    files, or data files among deletes, or live files though the manifest list counts none; empty where none has.

    Iceberg Java goes by what the manifest list says: compaction fails (ClassCastException), and rewrite_manifests
    writes a delete as a data file, without the columns that it deletes by. A commit of files leaves out a manifest
    whose counts say that no file in it is live; rewrite_manifests fails on one (explain_miscounted).

    Args:
        tree: A complete one, which raises UnreadableFile for what cannot be read.
        merges: Whether a commit of files is asked about.
    """
    unfit = tree.read(Parts(tree.manifests(tree.metadata.current_snapshot), False, _unfit, LIVE_FILE_COUNTS))
    rows = (row for part in unfit.read() for row in part.to_pylist())
    row = next((row for row in rows if merges or row["content"] is None), None)
    if row is None:
        return ""
    path = _short(row["manifest_path"])
    if row["content"] is not None:
        what = "rows" if row["content"] == 0 else "deletes"
        return (
            f"Do not run this: the manifest list counts no live file in {path}, and {count(row['files'], 'file')} "
            f"{'is' if row['files'] == 1 else 'are'} live in it. {LOSES[0].upper()}{LOSES[1:]} by Iceberg Java "
            f"leaves such a manifest out, and so loses these {what}. icedive doctor TABLE has the remedy."
        )
    return (
        f"Do not run this: {path} has live files of another content (data or deletes) than the manifest list "
        "says. Spark would fail, or write them for good as what they are not. icedive doctor TABLE has the remedy."
    )


def _unfit(manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """LIVE_FILE_COUNTS, with a row if a live entry of a manifest has another content than the manifest list says, or if
    the list counts no live entry: then with the content."""
    is_live = pc.not_equal(stored["status"], DELETED).to_numpy()
    number, path = int((is_live & ~fitting(manifest, ints(stored["content"], 0))).sum()), manifest.manifest_path
    rows = [{"manifest_path": path, "files": number, "content": None}] if number else []
    if manifest.counts_no_live and is_live.any():
        rows.append({"manifest_path": path, "files": int(is_live.sum()), "content": manifest.content})
    return pa.Table.from_pylist(rows, schema=LIVE_FILE_COUNTS)


def read_through(tree: MetadataTree, paths: Collection[str] | None = None) -> None:
    """Read manifests as a procedure does, each once.

    Args:
        tree: A complete one, which raises UnreadableFile for what cannot be read.
        paths: Those of the current snapshot to read; None for those of all snapshots.
    """
    meta = tree.metadata
    snapshots = meta.snapshots if paths is None else [meta.current_snapshot]
    listed = {m.manifest_path: m for snapshot in snapshots for m in tree.manifests(snapshot)}
    manifests = [m for path, m in listed.items() if paths is None or path in paths]
    for _ in tree.read(Parts(manifests, False, _nothing, NOTHING, folded=True)).read():
        pass


def _nothing(_: ManifestFile, stored: pa.Table) -> pa.Table:
    return NOTHING.empty_table()


def explain_repeated_file(rows: Iterable[pa.Table], repeated: Ints) -> str:
    """Return why Iceberg refuses to rewrite files of which one is live twice.

    Args:
        rows: Parts of the planned files, with `file_path`.
        repeated: Hashes of paths that the plan has more than once.

    Returns:
        A sentence; empty when no path is there twice.
    """
    if not len(repeated):
        return ""
    paths: Counter[str] = Counter()
    for part in rows:
        some = pc.is_in(pa.array(hashes(part["file_path"])), pa.array(repeated))
        paths.update(part["file_path"].filter(some).to_pylist())
    path, times = paths.most_common(1)[0]
    if times < 2:
        return ""
    return (
        f"Iceberg would refuse: {_short(path)} is live {times} times, so its rows would be written {times} times "
        "('Invalid REPLACE operation: … added records > … replaced records')."
    )


def wrong_size(tree: MetadataTree, files: Iterable[tuple[str, int]], total: int) -> tuple[str, str]:
    """Compare the first files that would be rewritten with what is stored.

    Args:
        tree: The table's.
        files: Paths and recorded sizes, at most MAX_CHECKED_FILES of them.
        total: How many files would be rewritten.

    Returns:
        Why Spark would fail, empty when no file is known to be wrong; and what was not compared, as a sentence.
    """
    recorded = dict(files)
    stored = tree.sizes(recorded)
    wrong = [path for path, size in recorded.items() if path in stored and stored[path] != size]
    unseen = [path for path in recorded if path not in stored]
    missing = [path for path in unseen if not _is_outside(tree, path)]
    note = ""
    if total > len(recorded):
        note = f"Of {count(total, 'file')} the first {len(recorded):,} were looked for: doctor --files looks for all."
    if missing:
        return f"Spark would fail: {_short(missing[0])} is missing, or cannot be reached from here.", note
    if outside := len(unseen):
        note += f" {count(outside, 'file')} lie outside the folders that may be read, and were not looked at (--root)."
        note = note.strip()
    if wrong:
        sizes = f"{stored[wrong[0]]:,} bytes long, not {recorded[wrong[0]]:,} as its manifest says"
        return f"Spark would fail: {_short(wrong[0])} is {sizes}.", note
    return "", note


def _is_outside(tree: MetadataTree, path: str) -> bool:
    try:
        tree.reader.storage.check(path)
    except OutsideRoots:
        return True
    except UnreadableFile:
        return False
    return False


def unfit_type(tree: MetadataTree, files: Sequence[tuple[str, int | None]], total: int) -> tuple[str, str, int]:
    """Look into the footers of the first files that would be rewritten for columns in types that Spark misreads, or
    fails on.

    Args:
        tree: The table's.
        files: At most MAX_OPENED_FILES data files: their paths, and the sequence numbers with which they were written.
        total: How many files would be rewritten.

    Returns:
        Why the rewrite must not be run, empty when nothing is known; what was not looked at, as a sentence; and how
        many files were looked into.
    """
    metadata = tree.metadata
    by_rows = metadata.properties.get("read.parquet.vectorization.enabled", "").lower() == "false"
    note, opened = "", 0
    if total > len(files):
        note = f"Of {count(total, 'file')} the first {len(files):,} were looked into: doctor --deep looks into all."
    for path, sequence_number in tree.reader.storage.read_ahead(files, lambda file: (file[0], 0), ends=True):
        try:
            unfit = columns_spark_cannot_rewrite(tree.reader, path, read_schema(metadata, None), sequence_number)
        except UnreadableFile:  # of another format, or damaged: others say so
            continue
        opened += 1
        for name, difference in unfit.items():
            if not (by_rows and difference.mended_by_rows):
                where = f"column {shorten(name, PATH_WIDTH)!r} of {_short(path)} is {difference.words}"
                if difference.fails:
                    return f"Spark would fail: {where}.", note, opened
                words = f"Do not run this: {where}. Spark would write those values for good; see doctor --deep."
                return words, note, opened
    return "", note, opened


def explain_date_promotion(metadata: TableMetadata) -> str:
    """Return why Spark cannot rewrite data files from before a date column became a timestamp; empty otherwise."""
    current = metadata.schema(metadata.current_schema_id)
    names = {i: f.name for i, f in current.by_id.items() if str(f.type).startswith("timestamp")} if current else {}
    for schema in metadata.schemas:
        for field_id in names.keys() & schema.by_id.keys():
            if schema.by_id[field_id].type == "date":
                return (
                    f"Spark would fail: column {names[field_id]!r} was a date, and Spark 4.1 cannot read files from "
                    "that time as timestamps."
                )
    return ""


def explain_absent_order(metadata: TableMetadata, columns: Sequence[str], is_z_order: bool) -> str:
    """Return why Spark cannot sort data files by these columns; empty where it can.

    Iceberg records id 0, unsorted, with files whose order is none of the table's, and from 1.11 on refuses an id that
    the table does not have (apache/iceberg#17814). A table that another engine or the API made with an order lacks it.

    Args:
        metadata: The table's.
        columns: Those that the statement names; none where it goes by the table's own order.
        is_z_order: Whether the rows are put into z-order.
    """
    schema = metadata.schema(metadata.current_schema_id)
    if not columns or schema is None or metadata.sort_order(0) is not None:
        return ""
    ids = {field.name: field.id for field in schema.fields}
    wanted = [("identity", (ids[name],), "asc", "nulls-first") for name in columns]
    orders = [[(f.transform, f.source_ids, f.direction, f.null_order) for f in o.fields] for o in metadata.sort_orders]
    if not is_z_order and wanted in orders:
        return ""
    return (
        "Spark would fail: 'Cannot use output sort order id 0 because the table does not contain a sort order with "
        "that id' (Iceberg 1.11 and later; the table was made with a sort order). ALTER TABLE … WRITE UNORDERED adds "
        "it, once and for all; then give the table its order and its write.distribution-mode again, as that sets both."
    )


def find_misplaced_delete(
    tree: MetadataTree, manifests: Sequence[ManifestFile], deletes: Collection[LiveFile]
) -> tuple[LiveFile, str] | None:
    """Find a position delete or vector that names a live data file of another partition or spec.

    Iceberg Java from 1.12 on refuses to plan a scan of such a file; other readers apply the delete.

    Args:
        tree: The table's.
        manifests: The data manifests of the snapshot.
        deletes: The live deletes of the snapshot.

    Returns:
        The delete and the path of the data file; None when there is none.
    """
    named = {path: delete for delete in deletes if (path := target_file(delete))}
    if not named:
        return None
    places = {path: repr(delete.place) for path, delete in named.items()}
    rows = tree.read(Parts(manifests, False, partial(_elsewhere, places), PLACES))
    data_path = next((path for part in rows.read() for path in part["file_path"].to_pylist()), None)
    return None if data_path is None else (named[data_path], data_path)


def explain_misplaced_delete(
    tree: MetadataTree, manifests: Sequence[ManifestFile], deletes: Collection[LiveFile]
) -> str:
    """Return `find_misplaced_delete` as the reason why nothing may be rewritten; empty when there is none."""
    misplaced = find_misplaced_delete(tree, manifests, deletes)
    if misplaced is None:
        return ""
    delete, path = misplaced
    return (
        f"Do not run this: the delete {_short(delete.path)} is recorded in another partition than {_short(path)}, "
        "which it names. Iceberg 1.12 refuses to read that file, older versions and other readers apply the delete, "
        "and rewriting position deletes would drop it."
    )


def vectors_without_place(deletes: Iterable[LiveFile]) -> dict[tuple[str, int | None], str]:
    """Why Spark would fail on data files that some deletion vectors apply to, by the vector's key: their manifest does
    not say where they are in their files."""
    return {
        delete.key: f"Spark would fail: the deletion vector {_short(delete.path)} has no {lacks} in its manifest."
        for delete in deletes
        if (lacks := lacks_place(delete))
    }


def _elsewhere(places: Mapping[str, str], manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """PLACES, of live files of one manifest that lie in another place than `places` says."""
    files = live_entries(stored, manifest)
    files = files.filter(pc.is_in(files["file_path"], pa.array(list(places), pa.string())))
    codes, partitions = partition_dicts(files)
    where = [repr(place(manifest.partition_spec_id, partition)) for partition in partitions]

    def wrong() -> Iterator[tuple[str, str]]:
        for path, code in zip(files["file_path"].to_pylist(), codes, strict=True):
            if where[code] != places[path]:
                yield path, where[code]

    paths = list(wrong())
    return pa.table([[path for path, _ in paths], [at for _, at in paths]], schema=PLACES)


def _short(path: str) -> str:
    return shorten(path, PATH_WIDTH)
