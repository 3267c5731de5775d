"""Rectangles that fill a larger one (Bruls, Huizing, van Wijk: "Squarified Treemaps")."""

from __future__ import annotations

from collections.abc import Sequence

Rectangle = tuple[float, float, float, float]
"""Left, top, width and height."""


def treemap(sizes: Sequence[float], width: float, height: float) -> list[Rectangle]:
    """Return rectangles for sizes in descending order, as nearly square as rows of them allow."""
    scale = width * height / (sum(sizes) or 1)
    areas, places = [size * scale for size in sizes], list[Rectangle]()
    left, top, at = 0.0, 0.0, 0
    while at < len(areas):
        side = min(width, height)
        end = at + 1
        while end < len(areas) and _worst(areas[at : end + 1], side) <= _worst(areas[at:end], side):
            end += 1
        row = areas[at:end]
        deep, along = sum(row) / side if side else 0.0, 0.0
        for area in row:
            long = area / deep if deep else 0.0
            places.append((left, top + along, deep, long) if width >= height else (left + along, top, long, deep))
            along += long
        if width >= height:
            left, width = left + deep, width - deep
        else:
            top, height = top + deep, height - deep
        at = end
    return places


def _worst(row: Sequence[float], side: float) -> float:
    """How far the rectangles of a row are from squares."""
    total = sum(row)
    return max(side * side * max(row) / total**2, total**2 / (side * side * min(row))) if total and side else 0.0
