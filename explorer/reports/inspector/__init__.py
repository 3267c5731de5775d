"""Everything about one node, as data for the inspector: fields under the spec's names, decoded values, the raw
record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.errors import ExplorerError
from explorer.graph.graph import Graph, Node
from explorer.graph.summary import summary
from explorer.graph.vocabulary import KINDS, MARKS
from explorer.reports.inspector.file_nodes import inspect_file, inspect_row_group, life, row_sections
from explorer.reports.inspector.manifest_nodes import inspect_group, inspect_manifest, inspect_manifest_list
from explorer.reports.inspector.sections import Inspection, InspectorSection
from explorer.reports.inspector.table_nodes import (
    catalog_pointer,
    inspect_catalog,
    inspect_metadata,
    inspect_ref,
    inspect_snapshot,
    inspect_statistics,
)
from explorer.table import Table

__all__ = ["Inspection", "InspectorSection", "catalog_pointer", "inspect", "life", "row_sections"]


MAKERS: Mapping[str, Callable[[Table, Mapping[str, Any]], list[InspectorSection]]] = {
    "catalog": inspect_catalog,
    "metadata": inspect_metadata,
    "ref": inspect_ref,
    "snapshot": inspect_snapshot,
    "statistics": inspect_statistics,
    "manifest_list": inspect_manifest_list,
    "data_manifest": inspect_manifest,
    "delete_manifest": inspect_manifest,
    "manifest_group": inspect_group,
    "row_group": inspect_row_group,
    **dict.fromkeys(("data_file", "position_deletes", "equality_deletes", "deletion_vector"), inspect_file),
}
"""What makes the sections of a kind of node, from the table and the node's facts."""


def inspect(table: Table, node: Node, graph: Graph | None = None) -> Inspection:
    """Everything about a node of this table's graph; with the graph a summary, too. What cannot be read is in
    `problems`; nothing is raised."""
    problems = [node.problem] if node.problem else []
    if node.facts.get("loose"):
        about = [("path", node.facts["path"], ""), *((MARKS[node.mark].title, line, "") for line in node.lines)]
        return Inspection(node.label, KINDS[node.kind].title, (InspectorSection("file", about),))
    try:
        sections = (
            MAKERS[node.kind](table, node.facts)
            if node.kind in MAKERS
            else [InspectorSection("file", [("path", node.facts.get("path"), "")])]
        )
    except ExplorerError as error:
        sections = []
        problems.append(str(error))
    first = summary(graph, node) if graph else ()
    return Inspection(node.label, KINDS[node.kind].title, tuple(sections), tuple(dict.fromkeys(problems)), first)
