"""One colour and shape per kind, one colour and mark per status: for DOT and SVG. The widget has the same in CSS.

Colours are Okabe and Ito's, which people with colour blindness tell apart; status is always told by a mark too."""

from __future__ import annotations

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
STATUS_STYLE = {
    "ADDED": ("#007a4d", "+"),
    "EXISTING": ("#666666", "="),
    "DELETED": ("#b00020", "−"),
    "filtered": ("#999999", "∅"),
    "added": ("#007a4d", "+"),
    "kept": ("#666666", "="),
    "removed": ("#b00020", "−"),
}
GONE = ("DELETED", "filtered", "removed")
"""Statuses drawn with a dashed border."""
DASHED = ("parent", "previous", "deletes from", "rewritten into", "compared with", "does not apply")
"""Kinds of edges drawn dashed: not containment."""
