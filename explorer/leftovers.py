"""Files below a table's folder that nothing leads to."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection
from pathlib import Path

from explorer.core.reach import reach
from explorer.errors import UnreadableFile
from explorer.metadata_tree import MetadataTree
from explorer.progress import steps


def named_files(tree: MetadataTree) -> set[str]:
    """Every file that a table's metadata leads to: metadata files, manifest lists, manifests, files and statistics."""
    meta = tree.metadata
    return set(reach(tree, meta.snapshots).paths) | {
        meta.metadata_location,
        *(e.metadata_file for e in meta.metadata_log),
        *(s.path for s in meta.statistics),
    }


def _leading(tree: MetadataTree) -> set[str]:
    """The manifest lists and manifests: what leads to other files."""
    snapshots = tree.metadata.snapshots
    lists = {s.manifest_list for s in snapshots if s.manifest_list}
    return lists | {m.manifest_path for s in snapshots for m in tree.manifests(s)}


def known_files(tree: MetadataTree) -> set[str]:
    """`named_files`, all of them: raises UnreadableFile where a manifest list or manifest cannot be read, since nobody
    knows what it names."""
    named = named_files(tree)
    errors = [problem for problem in tree.problems if problem.severity == "error"]
    leading = _leading(tree) if errors else set()
    for problem in errors:
        if problem.file in leading:
            raise UnreadableFile(problem.file, f"{problem.cause}; nobody knows which files it names")
    return named


def files_below(tree: MetadataTree, folder: str, named: Collection[str]) -> tuple[dict[str, float], set[str]]:
    """The files below a folder, by what follows its path, with when each was written (ms since 1970); and which of them
    are among `named`, however these are spelled. Raises UnreadableFile where the folder cannot be listed."""
    storage = tree.reader.storage
    written, top = _written(tree, folder), _top(tree, folder)
    there = set()
    for path in named:
        with contextlib.suppress(UnreadableFile):  # names nothing that could be below the folder
            there.add(storage.canonical(storage.resolve(path)))
    live = {path[len(top) :] for path in written if storage.canonical(path) in there}
    return {path[len(top) :]: at * 1000 for path, at in written.items()}, live


def _written(tree: MetadataTree, folder: str) -> dict[str, float]:
    """The files below a folder and when each was written."""
    root = tree.reader.storage.folder(folder)
    if root is None:
        return tree.reader.storage.changed(folder)
    written = {}
    for file in steps(sorted(Path(root).rglob("*")), "files"):
        with contextlib.suppress(FileNotFoundError):  # gone meanwhile
            if file.is_file():
                written[str(file)] = file.stat().st_mtime
    return written


def orphans(tree: MetadataTree) -> dict[str, float]:
    """Files below a table's folder that its metadata does not reach, with their age in hours. Raises UnreadableFile
    where the folder cannot be listed, or a manifest list or manifest cannot be read."""
    location = tree.metadata.location
    written, live = files_below(tree, location, known_files(tree))
    top, now = _top(tree, location), time.time() * 1000
    return {
        top + rest: (now - at) / 3_600_000
        for rest, at in written.items()
        if rest not in live and not rest.endswith((".crc", "/version-hint.text"))
    }


def _top(tree: MetadataTree, folder: str) -> str:
    storage = tree.reader.storage
    return (storage.folder(folder) or storage.resolve(folder)).rstrip("/")
