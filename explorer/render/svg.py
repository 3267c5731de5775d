"""The graph as a stand-alone SVG in the widget's own layout: the fallback where no kernel runs, and `graph --format
svg`."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from explorer.graph.graph import Card, Edge, Graph
from explorer.graph.layout import HEADER, Box, column_x, layout
from explorer.graph.vocabulary import EDGES, GONE, KINDS, MARKS, OPERATION_MARKS, OPERATIONS, OTHER_OPERATION, STATUSES
from explorer.render.text import brief, clean
from explorer.spec.text.glossary import meanings
from explorer.spec.text.names import shorten


def vocabulary() -> dict[str, Any]:
    """What the widget needs to know of graph.vocabulary, and what the words of fields mean, as JSON."""
    return {
        "kinds": {
            name: {
                "title": k.title, "color": k.color, "night": k.night, "glyph": k.glyph, "look": k.look,
                "double": k.double,
            }
            for name, k in KINDS.items()
        },
        "statuses": {
            name: {"title": s.title, "color": s.color, "night": s.night, "sign": s.sign, "look": s.look, "of": s.of}
            for name, s in STATUSES.items()
        },
        "terms": meanings(),
        "marks": {
            name: {"title": m.title, "color": m.color, "night": m.night, "look": m.look} for name, m in MARKS.items()
        },
        "edges": {name: {"dashed": e.dashed, "back": e.back, "color": e.color} for name, e in EDGES.items()},
        "operations": dict(OPERATIONS),
        "operation": KINDS["snapshot"].color,
        "operation_marks": dict(OPERATION_MARKS),
        "operation_mark": OTHER_OPERATION,
    }  # fmt: skip


def picture(graph: Graph) -> dict[str, Any]:
    """What the widget draws: nodes, edges and hidden groups with their boxes, as JSON."""
    boxes = layout(graph)
    used = {node.column for node in graph.nodes}

    def at(item: str) -> dict[str, float]:
        box = boxes[item]
        row = {} if box.row is None else {"row": round(box.row, 1)}
        return {"x": round(box.x, 1), "y": round(box.y, 1), "w": box.width, "h": box.height, **row}

    return {
        "title": brief(graph.title),
        "snapshot": str(graph.snapshot_id),
        "columns": [{"name": name, "x": column_x(graph, i)} for i, name in enumerate(graph.columns) if i in used],
        "nodes": [
            {
                "id": n.id, "kind": n.kind, "label": brief(n.label), "lines": [*map(brief, n.lines)],
                "status": n.status, "fold": n.fold,
                "current": n.current, "bad": bool(n.problem), "warn": bool(n.problem) and n.kind != "problem",
                "title": brief(str(n.facts.get("path") or n.facts.get("snapshot_id") or n.label)),
                "problem": brief(n.problem),
                "focus": bool(n.facts.get("focus")), "mark": n.mark, **at(n.id), **_card(n.card),
            }
            for n in graph.nodes
        ],
        "edges": [_edge(edge) for edge in graph.edges],
        "more": [
            {
                "id": e.id, "parent": e.parent, "label": brief(e.label), "action": e.action, "before": e.before,
                **at(e.id),
            }
            for e in graph.elided
        ],
    }  # fmt: skip


def _edge(edge: Edge) -> dict[str, Any]:
    why = {"why": brief(edge.why)} if edge.why else {}
    return {"s": edge.source, "t": edge.target, "kind": edge.kind, "status": edge.status, **why}


def _card(card: Card | None) -> dict[str, Any]:
    """What a card says, without what it does not say: there are thousands."""
    if card is None:
        return {}
    chips = [[brief(name), brief(value)] for name, value in card.chips]
    told = {
        "measures": brief(card.measures), "note": brief(card.note), "chips": chips, "rows": card.rows,
        "bytes": card.bytes, "operation": brief(card.operation), "dead": card.dead,
    }  # fmt: skip
    return {"card": {name: value for name, value in told.items() if value}}


def extent(boxes: Mapping[str, Box]) -> tuple[float, float]:
    """Width and height that hold all boxes."""
    return (
        max((b.x + b.width for b in boxes.values()), default=0) + 1,
        max((b.y + b.height for b in boxes.values()), default=0) + 1,
    )


def edge_path(source: Box, target: Box) -> str:
    """A curve from one box to another: sideways between columns, along the left side within one."""
    y1, y2 = source.y + source.height / 2, target.y + target.height / 2
    if abs(source.x - target.x) < 1:
        x = source.x
        return f"M{x:g},{y1:g} C{x - 18:g},{y1:g} {x - 18:g},{y2:g} {x:g},{y2:g}"
    x1, x2 = (source.x + source.width, target.x) if target.x > source.x else (source.x, target.x + target.width)
    middle = (x1 + x2) / 2
    return f"M{x1:g},{y1:g} C{middle:g},{y1:g} {middle:g},{y2:g} {x2:g},{y2:g}"


def render_svg(graph: Graph) -> str:
    """The graph as SVG text; everything a table's author wrote is escaped text."""
    boxes = layout(graph)
    width, height = extent(boxes)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-24 -4 {width + 28:g} {height + 8:g}" '
        f'width="{width + 28:g}" height="{height + 8:g}" '
        'font-family="system-ui, sans-serif" font-size="11" style="max-width:100%;height:auto;background:#fff" '
        'role="img">'
        f"<title>{escape(clean(f'the metadata graph of {graph.title}'))}</title>"
    ]
    used = {node.column for node in graph.nodes} | {one.column for one in graph.elided}
    for i, name in enumerate(graph.columns):
        if i in used:
            x = round(column_x(graph, i))
            out.append(f'<text x="{x}" y="{HEADER - 14}" fill="#555" font-weight="600">{escape(name)}</text>')
    for edge in graph.edges:
        color = STATUSES[edge.status].color if edge.status else "#b5b5b5"
        dash = ' stroke-dasharray="4 3"' if EDGES[edge.kind].dashed else ""
        out.append(
            f'<path d="{edge_path(boxes[edge.source], boxes[edge.target])}" fill="none" stroke="{color}"{dash}/>'
        )
    for node in graph.nodes:
        box, color, status = boxes[node.id], KINDS[node.kind].color, STATUSES.get(node.status)
        loose = bool(node.mark) and MARKS[node.mark].look == "loose"
        dash = ' stroke-dasharray="5 3"' if loose or (status is not None and status.look in GONE) else ""
        thick = 2.5 if node.current else 1.2
        out.append(f"<g><title>{escape(clean(str(node.facts.get('path', node.label))))}</title>")
        out.append(
            f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="5" fill="#fff" '
            f'stroke="{color}" stroke-width="{thick}"{dash}/>'
        )
        out.append(f'<rect x="{box.x:g}" y="{box.y:g}" width="5" height="{box.height:g}" rx="2" fill="{color}"/>')
        sign = f"{status.sign} " if status else ""
        strike = ' text-decoration="line-through"' if status is not None and status.look == "out" else ""
        out.append(
            f'<text x="{box.x + 12:g}" y="{box.y + 17:g}" font-size="12" font-weight="600"{strike}>'
            f"{escape(clean(sign + node.label))}</text>"
        )
        if node.mark:
            out.append(
                f'<text x="{box.x + box.width:g}" y="{box.y - 2:g}" text-anchor="end" '
                f'font-size="9">{escape(clean(node.mark.upper()))}</text>'
            )
        for i, line in enumerate(node.lines):
            out.append(
                f'<text x="{box.x + 12:g}" y="{box.y + 33 + 15 * i:g}" '
                f'fill="#444">{escape(clean(shorten(line, 34)))}</text>'
            )
        out.append("</g>")
    for elided in graph.elided:
        box = boxes[elided.id]
        out.append(
            f'<text x="{box.x + 12:g}" y="{box.y + 17:g}" fill="#666" font-style="italic">… '
            f"{escape(clean(elided.label))}</text>"
        )
    out.append("</svg>")
    return "\n".join(out)
