"""Colours of pictures that have no ground of their own: they stand on the page, by day and night, and as a file on
white."""

from __future__ import annotations

FAINT = 'stroke="currentColor" stroke-opacity="0.35"'
"""A line that guides the eye."""
SHARE = 50
"""Per cent of a colour that text has; the rest is the page's own, so that it stands out by day and night."""


def text_color(color: str) -> str:
    """Attributes of text in this colour, as far as the page lets it be read. Who knows CSS only in part, as most
    programs for SVG files, takes the colour as it is."""
    return f'fill="{color}" style="fill:color-mix(in srgb, {color} {SHARE}%, currentColor)"'
