"""A table's fields over its schemas, as a picture: where each begins, is renamed, has another type, and ends."""

from __future__ import annotations

from explorer.render.pictures import WIDTH, sentence, svg_head, text, title_tag
from explorer.spec.schemas.field_lanes import FieldLanes
from explorer.spec.text.names import shorten
from explorer.spec.text.units import count

LEFT, TOP, STEP, BAR = 76, 62, 26, 20
"""Pixels: where bars begin, where the first is, from one to the next, and how high one is."""
LETTER = 6.4
"""Pixels of a letter of a bar's words, about."""
KEPT, CHANGED = "#1565c0", "#b35900"
"""Colours: a field as it was first, and after a change of its name or type."""


def schemas_svg(lanes: FieldLanes) -> str:
    """Draw fields as bars over the schemas that have them."""
    if not lanes.lanes:
        return sentence("No schema has a field.")
    wide = (WIDTH - LEFT) / len(lanes.schemas)
    title = f"{count(len(lanes.lanes), 'field')} over {count(len(lanes.schemas), 'schema')}"
    left_out = [
        f"{count(lanes.older, 'older schema')}" * bool(lanes.older),
        f"{count(lanes.others, 'more field')}" * bool(lanes.others),
    ]
    beside = " and ".join(filter(None, left_out))
    out = [svg_head(TOP + STEP * len(lanes.lanes) + 8, title)]
    out.append(text(0, 14, f"{title}{f'; not drawn: {beside}' if beside else ''}", 'font-weight="600"'))
    out.append(text(0, 46, "field", 'font-size="12" opacity="0.7"'))
    for at, own in enumerate(lanes.schemas):
        is_current = at == lanes.current
        label = f"schema {own}" if wide >= 64 else str(own)
        weight = 'font-size="12" font-weight="700"' if is_current else 'font-size="12"'
        out.append(text(LEFT + wide * at + 4, 38, label, weight))
        if is_current:
            out.append(text(LEFT + wide * at + 4, 52, "current", 'font-size="11" opacity="0.7"'))
        line = f'x1="{LEFT + wide * at:.1f}" x2="{LEFT + wide * at:.1f}" y1="26" y2="{TOP + STEP * len(lanes.lanes)}"'
        out.append(f'<line {line} stroke="currentColor" stroke-opacity="0.15"/>')
    for row, lane in enumerate(lanes.lanes):
        y = TOP + STEP * row
        out.append(text(0, y + 14, f"id {lane.field_id}", 'font-size="12"'))
        for number, span in enumerate(lane.spans):
            x, width = LEFT + wide * span.first + 1, wide * (span.last - span.first + 1) - 2
            colour = CHANGED if number else KEPT
            says = title_tag(f"field {lane.field_id}: {span.words}")
            shape = f'x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" rx="3"'
            out.append(f'<rect {shape} fill="{colour}" fill-opacity="0.16" stroke="{colour}">{says}</rect>')
            if (letters := int((width - 10) / LETTER)) > 1:
                out.append(text(x + 5, y + 14, shorten(span.words, letters), 'font-size="12"'))
    return "\n".join([*out, "</svg>"])
