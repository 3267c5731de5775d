"""What is reachable from which snapshots, and what a table holds at a moment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from explorer.core.comparison import KEY, compare, rows_at
from explorer.core.costs import file_bytes
from explorer.core.entries import live
from explorer.core.tree import Tree
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.progress import steps


@dataclass(frozen=True)
class Reach:
    """Files that some snapshots reach and others do not, each with its size where metadata says it (of manifest lists
    it does not)."""

    manifest_lists: frozenset[str]
    manifests: dict[str, int | None]
    files: dict[str, int]

    @property
    def bytes(self) -> int:
        """Bytes of manifests and files."""
        return sum(n or 0 for n in self.manifests.values()) + sum(self.files.values())

    @property
    def paths(self) -> list[str]:
        """All of it, sorted."""
        return sorted({*self.manifest_lists, *self.manifests, *self.files})


def reach(tree: Tree, snapshots: Iterable[Snapshot], without: Iterable[Snapshot] = ()) -> Reach:
    """What these snapshots reach and others do not: lists, manifests, and the files of entries that are not DELETED."""
    snapshots, without = list(snapshots), list(without)
    tree.ahead([*snapshots, *without])
    kept = {m.manifest_path: m for snapshot in steps(without, "snapshots") for m in tree.manifests(snapshot)}
    mine = {m.manifest_path: m for snapshot in steps(snapshots, "snapshots") for m in tree.manifests(snapshot)}
    gone = [m for path, m in mine.items() if path not in kept]
    lists = {s.manifest_list for s in snapshots} - {s.manifest_list for s in without}
    files: dict[str, int] = {}
    if gone:
        rows = compare(tree, gone, list(kept.values()), by=KEY[:1]).alone[0]
        for _, there in rows_at(tree, gone, rows):
            files.update(zip(there["file_path"].to_pylist(), there["file_size_in_bytes"].to_pylist(), strict=True))
    return Reach(frozenset(filter(None, lists)), {m.manifest_path: m.manifest_length for m in gone}, files)


@dataclass(frozen=True)
class Holdings:
    """What the current snapshot of a table holds, and how many snapshots there are."""

    snapshots: int
    manifests: int
    data_files: int
    data_bytes: int
    position_delete_files: int
    equality_delete_files: int
    deletion_vectors: int
    delete_bytes: int


def holdings(metadata: TableMetadata, tables: Iterable[pa.Table]) -> Holdings:
    """Count the live files of logical `tables` (one a manifest) of the current snapshot."""
    counts = dict.fromkeys(("data", "position", "equality", "vector"), 0)
    sizes = {"data": 0, "delete": 0}
    manifests = 0
    for table in tables:
        manifests += 1
        files = live(table)
        content = pc.fill_null(files["content"], 0)
        is_vector = pc.equal(pc.utf8_lower(files["file_format"].cast(pa.string())), "puffin")
        for name, mask in (
            ("data", pc.equal(content, 0)),
            ("position", pc.and_(pc.equal(content, 1), pc.invert(is_vector))),
            ("equality", pc.equal(content, 2)),
            ("vector", pc.and_(pc.equal(content, 1), is_vector)),
        ):
            part = files.filter(mask)
            counts[name] += part.num_rows
            sizes["data" if name == "data" else "delete"] += file_bytes(part)
    kinds = (counts["position"], counts["equality"], counts["vector"])
    return Holdings(len(metadata.snapshots), manifests, counts["data"], sizes["data"], *kinds, sizes["delete"])
