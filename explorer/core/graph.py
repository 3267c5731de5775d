"""Build the graph of a table from whatever of it has been read.

Pure: the caller reads what `open_nodes` asks for and passes it in; what is not there yet is drawn folded. Each thing is
one node however many parents it has, so a manifest carried by ten snapshots is drawn once, with ten edges."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from explorer.core.names import base_name, manifest_name, shorten, snapshot_name, snapshot_ordinals
from explorer.core.units import count, human_bytes, instant
from explorer.core.values import partition_path
from explorer.model.graph import Edge, Elided, Graph, Node
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.model.problem import Problem

PAGE = 30
"""Siblings drawn at once on one level."""
LABEL = 23
"""Characters of a label that fit a card."""


@dataclass(frozen=True)
class GraphSource:
    """What has been read so far. `manifests` by snapshot id; `entries` by manifest path, with logical columns as of the
    graph's snapshot (see core.entries), or None where unreadable; `metadata_files` older metadata by path; `footers`
    Parquet footers by data file path. `problems` are all problems known, matched to nodes by file."""

    title: str
    metadata: TableMetadata
    catalog: str | None = None
    manifests: Mapping[int, Sequence[ManifestFile]] = field(default_factory=dict)
    entries: Mapping[str, pa.Table | None] = field(default_factory=dict)
    metadata_files: Mapping[str, TableMetadata] = field(default_factory=dict)
    footers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    problems: Sequence[Problem] = ()


@dataclass(frozen=True)
class GraphView:
    """How it is looked at: the snapshot statuses are read as of, which nodes are open, the first child shown on each
    paged level (by parent node id), and whether filtered-out entries are drawn. `search` keeps only files, manifests
    and snapshots whose label or path contains it."""

    snapshot_id: int | None
    open_nodes: frozenset[str] = frozenset()
    pages: Mapping[str, int] = field(default_factory=dict)
    show_filtered: bool = True
    search: str = ""
    page_size: int = PAGE


def node_id(kind: str, key: object) -> str:
    """The opaque, stable id of a thing: a letter for its kind and a hash of what identifies it."""
    letter = {
        "data_manifest": "m",
        "delete_manifest": "m",
        "manifest_list": "l",
        "metadata": "j",
        "statistics": "t",
    }.get(kind, kind[0])
    return (
        letter
        + hashlib.blake2b(f"{kind if letter not in 'm' else 'manifest'}|{key}".encode(), digest_size=6).hexdigest()
    )


def snapshot_node(snapshot_id: int) -> str:
    """Id of a snapshot's node."""
    return node_id("snapshot", snapshot_id)


def list_node(snapshot_id: int) -> str:
    """Id of a manifest list's node."""
    return node_id("manifest_list", snapshot_id)


def manifest_node(path: str) -> str:
    """Id of a manifest's node."""
    return node_id("data_manifest", path)


def file_node(path: str, content_offset: int | None = None) -> str:
    """Id of a data or delete file's node; deletion vectors in one Puffin file differ by offset."""
    return node_id("file", f"{path}|{content_offset}")


def file_kind(content: int, file_format: str) -> str:
    """The node kind of an entry: a deletion vector is content 1 in Puffin format."""
    if content == 1:
        return "deletion_vector" if file_format.lower() == "puffin" else "position_deletes"
    return "equality_deletes" if content == 2 else "data_file"


def _matches(table: pa.Table, text: str) -> pa.ChunkedArray:
    return pc.match_substring(table["file_path"], text, ignore_case=True)


def mentions(table: pa.Table, text: str) -> bool:
    """Whether the path of any file of a manifest contains the text, in any case."""
    return bool(pc.any(_matches(table, text)).as_py())


def build(source: GraphSource, view: GraphView) -> Graph:
    """The graph of a table as seen through a view."""
    return _Builder(source, view).graph()


class _Builder:
    def __init__(self, source: GraphSource, view: GraphView) -> None:
        self.source, self.view, self.meta = source, view, source.metadata
        self.ordinals = snapshot_ordinals(self.meta)
        self.nodes: dict[str, Node] = {}
        self.edges: dict[tuple[str, str, str], Edge] = {}
        self.elided: list[Elided] = []
        self.problem_of: dict[str, str] = {}
        for problem in source.problems:
            if problem.severity != "info":
                self.problem_of.setdefault(problem.file, str(problem.cause))

    def graph(self) -> Graph:
        top = self.metadata_chain()
        shown = self.snapshots()
        current = top[0]
        for snapshot in shown:
            self.edge(current, snapshot_node(snapshot.snapshot_id))
        for snapshot in shown:
            if self.is_open(list_node(snapshot.snapshot_id)) or snapshot.snapshot_id == self.view.snapshot_id:
                self.manifest_list(snapshot)
        # a deletes-from edge may name a file that is not drawn
        edges = tuple(e for e in self.edges.values() if e.target in self.nodes)
        return Graph(self.source.title, self.view.snapshot_id, tuple(self.nodes.values()), edges, tuple(self.elided))

    # -- small helpers ------------------------------------------------------------------------------------------------
    def is_open(self, node: str) -> bool:
        return node in self.view.open_nodes

    def add(self, node: Node) -> None:
        self.nodes.setdefault(node.id, node)

    def edge(self, source: str, target: str, kind: str = "contains", status: str = "") -> None:
        if source in self.nodes and target in self.nodes:
            self.edges.setdefault((source, target, kind), Edge(source, target, kind, status))

    def page(
        self, parent: str, total: int, what: str, column: int, around: int | None = None, size: int = 0, key: str = ""
    ) -> range:
        """The indices to draw of a level with `total` children; what is not drawn is elided before and after them."""
        size = size or self.view.page_size
        if total <= size:
            return range(total)
        start = self.view.pages.get(key or parent)
        if start is None:
            start = 0 if around is None else around - size // 2
        start = max(0, min(start, total - size))
        stop = start + size
        words = ("newer", "older") if column < 2 else ("previous", "more")
        for hidden, at, where, word in (
            (start, start - size, "before", words[0]),
            (total - stop, stop, "after", words[1]),
        ):
            if hidden > 0:
                label = f"{hidden:,} {word} {what}"
                identity = node_id("more", f"{key or parent}|{where}")
                self.elided.append(
                    Elided(identity, parent, what, hidden, total, max(0, at), column, label, where == "before")
                )
        return range(start, stop)

    # -- columns 0 and 1 ----------------------------------------------------------------------------------------------
    def metadata_chain(self) -> list[str]:
        """Catalog pointer, current metadata file, and the previous ones, newest first."""
        meta, ids = self.meta, []
        previous = [(e.metadata_file, e.timestamp_ms) for e in reversed(meta.metadata_log)]
        chain = [(meta.metadata_location, meta.last_updated_ms), *previous]
        pointer = node_id("catalog", self.source.title)
        what = self.source.catalog or "opened by path, no catalog"
        label = shorten(self.source.title.partition(".")[2] if self.source.catalog else self.source.title, LABEL)
        about = (what, "points to the current metadata")
        self.add(Node(pointer, "catalog", label, about, facts={"path": meta.metadata_location}))
        first = node_id("metadata", chain[0][0])
        size = 6 if not self.is_open(pointer) else self.view.page_size
        for i in self.page(pointer, len(chain), "metadata files", 0, size=size):
            path, written = chain[i]
            node = node_id("metadata", path)
            known = meta if i == 0 else self.source.metadata_files.get(path)
            lines = [instant(written)]
            if known:
                lines.insert(0, f"v{known.format_version} · {count(len(known.snapshots), 'snapshot')}")
            fold = "" if i == 0 else "open" if self.is_open(node) else "folded"
            label = self.metadata_label(path)
            self.add(
                Node(
                    node,
                    "metadata",
                    label,
                    tuple(lines),
                    "",
                    fold,
                    i == 0,
                    self.problem_of.get(path, ""),
                    {"path": path, "position": i},
                )
            )
            ids.append(node)
        self.edge(pointer, first, "points to")
        for newer, older in pairwise(ids):
            self.edge(newer, older, "previous")
        return [first, *ids]

    @staticmethod
    def metadata_label(path: str) -> str:
        name = base_name(path)
        head = name.split("-")[0] if "-" in name else name.split(".")[0]
        return f"metadata-{int(head.lstrip('v'))}" if head.lstrip("v").isdigit() else shorten(name, LABEL)

    def snapshots(self) -> list[Snapshot]:
        """Snapshots newest first, a window of them around the one in view, each under its refs."""
        ordered = sorted(self.meta.snapshots, key=lambda s: self.ordinals[s.snapshot_id], reverse=True)
        if self.view.search:
            ordered = [
                s
                for s in ordered
                if self.found(str(s.snapshot_id), snapshot_name(s.snapshot_id, self.ordinals), s.operation or "")
                or s.snapshot_id == self.view.snapshot_id
            ]
        at = next((i for i, s in enumerate(ordered) if s.snapshot_id == self.view.snapshot_id), 0)
        parent = node_id("catalog", self.source.title)
        shown = [
            ordered[i] for i in self.page(parent, len(ordered), "snapshots", 1, around=at, size=12, key="snapshots")
        ]
        refs: dict[int, list[Any]] = {}
        for ref in self.meta.refs:
            refs.setdefault(ref.snapshot_id, []).append(ref)
        for snapshot in shown:
            for ref in sorted(refs.get(snapshot.snapshot_id, []), key=lambda r: (r.type, r.name)):
                facts = {"name": ref.name, "type": ref.type, "snapshot_id": ref.snapshot_id}
                self.add(
                    Node(
                        node_id("ref", ref.name),
                        "ref",
                        f"{ref.type} {ref.name}",
                        facts=facts,
                        current=ref.name == "main",
                    )
                )
            self.add(self.snapshot(snapshot))
            for ref in refs.get(snapshot.snapshot_id, []):
                self.edge(node_id("ref", ref.name), snapshot_node(snapshot.snapshot_id), "points to")
        for snapshot in shown:
            if snapshot.parent_snapshot_id is not None:
                self.edge(snapshot_node(snapshot.snapshot_id), snapshot_node(snapshot.parent_snapshot_id), "parent")
        for path, old in self.source.metadata_files.items():
            if self.is_open(node_id("metadata", path)):
                for snapshot in old.snapshots:
                    self.edge(node_id("metadata", path), snapshot_node(snapshot.snapshot_id))
        return shown

    def snapshot(self, snapshot: Snapshot) -> Node:
        summary = snapshot.summary
        changes = []
        for added, removed, noun in (
            ("added-data-files", "deleted-data-files", "file"),
            ("added-delete-files", "removed-delete-files", "delete"),
            ("added-records", "deleted-records", "row"),
        ):
            plus, minus = summary.get(added, "0"), summary.get(removed, "0")
            if (plus, minus) != ("0", "0"):
                text = "/".join(part for part, n in ((f"+{plus}", plus), (f"−{minus}", minus)) if n != "0")
                changes.append(f"{text} {noun}{'' if text in ('+1', '−1') else 's'}")
        lines = [
            f"{snapshot.operation or 'no summary'} · sequence {snapshot.sequence_number}",
            " · ".join(changes) or "no files changed",
        ]
        lines.append(
            instant(snapshot.timestamp_ms)[:19] + " UTC" if snapshot.timestamp_ms is not None else "no timestamp"
        )
        current = snapshot.snapshot_id == self.meta.current_snapshot_id
        shown = snapshot.snapshot_id == self.view.snapshot_id or self.is_open(list_node(snapshot.snapshot_id))
        facts = {"snapshot_id": snapshot.snapshot_id, "focus": snapshot.snapshot_id == self.view.snapshot_id}
        name = snapshot_name(snapshot.snapshot_id, self.ordinals)
        return Node(
            snapshot_node(snapshot.snapshot_id),
            "snapshot",
            name,
            tuple(lines),
            "",
            "open" if shown else "folded",
            current,
            "",
            facts,
        )

    # -- columns 2 to 5 -----------------------------------------------------------------------------------------------
    def found(self, *texts: str) -> bool:
        wanted = self.view.search.lower()
        return any(wanted in text.lower() for text in texts)

    def manifest_list(self, snapshot: Snapshot) -> None:
        node = list_node(snapshot.snapshot_id)
        parent = snapshot_node(snapshot.snapshot_id)
        listed = self.source.manifests.get(snapshot.snapshot_id)
        path = snapshot.manifest_list or ""
        wrong = self.problem_of.get(path, "") if path else ""
        folded = f"closed:{node}" in self.view.open_nodes
        if listed is None:
            lines: tuple[str, ...] = ("not read yet",)
        else:
            deletes = sum(m.content == 1 for m in listed)
            lines = (count(len(listed), "manifest") + (f", {deletes} of deletes" if deletes else ""),)
        label = f"manifest list {self.ordinals[snapshot.snapshot_id]}"
        if not path:
            lines = (*lines, "v1: inline in metadata.json")
        facts = {"snapshot_id": snapshot.snapshot_id, "path": path}
        self.add(Node(node, "manifest_list", label, lines, "", "folded" if folded else "open", False, wrong, facts))
        self.edge(parent, node)
        if wrong:
            self.trouble(node, path, wrong, 3)
        for statistics in self.meta.statistics:
            if statistics.snapshot_id == snapshot.snapshot_id:
                self.statistics_file(parent, statistics)
        if folded or not listed:
            return
        if self.view.search:
            kept = [
                m for m in listed if self.found(m.manifest_path, manifest_name(m, self.ordinals)) or self.files_found(m)
            ]
            if len(kept) < len(listed):
                self.elided.append(
                    Elided(
                        node_id("more", f"{node}|search"),
                        node,
                        "manifests",
                        len(listed) - len(kept),
                        len(listed),
                        0,
                        3,
                        f"{len(listed) - len(kept)} manifests without a match",
                    )
                )
            listed = kept
        for i in self.page(node, len(listed), "manifests", 3):
            self.manifest(node, listed[i], snapshot)

    def statistics_file(self, parent: str, statistics: Any) -> None:
        node = node_id("statistics", statistics.path)
        kinds = ", ".join(str(b.get("type", "?")) for b in statistics.blob_metadata) or statistics.kind
        lines = (shorten(kinds, 30), human_bytes(statistics.file_size_in_bytes))
        self.add(
            Node(
                node,
                "statistics",
                shorten(base_name(statistics.path), LABEL),
                lines,
                facts={"path": statistics.path, "snapshot_id": statistics.snapshot_id},
            )
        )
        self.edge(parent, node)

    def trouble(self, parent: str, path: str, cause: str, column: int) -> None:
        node = node_id("problem", path)
        self.add(
            Node(
                node,
                "problem",
                "cannot be read",
                (shorten(base_name(path), 30), shorten(cause, 68)),
                "",
                "",
                False,
                cause,
                {"path": path, "column": column},
            )
        )
        self.edge(parent, node)

    def manifest(self, parent: str, manifest: ManifestFile, snapshot: Snapshot) -> None:
        node = manifest_node(manifest.manifest_path)
        kind = "delete_manifest" if manifest.content == 1 else "data_manifest"
        counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
        origin = (
            "added here"
            if manifest.added_snapshot_id == self.view.snapshot_id
            else f"by {snapshot_name(manifest.added_snapshot_id, self.ordinals)}"
        )
        words = [
            f"{count(n)} {name}" for n, name in zip(counts, ("added", "existing", "deleted"), strict=True) if n != 0
        ]
        lines = (" · ".join(words) or "no entries", f"{origin} · sequence {manifest.sequence_number}")
        opened = self.is_open(node)
        facts = {"path": manifest.manifest_path, "snapshot_id": snapshot.snapshot_id}
        wrong = self.problem_of.get(manifest.manifest_path, "")
        if node not in self.nodes:
            self.add(
                Node(
                    node,
                    kind,
                    manifest_name(manifest, self.ordinals),
                    lines,
                    "",
                    "open" if opened else "folded",
                    False,
                    wrong,
                    facts,
                )
            )
            if opened:
                self.files(node, manifest, snapshot)
            if wrong:
                self.trouble(node, manifest.manifest_path, wrong, 4)
        self.edge(parent, node)

    def matching(self, manifest: ManifestFile) -> list[dict[str, Any]]:
        """The entries to draw of a manifest that is read; what is left out is elided."""
        table = self.source.entries.get(manifest.manifest_path)
        if table is None:
            return []
        if not self.view.show_filtered:
            table = table.filter(table["logical_status"].is_valid())
        total = table.num_rows
        if self.view.search and not self.found(manifest.manifest_path, manifest_name(manifest, self.ordinals)):
            table = table.filter(_matches(table, self.view.search))
        node = manifest_node(manifest.manifest_path)
        kind = "delete files" if manifest.content == 1 else "data files"
        if total > table.num_rows:
            hidden = total - table.num_rows
            self.elided.append(
                Elided(
                    node_id("more", f"{node}|search"),
                    node,
                    kind,
                    hidden,
                    total,
                    0,
                    4,
                    f"{hidden:,} {kind} without a match",
                )
            )
        rows = self.page(node, table.num_rows, kind, 4)
        shown: list[dict[str, Any]] = table.slice(rows.start, len(rows)).to_pylist()
        return shown

    def files_found(self, manifest: ManifestFile) -> bool:
        table = self.source.entries.get(manifest.manifest_path)
        return table is not None and mentions(table, self.view.search)

    def files(self, parent: str, manifest: ManifestFile, snapshot: Snapshot) -> None:
        spec = self.meta.spec(manifest.partition_spec_id)
        rows = self.matching(manifest)
        for row in rows:
            path = row["file_path"]
            kind = file_kind(row["content"] or 0, row["file_format"] or "")
            node = file_node(path, row["content_offset"])
            status = row["logical_status"] or "filtered"
            where = partition_path(row["partition"], spec, self.meta)
            size = row["content_size_in_bytes"] if kind == "deletion_vector" else row["file_size_in_bytes"]
            noun = "row" if kind == "data_file" else "deleted row" if kind != "equality_deletes" else "delete key"
            lines = [f"{status} · {count(row['record_count'], noun)} · {human_bytes(size)}"]
            if where:
                lines.append(shorten(where, 34))
            lines.append(
                "data sequence "
                f"{row['inherited_sequence_number'] if row['inherited_sequence_number'] is not None else '?'}"
            )
            footer = self.source.footers.get(path)
            parquet = (row["file_format"] or "").lower() == "parquet"
            fold = ("open" if footer and self.is_open(node) else "folded") if parquet else ""
            facts = {
                "path": path,
                "manifest_path": manifest.manifest_path,
                "snapshot_id": snapshot.snapshot_id,
                "content_offset": row["content_offset"],
                "status": status,
            }
            already = self.nodes.get(node)
            label = shorten(base_name(path), LABEL)
            made = Node(node, kind, label, tuple(lines), status, fold, False, self.problem_of.get(path, ""), facts)
            if already is None or (already.status in ("filtered", "DELETED") and status in ("ADDED", "EXISTING")):
                self.nodes[node] = made  # one node a file: the live entry speaks for it
            self.edge(parent, node, "contains", status)
            target = row["referenced_data_file"]
            if target:
                self.edges[(node, file_node(target), "deletes from")] = Edge(node, file_node(target), "deletes from")
            if footer and self.is_open(node):
                self.row_groups(node, path, footer)
            if self.problem_of.get(path):
                self.trouble(node, path, self.problem_of[path], 5)

    def row_groups(self, parent: str, path: str, footer: Mapping[str, Any]) -> None:
        groups = footer["row_groups"]
        for i in self.page(parent, len(groups), "row groups", 5):
            group = groups[i]
            bounds = [
                f"{c['path']}: {shorten(str(c['min']), 9)}…{shorten(str(c['max']), 9)}"
                for c in group["columns"]
                if c["min"] is not None
            ]
            lines = (
                f"{count(group['num_rows'], 'row')} · {human_bytes(group['total_byte_size'])}",
                *(shorten(b, 34) for b in bounds[:2]),
            )
            self.add(
                Node(
                    node_id("row_group", f"{path}|{i}"),
                    "row_group",
                    f"row group {i}",
                    lines,
                    facts={"path": path, "ordinal": i},
                )
            )
            self.edge(parent, node_id("row_group", f"{path}|{i}"))
