"""What the panels are made of. Every string from outside (a table, a catalog, a URL, an error, a person) goes on the
page through here, as text.

Panel and Material UI render Markdown with raw HTML in Typography, StaticText, Alert and all of `pn.pane`, and Tabulator
takes the titles of columns, and their tooltips, as HTML. So only this module may use these (tests/security holds the
rest of explorer/ui to it). The Content-Security-Policy of ui.access is the second lock on the same door."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import panel as pn
import panel_material_ui as pmui
import param
import pyarrow as pa
import pyarrow.compute as pc
from bokeh.models.widgets.inputs import FileInput
from panel.custom import AnyWidgetComponent
from panel.io.state import set_curdoc
from panel.util import edit_readonly

from explorer.progress import steps
from explorer.render.text import cell, clean, clean_lines, is_shown_unchanged
from explorer.spec.secrets.redaction import SUSPECT, redact
from explorer.spec.text.glossary import TERMS, Definition
from explorer.spec.text.names import snapshot_ordinals
from explorer.spec.text.units import human_bytes
from explorer.table import Table
from explorer.ui import echoes, unsent
from explorer.ui.assets import statement_script

echoes.leave_out()
unsent.remember()

DENSE = (
    ".tabulator { font-size: 13px !important; } .tabulator .tabulator-row .tabulator-cell { padding: 5px 8px; "
    "height: auto; text-overflow: ellipsis; } .tabulator-cell > div[style^='text-align'] { overflow: hidden; "
    "text-overflow: ellipsis; } .tabulator-popup-container { background: Canvas !important; "
    "color: CanvasText !important; border: 1px solid GrayText !important; } "
    ".tabulator-cell[style*='pre-wrap'] { overflow-wrap: anywhere; } "
    ".tabulator .tabulator-col[aria-sort='none'] .tabulator-arrow { border-bottom-color: #808080 !important; } "
    ".tabulator-header-filter input::placeholder { color: inherit; opacity: 0.8; }"
)
"""Tables as dense as the graph is; what their heads tell has the page's colours."""
COPIED = re.compile(r".*snapshot[-_]id|.*_path|manifest-list|location|file|metadata[- ]file")
"""Columns of ids and paths, which can be copied (static/grids.js)."""
COPY = (
    ".tabulator .tabulator-row .ix-copied { position: relative; } .ix-copied > div { margin-right: 12px; } "
    ".tabulator .tabulator-row .ix-copied[style*='pre-wrap'] { padding-right: 20px !important; } "
    ".ix-copied:focus-within { outline: 2px solid Highlight; outline-offset: -2px; } "
    ".tabulator-cell.ix-copied::after { content: ''; position: absolute; right: 8px; top: 11px; width: 6px; "
    "height: 7px; border: 1px solid; border-radius: 2px; opacity: 0.45; "
    "box-shadow: 2px -2px 0 -1px Canvas, 2px -2px 0 0 currentColor; } "
    ".ix-copied button { position: absolute; right: 1px; top: 1px; z-index: 1; padding: 2px 5px; font-size: 12px; "
    "cursor: pointer; color: ButtonText; background: ButtonFace; border: 1px solid GrayText; border-radius: 4px; "
    "opacity: 0; } .ix-copied:is(:hover, :focus-within) button { opacity: 1; } "
    ".ix-copied button:empty::before { content: 'copy'; }"
)
PLAIN_TAB = ".bk-tab:not(.bk-active) { border-bottom-color: transparent !important; }"
WRAPPED_TABS = ".bk-headers-wrapper { flex-wrap: wrap !important; }"
INNER = [PLAIN_TAB, WRAPPED_TABS, ".bk-tab { padding: 4px 9px !important; font-size: 13px !important; }"]
"""Tabs within a view: no larger than those that lead to it."""
SHORT = {"& .MuiInputLabel-root:not(.MuiInputLabel-shrink)": {"fontSize": "13px", "lineHeight": "23px"}}
"""For a narrow field whose label is long."""
WHOLE = 490
"""Pixels of twelve rows and their head."""
CELL = 4_000
"""Characters of a cell that are looked through, of which half are shown."""
PROSE, SHARE, LOOKED_AT, MOST = 200, 40, 200, 40
"""Least pixels of a column of sentences, and the pixels of a share (Tabulator gives whole pixels to each); rows that
tell how wide another column is, and the most letters that it has room for."""
AS_LARGE_AS_EVER = ":host { zoom: calc(1 / var(--scale, 1)); }"
"""On a page that is presented larger: Bokeh places what it draws by pixels that are not zoomed."""
SMALL: dict[str, Any] = {"size": "small", "margin": (14, 6, 4, 6)}
"""For a field or button in a row of them."""
NUMBER: dict[str, Any] = {
    **SMALL,
    "sx": {"& .MuiInputAdornment-root": {"display": "none"}, "& input": {"padding": "8.5px 14px"}},
}
"""The same for a number: without Material's buttons, which have no names and take the room; arrow keys step."""
LIST: dict[str, Any] = {
    "margin": SMALL["margin"],
    "sx": {"& .MuiSelect-select": {"padding": "8.5px 14px", "minHeight": "23px !important"}},
    "stylesheets": [".MuiInputLabel-root:not(.MuiInputLabel-shrink) { transform: translate(14px, 9px) !important; }"],
}
"""The same for a choice of several, which knows no size."""
CHOICE: dict[str, Any] = {**SMALL, "sx": LIST["sx"]}
"""The same for a choice of one, which would be lower than the fields beside it."""
WRAPPED = "label { white-space: normal !important; font-size: 13px; } .bk-input-group { gap: 3px; }"
"""For a group of check boxes with long labels."""
WRAP = {"flex-wrap": "wrap", "width": "100%"}
"""For a row that breaks where the page is narrow. (Panel's FlexBox evaluates text as a script, which our pages may
not.)"""


FACES = {"body1": "16px/1.5", "body2": "14px/1.43", "subtitle1": "16px/1.75", "caption": "12px/1.66"}
"""Material's typefaces: size and height of a line."""
FACE = ":host { font: 400 %s Roboto, Helvetica, Arial, sans-serif; } p { margin: 0.25em 0; }"


class Text(pn.pane.HTML):
    """Text in one of Material's typefaces: never Markdown, HTML, or an icon's name. (Material's own component for it
    costs server and browser three times as much, and most of a page is text.)"""

    def __init__(self, text: str = "", variant: str = "body1", stylesheets: Sequence[str] = (), **options: Any) -> None:
        super().__init__(text, stylesheets=[FACE % FACES[variant], *stylesheets], **options)

    def _transform_object(self, obj: Any) -> dict[str, Any]:
        # The page decodes what it is sent once and sets the result as HTML: so, escaped twice. The paragraph's margins
        # are part of the look.
        return {"object": escape(f"<p>{escape('' if obj is None else clean_lines(str(obj)))}</p>")}

    @property
    def _linked_properties(self) -> tuple[str, ...]:
        # Nothing comes back from the page. Of two changes in a row, Panel may take its own first one for the page's:
        # the text would be what was sent (escaped), escaped again.
        return ()


def heading(text: str) -> Text:
    """A line above a table."""
    return Text(text, variant="subtitle1", margin=(6, 10))


def note(text: str, **options: Any) -> Text:
    """A line of running text."""
    return Text(text, **{"variant": "body2", "margin": (4, 10), **options})


class Statement(AnyWidgetComponent):
    """A statement to paste elsewhere, with a button that copies it."""

    _esm = statement_script()
    text = param.String()


def folded(title: str, content: Callable[[], Any]) -> Any:
    """A line, which unfolds to what is in it, made then."""
    none = "box-shadow: none !important; border: 0 !important;"
    frame = "outline-color: color-mix(in srgb, currentColor 25%, transparent) !important;"
    look = f":host {{ {none} {frame} }} .card-header {{ padding: 0 !important; background: none; {none} }}"
    head = note(f"{title}…", margin=(2, 4))
    card = pn.Card(header=head, collapsed=True, sizing_mode="stretch_width", margin=(0, 10), stylesheets=[look])

    def unfold(event: Any) -> None:
        if not event.new and not card.objects:
            card.append(content())

    card.param.watch(unfold, "collapsed")
    return card


def label(text: str) -> str:
    """Text for a label, an option or a toast, where Material sets text but replaces `:material/name:` by an icon."""
    return clean_lines(text).replace(":material/", ":\u200amaterial/")


def shell(**parts: Any) -> Any:
    """The page that all is in. Panel's is told when any session of the process is busy, by a link that would keep it
    for good; this one is not."""
    others = list(pn.state.param.watchers["busy"]["value"])
    page = pmui.template.Page(**parts)
    with edit_readonly(page):
        page.busy = False
    for watcher in list(pn.state.param.watchers["busy"]["value"]):
        if not any(watcher is other for other in others):
            pn.state.param.unwatch(watcher)
    document = pn.state.curdoc
    if document:
        document.on_session_destroyed(lambda _: _forget(document))
    return page


def _forget(closed: Any) -> None:
    """Of a page that is closed Panel keeps where its notifications were, and so the document and all that is in it."""
    for ref in [ref for ref, (_, _, document, _) in pn.state._views.items() if document is closed]:
        del pn.state._views[ref]


def soon(work: Callable[[], None]) -> None:
    """Have it done on the page's thread once the page has what was said so far, and other pages had their turn; at once
    where there is no page."""
    page = pn.state.curdoc

    def do() -> None:
        with set_curdoc(page):
            work()

    if page is None:
        work()
    else:
        page.add_next_tick_callback(do)


def toast(kind: str, text: str, duration: int) -> None:
    """Say something in a corner of the page for some milliseconds; `kind` is error or warning."""
    if pn.state.notifications:
        getattr(pn.state.notifications, kind)(label(text), duration=duration)


def picture(svg: str = "", **options: Any) -> Any:
    """An SVG that one of our views made; its text was escaped there."""
    return pn.pane.HTML(svg, **options)


def framed(where: str) -> Any:
    """Another page of ours, `where` is the end of its URL."""
    look = "display: block; width: 100%; height: 100%; border: 0; border-left: 2px solid GrayText"
    frame = f'<iframe src="{escape(where, quote=True)}" title="Another page" style="{look}"></iframe>'
    return pn.pane.HTML(frame, sizing_mode="stretch_both", margin=0)


def plot(figure: Any, alternative: str) -> Any:
    """A figure of ui.figures; if it stands alone, the `alternative` says what it shows to who cannot see it."""
    image = f'<div role="img" aria-label="{escape(clean(alternative), quote=True)}"></div>'
    told = [pn.pane.HTML(image, height=0, margin=0)] if alternative else []
    return pn.Column(pn.pane.Bokeh(figure, margin=(0, 10)), *told, margin=0, stylesheets=[AS_LARGE_AS_EVER])


class Grid(pn.widgets.Tabulator):
    """Tabulator, told to take the titles of columns as text, in the head and in the tooltip over it, which says what
    the word means where the glossary has it. Columns of `prose` share the room that the others leave, each by its
    number of pixels."""

    terms: Mapping[str, Definition] = TERMS
    prose: Mapping[str, int] = {}

    def _config_columns(self, column_objs: list[Any]) -> Any:
        titles = {column.field: str(column.title) for column in column_objs}
        told = {field: escape(str(self.terms.get(title, title))) for field, title in titles.items()}
        shared = {
            name: {"minWidth": min(width, PROSE), "widthGrow": -(-width // SHARE)} for name, width in self.prose.items()
        }
        return [
            {**column, "titleFormatter": "plaintext", "headerTooltip": told.get(column.get("field"), "")}
            | ({"cssClass": "ix-copied"} if COPIED.fullmatch(str(column.get("field"))) else {})
            | shared.get(str(column.get("field")), {})
            for column in super()._config_columns(column_objs)
        ]


def grid(
    data: pd.DataFrame,
    widths: dict[str, int] | None = None,
    height: int = 0,
    page_size: int = 50,
    stylesheets: Sequence[str] = (),
    wrapped: Sequence[str] = (),
    drawn: str = "",
    sizes: Sequence[str] = (),
    ours: bool = True,
    whole: bool = False,
    is_told: bool = False,
    **options: Any,
) -> Grid:
    """A read-only table, paged when it is longer than a page; `whole` it is as high as its rows, up to WHOLE pixels, or
    else it has a `height`, or what room there is. In columns `wrapped` line breaks show; the column `drawn`
    holds SVG that one of our views made, and has no title; `sizes` are bytes, told in words and sorted as numbers.
    Columns that are not `ours`, but a table's own, are not explained. What `is_told` need not be looked through."""
    size: dict[str, Any] = {"sizing_mode": "stretch_both", "min_height": 200}
    if whole or height:
        size = {"max_height": WHOLE} if whole else {"height": height}
        size["sizing_mode"] = "stretch_width"
    data = data.assign(**{name: sizes_in_words(data[name]) for name in sizes})
    data = data if is_told else told(data, drawn)
    if len(data) > page_size or sizes:  # the browser sorts words
        options |= {"pagination": "remote", "page_size": page_size}
    # of an empty title Tabulator makes `&nbsp;`, which would show as it stands
    titles = {name: " " for name in data.columns if name in ("", drawn)}
    titles |= {name: clean(name) for name in data.columns if not ours and clean(name) != name}
    fixed = {name: max(width, _head(titles.get(name, name))) for name, width in (widths or {}).items()}
    prose = {name: fixed.pop(name, PROSE) for name in wrapped if name in data.columns}
    if prose and len(data):
        needed = {name: _needed(data[name]) for name in data.columns}
        prose = {name: min(width, needed[name]) if needed[name] < SHARE * 3 else width for name, width in prose.items()}
        fixed |= {name: min(wide, fixed.get(name, wide)) for name, wide in needed.items() if name not in prose}
    formatters = {name: {"type": "textarea"} for name in wrapped} | ({drawn: {"type": "html"}} if drawn else {})
    made = Grid(
        data, show_index=False, disabled=True, selectable=False, theme="simple", widths=fixed,
        layout="fit_columns" if prose else "fit_data", stylesheets=[DENSE, COPY, *stylesheets], formatters=formatters,
        titles=titles,
        **{**size, **options},
    )  # fmt: skip
    made.prose = prose
    if not ours:
        made.terms = {}
    return made


def told(data: pd.DataFrame, drawn: str = "") -> pd.DataFrame:
    """Data for a grid, but for the column `drawn`: without credentials, and of long texts the beginning. What is large
    is made so on the thread that read it: a page's has others to serve."""
    columns = {name: column for name in data.columns if name != drawn and (column := _told(data[name]))}
    return data.assign(**columns)


def _told(column: pd.Series[Any]) -> list[Any] | None:
    """A column's values without credentials, and each not longer than CELL; None where they are so."""
    if column.dtype.kind in "iufbM":
        return None
    column = [cell(value, CELL) if isinstance(value, (dict, list)) else value for value in column]
    values = [value if isinstance(value, str) else None for value in column]
    suspect = pc.match_substring_regex(pa.array([v and v[:CELL] for v in values], pa.string()), SUSPECT).to_pylist()
    suspect = [sus or (value is not None and len(value) > CELL) for value, sus in zip(values, suspect, strict=True)]
    if not any(suspect):
        return None
    chosen = {value for value, sus in zip(values, suspect, strict=True) if value and sus}
    shown = {value: redact(value, longest=CELL) for value in steps(chosen, "texts")}
    return [shown[value] if sus else value for value, sus in zip(column, suspect, strict=True)]


def _head(title: str) -> int:
    """Pixels of a column's title, and of the arrows beside it."""
    return 8 * len(title) + 36


def _needed(column: pd.Series[Any]) -> int:
    """Pixels of what stands in the first rows of a column, to a limit, and of its title."""
    longest = max((len(str(value)) for value in column.head(LOOKED_AT)), default=0)
    return max(_head(str(column.name)), 8 * min(longest, MOST) + 26)


def sizes_in_words(column: pd.Series[Any]) -> pd.Categorical:
    """Bytes in words, which sort as the numbers do."""
    codes, known = pd.factorize(column, sort=True)  # -1 is null
    alternative = ["?", *(human_bytes(int(value)) for value in known)]
    order = {word: at for at, word in enumerate(dict.fromkeys(alternative))}
    places = np.array([order[word] for word in alternative])
    return pd.Categorical.from_codes(places[codes + 1], list(order), ordered=True)


def lazy_tabs(makers: Mapping[str, Callable[[], Any]]) -> Any:
    """Tabs whose contents are made when they are first looked at."""
    boxes = [pn.Column(sizing_mode="stretch_both") for _ in makers]
    tabs = pn.Tabs(
        *zip(makers, boxes, strict=True), dynamic=True, stylesheets=INNER, sizing_mode="stretch_both", margin=0
    )

    def fill(*_: Any) -> None:
        box = boxes[tabs.active]
        if not box.objects:
            box[:] = [list(makers.values())[tabs.active]()]

    tabs.param.watch(fill, "active")
    fill()
    return tabs


class LiveTabs:
    """Tabs of contents that change: only the one that is looked at is brought up to date."""

    def __init__(self, parts: Mapping[str, tuple[Any, Callable[[], None]]]) -> None:
        self._updates = [update for _, update in parts.values()]
        self._stale: set[int] = set()
        self.tabs = pn.Tabs(
            # what is no layout would stand below the room of tabs that are not looked at
            *((name, pn.Column(content, sizing_mode="stretch_both")) for name, (content, _) in parts.items()),
            dynamic=True, stylesheets=INNER,
            sizing_mode="stretch_both", margin=0,
        )  # fmt: skip
        self.tabs.param.watch(lambda _: self._update(), "active")

    def changed(self) -> None:
        """Everything is to be shown anew."""
        self._stale = set(range(len(self._updates)))
        self._update()

    def _update(self) -> None:
        if self.tabs.active in self._stale:
            self._stale.discard(self.tabs.active)
            self._updates[self.tabs.active]()


def version_input(table: Table, title: str, value: str, width: int) -> Any:
    """A field for a version, which suggests refs and snapshots."""
    field = pmui.AutocompleteInput(
        label=title, value=value, options=versions(table), restrict=False, min_characters=0, width=width, **SMALL
    )
    return keep_text(field)


def keep_text(field: Any) -> Any:
    """A field that suggests texts, in which any other stays too."""

    def keep(event: Any) -> None:
        """Another text than those suggested vanishes from the field once it is taken, unless it is put there."""
        if event.new:
            field.value_input = str(event.new)

    field.param.watch(keep, "value")
    return field


NAMES_OFFERED = 500
"""Refs, and snapshots, that a field suggests."""


def versions(table: Table) -> list[str]:
    """Names to choose from: refs, then snapshots, newest first; of each the first, since a page that is sent hundreds
    of thousands stands still. Any other name can be typed."""
    ordinals = snapshot_ordinals(table.metadata)
    refs = [r.name for r in sorted(table.metadata.refs, key=lambda r: (r.name != "main", r.type, r.name))]
    newest = sorted(ordinals.values(), reverse=True)
    return [*filter(is_shown_unchanged, refs[:NAMES_OFFERED]), *(f"snapshot-{n}" for n in newest[:NAMES_OFFERED])]


def column_names(table: Table) -> list[str]:
    """The top-level columns of every schema the table had, the current one's first."""
    schemas = sorted(table.metadata.schemas, key=lambda s: s.schema_id != table.metadata.current_schema_id)
    return list(dict.fromkeys(f.name for schema in schemas for f in schema.fields if is_shown_unchanged(f.name)))


def upload(label: str, accept: str, take: Callable[[bytes], None]) -> tuple[FileInput, Any]:
    """A field to choose a file with, as a model that can be disabled and as a view. It is Bokeh's, which sends the file
    as text: Material's sends its size too, and Python takes memory of that size."""
    field = FileInput(title=label, accept=accept, width=210, margin=(0, 4))
    field.on_change("value", lambda _, __, text: take(b64decode(str(text))))
    return field, pn.pane.Bokeh(field)
