"""Data files and the deletes that could matter to them, as a bipartite graph."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.graph.drawing import Drawing
from explorer.graph.graph import Card, Graph, Node
from explorer.graph.ids import file_node
from explorer.spec.deletes.deletes import KIND_WORDS
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.text.names import file_label
from explorer.spec.text.units import count, human_bytes

COLUMNS = ("data files", "deletes")
PAGE, MANY = 24, 50
"""Data files on a page, and deletes that are drawn of each: those that apply first."""
FILES = "data files"
"""The key of the one level that is paged."""


def delete_graph(
    title: str,
    snapshot_id: int,
    deletes: Deletes,
    pages: Mapping[str, int] | None = None,
) -> Graph:
    """A page of data files (see GraphView.pages), the dearest to read first, and the deletes that could matter to them;
    on the first page those that apply to none too, as many as a page. Edges are `applies` or `does not apply`."""
    drawing = Drawing(pages, PAGE)
    costs = deletes.costs
    rows = drawing.rows(FILES, len(costs))
    shown = costs[rows.start : rows.stop]
    if shown:  # what is hidden hangs on the first file
        drawing.page(file_node(shown[0].data.path), len(costs), FILES, 0, key=FILES, labels=("dearer", "cheaper"))

    def facts(file: LiveFile, column: int) -> dict[str, object]:
        own_facts = {
            "path": file.path,
            "manifest_path": file.manifest_path,
            "snapshot_id": snapshot_id,
            "content_offset": file.content_offset,
        }
        return own_facts | {"column": column}

    for cost in shown:
        node = file_node(cost.data.path)
        lines = (
            f"data sequence {cost.data.sequence_number} · {count(cost.data.record_count, 'row')}",
            f"a reader opens {count(cost.deletes, 'delete')}"
            + (f", {human_bytes(cost.delete_bytes)}" if cost.deletes else ""),
        )
        measures = f"{count(cost.data.record_count, 'row')} · {human_bytes(cost.data.size)}"
        card = Card(
            f"{measures} · seq {count(cost.data.sequence_number)}",
            lines[1],
            rows=cost.data.record_count,
            bytes=cost.data.size,
        )
        label = file_label(cost.data.path)
        drawing.add(Node(node, "data_file", label, lines, facts=facts(cost.data, 0), card=card))

    lone = "dangling: applies to no data file" if deletes.whole else "applies to no file that was read"

    def add(delete: LiveFile, alone: bool) -> str:
        node = file_node(delete.path, delete.content_offset)
        lines = [f"sequence {delete.sequence_number} · {count(delete.record_count, 'delete')}"]
        lines.append(lone if alone else KIND_WORDS[delete.kind])
        label, status = file_label(delete.path), "filtered" if alone else ""
        size = delete.content_size or delete.size
        measures = f"{count(delete.record_count, 'delete')} · {human_bytes(size)}"
        note = "" if alone else KIND_WORDS[delete.kind]
        card = Card(
            f"{measures} · seq {count(delete.sequence_number)}",
            note,
            rows=delete.record_count,
            bytes=size,
            dead=alone,
        )
        drawing.add(Node(node, delete.kind, label, tuple(lines), status, facts=facts(delete, 1), card=card))
        return node

    lonely = {d.key for d in deletes.alone}
    for cost in shown:
        path, verdicts = cost.data.path, deletes.files.of(cost.data)
        for verdict in sorted(verdicts, key=lambda v: not v.applies)[:MANY]:
            node = add(verdict.delete, verdict.delete.key in lonely)
            kind = "applies" if verdict.applies else "does not apply"
            drawing.edge(node, file_node(path), kind, why=verdict.against)
        if (hidden := len(verdicts) - MANY) > 0:
            label = f"{count(hidden, 'more delete')} of {file_label(path)}"
            drawing.leave_out("deletes", file_node(path), "deletes", hidden, len(verdicts), 1, label)
    alone = deletes.alone if rows.start == 0 else ()
    for delete in alone[:PAGE]:
        add(delete, True)
    if hidden := sum(file_node(d.path, d.content_offset) not in drawing.nodes for d in alone):
        label = f"{count(hidden, 'more delete')} without a data file"
        drawing.leave_out("alone", add(alone[0], True), "deletes", hidden, len(alone), 1, label)
    return drawing.graph(f"{title}: deletes", snapshot_id, COLUMNS)
