"""What is most asked of a node, in a few fields: from the graph that it is drawn in, without reading anything."""

from __future__ import annotations

from typing import Any

from explorer.graph.graph import Graph, Node
from explorer.spec.text.units import human_bytes

LISTED = 4
"""Names of other nodes that one field tells."""
HIDES = ("applies", "deletes from")
"""Kinds of edges from a delete to a data file whose rows it hides."""


def summary(graph: Graph, node: Node) -> list[tuple[str, Any, str]]:
    """The rows, size and partition of a node, and what it has to do with deletes, as (name, value, hint)."""
    card = node.card
    fields: list[tuple[str, Any, str]] = [("status", node.status.lower(), "")] if node.status else []
    if card is None:
        return fields
    if card.operation:
        fields += [("operation", card.operation, ""), ("changes", card.measures, ""), ("committed", card.note, "")]
        return fields
    if node.kind.endswith("_manifest") or node.kind == "manifest_group":
        fields += [("holds", card.measures, ""), ("from", card.note, "")]
    elif card.rows is not None:
        noun = {"data_file": "rows", "equality_deletes": "keys"}.get(node.kind, "deleted rows")
        fields.append((noun, f"{card.rows:,}", ""))
    if card.bytes is not None:
        fields.append(("size", human_bytes(card.bytes), ""))
    fields += [(f"partition {name}", value, "") for name, value in card.chips]
    for name, kinds, incoming in (
        ("hidden by", HIDES, True),
        ("not hidden by", ("does not apply",), True),
        ("applies to", HIDES, False),
        ("does not apply to", ("does not apply",), False),
    ):
        names, why = _others(graph, node, kinds, incoming)
        if names:
            fields.append((name, names, why))
    if card.dead:
        fields.append(("applies to", "no file", "it hides nothing any more"))
    return fields


def _others(graph: Graph, node: Node, kinds: tuple[str, ...], incoming: bool) -> tuple[str, str]:
    """The labels of the nodes at the other end of some edges, and why the first of them does not apply."""
    labels = {n.id: n.label for n in graph.nodes}
    edges = [e for e in graph.edges if e.kind in kinds and (e.target if incoming else e.source) == node.id]
    ends = [labels[e.source if incoming else e.target] for e in edges]
    more = len(ends) - LISTED
    why = f"{ends[0]}: {edges[0].why}" if edges and edges[0].why else ""
    return ", ".join(ends[:LISTED]) + (f" and {more:,} more" if more > 0 else ""), why
