"""What one viewer looks at: a table, a snapshot, what is open and selected. All hosts drive it with the same requests.

State belongs to one session; nothing here is shared between sessions. Requests come from the browser, so everything in
them is checked: an unknown id or a wrong type is a message to the person, never an exception."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from explorer.errors import ExplorerError
from explorer.graph.finding_nodes import mark_findings
from explorer.graph.graph import Elided, Graph, Node
from explorer.graph.ids import file_node, list_node, manifest_node
from explorer.graph.manifest_graph import FOLDED
from explorer.graph.source import GraphView
from explorer.graph.table_graph import METADATA
from explorer.graph.uncommitted import Uncommitted, overlay
from explorer.model.manifest import FileKind, ManifestKind
from explorer.progress import Cancelled, steps
from explorer.queries.diff import snapshot_step
from explorer.render.svg import picture
from explorer.render.text import clean, clean_lines
from explorer.reports.inspector import InspectorSection, catalog_pointer, inspect, life, row_sections
from explorer.spec.doctor.findings import Finding
from explorer.spec.text.names import shorten, snapshot_ordinals
from explorer.spec.text.units import second
from explorer.storage.locate import moves
from explorer.storage.paths import local_path
from explorer.table import Table

if TYPE_CHECKING:
    from typing_extensions import Self

QUICK_FILES, QUICK_BYTES = 300, 1 << 20
"""Selecting a file shows its rows at once when its snapshot has at most so many files, and it at most so many bytes."""
_ORDER = itertools.count(1)
REFS_TOLD, NAME = 20, 200
"""Refs of one snapshot that the timeline tells, and characters of a name."""
FILES, MANIFESTS = get_args(FileKind), get_args(ManifestKind)


class GraphState:
    """One graph of a table, and what is selected. `handle` takes a request of a page and returns whether the graph must
    be drawn again (else only the details)."""

    offers: ClassVar[tuple[str, ...]] = ()
    """What a page offers of search, filtered and reload."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.pages: Mapping[str, int] = {}
        self.message = ""
        self.selected: list[str] = []
        self.graph: Graph
        self._told: frozenset[tuple[str, str]] = frozenset()
        self._stored: InspectorSection | None = None

    def timeline(self) -> dict[str, Any]:
        """All snapshots, oldest first, as parallel lists: ids (text: they do not fit a JavaScript number), operations,
        times and refs."""
        meta = self.table.metadata
        ordinals = snapshot_ordinals(meta)
        ordered = sorted(meta.snapshots, key=lambda s: ordinals[s.snapshot_id])
        refs: dict[int, list[str]] = {}
        for ref in meta.refs:
            refs.setdefault(ref.snapshot_id, []).append(f"{ref.type} {ref.name}")
        operations = {name: _operation(name) for name in steps({s.operation for s in ordered}, "operations")}
        return {
            "ids": [str(s.snapshot_id) for s in ordered],
            "operations": [operations[s.operation] for s in ordered],
            "times": [second(s.timestamp_ms) for s in ordered],
            "refs": [_some(refs.get(s.snapshot_id, [])) for s in steps(ordered, "snapshots")],
        }

    @property
    def snapshot_id(self) -> int | None:
        """The snapshot in view."""
        return self.graph.snapshot_id

    def state(self) -> dict[str, Any]:
        """What a page draws, and `selection`."""
        return {
            **self.selection(), "picture": picture(self.graph), "selected": self.selected,
            "message": clean_lines(self.message), "offers": self.offered(), "asked": self.asked(),
            "caption": clean(self.caption()),
        }  # fmt: skip

    def caption(self) -> str:
        """What the snapshot in view did, in a sentence."""
        return ""

    def offered(self) -> list[str]:
        """`offers`, and what depends on the table."""
        return list(self.offers)

    def asked(self) -> dict[str, Any]:
        """What the bar's search and filtered stand at, where they are offered."""
        return {}

    def selection(self) -> dict[str, Any]:
        """What the inspector shows. `n` tells each from the one before: a host sends only what has changed, and the
        page may show something else by now."""
        return {"n": next(_ORDER), "details": self.details()}

    def details(self) -> dict[str, Any] | None:
        """The inspection of the node selected last."""
        node = self.graph.node(self.selected[-1]) if self.selected else None
        if node is None:
            return None
        inspection = inspect(self.table, node, self.graph)
        if node.kind == "catalog" and self.table.reader.location.catalog is not None:
            known = [self._stored] if self._stored else []
            actions = [] if known else [["pointer", "Ask the catalog what it stores"]]
            inspected = replace(inspection, sections=(*inspection.sections[:1], *known, *inspection.sections[1:]))
            return {**inspected.to_json(), "actions": actions}
        if node.kind not in FILES or "snapshot_id" not in node.facts:  # a file that no manifest names yet
            return inspection.to_json()
        is_data = node.kind == "data_file"
        offers = {
            "life": "Show the life of this file",
            "rows": "Show its rows and deletes" if is_data else "Show its contents",
        }
        sections = list(inspection.sections)
        if ("rows", node.id) in self._told:  # what the entry means comes first
            sections[1:1] = row_sections(self.table, node.facts, is_data)
        if ("life", node.id) in self._told:
            sections.insert(0, life(self.table, node.facts["path"]))
        actions = [[what, title] for what, title in offers.items() if (what, node.id) not in self._told]
        return {**replace(inspection, sections=tuple(sections)).to_json(), "actions": actions}

    def handle(self, request: Mapping[str, Any]) -> bool | None:
        """Carry out a request of a page. What is wrong with it is a message to the person. None: nothing came of
        it."""
        self.message = ""
        kind = str(request.get("type"))
        if kind == "select":
            wanted = request.get("ids")
            self.selected = (
                [i for i in wanted if isinstance(i, str) and self.graph.node(i)] if isinstance(wanted, list) else []
            )
            node = self.graph.node(self.selected[-1]) if self.selected else None
            if node and node.kind in FILES and "snapshot_id" in node.facts and self._quick(node):
                self._told |= {("rows", node.id)}
            return False
        if kind == "pointer":
            self._stored = catalog_pointer(self.table)
            return False
        if kind in ("life", "rows"):
            self._told |= {(kind, node) for node in self.selected[-1:]}
            return False
        try:
            if kind != "page":
                self._carry_out(kind, request)
            elif group := self.graph.group(str(request.get("id"))):
                self._bring_up(group)
        except Cancelled:
            raise
        except ExplorerError as error:
            self.message = str(error)
        return True

    def copied(self) -> Self:
        """Another state that is as this one is now: what a state holds is replaced, never changed in place."""
        return copy.copy(self)

    def become(self, later: GraphState) -> None:
        """Be as a copy has become."""
        vars(self).update(vars(later))

    def select(self, node: str | None) -> None:
        """Select a node, or none where it is not drawn."""
        self.selected = [node] if node and self.graph.node(node) else []

    def _bring_up(self, group: Elided) -> None:
        """Draw what was left out."""
        if group.action == "page":
            self.pages = {**self.pages, group.key: group.start}
            self._draw()

    def _quick(self, node: Node) -> bool:
        """Whether a file's rows and deletes are so few that selecting it may show them at once."""
        try:
            listed = self.table.tree.manifests(self.table.metadata.snapshot(node.facts["snapshot_id"]))
            counts = [n for m in listed for n in (m.added_files_count, m.existing_files_count)]
            few = None not in counts and sum(n or 0 for n in counts) <= QUICK_FILES
            return few and self.table.reader.storage.size(node.facts["path"]) <= QUICK_BYTES
        except ExplorerError:
            return False

    def _carry_out(self, kind: str, request: Mapping[str, Any]) -> None:
        """Carry out what not every state is asked."""

    def _draw(self) -> None:
        raise NotImplementedError


class ViewState(GraphState):
    """A table as of one snapshot: which nodes are open, the timeline, search and paging. `marks` are drawn into it."""

    offers: ClassVar[tuple[str, ...]] = ("search", "filtered", "reload")

    def __init__(self, table: Table, snapshot: str | int | None = None, marks: Uncommitted | None = None) -> None:
        super().__init__(table)
        self.view: GraphView
        self.marks = marks
        self.findings: tuple[Finding, ...] = ()
        self.look_at(snapshot)

    def look_at(self, snapshot: str | int | None) -> None:
        """Start over at a snapshot, with its default view."""
        old = getattr(self, "view", None)
        self.view = self.first_view(snapshot)
        if old is not None:
            lists = {list_node(s.snapshot_id) for s in self.table.metadata.snapshots}
            self.view = replace(
                self.view, open_nodes=self.view.open_nodes | (old.open_nodes - lists), open_files=old.open_files,
                show_filtered=old.show_filtered, search=old.search,
            )  # fmt: skip
        self._first_pages()
        self._draw()

    def first_view(self, snapshot: str | int | None) -> GraphView:
        """Return how a snapshot is looked at first."""
        return self.table.default_view(snapshot)

    def _first_pages(self) -> None:
        """Show the first page of each level again; the metadata files are the same whatever is looked at."""
        self.pages = {key: start for key, start in self.pages.items() if key == METADATA}

    def _draw(self) -> None:
        self.graph = mark_findings(self.table.graph(view=replace(self.view, pages=self.pages)), self.findings)
        if self.marks is not None:
            self.graph = overlay(self.graph, self.marks)

    def caption(self) -> str:
        """Only what is drawn anyway is read for it, and the parent's manifest list."""
        snapshot = self.table.metadata.snapshot(self.view.snapshot_id)
        opened = {n.facts["path"] for n in self.graph.nodes if n.kind in MANIFESTS and n.fold == "open"}
        step = snapshot_step(self.table.tree, snapshot, opened) if snapshot else None
        return step.words if step else ""

    def offered(self) -> list[str]:
        """To follow the table too, where each look costs nothing: not in a remote store."""
        location = self.table.reader.location
        here = local_path(location.metadata_location) is not None
        return [*self.offers, *(["follow"] if "reload" in self.offers and here and moves(location) else [])]

    def handle(self, request: Mapping[str, Any]) -> bool | None:
        """As other states do; and `look` whether there is a newer metadata file."""
        if request.get("type") != "look" or "follow" not in self.offered():
            return super().handle(request)
        try:
            newer = self.table.newer()
            if newer is None:
                return None
            self.move_to(newer)
            self.message = ""
        except Cancelled:
            raise
        except ExplorerError as error:
            if str(error) == self.message:
                return None
            self.message = str(error)
        return True

    def move_to(self, table: Table) -> None:
        """Look at a newer state of the table; who looked at its current snapshot, or at one that is gone, looks at that
        which is current now."""
        latest = self.view.snapshot_id == self.table.metadata.current_snapshot_id
        self.table = table
        keeps = not latest and table.metadata.snapshot(self.view.snapshot_id) is not None
        self.look_at(self.view.snapshot_id if keeps else None)

    def asked(self) -> dict[str, Any]:
        """As the view has them: it also changes by other ways than the bar."""
        folded = sum(group.hidden for group in self.graph.elided if group.what == FOLDED)
        return {"search": self.view.search, "filtered": self.view.show_filtered, "folded": folded}

    @property
    def snapshot_id(self) -> int | None:
        """The snapshot in view."""
        return self.view.snapshot_id

    def _carry_out(self, kind: str, request: Mapping[str, Any]) -> None:
        if kind == "snapshot":
            self.look_at(str(request.get("id")))
        elif kind == "reload":
            self.move_to(self.table.refresh())
        elif kind == "search":
            self.view = replace(self.view, search=str(request.get("text", ""))[:200].strip())
            self._first_pages()
        elif kind == "filtered":
            self.view = replace(self.view, show_filtered=bool(request.get("value")))
        elif kind in ("toggle", "focus"):
            self._on_node(kind, request)
        self._draw()

    def mark(self, findings: Sequence[Finding]) -> None:
        """Show what the doctor found on the nodes."""
        self.findings = tuple(findings)
        self._draw()

    def draw(self) -> None:
        """What is drawn has changed."""
        self._draw()

    def show_file(self, path: str) -> None:
        """Open and select a live data file, the deletes that apply to it, and their manifests."""
        snapshot = self.table.metadata.snapshot(self.view.snapshot_id)
        data = next(
            (d for d in self.table.row_reader.files_by_path(snapshot, path, deletes=False) if d.path == path), None
        )
        if data is None:
            self.message = f"{path} is no live data file of this snapshot"
            return
        applicable = self.table.row_reader.applicability(snapshot)
        files = [data, *(v.delete for v in applicable.of(data) if v.applies)]
        listed = [m.manifest_path for m in self.table.tree.manifests(snapshot)]
        box = list_node(self.view.snapshot_id or 0)
        pages, opened, chosen = dict(self.pages), set(self.view.open_nodes), []
        for file in files:
            node = manifest_node(file.manifest_path)
            opened.add(node)
            pages[box] = max(0, listed.index(file.manifest_path) - 5)
            manifest, _ = self.table.tree.find_manifest(file.manifest_path, self.view.snapshot_id)
            for _, table in self.table.tree.stored_entries([manifest]):
                pages[node] = max(0, table["file_path"].to_pylist().index(file.path) - 5)
            chosen += [node, file_node(file.path, file.content_offset)]
        self.pages = pages
        self.view = replace(
            self.view, open_nodes=frozenset(opened), closed=self.view.closed - {box}, search="", show_filtered=True
        )
        self._draw()
        self.selected = [i for i in (*chosen[2:], *chosen[:2]) if self.graph.node(i)]

    def _bring_up(self, group: Elided) -> None:
        if group.action == "search":
            self.view = replace(self.view, search="")
            self._draw()
        super()._bring_up(group)

    def _on_node(self, kind: str, request: Mapping[str, Any]) -> None:
        node = self.graph.node(str(request.get("id")))
        if node is None:
            return
        if kind == "focus" and node.kind == "snapshot":
            self.look_at(node.facts["snapshot_id"])
        elif not is_as_asked(node, request):
            self._toggle(node)

    def _toggle(self, node: Node) -> None:
        view, target = self.view, {node.id}
        if node.kind == "snapshot":
            target = {list_node(node.facts["snapshot_id"])}
        if node.kind == "manifest_list" or node.facts.get("focus"):  # drawn with its snapshot, open or not
            self.view = replace(view, closed=view.closed ^ target)
        elif node.kind in FILES:
            self.view = replace(view, open_files=view.open_files ^ target)
        else:
            self.view = replace(view, open_nodes=view.open_nodes ^ target)


class MarkedState(ViewState):
    """A table beside what is not committed to it, or with what a commit is refused for: without a timeline."""

    offers = ("search", "filtered")

    def timeline(self) -> dict[str, Any]:
        """None: staged snapshots are in no order."""
        return {}

    def caption(self) -> str:
        """None: the lab tells it."""
        return ""

    def show(self, table: Table, marks: Uncommitted, snapshot: int | None = None, opened: Iterable[str] = ()) -> None:
        """Look at a table anew, at a snapshot, with all that is marked and some nodes more open. What was selected
        stays."""
        self.table, self.marks = table, marks
        chosen = self.selected
        self.pages = {}
        self.view = table.default_view(snapshot)
        nodes = {*(list_node(i) for i in marks.snapshots), *(manifest_node(p) for p in marks.paths), *opened}
        self.view = replace(self.view, open_nodes=self.view.open_nodes | nodes)
        self._draw()
        self.selected = [node for node in chosen if self.graph.node(node)]

    def _carry_out(self, kind: str, request: Mapping[str, Any]) -> None:
        if kind in ("reload", "snapshot"):  # what is marked belongs to the table as it was looked at
            return
        super()._carry_out("toggle" if kind == "focus" else kind, request)


def is_as_asked(node: Node, request: Mapping[str, Any]) -> bool:
    """Whether a node is unfolded (`open`) or folded already, as a page wants it. A page says which of both it wants:
    the server may hear it twice, or have forgotten what was folded."""
    return request.get("open") is (node.fold == "open")


def _some(refs: list[str]) -> list[str]:
    """The first refs of a snapshot, and how many more there are."""
    more = len(refs) - REFS_TOLD
    names = [*map(_name, refs[:REFS_TOLD])]
    return names if more <= 0 else [*names, f"{more:,} more branches and tags"]


def _operation(name: str | None) -> str:
    """One of four words, unless somebody made it up."""
    return clean(name or "unknown") if len(name or "") <= NAME else f"a text of {len(name or ''):,} characters"


def _name(text: str) -> str:
    """A name as the timeline has it."""
    return clean(shorten(text, NAME))
