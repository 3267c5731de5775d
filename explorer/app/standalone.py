"""A table as one page that needs no kernel, server or network: pictures of its snapshots and of what each changed, and
what the inspector knows of their nodes, made beforehand. frontend/src/held.ts answers from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from explorer.app.graph_state import FILES, ViewState
from explorer.app.local_paths import LocalPaths
from explorer.app.start import header
from explorer.errors import ExplorerError
from explorer.graph.graph import Graph, Node
from explorer.lab.scenarios import NAMESPACE, SCENARIOS
from explorer.lab.scenarios.claims import PART_1
from explorer.lab.scenarios.guides import GUIDES
from explorer.model.metadata import Snapshot
from explorer.progress import steps
from explorer.queries.graph import first_view, whole_view
from explorer.render.history import render_diff
from explorer.render.svg import picture, vocabulary
from explorer.render.text import clean
from explorer.reports.inspector import InspectorSection, inspect
from explorer.spec.text.names import snapshot_ordinals
from explorer.spec.text.units import second
from explorer.table import Table

SNAPSHOTS, LEVEL, SNAPSHOT_FILES = 50, 100, 100
"""At most so many snapshots, nodes of a level, and files of a snapshot are in a page."""
OPEN_FILES = 20
"""Of a snapshot with at most so many files the row groups are in the page too."""
ELSEWHERE = (
    "This file has the metadata graph of each snapshot and what it changed. Plans, deletes, findings, rows and all "
    "other questions need the table itself: install the package iceberg-metadata-explorer, and open the table with "
    "icedive serve, or with explorer.open_table in a notebook."
)
"""What is said of questions that a page cannot answer."""
INSPECTED, RAW = 1_000, 20_000
"""So many nodes are inspected, those of the newest snapshots first; and characters of a raw record that are kept."""


@dataclass(frozen=True)
class Standalone:
    """A page's data, as JSON; what was left out of it, in words; and the local paths that stand nowhere in it."""

    data: dict[str, Any]
    cuts: tuple[str, ...] = ()
    paths: LocalPaths = field(default_factory=lambda: LocalPaths(()))


def of_graph(graph: Graph) -> Standalone:
    """One picture, of which nothing more is known than it shows."""
    at, paths = str(graph.snapshot_id), LocalPaths(_folders_of(graph.nodes))
    return Standalone(paths.cut_all(_data(at, {at: {"picture": _still(graph)}})), paths=paths)


def of_table(table: Table, pages: Mapping[str, Any] | None = None) -> Standalone:
    """A table as a page: its newest SNAPSHOTS snapshots, and what a teaching table teaches.

    Args:
        table: The table.
        pages: The `previous` and the `next` page of a folder of pages, each a title and a file, where there is one.
    """
    page = _Maker(table).made()
    return replace(page, data=page.paths.cut_all({**page.data, "lesson": _lesson(table), "pages": dict(pages or {})}))


def _lesson(table: Table) -> dict[str, Any] | None:
    """What a teaching table teaches; None of another table."""
    for one in SCENARIOS:
        if table.name == f"sandbox.{NAMESPACE}.{one.name}":
            guide = GUIDES[one.name]
            asked = [{"question": q.question, "answer": q.answer} for q in guide.questions]
            text = f" ({PART_1})" if "Part 1" in one.source else ""
            return {"teaches": one.teaches, "source": f"{one.source}{text}", "watch": guide.watch, "questions": asked}
    return None


def _folders_of(nodes: Iterable[Node]) -> Iterable[str]:
    """The folders of the files that nodes stand for."""
    for node in nodes:
        for name in ("path", "file_path", "manifest_path"):
            if isinstance(path := node.facts.get(name), str):
                yield path.rpartition("/")[0]


def _data(first: str, pictures: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"folded": [], "timeline": {}, "changes": {}, "known": [], "sections": []}
    empty |= {"lesson": None, "pages": {}}
    held = {"vocabulary": vocabulary(), "header": None, "elsewhere": ELSEWHERE, "first": first, "pictures": pictures}
    return {**held, **empty, **more}


def _still(graph: Graph) -> dict[str, Any]:
    """A picture whose hidden nodes stay hidden."""
    drawn = picture(graph)
    return {**drawn, "more": [{**group, "action": ""} for group in drawn["more"]]}


@dataclass
class _Maker:
    table: Table
    known: list[dict[str, Any]] = field(default_factory=list)
    sections: list[dict[str, Any]] = field(default_factory=list)
    cuts: dict[str, set[str]] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _of_node: dict[str, int | None] = field(default_factory=dict)

    def made(self) -> Standalone:
        meta, ordinals = self.table.metadata, snapshot_ordinals(self.table.metadata)
        ordered = sorted(meta.snapshots, key=lambda s: -ordinals[s.snapshot_id])
        kept = ordered[:SNAPSHOTS]
        self.cut(f"snapshots older than the newest {SNAPSHOTS}", ordered[SNAPSHOTS:])
        folded: set[str] = set()
        pictures, changes = {}, {}
        for snapshot in steps(kept, "snapshots"):
            name = str(snapshot.snapshot_id)
            told = self.table.step(snapshot.snapshot_id)
            pictures[name] = {**self.shown(self.whole(snapshot, folded)), "caption": clean(told.words) if told else ""}
            if change := self.change(snapshot):
                changes[name] = change
        current = meta.current_snapshot or (kept[0] if kept else None)
        if current is None:
            return Standalone(
                _data("None", {"None": self.shown(self.table.graph())}, **self.told()), paths=self.paths()
            )
        if current not in kept:
            pictures[str(current.snapshot_id)] = self.shown(self.whole(current, folded))
        timeline = ViewState(self.table).timeline()
        timeline = {name: values[-SNAPSHOTS:] for name, values in timeline.items()}
        data = _data(
            str(current.snapshot_id), pictures, folded=sorted(folded), changes=changes,
            timeline={**timeline, "before": len(ordered) - len(kept)}, **self.told(),
        )  # fmt: skip
        cuts = tuple(f"{what}: {len(these):,}" for what, these in self.cuts.items() if these)
        return Standalone(data, cuts, self.paths())

    def paths(self) -> LocalPaths:
        """The local folders of the table, of the files in its pictures, and those that an error says may be read."""
        meta, location = self.table.metadata, self.table.tree.reader.location
        opened = location.metadata_location.rpartition("/")[0]
        own = (meta.location, location.folder, opened.removesuffix("/metadata"), *(new for _, new in location.relocate))
        return LocalPaths((*own, *self.table.tree.reader.storage.roots, *self.folders))

    def cut(self, what: str, these: Iterable[Any]) -> None:
        """Note what is left out, each once."""
        self.cuts.setdefault(what, set()).update(map(str, these))

    @cached_property
    def older(self) -> frozenset[str]:
        """The nodes of the older metadata files that are drawn, whichever snapshot is in view."""
        return frozenset(n.id for n in self.table.graph().nodes if n.kind == "metadata" and n.fold)

    def told(self) -> dict[str, Any]:
        head = header(self.table, self.table.name)
        head |= {"tiles": head["tiles"][:-1], "facts": [], "why": "", "problems": []}  # a file grows older
        return {"known": self.known, "sections": self.sections, "header": head}

    def whole(self, snapshot: Snapshot, folded: set[str]) -> Graph:
        """A snapshot with everything unfolded; `folded` gets what is not at first."""
        tree = self.table.tree
        view = whole_view(tree, snapshot, LEVEL, SNAPSHOT_FILES)
        folded |= view.open_nodes - first_view(tree, snapshot).open_nodes
        view = replace(view, open_nodes=view.open_nodes | self.older)
        graph = self.table.graph(view=view)
        files = [n.id for n in graph.nodes if n.kind in FILES]
        folded |= {*files, *self.older}
        if len(files) <= OPEN_FILES:  # their row groups too
            parquet = frozenset(n.id for n in graph.nodes if n.kind in FILES and n.fold)
            graph = self.table.graph(view=replace(view, open_files=parquet))
        closed = [n.id for n in graph.nodes if n.kind.endswith("_manifest") and n.fold == "folded"]
        self.cut(f"manifests without their files, of which a snapshot shows about {SNAPSHOT_FILES}", closed)
        self.cut(f"levels beyond {LEVEL} nodes", [e.parent for e in graph.elided if e.column > 1])
        return graph

    def change(self, snapshot: Snapshot) -> dict[str, Any] | None:
        """What a snapshot changed of its parent, as a picture and as text; None where the parent is gone."""
        parent = snapshot.parent_snapshot_id
        if parent is not None and self.table.metadata.snapshot(parent) is None:
            self.cut("changes of snapshots whose parent has expired", [snapshot.snapshot_id])
            return None
        try:
            text = render_diff(self.table.diff(parent, snapshot.snapshot_id))
            shown = self.shown(self.table.diff_graph(parent, snapshot.snapshot_id))
        except ExplorerError:
            self.cut("changes that cannot be read", [snapshot.snapshot_id])
            return None
        title = shown["picture"]["title"].rpartition(": ")[2]
        told = {"title": title, "kind": "what this snapshot changed", "problems": []}
        return {**shown, "told": {**told, "sections": [_short(InspectorSection("the difference", raw=text).to_json())]}}

    def shown(self, graph: Graph) -> dict[str, Any]:
        """A picture, and the number of what is known of each of its nodes."""
        self.folders |= dict.fromkeys(_folders_of(graph.nodes))
        numbers = {node.id: self.details(node) for node in graph.nodes}
        return {"picture": _still(graph), "details": {i: n for i, n in numbers.items() if n is not None}}

    def details(self, node: Node) -> int | None:
        facts = {name: value for name, value in node.facts.items() if name not in ("focus", "status", "position")}
        key = json.dumps([node.kind, node.label, node.problem, facts], sort_keys=True, default=str)
        if key not in self._of_node:
            full = len(self.known) >= INSPECTED
            if full:
                self.cut(f"nodes without details, which {INSPECTED:,} have", [key])
            self._of_node[key] = None if full else self.inspected(node)
        return self._of_node[key]

    def inspected(self, node: Node) -> int:
        """The number of what is known of a node, whose sections are told once each."""
        told = inspect(self.table, node).to_json()
        numbers = []
        for section in told["sections"]:
            section = _short(section)
            text = json.dumps(section, sort_keys=True)
            if text not in self._numbers:
                self._numbers[text] = len(self.sections)
                self.sections.append(section)
            numbers.append(self._numbers[text])
        self.known.append({**told, "sections": numbers})
        return len(self.known) - 1


def _short(section: dict[str, Any]) -> dict[str, Any]:
    """A section with at most RAW characters of raw text."""
    if len(section.get("raw", "")) <= RAW:
        return section
    return {**section, "raw": section["raw"][:RAW], "note": f"the first {RAW:,} characters"}


def notes(table: Table, cuts: tuple[str, ...]) -> list[str]:
    """What stands below the page: of what it was made, and what is not in it."""
    written = second(table.metadata.last_updated_ms)
    problems = [f"{problem.severity}: {problem}" for problem in table.problems]
    left_out = f"Left out: {'; '.join(cuts)}." if cuts else "Nothing of its metadata graph was left out."
    return [f"{table.name} as of {written}, {table.why}. {left_out}", *problems[:20]]
