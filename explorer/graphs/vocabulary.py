"""What can be drawn: kinds of nodes, their columns and names, statuses and marks, each with one colour, shape or sign.

Colours are Okabe and Ito's, which people with colour blindness tell apart; status is always told by a sign too. The
widget has the same in CSS."""

from __future__ import annotations

from collections.abc import Mapping

KINDS: Mapping[str, str] = {
    "catalog": "catalog pointer",
    "metadata": "metadata file",
    "ref": "branch or tag",
    "snapshot": "snapshot",
    "manifest_list": "manifest list",
    "data_manifest": "data manifest",
    "delete_manifest": "delete manifest",
    "data_file": "data file",
    "position_deletes": "position delete file",
    "equality_deletes": "equality delete file",
    "deletion_vector": "deletion vector",
    "statistics": "statistics file",
    "row_group": "row group",
    "problem": "unreadable",
    "more": "hidden nodes",
}
"""Every kind of node, and what it is called."""

COLUMNS = ("metadata", "snapshots", "manifest lists", "manifests", "files", "row groups")
KIND_COLUMN: Mapping[str, int] = {
    "catalog": 0, "metadata": 0, "ref": 1, "snapshot": 1, "manifest_list": 2, "data_manifest": 3, "delete_manifest": 3,
    "statistics": 3, "data_file": 4, "position_deletes": 4, "equality_deletes": 4, "deletion_vector": 4, "row_group": 5,
}  # fmt: skip

MARKS: Mapping[str, str] = {
    "staged": "written by a writer that has not committed",
    "orphan": "left behind: nothing leads to it",
    "conflict": "what a commit is refused for",
}
"""What a node can be marked as."""

KIND_STYLE = {
    "catalog": ("#000000", "cylinder"),
    "metadata": ("#0072b2", "note"),
    "ref": ("#555555", "cds"),
    "snapshot": ("#56b4e9", "box"),
    "manifest_list": ("#7f6fb6", "folder"),
    "data_manifest": ("#009e73", "tab"),
    "delete_manifest": ("#cc79a7", "tab"),
    "data_file": ("#44aa77", "component"),
    "position_deletes": ("#d55e00", "component"),
    "equality_deletes": ("#e69f00", "component"),
    "deletion_vector": ("#b8560f", "hexagon"),
    "statistics": ("#8a7d3c", "note"),
    "row_group": ("#999999", "box"),
    "problem": ("#cc0000", "octagon"),
    "more": ("#888888", "plaintext"),
}
"""Colour, and Graphviz's shape."""
STATUS_STYLE = {
    "ADDED": ("#007a4d", "+", "+"),
    "EXISTING": ("#666666", "=", "="),
    "DELETED": ("#b00020", "−", "-"),
    "filtered": ("#999999", "∅", "x"),
    "added": ("#007a4d", "+", "+"),
    "kept": ("#666666", "=", "="),
    "removed": ("#b00020", "−", "-"),
}
"""Colour, sign, and the sign in ASCII, for text trees."""
GONE = ("DELETED", "filtered", "removed")
"""Statuses drawn with a dashed border."""
DASHED = ("parent", "previous", "deletes from", "rewritten into", "compared with", "does not apply")
"""Kinds of edges drawn dashed: not containment."""
