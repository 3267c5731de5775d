"""Why a file is still there, and when it can go: any file of a table, be it named by metadata or not."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import NotFoundInTable
from explorer.model.metadata import TableMetadata
from explorer.progress import steps
from explorer.queries.lost_commits import explain_lost_commit
from explorer.queries.metadata_tree import MetadataTree
from explorer.reports.maintenance.orphans import OrphanSearch, search_orphans
from explorer.reports.maintenance.previews import preview
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.deletes.deletes import target_file
from explorer.spec.maintenance.file_stay import FileStay, HeldDelete, stay_of_needed, stay_of_older_metadata
from explorer.spec.maintenance.orphan_rules import OLD_ENOUGH, Becomes, OrphanVerdict
from explorer.spec.snapshots.retention import retention_or_refusal
from explorer.spec.text.names import base_name, first_of, shorten
from explorer.spec.text.path_lookup import closeness
from explorer.spec.text.units import instant
from explorer.table import Table

LONG = 200
BECOMES: Mapping[Becomes, str] = {
    "removed": "a file to remove", "too young": "too young to remove", "not listed": "hidden", "kept": "a file to keep",
    "in doubt": "in doubt",
}  # fmt: skip
"""How remove_orphan_files takes a file."""
COMMIT_LOST = "a commit that the table does not have"
"""In the refusal of a preview, which then says more of it."""
MISSING = "It is not there: metadata names a file that is missing (icedive doctor TABLE --files has the remedy)."
OLDER_METADATA, CURRENT_METADATA, UNUSED = "older metadata file", "metadata file", "unused file"


@dataclass(frozen=True)
class _NamedFile:
    """A file that metadata names: its path and kind, and the ids of the snapshots that need it. Of an older metadata
    file `place` says how many of the log are newer; of a data or delete file `deleted_by` names what deleted it."""

    path: str
    kind: str
    needing: Collection[int] = ()
    place: int = 0
    deleted_by: str | None = None


def file_stay(table: Table, path: str, engine: Engine = "auto") -> FileStay:
    """Say why a file of a table is still there, and when it can go.

    Args:
        table: The table.
        path: Of any file of the table, or its end or beginning (see spec.text.path_lookup).
        engine: What decodes manifests.

    Returns:
        The answer. What removes the file now is a statement of a preview, which says where it must not be run.

    Raises:
        NotFoundInTable: There is no such file, or several.
    """
    tree = table.tree.by(engine, "a file")
    named = _closest(path, _metadata_files(tree))
    if named is None or closeness(pa.array([named.path]), path)[0].as_py() != 0:
        named = _data_file(table, path, engine) or named
    if named is None:
        return _unnamed(table, tree, path, engine)
    size = tree.sizes([named.path]).get(named.path)
    gone = () if size is not None else (MISSING,)
    if named.kind == CURRENT_METADATA:
        words = ("It is the table's current metadata file. The next commit writes another, and puts this in the log.",)
        return FileStay(named.path, named.kind, size, (), None, (*gone, *words))
    if named.kind == OLDER_METADATA:
        return FileStay(
            named.path, named.kind, size, (), None, (*gone, *stay_of_older_metadata(tree.metadata, named.place))
        )
    return _needed(table, tree, named, size, gone, engine)


def _needed(
    table: Table, tree: MetadataTree, named: _NamedFile, size: int | None, gone: tuple[str, ...], engine: Engine
) -> FileStay:
    """The answer of a file that snapshots need; the statement is that of an expiry by the table's policy."""
    meta, now = tree.metadata, int(time.time() * 1000)
    decided, refusal = retention_or_refusal(meta, now)
    held = _look_at_delete(table, tree, named)
    words, until = stay_of_needed(meta, named.kind, named.needing, decided, refusal, now, held)
    if named.deleted_by and meta.current_snapshot_id not in named.needing:
        words = (f"The current snapshot does not read it: {named.deleted_by} deleted it.", *words)
    statement = ""
    if decided and not any(s.snapshot_id in named.needing for s in decided.snapshots_to_keep):
        seen = preview(table, "expire", engine=engine)
        statement, words = seen.call, (*words, *([seen.refusal] if seen.refusal else []))
    names = tuple(_names(meta, named.needing))
    lacks = (f"There may be more: {tree.lacks}.",) if tree.lacks else ()
    return FileStay(named.path, named.kind, size, names, until, (*gone, *words, *lacks), statement)


def _look_at_delete(table: Table, tree: MetadataTree, named: _NamedFile) -> HeldDelete | None:
    """What a delete file of the current snapshot does there, as far as metadata tells; None of other files. Of several
    deletion vectors in one file all must hide nothing."""
    meta = tree.metadata
    if named.kind != "data or delete file" or meta.current_snapshot_id not in named.needing:
        return None
    files = table.row_reader.files_by_path(meta.current_snapshot, named.path, True)
    own = {delete.key for delete in files}
    if not own:
        return None
    deletes = table.row_reader.deletes(meta.current_snapshot, tree)
    idle = [delete for delete in (*deletes.dangling, *deletes.spent) if delete.key in own]
    if len(idle) == len(own):
        doubt = next((why for delete in idle if (why := deletes.doubt(delete))), "")
        return HeldDelete(deletes.why_idle(idle[0]), doubt)
    return HeldDelete(
        is_unopened=any(delete.kind == "position_deletes" and not target_file(delete) for delete in files)
    )


def _names(meta: TableMetadata, ids: Collection[int]) -> list[str]:
    ordinals = meta.ordinals
    return [f"snapshot-{number}" for number in sorted(ordinals[one] for one in ids if one in ordinals)]


# -- which file --------------------------------------------------------------------------------------------------------
def _metadata_files(tree: MetadataTree) -> dict[str, _NamedFile]:
    """The files of metadata that a table names, by their paths."""
    meta = tree.metadata
    named = {meta.metadata_location: _NamedFile(meta.metadata_location, CURRENT_METADATA)}
    for place, entry in enumerate(reversed(meta.metadata_log)):
        named.setdefault(entry.metadata_file, _NamedFile(entry.metadata_file, OLDER_METADATA, place=place))
    for statistics in meta.statistics:
        named.setdefault(statistics.path, _NamedFile(statistics.path, "statistics", {statistics.snapshot_id}))
    needing: dict[str, tuple[str, set[int]]] = {}
    tree.ahead(meta.snapshots)
    for snapshot in steps(meta.snapshots, "snapshots"):
        if snapshot.manifest_list:
            needing.setdefault(snapshot.manifest_list, ("manifest list", set()))[1].add(snapshot.snapshot_id)
        for manifest in tree.manifests(snapshot):
            needing.setdefault(manifest.manifest_path, ("manifest", set()))[1].add(snapshot.snapshot_id)
    return named | {path: _NamedFile(path, kind, ids) for path, (kind, ids) in needing.items()}


def _closest(path: str, named: Mapping[str, _NamedFile]) -> _NamedFile | None:
    paths = pa.array(list(named), pa.string())
    close = closeness(paths, path)
    nearest = paths.filter(pc.equal(close, pc.min(close))).to_pylist()
    _check_one(path, nearest)
    return named[nearest[0]] if nearest else None


def _check_one(path: str, paths: list[str]) -> None:
    if len(paths) > 1:
        some = first_of(sorted({base_name(one) for one in paths}), 5)
        raise NotFoundInTable(f"{shorten(path, LONG)!r} may mean {len(paths):,} files: {some}. Give more of its path")


def _data_file(table: Table, path: str, engine: Engine) -> _NamedFile | None:
    """A data or delete file that snapshots mention. One that all of them list as DELETED is needed by none."""
    try:
        life = table.file_life(path, engine)
    except NotFoundInTable as error:
        if "may mean" in str(error):
            raise
        return None
    live = {e.snapshot_id for e in life.events if e.logical_status in ("ADDED", "EXISTING")}
    return _NamedFile(life.file_path, "data or delete file", live, deleted_by=life.deleted_by) if live else None


def _unnamed(table: Table, tree: MetadataTree, path: str, engine: Engine) -> FileStay:
    """A file below the table's folder that no snapshot needs, by what remove_orphan_files would do with it."""
    try:
        search = search_orphans(tree, {})
    except ValueError as error:
        raise NotFoundInTable(f"no metadata names {shorten(path, LONG)!r}, and {error}") from error
    verdict = _closest_verdict(path, search)
    seen = preview(table, "remove-orphans", engine=engine)
    until = None
    lost = "" if COMMIT_LOST in seen.refusal else explain_lost_commit(tree, verdict.file)
    needless = f"No snapshot of this table needs it{f'; {lost}' if lost else ''}."
    words = [needless] if lost or not verdict.live else []
    though = ", though this is wrong" if verdict.live and verdict.becomes == "removed" else ""
    words.append(f"To remove_orphan_files it is {BECOMES[verdict.becomes]}{though}: {verdict.reason}.")
    if verdict.becomes == "too young":
        until = int(time.time() * 1000 - verdict.age_hours * 3_600_000) + OLD_ENOUGH
        words.append(f"It can go from {instant(until)} on.")
    removes = verdict.becomes == "removed"
    words += [seen.refusal] if removes and seen.refusal else []
    statement = seen.call if removes and not verdict.live and not seen.refusal else ""
    return FileStay(verdict.file, UNUSED, verdict.bytes, (), until, tuple(words), statement)


def _closest_verdict(path: str, search: OrphanSearch) -> OrphanVerdict:
    paths = pa.array([verdict.file for verdict in search.verdicts], pa.string())
    close = closeness(paths, path)
    nearest = [v for v, own in zip(search.verdicts, pc.equal(close, pc.min(close)).to_pylist(), strict=True) if own]
    _check_one(path, [verdict.file for verdict in nearest])
    if not nearest:
        raise NotFoundInTable(
            f"no metadata of this table names a file {shorten(path, LONG)!r}, and none lies in its folder"
        )
    return nearest[0]
