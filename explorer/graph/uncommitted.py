"""What no snapshot of a table leads to, drawn into its graph: snapshots that writers have staged, files that were left
behind, and the files and snapshots that a commit was refused for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from explorer.graph.graph import Edge, Graph, Node
from explorer.graph.ids import file_node, list_node, manifest_node, node_id
from explorer.graph.table_graph import metadata_lines
from explorer.spec.text.names import base_name, file_label


@dataclass(frozen=True)
class Loose:
    """A file that no manifest, list or catalog names: where, which kind of node it would be, who wrote it, and its
    mark, staged (its writer goes on) or orphan."""

    path: str
    kind: str
    writer: str
    mark: str


@dataclass(frozen=True)
class Uncommitted:
    """What is not committed: snapshots by id, and the manifests and files they added by path, each with its writer's
    name; loose files; writers that are gone, whose snapshots nobody will commit; and snapshot ids and file paths that a
    commit was refused for."""

    snapshots: Mapping[int, str]
    paths: Mapping[str, str]
    loose: Sequence[Loose] = ()
    gone: Collection[str] = ()
    conflicts: Collection[object] = ()


def kind_of(path: str, deletes: str = "position_deletes") -> str:
    """The node kind of a file that a writer has written, by its name; `deletes` is the kind of its row-level delete
    files."""
    name = base_name(path)
    if name.endswith(".metadata.json"):
        return "metadata"
    if name.endswith(".avro"):
        return "manifest_list" if name.startswith("snap-") else "data_manifest"
    if name.endswith(".puffin"):
        return "deletion_vector"
    return deletes if "-deletes-" in name else "data_file"


def overlay(graph: Graph, what: Uncommitted) -> Graph:
    """The graph of a table whose metadata has the staged snapshots beside the committed ones, with everything marked,
    and the loose files drawn in their columns."""
    lists = {list_node(i): writer for i, writer in what.snapshots.items()}
    nodes = []
    for node in graph.nodes:
        path, at = node.facts.get("path"), node.facts.get("snapshot_id", 0)
        writer = what.snapshots.get(at) if node.kind == "snapshot" else lists.get(node.id) or what.paths.get(path or "")
        if node.kind == "metadata" and node.current:  # it names the committed ones only
            facts = {**node.facts, "snapshots": node.facts["snapshots"] - len(what.snapshots)}
            node = replace(node, lines=(*metadata_lines(facts), *node.lines[1:]), facts=facts)
        if writer and node.status != "DELETED":
            label = f"{writer}: not committed" if node.kind == "snapshot" else node.label
            node = replace(node, mark="orphan" if writer in what.gone else "staged", label=label)
        if path in what.conflicts or (node.kind == "snapshot" and at in what.conflicts):
            node = replace(node, mark="conflict")
        nodes.append(node)
    drawn = {n.id for n in nodes}
    above = {n.id for n in graph.nodes if n.kind == "metadata"}
    below = {n.id for n in graph.nodes if n.kind == "snapshot" and n.facts.get("snapshot_id") in what.snapshots}
    edges = [
        e for e in graph.edges if not (e.source in above and e.target in below)
    ]  # no committed metadata file names them
    for file in what.loose:
        names = {
            "metadata": node_id("metadata", file.path),
            "manifest_list": node_id("loose", file.path),
            "data_manifest": manifest_node(file.path),
        }
        identity = names.get(file.kind, file_node(file.path))
        if identity in drawn:
            continue
        waiting = "the catalog is not there yet" if file.kind == "metadata" else "in no snapshot yet"
        why = waiting if file.mark == "staged" else "nothing leads to it"
        facts = {"path": file.path, "loose": True}
        nodes.append(
            Node(
                identity,
                file.kind,
                file_label(file.path),
                (f"by {file.writer}: {why}",),
                facts=facts,
                mark=file.mark,
            )
        )
        drawn.add(identity)
        if file.kind == "metadata":
            edges += [
                Edge(identity, n.id, "contains")
                for n in graph.nodes
                if n.kind == "snapshot" and what.snapshots.get(n.facts["snapshot_id"]) == file.writer
            ]
    return replace(graph, nodes=tuple(nodes), edges=tuple(edges))
