"""Nodes of a graph brought up by what they are about, wherever among many others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from explorer.app.graph_state import ViewState
from explorer.graph.graph import Node
from explorer.graph.ids import list_node, manifest_node
from explorer.graph.manifest_groups import manifest_groups
from explorer.model.manifest import ManifestFile
from explorer.spec.text.names import snapshot_ordinals
from explorer.table import Table


def bring_up(view: ViewState, kind: str, key: str, wanted: Callable[[Node], bool]) -> bool:
    """Open what leads to a file or manifest by its path in the snapshot in view, page to it, and select the first node
    that is `wanted`; whether there is one."""
    box = list_node(view.view.snapshot_id or 0)
    listed = view.table.tree.manifests(view.table.metadata.snapshot(view.view.snapshot_id))
    pages, opened = dict(view.pages), set(view.view.open_nodes)
    for at, manifest in enumerate(listed):
        mine = kind == "manifest" and manifest.manifest_path == key
        if kind == "file":
            for _, table in view.table.tree.stored_entries([manifest]):
                paths = table["file_path"].to_pylist()
                mine = key in paths
                pages |= {manifest_node(manifest.manifest_path): max(0, paths.index(key) - 5)} if mine else {}
        if mine:
            pages[box] = max(0, at - 5)
            opened |= {manifest_node(manifest.manifest_path)} if kind == "file" else set()
            opened |= _group_of(view, listed, manifest) if kind == "manifest" else set()
            break
    view.pages = pages
    closed = view.view.closed - {box} if kind in ("file", "manifest", "manifest_list") else view.view.closed
    view.view = replace(view.view, open_nodes=frozenset(opened), closed=closed, search="", show_filtered=True)
    view.draw()
    view.selected = [node.id for node in view.graph.nodes if wanted(node)][:1]
    return bool(view.selected)


def _group_of(view: ViewState, listed: Sequence[ManifestFile], manifest: ManifestFile) -> set[str]:
    """The group that a manifest is drawn in, if it is in one."""
    if not 0 < view.view.groups_above < len(listed):
        return set()
    groups = manifest_groups(listed, view.table.metadata, snapshot_ordinals(view.table.metadata))
    return {group.id for group in groups if manifest in group.manifests}


def show_row(view: ViewState, kind: str, key: str) -> None:
    """Bring up and select what a row of a list is about: a snapshot by its id, a manifest or file by its path."""
    if kind == "manifest_list" and not view.view.has_all_levels:  # it is a part of its snapshot
        kind, key = "snapshot", _snapshot_of(view.table, key)
    if kind == "snapshot":
        view.look_at(key)
        key = str(view.view.snapshot_id)  # it may have been a name

    def wanted(node: Node) -> bool:
        if kind == "snapshot":
            return node.kind == "snapshot" and str(node.facts.get("snapshot_id")) == key
        return node.facts.get("path") == key and "column" not in node.facts

    if not bring_up(view, kind, key, wanted):
        view.message = f"{key} is not drawn here"


def _snapshot_of(table: Table, path: str) -> str:
    return next((str(one.snapshot_id) for one in table.metadata.snapshots if one.manifest_list == path), path)


def show_file(view: ViewState, path: str, snapshot_id: int | None) -> None:
    """Bring up and select a data file as of a snapshot, with its deletes and their manifests."""
    if snapshot_id is not None and snapshot_id != view.snapshot_id:
        view.look_at(snapshot_id)
    view.show_file(path)
