"""What is drawn of one table: the view a person starts with, and what a view's graph needs, read from the tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from explorer.errors import UnreadableFile
from explorer.graph.graph import Graph
from explorer.graph.ids import file_node, list_node, manifest_node, node_id
from explorer.graph.manifest_graph import mentions
from explorer.graph.source import GraphSource, GraphView
from explorer.graph.table_graph import build
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.model.problem import Problem
from explorer.progress import steps
from explorer.queries.metadata_tree import MetadataTree

OPEN_ENTRIES, OPEN_MANIFESTS = 60, 12
"""A snapshot with at most this many entries and manifests is drawn with its manifests open."""
UNKNOWN_ENTRIES = 5
"""What a manifest is taken to hold when its list does not say."""
MATCHING = 12
"""At most this many manifests are opened for a search."""


def first_view(tree: MetadataTree, snapshot: Snapshot | None) -> GraphView:
    """The view a person starts with: one snapshot, its manifests open if that stays readable."""
    if snapshot is None:
        return GraphView(None)
    listed = tree.manifests(snapshot)
    small = sum(map(_size, listed)) <= OPEN_ENTRIES and len(listed) <= OPEN_MANIFESTS
    return GraphView(
        snapshot.snapshot_id, frozenset(manifest_node(m.manifest_path) for m in listed) if small else frozenset()
    )


def whole_view(tree: MetadataTree, snapshot: Snapshot | None, level: int, files: int) -> GraphView:
    """The view with everything open, as far as it can be drawn: at most `level` nodes of a level, and manifests until
    so many `files` of them are drawn."""
    if snapshot is None:
        return GraphView(None, page_size=level)
    opened, left = [], files
    for manifest in tree.manifests(snapshot)[:level]:
        if left <= 0:
            break
        left -= min(level, _size(manifest))
        opened.append(manifest_node(manifest.manifest_path))
    return GraphView(snapshot.snapshot_id, frozenset(opened), page_size=level)


def _size(manifest: ManifestFile) -> int:
    counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
    numbers = [n for n in counts if n is not None]
    return sum(numbers) if numbers else UNKNOWN_ENTRIES


def table_graph(tree: MetadataTree, view: GraphView) -> Graph:
    """The metadata tree as a graph, as far as the view opens it."""
    opened = view.open_nodes
    lists: dict[int, list[ManifestFile]] = {}
    for snapshot in tree.metadata.snapshots:
        if snapshot.snapshot_id == view.snapshot_id or list_node(snapshot.snapshot_id) in opened:
            lists[snapshot.snapshot_id] = tree.manifests(snapshot)
    entries: dict[str, pa.Table | None] = {}
    matching: set[str] = set()
    ordered = sorted(lists, key=lambda s: s != view.snapshot_id)  # the snapshot in view speaks first
    for snapshot_id in steps(ordered, "snapshots"):
        snapshot = tree.reader.require_snapshot(snapshot_id)
        wanted = [
            m
            for m in lists[snapshot_id]
            if m.manifest_path not in entries and (view.search or manifest_node(m.manifest_path) in opened)
        ]
        entries |= {m.manifest_path: None for m in wanted}  # stays None where it cannot be read
        bounds = any(m.content for m in wanted)  # they may rule out that an equality delete applies
        for manifest, table in tree.logical(wanted, snapshot, bounds):
            entries[manifest.manifest_path] = table
            if view.search and len(matching) < MATCHING and mentions(table, view.search):
                matching.add(manifest_node(manifest.manifest_path))
    location = tree.reader.location
    footers, metadata_files = _footers(tree, entries.values(), view.open_files), _metadata_files(tree, opened)
    source = GraphSource(
        title=location.name,
        metadata=tree.metadata,
        catalog=location.catalog,
        manifests=lists,
        entries=entries,
        metadata_files=metadata_files,
        footers=footers,
        problems=tree.problems,
    )
    return build(source, replace(view, open_nodes=opened | matching))


def _footers(
    tree: MetadataTree, tables: Iterable[pa.Table | None], opened: frozenset[str]
) -> dict[str, Mapping[str, Any]]:
    if not opened:
        return {}
    footers: dict[str, Mapping[str, Any]] = {}
    listed = (path for table in tables if table is not None for path in table["file_path"].to_pylist())
    paths = dict.fromkeys(path for path in listed if file_node(path) in opened)
    for path in tree.reader.storage.read_ahead(paths, lambda path: (path, 0), ends=True):
        try:
            footers[path] = tree.reader.parquet_footer(path)
        except UnreadableFile as error:
            tree.note([Problem(error.path, error.cause, unaffected="other files are not affected")])
    return footers


def _metadata_files(tree: MetadataTree, opened: frozenset[str]) -> dict[str, TableMetadata]:
    paths = [entry.metadata_file for entry in tree.metadata.metadata_log]
    paths = [path for path in paths if node_id("metadata", path) in opened]
    files = {}
    with tree.metadata_ahead(paths):
        for path in paths:
            try:
                files[path] = tree.metadata_file(path)
            except UnreadableFile as error:
                tree.note([Problem(error.path, error.cause, unaffected="the current metadata is not affected")])
    return files
