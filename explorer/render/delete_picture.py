"""Deletes above the data files that they apply to, by data sequence number, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.graph.vocabulary import KINDS
from explorer.render.pictures import WIDTH, link_attributes, sentence, svg_head, text, title_tag
from explorer.render.svg_colors import FAINT
from explorer.spec.deletes.delete_layers import ORDER, OTHERS, Layer
from explorer.spec.deletes.deletes import KIND_WORDS
from explorer.spec.text.names import base_name, natural, shorten
from explorer.spec.text.units import count, human_bytes

LEFT, RIGHT, TOP, BOTTOM = 70, 10, 44, 26
ROW, HEIGHT, LETTER = 24.0, 560.0, 6.6
"""Heights of a layer and of all of them at most; the width of a letter."""
GAP = 0.35
"""The width of the gap between partitions, in data files."""
NAMED_PARTITIONS, NAMED_NUMBERS = 26, 24
SHORT_KINDS = {"equality_deletes": "equality", "position_deletes": "position", "deletion_vector": "vector"}

LayerBox = tuple[Layer, float, float, int]
"""A layer, its left and right in data files, and its row from below."""


def place_layers(
    layers: Sequence[Layer],
) -> tuple[list[LayerBox], dict[str, tuple[float, float]], dict[int, tuple[int, int]]]:
    """Return each layer's box, the left and right of each partition, and the first row of each sequence number with the
    one after its last. Layers that overlap with others of their kind and number stand above these."""
    slots: dict[str, dict[str, int]] = {}
    for layer in layers:
        if layer.partition is not None:
            files = slots.setdefault(layer.partition, {})
            if layer.data_file is not None:
                files.setdefault(layer.data_file, len(files))
    columns, x = dict[str, tuple[float, float]](), 0.0
    for name in sorted(slots, key=lambda name: (name.endswith(OTHERS), natural(name))):
        columns[name] = (x, x + max(1, len(slots[name])))
        x = columns[name][1] + GAP
    end = max(x - GAP, 1.0)
    boxes, bands, row, height = list[LayerBox](), dict[int, tuple[int, int]](), 0, None
    levels: list[list[tuple[float, float]]] = []
    for layer in layers:
        if layer.height != height:
            row, levels, height = row + len(levels), [], layer.height
        left, right = columns.get(layer.partition, (0.0, end)) if layer.partition is not None else (0.0, end)
        if layer.partition is not None and layer.data_file is not None:
            left += slots[layer.partition][layer.data_file]
            right = left + 1
        at = next((i for i, level in enumerate(levels) if all(b <= left or a >= right for a, b in level)), len(levels))
        levels[at:at] = [[]] if at == len(levels) else []
        levels[at].append((left, right))
        boxes.append((layer, left, right, row + at))
        number = layer.height[0]
        first, after = bands.get(number, (row, row))
        bands[number] = (first, max(after, row + at + 1))
    return boxes, columns, bands


def layers_svg(layers: Sequence[Layer]) -> str:
    """Draw layers: a delete applies to data files below it, never to those above."""
    if not layers:
        return sentence("The snapshot has no live files.")
    boxes, columns, bands = place_layers(layers)
    rows, end = max(after for _, after in bands.values()), max(right for _, _, right, _ in boxes)
    high = min(ROW, HEIGHT / rows)
    base, scale = TOP + rows * high, (WIDTH - LEFT - RIGHT) / end
    out = [svg_head(base + BOTTOM, "data files and deletes by data sequence number"), *_legend(boxes)]
    step = max(1, -(-len(bands) // NAMED_NUMBERS))
    for at, (number, (first, after)) in enumerate(bands.items()):
        top, deep = base - after * high, (after - first) * high
        if at % 2 == 0:
            out.append(f'<rect x="{LEFT - 4}" y="{top:.1f}" width="{WIDTH - LEFT + 4}" height="{deep:.1f}" '
                       'fill="currentColor" opacity="0.06"/>')  # fmt: skip
        if at % step == 0:
            name = "unknown" if number < 0 else f"{number:,}"
            out.append(text(LEFT - 10, top + deep / 2 + 4, name, 'text-anchor="end" font-size="11"'))
    for layer, left, right, row in boxes:
        x, wide = LEFT + left * scale, max(1.0, (right - left) * scale - 1)
        out.append(_box(layer, x, base - (row + 1) * high, wide, high))
    few = len(columns) <= NAMED_PARTITIONS
    for name, (left, right) in columns.items() if few else ():
        letters = int((right - left) * scale / LETTER)
        label = shorten(name or "unpartitioned", max(letters, 4))
        out.append(text(LEFT + (left + right) / 2 * scale, base + 16, label, 'text-anchor="middle" font-size="11"'))
    if not few:
        last = next(reversed(columns))
        more = f", the last {last.strip()}" if last.endswith(OTHERS) else ""
        out.append(text(LEFT, base + 16, f"{len(columns):,} columns, a partition each{more}", 'font-size="11"'))
    return "\n".join([*out, "</svg>"])


def _legend(boxes: Sequence[LayerBox]) -> list[str]:
    drawn = {layer.kind for layer, *_ in boxes}
    out, x = [text(0, 12, "sequence", 'font-size="11"'), text(0, 24, "number", 'font-size="11"')], float(LEFT)
    for kind in (one for one in ORDER if one in drawn):
        out.append(f'<rect x="{x}" y="4" width="14" height="12" fill="{KINDS[kind].color}"/>')
        out.append(text(x + 20, 15, KINDS[kind].title, 'font-size="12"'))
        x += 150
    if any(not layer.applied for layer, *_ in boxes if layer.kind != "data_file"):
        out.append(f'<rect x="{x}" y="4" width="14" height="12" fill="none" {FAINT} stroke-dasharray="3 2"/>')
        out.append(text(x + 20, 15, "applies to no data file", 'font-size="12"'))
    return out


def _box(layer: Layer, x: float, y: float, wide: float, high: float) -> str:
    """A layer as a box; paler are data files without deletes, dashed deletes that apply to nothing."""
    is_data = layer.kind == "data_file"
    outline = "" if is_data or layer.applied else ' stroke="currentColor" stroke-dasharray="3 2"'
    where = f'x="{x:.1f}" y="{y + 0.5:.1f}" width="{wide:.1f}" height="{max(high - 1, 0.5):.1f}"'
    name = base_name(layer.path) if layer.files == 1 else f"{count(layer.files, 'file')}, first {base_name(layer.path)}"
    shade = "1" if layer.applied else "0.45"
    out = [
        f"<g{link_attributes('file', layer.path)}>{title_tag(f'{name}: {layer_words(layer)}')}",
        f'<rect {where} fill="{KINDS[layer.kind].color}" fill-opacity="{shade}"{outline}/>',
    ]
    if high > 14 and (label := _label(layer, int(wide / LETTER) - 2)):
        back = f'x="{x + wide / 2 - len(label) * LETTER / 2 - 3:.1f}" width="{len(label) * LETTER + 6:.1f}"'
        out.append(f'<rect {back} y="{y + 3:.1f}" height="{high - 6:.1f}" rx="2" fill="#fff" fill-opacity="0.8"/>')
        out.append(text(x + wide / 2, y + high / 2 + 4, label, 'text-anchor="middle" font-size="11" fill="#000"'))
    return "".join([*out, "</g>"])


def _label(layer: Layer, letters: int) -> str:
    """As much of what a layer is as there is room for; nothing where that says nothing."""
    kind = f"{SHORT_KINDS[layer.kind]} · " if layer.kind in SHORT_KINDS else ""
    number = count(layer.rows, "row") if layer.files == 1 else count(layer.files, "file")
    texts = (f"{base_name(layer.path)} · {kind}{number}", kind + number, number, f"{layer.files:,}")
    return next((one for one in (texts if layer.files == 1 else texts[1:]) if len(one) <= letters), "")


def layer_words(layer: Layer) -> str:
    """Describe a layer."""
    where = "global" if layer.partition is None else layer.partition or "unpartitioned"
    size = f"{count(layer.rows, 'row')}, {human_bytes(layer.bytes)}"
    number = "unknown" if layer.sequence_number is None else layer.sequence_number
    known = f"data sequence number {number}"
    if layer.kind == "data_file":
        applied = "no delete applies" if not layer.applied else (
            "deletes apply" if layer.files == 1 else f"deletes apply to {layer.applied:,}")  # fmt: skip
        return f"{where}; {known}; {size}; {applied}"
    applies = f"{layer.applied:,} of {layer.files:,} apply" if layer.files > 1 else (
        "it applies" if layer.applied else "it applies to no data file")  # fmt: skip
    return f"{KIND_WORDS[layer.kind]}, {where}; {known}; {size}; {applies}"
