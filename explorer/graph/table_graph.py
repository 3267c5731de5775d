"""Build the graph of a table from whatever of it has been read.

Pure: the caller reads what `open_nodes` asks for and passes it in; what is not there yet is drawn folded. Each thing is
one node however many parents it has, so a manifest carried by ten snapshots is drawn once, with ten edges."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from explorer.graph.drawing import Drawing
from explorer.graph.graph import Card, Graph, Node
from explorer.graph.ids import list_node, node_id, snapshot_node
from explorer.graph.manifest_graph import ManifestListDrawing
from explorer.graph.source import GraphSource, GraphView
from explorer.model.metadata import Snapshot
from explorer.spec.secrets.redaction import redact
from explorer.spec.text.identifiers import join_identifier, split_identifier
from explorer.spec.text.names import LABEL, base_name, metadata_name, shorten, snapshot_name
from explorer.spec.text.units import brief_count, count, second, whole

METADATA, SNAPSHOTS = "metadata files", "snapshots"
"""The keys of two levels that are paged, for GraphView.pages."""
CHAIN, STRIDE = 6, 6
"""Metadata files drawn until they are paged; by how many snapshots these move on."""
NEWEST_FIRST = ("newer", "older")
REFS, MOST_REFS = "branches and tags", 8
"""What a level of them is called, and how many are drawn at once of one snapshot."""
WHERE = 60
"""Characters of the catalog's and the namespace's name."""


def build(source: GraphSource, view: GraphView) -> Graph:
    """The graph of a table as seen through a view."""
    return _Builder(source, view).graph()


def metadata_lines(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """What a metadata file's node says of it, by its `format_version` and number of `snapshots`; nothing where it has
    not been read."""
    return (f"v{facts['format_version']} · {count(facts['snapshots'], 'snapshot')}",) if "snapshots" in facts else ()


class _Builder:
    """Draws the catalog pointer, the metadata files and the snapshots; ManifestListDrawing draws what is below."""

    def __init__(self, source: GraphSource, view: GraphView) -> None:
        self.source, self.view, self.meta = source, view, source.metadata
        self.drawing = Drawing(view.pages, view.page_size)
        self.below = ManifestListDrawing(source, view, self.drawing)
        self.ordinals = self.below.ordinals

    def graph(self) -> Graph:
        if self.view.has_all_levels:
            current = self.metadata_chain()[0]
            shown = self.snapshots()
            for snapshot in shown:
                self.drawing.edge(current, snapshot_node(snapshot.snapshot_id))
        else:
            shown, files = self.snapshots(), len(self.meta.metadata_log) + 1
            label = count(files, "metadata file")
            self.drawing.leave_out(METADATA, "", METADATA, files, files, 1, label, "levels")
        for snapshot in shown:
            if self.below.is_open(list_node(snapshot.snapshot_id)) or snapshot.snapshot_id == self.view.snapshot_id:
                self.below.manifest_list(snapshot)
        self.below.link_deletes()
        return self.drawing.graph(self.source.title, self.view.snapshot_id)

    def metadata_chain(self) -> list[str]:
        """Catalog pointer, current metadata file, and the previous ones, newest first."""
        meta, ids = self.meta, []
        previous = [(e.metadata_file, e.timestamp_ms) for e in reversed(meta.metadata_log)]
        chain = [(meta.metadata_location, meta.last_updated_ms), *previous]
        pointer = node_id("catalog", self.source.title)
        title = redact(self.source.title)  # before it is cut: half a credential would not be known as one
        *above, name = split_identifier(title) if self.source.catalog else (title,)
        where = join_identifier(above)
        what = f"in {shorten(where, WHERE)}" if where else "opened by path, no catalog"
        label, about = shorten(name, LABEL), (what, f"points to {self.metadata_label(meta.metadata_location)}")
        self.drawing.add(Node(pointer, "catalog", label, about, facts={"path": meta.metadata_location}))
        first = node_id("metadata", chain[0][0])
        size = 0 if METADATA in self.view.pages else CHAIN
        for i in self.drawing.page(pointer, len(chain), METADATA, 0, key=METADATA, size=size, labels=NEWEST_FIRST):
            path, written = chain[i]
            node = node_id("metadata", path)
            file = meta if i == 0 else self.source.metadata_files.get(path)
            counts = {"format_version": file.format_version, "snapshots": len(file.snapshots)} if file else {}
            fold = "" if i == 0 else "open" if self.below.is_open(node) else "folded"
            label = self.metadata_label(path)
            self.drawing.add(
                Node(
                    node,
                    "metadata",
                    label,
                    (*metadata_lines(counts), second(written)),
                    "",
                    fold,
                    i == 0,
                    self.below.causes.get(path, ""),
                    {"path": path, "position": i, **counts},
                )
            )
            ids.append(node)
        self.drawing.edge(pointer, first, "points to")
        for newer, older in pairwise(ids):
            self.drawing.edge(newer, older, "previous")
        return [first, *ids]

    @staticmethod
    def metadata_label(path: str) -> str:
        return metadata_name(path) or shorten(base_name(path), LABEL)

    def snapshots(self) -> list[Snapshot]:
        """Snapshots newest first, a window of them around the one in view, each under its refs."""
        ordered = sorted(self.meta.snapshots, key=lambda s: self.ordinals[s.snapshot_id], reverse=True)
        if self.view.search:
            ordered = [
                s
                for s in ordered
                if self.below.matches(
                    str(s.snapshot_id), snapshot_name(s.snapshot_id, self.ordinals), s.operation or ""
                )
                or s.snapshot_id == self.view.snapshot_id
            ]
        at = next((i for i, s in enumerate(ordered) if s.snapshot_id == self.view.snapshot_id), 0)
        at = (at + STRIDE // 2) // STRIDE * STRIDE  # neighbours have the same window, all but one in so many
        pointer = node_id("catalog", self.source.title)
        rows = self.drawing.page(
            pointer,
            len(ordered),
            SNAPSHOTS,
            1,
            key=SNAPSHOTS,
            around=at,
            size=self.view.snapshots_at_once,
            labels=NEWEST_FIRST,
        )
        shown = [ordered[i] for i in rows]
        refs: dict[int, list[Any]] = {}
        for ref in self.meta.refs:
            refs.setdefault(ref.snapshot_id, []).append(ref)
        for snapshot in shown:
            own_refs = sorted(refs.get(snapshot.snapshot_id, []), key=lambda r: (r.name != "main", r.type, r.name))
            own = snapshot_node(snapshot.snapshot_id)
            named = [
                own_refs[i] for i in self.drawing.page(own, len(own_refs), REFS, 1, key=f"{REFS}|{own}", size=MOST_REFS)
            ]
            for ref in named:
                facts = {"name": ref.name, "type": ref.type, "snapshot_id": ref.snapshot_id}
                self.drawing.add(
                    Node(
                        node_id("ref", ref.name),
                        "ref",
                        f"{ref.type} {ref.name}",
                        facts=facts,
                        current=ref.name == "main",
                    )
                )
            self.drawing.add(self.snapshot(snapshot))
            for ref in named:
                self.drawing.edge(node_id("ref", ref.name), own, "points to")
        for snapshot in shown:
            if snapshot.parent_snapshot_id is not None:
                self.drawing.edge(
                    snapshot_node(snapshot.snapshot_id), snapshot_node(snapshot.parent_snapshot_id), "parent"
                )
        for path, old in self.source.metadata_files.items():
            if self.below.is_open(node_id("metadata", path)):
                for snapshot in old.snapshots:
                    self.drawing.edge(node_id("metadata", path), snapshot_node(snapshot.snapshot_id))
        return shown

    def snapshot(self, snapshot: Snapshot) -> Node:
        summary = snapshot.summary
        changes, brief = [], []
        for added, removed, noun in (
            ("added-data-files", "deleted-data-files", "file"),
            ("added-delete-files", "removed-delete-files", "delete"),
            ("added-records", "deleted-records", "row"),
        ):
            plus, minus = (_with_separators(summary.get(name, "0")) for name in (added, removed))
            if (plus, minus) != ("0", "0"):
                text = "/".join(part for part, n in ((f"+{plus}", plus), (f"−{minus}", minus)) if n != "0")
                changes.append(f"{text} {noun}{'' if text in ('+1', '−1') else 's'}")
                brief.append(_brief(changes[-1], summary.get(added), summary.get(removed), noun))
        lines = [
            f"{snapshot.operation or 'no operation'} · sequence {snapshot.sequence_number}",
            " · ".join(changes) or "no files changed",
        ]
        lines.append(second(snapshot.timestamp_ms) if snapshot.timestamp_ms is not None else "no timestamp")
        current = snapshot.snapshot_id == self.meta.current_snapshot_id
        own_list = list_node(snapshot.snapshot_id)
        shown = snapshot.snapshot_id == self.view.snapshot_id or self.below.is_open(own_list)
        problem = ""
        chips: tuple[tuple[str, str], ...] = ()
        if not self.view.has_all_levels:  # the card speaks for the manifest list, too
            shown = shown and own_list not in self.view.closed
            problem = self.below.causes.get(snapshot.manifest_list or "", "")
            listed = self.source.manifests.get(snapshot.snapshot_id)
            chips = (("manifests", count(len(listed))),) if listed is not None else ()
        facts = {"snapshot_id": snapshot.snapshot_id, "focus": snapshot.snapshot_id == self.view.snapshot_id}
        name = snapshot_name(snapshot.snapshot_id, self.ordinals)
        card = Card(" · ".join(brief) or lines[1], lines[2], chips, operation=snapshot.operation or "no operation")
        return Node(
            snapshot_node(snapshot.snapshot_id),
            "snapshot",
            name,
            tuple(lines),
            "",
            "open" if shown else "folded",
            current,
            problem,
            facts,
            card=card,
        )


def _brief(text: str, added: str | None, removed: str | None, noun: str) -> str:
    """What a summary says of files or rows in as few letters as a card has room for."""
    signed = (("+", whole(added)), ("−", whole(removed)))
    large = [f"{sign}{brief_count(n, noun)}" for sign, n in signed if n]
    return large[0] if len(large) == 1 else text


def _with_separators(number: str) -> str:
    """A summary's number with separators of thousands, as it stands if it is none."""
    return number if (value := whole(number)) is None else f"{value:,}"
