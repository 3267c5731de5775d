"""Pages of their own: HTML that opens from disk, with our script in it and no other, and nothing fetched."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from explorer.render.rows import plain
from explorer.render.text import clean
from explorer.spec.text.units import human_bytes

LAYOUT = """body { display: flex; flex-direction: column }
#app { flex: 1; min-height: 0; overflow: auto }
#app:empty { display: none }
#still { margin: 0; padding: 12px; overflow: auto }
#still h1 { font-size: 18px; margin: 0 0 8px }
#still svg { display: block; max-width: 100%; height: auto; background: #fff }
#app:not(:empty) + #still { display: none }
@media print { #app { display: none !important } #still { display: block !important }
  .file-notes { max-height: none; overflow: visible } }
.file-notes { flex: none; max-height: 22vh; overflow: auto; padding: 4px 12px; overflow-wrap: anywhere;
  border-top: 1px solid var(--line); color: var(--muted); font-size: 12px }
.file-notes p { margin: 0 }
.file-more { flex: none; padding: 3px 12px; border-top: 1px solid var(--line) }
"""
INDEX = """body { margin: 2em auto; max-width: 1000px; padding: 0 1em; background: #fff; color: #1d2430;
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
table { border-collapse: collapse; width: 100% } a { color: #0b66c3 }
th, td { text-align: left; vertical-align: top; padding: 6px 10px; border-bottom: 1px solid #d5dae1 }
td.number { text-align: right; white-space: nowrap }
@media (max-width: 600px) { table, tbody, tr, td { display: block } tr:first-child, td.number { display: none }
  tr { border-bottom: 1px solid #d5dae1 } td { border: 0; padding: 3px 0; overflow-wrap: anywhere } }
@media (prefers-color-scheme: dark) { body { background: #14181f; color: #e6eaf0 } a { color: #6cb2ff }
  th, td { border-color: #333c49 } }
"""

SLIDES = """html { scroll-snap-type: y mandatory } body { margin: 0; background: #fff; color: #1d2430;
  font: clamp(18px, 2.2vw, 32px)/1.4 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
section { box-sizing: border-box; height: 100vh; padding: 4vh 5vw; scroll-snap-align: start; overflow: auto;
  display: flex; flex-direction: column; break-after: page }
h2 { margin: 0 0 2vh; color: #0b62c4 } p { margin: 0 0 2vh } ol { margin: 0 }
figure { flex: 1; min-height: 0; margin: 0 } svg { width: 100%; height: 100% }
"""


def render_page(
    title: str, data: Mapping[str, Any], notes: Sequence[str], script: str, style: str, picture: str
) -> str:
    """Return a page that answers for itself.

    Args:
        title: Its title.
        data: What it holds: a JSON object.
        notes: What stands below.
        script: Shows what it holds; ours.
        style: Its style sheet; ours.
        picture: An SVG of ours, which stands there until the script runs, where none does, and on paper.
    """
    code = f"\n{script}\n"
    footer = "".join(f"<p>{escape(clean(note))}</p>" for note in notes)
    return _document(
        title,
        f"{style}{LAYOUT}",
        f'<div id="app"></div><figure id="still"><h1>{escape(clean(title))}</h1>{_without_style(picture)}</figure>\n'
        f'<footer class="file-notes">{footer}</footer>\n{data_block(data)}\n'
        f'<script type="module">{code}</script>',
        f"; script-src {_digest(code)}",
    )


def still_page(title: str, body: str) -> str:
    """A page without a script: pictures and tables, whose parts have styles of their own."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{policy}"><title>{escape(clean(title))}</title><style>body {{ font: 14px system-ui, sans-serif; '
        f"margin: 24px; color-scheme: light dark }} svg {{ display: block; margin: 16px 0 }}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def data_block(data: Mapping[str, Any]) -> str:
    """Data, as a page holds it for its script. Whatever strings it has, it stays one block of JSON: it has no < in
    it."""
    text = json.dumps(plain(data), ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="data">{text}</script>'


def render_index(title: str, about: str, pages: Sequence[Mapping[str, Any]]) -> str:
    """A page that leads to others: `table`, `teaches`, `snapshots`, `bytes` and `file` of each, or an `error`."""
    rows = "".join(
        f"<tr><td>{_link(page)}</td><td>{escape(clean(str(page.get('error') or page.get('teaches') or '')))}</td>"
        f'<td class="number">{page.get("snapshots", "")}</td>'
        f'<td class="number">{human_bytes(page["bytes"]) if "bytes" in page else ""}</td></tr>'
        for page in pages
    )
    head = "<tr><th>table</th><th>what it shows</th><th>snapshots</th><th>size</th></tr>"
    body = f"<h1>{escape(clean(title))}</h1><p>{escape(clean(about))}</p><table>{head}{rows}</table>"
    return _document(title, INDEX, body, "")


def render_slides(title: str, slides: Sequence[tuple[str, Sequence[str], str]]) -> str:
    """A page of slides, which scrolls from one to the next and prints each on a sheet.

    Args:
        title: The page's title.
        slides: Of each its title, its lines (`code` and *emphasis* in them), and a picture of ours as SVG, or nothing.
    """
    return _document(title, SLIDES, "".join(_slide(*one) for one in slides), "")


def _slide(title: str, lines: Sequence[str], picture: str) -> str:
    texts = [_emphasized(line) for line in lines]
    told = f"<p>{texts[0]}</p>" if len(texts) == 1 else f"<ol>{''.join(f'<li>{text}</li>' for text in texts)}</ol>"
    drawn = f"<figure>{_without_style(picture)}</figure>" if picture else ""
    return f"<section><h2>{escape(clean(title))}</h2>{told}{drawn}</section>\n"


def _emphasized(text: str) -> str:
    """A line of our documents as HTML."""
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(clean(text))))


def _without_style(picture: str) -> str:
    """A picture without a style of its own, which the page's policy does not allow."""
    return re.sub(r'^(<svg [^>]*?) style="[^"]*"', r"\1", picture)


def _link(page: Mapping[str, Any]) -> str:
    name = escape(clean(str(page["table"])))
    return f'<a href="{escape(page["file"])}">{name}</a>' if "file" in page else name


def _document(title: str, style: str, body: str, more: str) -> str:
    policy = f"default-src 'none'; style-src {_digest(style)}; base-uri 'none'; form-action 'none'{more}"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">
<title>{escape(clean(title))}</title>
<style>{style}</style></head>
<body class="ice">{body}</body></html>
"""


def _digest(text: str) -> str:
    """A source of a content security policy: that text and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
