"""What can be drawn: kinds of nodes, statuses, marks, kinds of edges and operations; of each the name, colour, shape or
sign. This is the one place: SVG, DOT and text look here, and the browser is sent it (render/svg.py `vocabulary`).

Colours are Okabe and Ito's, which people with colour blindness tell apart; status is always told by a sign too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

COLUMNS = ("metadata", "snapshots", "manifest lists", "manifests", "files", "row groups")


@dataclass(frozen=True)
class NodeStyle:
    """A kind of node: what it is called, its colour (`night` on dark pages, where another is needed), its column, its
    shape in Graphviz, and on screen as an SVG path of 32 by 26. `look` is how its card differs. `double` is the request
    that a double click makes."""

    title: str
    color: str
    shape: str
    glyph: str
    column: int = 0
    night: str = ""
    look: Literal["", "round", "tint"] = ""
    double: Literal["toggle", "focus"] = "toggle"


@dataclass(frozen=True)
class Status:
    """What a manifest entry means, which side of a diff a thing is on, or whether a plan reads it (`of`): its sign, and
    that in ASCII for text trees. `look`: new, gone (deleted in this snapshot) or out (of no account any more)."""

    title: str
    color: str
    sign: str
    ascii: str
    of: Literal["entry", "diff", "plan"] = "entry"
    night: str = ""
    look: Literal["", "new", "gone", "out"] = ""


@dataclass(frozen=True)
class Mark:
    """What else a node can be marked as. `look`: loose (no snapshot leads to it) or bold."""

    title: str
    color: str
    look: Literal["loose", "bold"]
    night: str = ""


@dataclass(frozen=True)
class EdgeKind:
    """A kind of edge. Dashed ones are not containment; `back` leads to what came before, not further down."""

    dashed: bool = False
    back: bool = False
    color: str = ""


KINDS: Mapping[str, NodeStyle] = {
    "catalog": NodeStyle(
        "catalog pointer", "#000000", "cylinder", "M10,10 a6,2.5 0 1,1 12,0 v8 a6,2.5 0 1,1 -12,0 z", night="#dddddd"
    ),
    "metadata": NodeStyle("metadata file", "#0072b2", "note", "M11,7 h7 l4,4 v10 h-11 z", night="#3a9bd9"),
    "ref": NodeStyle(
        "branch or tag", "#555555", "cds", "M10,8 h8 l5,4.5 -5,4.5 h-8 z", column=1, night="#9aa5b4", look="round"
    ),
    "snapshot": NodeStyle("snapshot", "#56b4e9", "box", "M16,7 a6.5,6.5 0 1,0 0.01,0 z", column=1, double="focus"),
    "manifest_list": NodeStyle(
        "manifest list", "#7f6fb6", "folder", "M10,8 h12 v2.5 h-12 z M10,12.5 h12 v2.5 h-12 z M10,17 h12 v2.5 h-12 z",
        column=2,
    ),
    "data_manifest": NodeStyle("data manifest", "#009e73", "tab", "M10,8 h5 l2,2.5 h5 v9 h-12 z", column=3),
    "delete_manifest": NodeStyle(
        "delete manifest", "#cc79a7", "tab", "M10,8 h5 l2,2.5 h5 v9 h-12 z M13,13 h6 v2 h-6 z", column=3
    ),
    "manifest_group": NodeStyle(
        "group of manifests", "#009e73", "folder", "M9,7 h4 l1.5,2 h5 v8 h-10.5 z M12,19 h11 v-7 h-2 v5.5 h-9 z",
        column=3,
    ),
    "data_file": NodeStyle("data file", "#44aa77", "component", "M10,8 h12 v11 h-12 z", column=4),
    "position_deletes": NodeStyle(
        "position delete file", "#d55e00", "component", "M16,6.5 l7,7 -7,7 -7,-7 z", column=4
    ),
    "equality_deletes": NodeStyle("equality delete file", "#e69f00", "component", "M16,7 l7,12.5 h-14 z", column=4),
    "deletion_vector": NodeStyle(
        "deletion vector", "#b8560f", "hexagon", "M12.5,7.5 h7 l3.5,6 -3.5,6 h-7 l-3.5,-6 z", column=4
    ),
    "statistics": NodeStyle(
        "statistics file", "#8a7d3c", "note", "M10,20 v-6 h3 v6 z M14.5,20 v-12 h3 v12 z M19,20 v-9 h3 v9 z", column=3
    ),
    "row_group": NodeStyle("row group", "#999999", "box", "M10,9 h12 v4 h-12 z M10,15 h12 v4 h-12 z", column=5),
    "problem": NodeStyle("unreadable", "#cc0000", "octagon", "M13,7 h6 l4,4 v5 l-4,4 h-6 l-4,-4 v-5 z", look="tint"),
}  # fmt: skip
"""Every kind of node."""

STATUSES: Mapping[str, Status] = {
    "ADDED": Status("ADDED", "#007a4d", "+", "+", night="#00b377", look="new"),
    "EXISTING": Status("EXISTING", "#666666", "=", "=", night="#9aa5b4"),
    "DELETED": Status("DELETED", "#b00020", "−", "-", night="#ff5c6f", look="gone"),
    "filtered": Status("filtered out: deleted by an earlier snapshot", "#999999", "∅", "x", look="out"),
    "added": Status("only in the later one", "#007a4d", "+", "+", of="diff", night="#00b377", look="new"),
    "kept": Status("in both", "#666666", "=", "=", of="diff", night="#9aa5b4"),
    "removed": Status("only in the earlier one", "#b00020", "−", "-", of="diff", night="#ff5c6f", look="gone"),
    "read": Status("read by the plan", "#1565c0", "●", "*", of="plan", night="#6fb1f2"),
    "skipped": Status("skipped by the plan", "#777777", "○", "o", of="plan", night="#9aa5b4", look="gone"),
}
GONE = ("gone", "out")
"""Looks of statuses that are drawn with a dashed border."""

MARKS: Mapping[str, Mark] = {
    "staged": Mark("written by a writer that has not committed", "#7b4fd0", "loose", night="#a98bea"),
    "orphan": Mark("left behind: nothing leads to it", "#b26a00", "loose", night="#d99a3d"),
    "conflict": Mark("what a commit is refused for", "#d0021b", "bold", night="#ff5c6f"),
}

ENDS: Mapping[str, tuple[str, str]] = {
    "rewritten": ("▼", "#e08a2e"), "merged": ("◆", "#e08a2e"), "dropped": ("✕", "#d6409f"),
}  # fmt: skip
"""What became of a manifest that is listed no more (spec.snapshots.lifecycle): sign and colour."""

EDGES: Mapping[str, EdgeKind] = {
    "contains": EdgeKind(),
    "points to": EdgeKind(),
    "parent": EdgeKind(dashed=True, back=True),
    "previous": EdgeKind(dashed=True, back=True),
    "deletes from": EdgeKind(dashed=True, color="#d55e00"),
    "rewritten into": EdgeKind(dashed=True, color="#7f6fb6"),
    "compared with": EdgeKind(dashed=True),
    "applies": EdgeKind(color="#d55e00"),
    "does not apply": EdgeKind(dashed=True),
}

OPERATIONS: Mapping[str, str] = {
    "append": "#009e73",
    "overwrite": "#e69f00",
    "delete": "#d55e00",
    "replace": "#7f6fb6",
}
"""Colours of what a snapshot's summary calls its operation; another word is drawn like any snapshot."""
OPERATION_MARKS: Mapping[str, str] = {"append": "●", "overwrite": "■", "delete": "▼", "replace": "◆"}
OTHER_OPERATION = "○"
"""Shapes of operations, and of another word."""
