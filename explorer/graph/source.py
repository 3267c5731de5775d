"""What a table's graph is built from, and how it is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from explorer.graph.drawing import PAGE
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.model.problem import Problem

WINDOW = 12
"""Snapshots drawn at once."""


@dataclass(frozen=True)
class GraphSource:
    """What has been read so far. `manifests` by snapshot id; `entries` by manifest path, with logical columns as of the
    graph's snapshot (see spec.entries.entries), or None where unreadable; `metadata_files` older metadata by path;
    `footers` Parquet footers by data file path. `problems` are all problems known, matched to nodes by file."""

    title: str
    metadata: TableMetadata
    catalog: str | None = None
    manifests: Mapping[int, Sequence[ManifestFile]] = field(default_factory=dict)
    entries: Mapping[str, pa.Table | None] = field(default_factory=dict)
    metadata_files: Mapping[str, TableMetadata] = field(default_factory=dict)
    footers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    problems: Sequence[Problem] = ()

    def causes(self) -> dict[str, str]:
        """Why files cannot be read as they should, by file: the first cause of each."""
        causes: dict[str, str] = {}
        for problem in self.problems:
            if problem.severity != "info":
                causes.setdefault(problem.file, str(problem.cause))
        return causes

    def unreadable(self) -> frozenset[str]:
        """The files that cannot be read, or not whole; the others with causes are read all the same."""
        return frozenset(problem.file for problem in self.problems if problem.severity == "error")


@dataclass(frozen=True)
class GraphView:
    """How it is looked at: the snapshot statuses are read as of; which nodes are open, among them `open_files` apart,
    since their footers are read; which manifest lists are `closed` though their snapshot is open; the first child shown
    of each level that was paged, by the level's key (Elided.key); and whether filtered-out entries are drawn. `search`
    keeps only files, manifests and snapshots whose label or path contains it. Without `has_all_levels` metadata files
    and manifest lists have no nodes of their own. More manifests of a list than `groups_above` are drawn in groups;
    never, if it is 0."""

    snapshot_id: int | None
    open_nodes: frozenset[str] = frozenset()
    open_files: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()
    pages: Mapping[str, int] = field(default_factory=dict)
    show_filtered: bool = True
    search: str = ""
    page_size: int = PAGE
    snapshots_at_once: int = WINDOW
    has_all_levels: bool = True
    groups_above: int = 0
