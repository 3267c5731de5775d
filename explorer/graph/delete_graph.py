"""Data files and the deletes that could matter to them, as a bipartite graph."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.graph.drawing import Drawing
from explorer.graph.graph import Graph, Node
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
        drawing.add(Node(node, "data_file", file_label(cost.data.path), lines, facts=facts(cost.data, 0)))

    lone = "dangling: applies to no data file" if deletes.whole else "applies to no file that was read"

    def add(delete: LiveFile, alone: bool) -> str:
        node = file_node(delete.path, delete.content_offset)
        lines = [f"sequence {delete.sequence_number} · {count(delete.record_count, 'delete')}"]
        lines.append(lone if alone else KIND_WORDS[delete.kind])
        label = file_label(delete.path)
        drawing.add(Node(node, delete.kind, label, tuple(lines), "filtered" if alone else "", facts=facts(delete, 1)))
        return node

    lonely = {d.key for d in deletes.alone}
    for cost in shown:
        path, verdicts = cost.data.path, deletes.files.of(cost.data)
        for verdict in sorted(verdicts, key=lambda v: not v.applies)[:MANY]:
            node = add(verdict.delete, verdict.delete.key in lonely)
            drawing.edge(node, file_node(path), "applies" if verdict.applies else "does not apply")
        if (hidden := len(verdicts) - MANY) > 0:
            label = f"{count(hidden, 'more delete')} of {file_label(path)}"
            drawing.leave_out("deletes", file_node(path), "deletes", hidden, len(verdicts), 1, label)
    for delete in deletes.alone[:PAGE] if rows.start == 0 else ():
        add(delete, True)
    return drawing.graph(f"{title}: deletes", snapshot_id, COLUMNS)
