"""A planned scan as a graph: the manifests and files that are read or skipped, each with what decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from explorer.graph.drawing import PAGE, Drawing
from explorer.graph.graph import Card, Graph, Node, partition_chips
from explorer.graph.ids import file_node, list_node, manifest_node
from explorer.spec.scan.plan import Plan
from explorer.spec.scan.pruning import ScanReason
from explorer.spec.scan.scan import OUTCOMES, READ, ManifestVerdict
from explorer.spec.text.names import file_label, manifest_names, shorten, snapshot_ordinals
from explorer.spec.text.units import count, human_bytes
from explorer.spec.values.values import row_dicts

COLUMNS = ("manifest lists", "manifests", "files")
MANIFESTS = "data manifests"
"""The key of their level, of which those that are read come first."""
MOST_MANIFESTS = 40
"""That are drawn at once: of more, nobody sees which are read."""
WIDE = 28
"""Characters of a line that fit a card."""


def plan_graph(
    title: str, plan: Plan, files: Mapping[str, pa.Table], pages: Mapping[str, int] | None = None, size: int = PAGE
) -> Graph:
    """The graph of a plan. `files` are rows of spec.scan.plan_parts.FILES of the manifests that are open, by path. A
    node's `facts` say why it is read or skipped (`because`). `size`: nodes of one level that are drawn at once."""
    drawing, snapshot = Drawing(pages, size), plan.snapshot
    if snapshot is None:
        return drawing.graph(f"{title}: plan", None, COLUMNS)
    ordinals = snapshot_ordinals(plan.scan.metadata)
    root, facts = list_node(snapshot.snapshot_id), {"snapshot_id": snapshot.snapshot_id, "column": 0}
    kept = sum(v.keeps for v in plan.manifests)
    lines = (f"{kept:,} of {count(len(plan.manifests), 'data manifest')} read", shorten(str(plan.bound), WIDE))
    label = f"manifest list {ordinals[snapshot.snapshot_id]}"
    drawing.add(Node(root, "manifest_list", label, lines, facts={**facts, "path": snapshot.manifest_list or ""}))
    listed = ((v.manifest.manifest_path, v.manifest.added_snapshot_id) for v in plan.manifests)
    names = manifest_names(listed, ordinals)
    ordered = sorted(plan.manifests, key=lambda v: not v.keeps)
    for at in drawing.page(root, len(ordered), MANIFESTS, 1, key=MANIFESTS, size=min(size, MOST_MANIFESTS)):
        verdict = ordered[at]
        path = verdict.manifest.manifest_path
        node = _manifest(verdict, snapshot.snapshot_id, names[path], path in files)
        drawing.add(node)
        drawing.edge(root, node.id, "contains", node.status)
        if path in files:
            _files(drawing, node, files[path])
    return drawing.graph(f"{title}: plan", snapshot.snapshot_id, COLUMNS)


def _manifest(verdict: ManifestVerdict, snapshot_id: int, label: str, opened: bool) -> Node:
    manifest, because = verdict.manifest, str(verdict.reason)
    counts = (manifest.added_files_count, manifest.existing_files_count)
    live = sum(n for n in counts if n is not None)
    files = count(live, "data file") if None not in counts else "data files not told"
    facts = {"path": manifest.manifest_path, "snapshot_id": snapshot_id, "because": because, "column": 1}
    fold = ("open" if opened else "folded") if verdict.keeps else ""
    lines = (files, shorten(because, WIDE))
    status = "read" if verdict.keeps else "skipped"
    card = Card(files, because)
    node = manifest_node(manifest.manifest_path)
    return Node(node, "data_manifest", label, lines, status, fold, facts=facts, card=card)


def _files(drawing: Drawing, manifest: Node, files: pa.Table) -> None:
    """A page of a manifest's files, those that are read first."""
    rows: list[dict[str, Any]] = row_dicts(files)
    rows.sort(key=lambda row: row["verdict"] != OUTCOMES[READ])
    for at in drawing.page(manifest.id, len(rows), "data files", 2):
        row = rows[at]
        read = row["verdict"] == OUTCOMES[READ]
        because = str(ScanReason(row["term"], row["reason"], read))
        size = f"{count(row['record_count'] or 0, 'row')} · {human_bytes(row['file_size_in_bytes'])}"
        facts = {
            "path": row["file_path"], "manifest_path": row["manifest_path"], "content_offset": None,
            "snapshot_id": manifest.facts["snapshot_id"], "because": f"{row['verdict']}: {because}", "column": 2,
        }  # fmt: skip
        lines = tuple(shorten(line, WIDE) for line in (size, row["partition"], because) if line)
        label, status = file_label(row["file_path"]), "read" if read else "skipped"
        chips = partition_chips(row["partition"])
        card = Card(size, because, chips, row["record_count"], row["file_size_in_bytes"])
        drawing.add(Node(file_node(row["file_path"]), "data_file", label, lines, status, facts=facts, card=card))
        drawing.edge(manifest.id, file_node(row["file_path"]), "contains", status)
