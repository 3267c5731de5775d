"""Opaque, stable ids of the things that are drawn: the same thing has the same id in every graph and at every step."""

from __future__ import annotations

import hashlib


def node_id(kind: str, key: object) -> str:
    """The opaque, stable id of a thing: a letter for its kind and a hash of what identifies it."""
    letter = {
        "data_manifest": "m",
        "delete_manifest": "m",
        "manifest_list": "l",
        "metadata": "j",
        "statistics": "t",
    }.get(kind, kind[0])
    return (
        letter
        + hashlib.blake2b(f"{kind if letter not in 'm' else 'manifest'}|{key}".encode(), digest_size=6).hexdigest()
    )


def snapshot_node(snapshot_id: int) -> str:
    """Id of a snapshot's node."""
    return node_id("snapshot", snapshot_id)


def list_node(snapshot_id: int) -> str:
    """Id of a manifest list's node."""
    return node_id("manifest_list", snapshot_id)


def manifest_node(path: str) -> str:
    """Id of a manifest's node."""
    return node_id("data_manifest", path)


def file_node(path: str, content_offset: int | None = None) -> str:
    """Id of a data or delete file's node; deletion vectors in one Puffin file differ by offset."""
    return node_id("file", f"{path}|{content_offset}")
