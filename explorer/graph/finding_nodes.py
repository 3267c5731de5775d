"""What the doctor found, on the nodes that it is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from explorer.graph.graph import Graph, Node
from explorer.graph.ids import list_node, manifest_node, node_id, snapshot_node
from explorer.spec.doctor.findings import Finding

TOLD = 3
"""Findings that one node tells of."""


def node_of(finding: Finding) -> str | None:
    """The id of the node that a finding is about; None for a file: vectors in it are nodes too (see `about`)."""
    kind, key = finding.node or ("file", finding.file)
    if kind == "snapshot":
        return snapshot_node(int(key))
    if kind == "manifest_list":
        return list_node(int(key))
    return None if kind == "file" else manifest_node(str(key)) if kind == "manifest" else node_id(kind, key)


def about(node: Node, finding: Finding) -> bool:
    """Whether a finding is about a node."""
    own = node_of(finding)
    if own is not None:
        return node.id == own
    return finding.node is not None and node.facts.get("path") == finding.node[1] and "column" not in node.facts


def ids_of(node: Node) -> list[str]:
    """The id of a node, and those of the manifests that a folded group stands for."""
    folded = node.facts.get("paths", ()) if node.fold == "folded" else ()
    return [node.id, *map(manifest_node, folded)]


def mark_findings(graph: Graph, findings: Sequence[Finding]) -> Graph:
    """The graph with findings above info on their nodes, or on the group that they are in; what a node tells already
    stays."""
    by_node: dict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.severity != "info":
            by_node[node_of(finding)].append(finding)
    if not by_node:
        return graph
    nodes = []
    for node in graph.nodes:
        own_findings = [
            *(f for one in ids_of(node) for f in by_node.get(one, ())),
            *(f for f in by_node.get(None, ()) if about(node, f)),
        ]
        sentences = [f"{f.severity} {f.rule}: {f.what}" for f in own_findings[:TOLD]]
        more = [f"and {len(own_findings) - TOLD} more findings"] if len(own_findings) > TOLD else []
        nodes.append(
            replace(node, problem="; ".join([*sentences, *more])) if own_findings and not node.problem else node
        )
    return replace(graph, nodes=tuple(nodes))
