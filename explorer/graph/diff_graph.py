"""A diff as a graph: two snapshots, the manifests only one of them lists, and the files only one of them reads. What
both have is folded into a line that says how much it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from explorer.graph.drawing import PAGE, Drawing
from explorer.graph.graph import Card, Graph, Node, partition_chips
from explorer.graph.ids import file_node, list_node, manifest_node, snapshot_node
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.snapshots.diff import SnapshotDiff
from explorer.spec.snapshots.file_changes import FileChange
from explorer.spec.text.names import file_label, manifest_names, shorten, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, human_bytes, second

KEPT, BOTH = "kept manifests", "files in both"
"""What two kinds of folded lines hold. Kept manifests, paged by that key, are drawn once they were asked for; the files
in both are never decoded into nodes."""


def diff_graph(
    title: str,
    diff: SnapshotDiff,
    metadata: TableMetadata,
    before: Sequence[ManifestFile],
    after: Sequence[ManifestFile],
    pages: Mapping[str, int] | None = None,
    size: int = PAGE,
) -> Graph:
    """Statuses are `added`, `removed` and `kept`. `before` and `after` are the two manifest lists; `pages` is that
    of GraphView, `size` how many nodes of one level are drawn at once."""
    return _DiffGraph(title, diff, metadata, Drawing(pages, size)).graph(before, after)


class _DiffGraph:
    def __init__(self, title: str, diff: SnapshotDiff, metadata: TableMetadata, drawing: Drawing) -> None:
        self.title, self.diff, self.meta, self.drawing = title, diff, metadata, drawing
        self.ordinals = snapshot_ordinals(metadata)
        self.files = diff.removed.by_manifest() | diff.added.by_manifest()
        self.rewrites: dict[str, tuple[str, str]] = {}
        self.manifest_names: dict[str, str] = {}
        """By path."""
        for rewrite in diff.rewritten:
            for path in rewrite.sources:
                self.rewrites[path] = ("merged" if rewrite.is_merge else "rewritten", rewrite.reason)
        for gone in diff.dropped:
            self.rewrites[gone.manifest_path] = ("dropped", gone.reason)

    def graph(self, before: Sequence[ManifestFile], after: Sequence[ManifestFile]) -> Graph:
        diff = self.diff
        same = {m.manifest_path for m in before} & {m.manifest_path for m in after}
        names = [snapshot_name(i, self.ordinals) for i in (diff.before, diff.after)]
        listed_once = {m.manifest_path: m.added_snapshot_id for m in (*before, *after)}
        self.manifest_names = manifest_names(listed_once.items(), self.ordinals)
        sides = (
            [(diff.after, after, "added"), (diff.before, before, "removed")]
            if diff.before != diff.after
            else [(diff.after, after, "")]
        )
        for snapshot_id, listed, status in sides:
            self.side(snapshot_id, [m for m in listed if m.manifest_path not in same], status)
        self.manifests_of_both([m for m in after if m.manifest_path in same])
        for rewrite in diff.rewritten:
            for source in rewrite.sources:
                for target in rewrite.into:
                    self.drawing.edge(manifest_node(source), manifest_node(target), "rewritten into")
        if diff.before != diff.after and diff.before is not None and diff.after is not None:
            self.drawing.edge(snapshot_node(diff.before), snapshot_node(diff.after), "compared with")
        title = f"{self.title}: {names[0]} → {names[1]}"
        return self.drawing.graph(title, diff.after)

    def side(self, snapshot_id: int | None, manifests: Sequence[ManifestFile], status: str) -> None:
        snapshot = self.meta.snapshot(snapshot_id)
        if snapshot is None:
            return
        node, box = snapshot_node(snapshot.snapshot_id), list_node(snapshot.snapshot_id)
        role = {"added": "to", "removed": "from", "": "both sides"}[status]
        lines = (f"{role} · {snapshot.operation or 'no operation'}", second(snapshot.timestamp_ms))
        name = snapshot_name(snapshot.snapshot_id, self.ordinals)
        facts = {"snapshot_id": snapshot.snapshot_id, "focus": status != "removed"}
        self.drawing.nodes[node] = Node(node, "snapshot", name, lines, facts=facts)
        listed = {"added": "only in this list", "removed": "no longer listed", "": "on one side only"}[status]
        about = (f"{count(len(manifests), 'manifest')} {listed}",)
        label = f"manifest list {self.ordinals[snapshot.snapshot_id]}"
        self.drawing.nodes[box] = Node(
            box, "manifest_list", label, about, facts={"snapshot_id": snapshot_id, "path": snapshot.manifest_list or ""}
        )
        self.drawing.edge(node, box)
        for i in self.drawing.page(box, len(manifests), "manifests", 3):
            self.manifest(box, manifests[i], snapshot.snapshot_id, status)

    def manifest(self, parent: str, manifest: ManifestFile, snapshot_id: int, status: str) -> None:
        path = manifest.manifest_path
        node = manifest_node(path)
        changes, both = self.files.get(path, ()), self.diff.carried.get(path)
        what, reason = self.rewrites.get(path, ("", ""))
        lines = [f"lists {count(len(changes), f'{status} file')}"] if status else []
        if status == "kept":
            lines = ["listed by both, not decoded"]
        elif status == "added" and manifest.deleted_files_count:
            lines.append(f"says DELETED of {count(manifest.deleted_files_count, 'file')}")
        if what:
            lines.append(what + (": " + reason if what == "dropped" else ""))
        if both is None and status != "kept":
            lines = ["cannot be read"]
        facts = {"path": path, "snapshot_id": snapshot_id}
        shown = tuple(shorten(line, 68) for line in lines)
        self.drawing.nodes[node] = Node(node, manifest.kind, self.manifest_names[path], shown, status, facts=facts)
        self.drawing.edge(parent, node, status=status)
        page = self.drawing.page(node, len(changes), "files", 4)
        for change in changes[page.start : page.stop]:
            self.file(node, change, snapshot_id, status)
        if both:
            label = f"{count(both, 'file')} on both sides"
            self.drawing.leave_out("both", node, BOTH, both, both + len(changes), 4, label)

    def file(self, parent: str, change: FileChange, snapshot_id: int, status: str) -> None:
        node = file_node(change.file_path, change.content_offset)
        noun = "row" if change.kind == "data_file" else "delete"
        lines = [f"{status} · {count(change.record_count, noun)} · {human_bytes(change.bytes)}"]
        if change.partition:
            lines.append(shorten(change.partition, 34))
        facts = {
            "path": change.file_path,
            "manifest_path": change.manifest_path,
            "snapshot_id": snapshot_id,
            "content_offset": change.content_offset,
        }
        measures = f"{count(change.record_count, noun)} · {human_bytes(change.bytes)}"
        card = Card(measures, "", partition_chips(change.partition), change.record_count, change.bytes)
        self.drawing.nodes[node] = Node(
            node, change.kind, file_label(change.file_path), tuple(lines), status, facts=facts, card=card
        )
        self.drawing.edge(parent, node, status=status)

    def manifests_of_both(self, manifests: Sequence[ManifestFile]) -> None:
        """The manifests both list: one folded line until it is opened."""
        snapshots = [i for i in (self.diff.after, self.diff.before) if i is not None]
        if not manifests or not snapshots:
            return
        box = list_node(snapshots[0])
        total = len(manifests)
        if KEPT not in self.drawing.pages:
            label = f"{count(total, 'manifest')} kept, not decoded"
            self.drawing.leave_out("kept", box, KEPT, total, total, 3, label, "page", KEPT)
            return
        for i in self.drawing.page(box, total, KEPT, 3, key=KEPT):
            self.manifest(box, manifests[i], snapshots[0], "kept")
            for other in snapshots[1:]:
                self.drawing.edge(list_node(other), manifest_node(manifests[i].manifest_path), status="kept")
