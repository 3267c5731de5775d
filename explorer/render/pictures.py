"""What pictures of answers are made of, as SVG; and such a picture as one that stands anywhere, also where neither SVG
in a page nor styles are let through."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from html import escape

from explorer.render.text import clean
from explorer.spec.text.names import shorten

WIDTH = 900
_VIEW = re.compile(r'<svg [^<>]*?viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"[^<>]*>')


def svg_head(height: float, what: str) -> str:
    """The beginning of a picture; text in it has the colour of the page around it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="100%" '
        f'style="max-width:{WIDTH}px" font-family="system-ui, sans-serif" font-size="13" '
        'fill="currentColor" role="img">'
        f"{title_tag(what)}"
    )


def text(x: float, y: float, line: str, more: str = "") -> str:
    """A line of text, with more attributes."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(clean(line))}</text>'


TOLD = 500
"""Characters of what is said of one part: there are thousands, and a name may be of any length."""


def title_tag(title: str) -> str:
    """What is said of the part of a picture that it stands in."""
    return f"<title>{escape(clean(shorten(title, TOLD)))}</title>"


def link_attributes(kind: str, key: str) -> str:
    """Attributes by which a page opens what a part of a picture stands for: a `file`, a `manifest` or a `snapshot`.
    Nothing for a key that is not shown as it is."""
    return f' data-kind="{kind}" data-key="{escape(key)}"' if key and clean(key) == key else ""


def sentence(line: str) -> str:
    """A line of text where there is nothing to draw."""
    return f"{svg_head(24, line)}{text(0, 16, line)}</svg>"


def stack(pictures: Sequence[str], what: str) -> str:
    """Pictures that begin with `svg_head`, below each other, as one."""
    heights = [_size(picture)[1] for picture in pictures]
    out, y = [svg_head(sum(heights) + 16 * len(heights), what)], 0.0
    for picture, height in zip(pictures, heights, strict=True):
        out.append(picture.replace("<svg ", f'<svg y="{y:.0f}" height="{height:.0f}" ', 1))
        y += height + 16
    return "\n".join([*out, "</svg>"])


def with_white_ground(svg: str) -> str:
    """The same picture on white and of its own size, as it stands in a file or an <img>, where the page's colours do
    not reach."""
    ground = '<rect x="-50%" y="-50%" width="200%" height="200%" fill="#ffffff"/>'

    def head(tag: re.Match[str]) -> str:
        return tag[0].replace('width="100%"', f'width="{tag[1]}" height="{tag[2]}"') + ground

    return _VIEW.sub(head, svg, count=1)


def data_uri(svg: str) -> str:
    """A picture as an <img> takes it: whatever is in it, nothing of it runs."""
    return f"data:image/svg+xml;base64,{b64encode(with_white_ground(svg).encode()).decode()}"


NIGHT = (
    ':is([data-jp-theme-light="false"], .vscode-dark, .vscode-high-contrast, .dark) img.ix-picture '
    "{ filter: invert(0.88) hue-rotate(180deg); }"
)
"""Of a notebook's dark page: what is white there is dark, and colours stay what they are."""


def still(svg: str, alternative: str) -> str:
    """A picture as an <img>, dark on dark pages: those that take out SVG, scripts and styles of a stranger leave it, on
    white."""
    alt = escape(clean(alternative))
    picture = f'<img class="ix-picture" src="{data_uri(svg)}" alt="{alt}" width="{_size(svg)[0]:.0f}"'
    return f'<style>{NIGHT}</style>{picture} style="max-width: 100%">'


_OUT, _GONE = ".jp-OutputArea-child", ":is(.jupyter-widgets, .jp-RenderedSVG)"
_LIVE = ":is(.icedive, .icedive-exercise)"
_STILL = (
    f".ix-still {{ display: none }} {_OUT}:has(+ {_OUT} {_GONE}) .ix-still {{ display: block }} "
    f"{_OUT}:has(.ix-still):has(+ {_OUT} {_LIVE}) {{ display: none }} "
    f"{_OUT}:has(.ix-still) + {_OUT}:has({_GONE}):not(:has({_LIVE})) {{ display: none }}"
)


def still_beside(html: str) -> str:
    """HTML for the output before a widget. It stands for the widget where that says that it is gone, and is hidden
    where the widget lives. Where styles are stripped, as in a notebook that is not trusted, it is seen in any case."""
    return f'<style>{_STILL}</style><div class="ix-still">{html}</div>'


def _size(svg: str) -> tuple[float, float]:
    view_box = _VIEW.search(svg)
    return (float(view_box[1]), float(view_box[2])) if view_box else (WIDTH, WIDTH)
