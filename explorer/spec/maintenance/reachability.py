"""What is reachable from which snapshots, and what a table holds at a moment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.progress import steps
from explorer.spec.commits.costs import file_bytes
from explorer.spec.entries.entries import live_entries
from explorer.spec.entries.lazy_table import Batches, combine_rows
from explorer.spec.entries.manifest_set_diff import KEY, rows_at
from explorer.spec.entries.table_protocol import Tree


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
    reached = {m.manifest_path: m for snapshot in steps(snapshots, "snapshots") for m in tree.manifests(snapshot)}
    gone = [m for path, m in reached.items() if path not in kept]
    lists = {s.manifest_list for s in snapshots} - {s.manifest_list for s in without}
    files: dict[str, int] = {}
    if gone:
        [comparison] = tree.comparisons([(gone, list(kept.values()))], KEY[:1])
        for part in tree.read(rows_at(gone, comparison.alone[0], _sizes, SIZES)).read():
            files.update(zip(*(part[name].to_pylist() for name in SIZES.names), strict=True))
    return Reach(frozenset(filter(None, lists)), {m.manifest_path: m.manifest_length for m in gone}, files)


SIZES = pa.schema([("file_path", pa.string()), ("file_size_in_bytes", pa.int64())])


def _sizes(_: ManifestFile, entries: pa.Table) -> pa.Table:
    return entries.select(SIZES.names).cast(SIZES)


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


HELD = pa.schema([(f.name, pa.int64()) for f in fields(Holdings)[1:]])


def live_file_rows(manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """HELD, of one manifest of a snapshot: its live files."""
    files = live_entries(stored, manifest)
    content = pc.fill_null(files["content"], 0)
    is_vector = pc.equal(pc.utf8_lower(files["file_format"].cast(pa.string())), "puffin")
    data = files.filter(pc.equal(content, 0))
    kinds = (pc.and_(pc.equal(content, 1), pc.invert(is_vector)), pc.equal(content, 2))
    vectors = pc.and_(pc.equal(content, 1), is_vector)
    deletes = [files.filter(mask) for mask in (*kinds, vectors)]
    numbers = [1, data.num_rows, file_bytes(data), *(d.num_rows for d in deletes), sum(map(file_bytes, deletes))]
    return pa.Table.from_pylist([dict(zip(HELD.names, numbers, strict=True))], HELD)


def holdings(metadata: TableMetadata, rows: Batches) -> Holdings:
    """All rows of HELD."""
    added = combine_rows(rows, lambda t: pa.table({n: [pc.sum(t[n]).as_py() or 0] for n in HELD.names}, schema=HELD))
    return Holdings(len(metadata.snapshots), **added.to_pylist()[0])
