"""Paged tables of snapshots, manifests, files and entries, with filter, sort and download."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui
import param
import pyarrow as pa
import pyarrow.compute as pc

from explorer.app.hosts.file import export
from explorer.graph.graph import Graph
from explorer.model.manifest import FILE_CONTENT, STATUS
from explorer.model.metadata import TableMetadata
from explorer.progress import steps
from explorer.queries.collection import Collection
from explorer.render.list_columns import telling
from explorer.render.rows import plain
from explorer.render.text import cell
from explorer.serving.pools import HERE, Pool
from explorer.spec.text.names import manifest_names, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, instant
from explorer.spec.values.values import column_values, pandas_values, partition_path_by_name
from explorer.ui.background import Job
from explorer.ui.widgets import CELL, SMALL, WRAP, Text, grid, sizes_in_words, told

WIDTHS = {
    "content": 130,
    "file_path": 380,
    "manifest_path": 380,
    "manifest-list": 320,
    "summary": 420,
    "status": 95,
    "reason": 390,
    "partition": 220,
    "partitions": 340,
    "timestamp-ms": 230,
    "last_updated_ms": 230,
}
NARROW = {"entries": {"file_path": 270}, "manifests": {"manifest_path": 240, "content": 90, "manifest": 130}}
"""Where more is to be seen beside it."""
ID, IDS = 175, ("snapshot-id", "snapshot_id")
"""Wide enough for all of an id."""
PATHS = ("file_path", "manifest_path", "manifest-list")
ABOUT = {"snapshots": ("snapshot-id", "snapshot"), "manifests": ("manifest_path", "manifest"),
         "files": ("file_path", "file"), "entries": ("file_path", "file")}  # fmt: skip
"""The column that says what a row is about, and what that is."""
ONE = {"entries": "entry"}
SHOWN, FIRST = 100_000, 10_000
"""Rows of a list that one page has in memory, and how many of a longer one, which it cannot sort anyway."""
EXAMPLES = {"files": "record_count < 100 and content = 0", "entries": "logical_status = 'DELETED'"}


def frame(rows: Collection, what: str, metadata: TableMetadata) -> pd.DataFrame:
    """The columns worth a table, as pandas: snapshots and manifests with their names in the graph, ids as text
    (JavaScript rounds them), paths below the table's location, partition values as people read them, other nested
    values as JSON."""
    table = rows.to_arrow()
    data: dict[str, Any] = _named(table, what, metadata)
    for name in telling(what, table.column_names):
        column = table.column(name)
        if name == "partition":
            if any(spec.fields for spec in metadata.partition_specs):  # else it would only take room
                data[name] = _partitions(column_values(column), table.column("spec_id").to_pylist(), metadata)
        elif pa.types.is_nested(column.type):
            data[name] = [cell(plain(v), CELL) for v in steps(column_values(column, "lossy"), "values")]
        elif name in ("timestamp-ms", "last_updated_ms"):
            data[name] = [instant(v) for v in column.to_pylist()]
        elif name in PATHS:
            text = column.cast(pa.string())
            data[name] = pc.replace_substring(text, metadata.location + "/", "", max_replacements=1).to_pandas()
        elif name.endswith(IDS):
            data[name] = column.cast(pa.string()).to_pandas()
        elif name == "file_size_in_bytes" or name == "manifest_length":
            data[name] = column.to_pandas()
            data["size"] = sizes_in_words(data[name])
        elif name == "status" and pa.types.is_integer(column.type):
            data[name] = [STATUS.get(v, v) for v in column.to_pylist()]
        elif name == "content" and pa.types.is_integer(column.type):
            data[name] = [FILE_CONTENT.get(v or 0, v) for v in column.to_pylist()]
        else:
            data[name] = pandas_values(column)
    return told(pd.DataFrame(data))


def _named(table: pa.Table, what: str, metadata: TableMetadata) -> dict[str, list[str]]:
    if what not in ("snapshots", "manifests") or not table.num_columns:
        return {}
    ordinals = snapshot_ordinals(metadata)
    if what == "snapshots":
        return {"snapshot": [snapshot_name(i, ordinals) for i in table["snapshot-id"].to_pylist()]}
    paths, added = table["manifest_path"].to_pylist(), table["added_snapshot_id"].to_pylist()
    names = manifest_names(zip(paths, added, strict=True), ordinals)
    return {"manifest": [names[path] for path in paths]}


def _partitions(values: list[Any], spec_ids: list[int], metadata: TableMetadata) -> list[str]:
    known: dict[Any, str] = {}
    result = []
    for value, spec_id in zip(values, spec_ids, strict=True):
        key = (spec_id, tuple(value.values()) if value else ())
        if key not in known:
            known[key] = partition_path_by_name(value, metadata.spec(spec_id), metadata)
        result.append(known[key])
    return result


def table_view(
    get: Callable[[], Collection],
    what: str,
    metadata: TableMetadata,
    go: Callable[[str, str], None],
    lacks: Callable[[], str] = str,
) -> pn.viewable.Viewable:
    """A table with a filter under each heading, sorting by heading, remote pages, and downloads of all rows. Of more
    than SHOWN the page holds the FIRST, and has a field for a condition in place of the filters. `go` is called with
    the kind and the path, or the id, of what a clicked row is about; `lacks` says, once it is read, what could not
    be."""
    box = pn.Column(sizing_mode="stretch_both")
    job = Job(box=box)
    which = pmui.TextInput(label=f"which {what}", placeholder=EXAMPLES.get(what, ""), width=380, visible=False, **SMALL)
    made: list[Collection] = []

    def read(where: str) -> tuple[Collection, Collection, pd.DataFrame, str]:
        if not made:
            made.append(get())
        rows = made[0].select(where) if where else made[0]
        some = rows if len(rows) <= SHOWN else rows.select(limit=FIRST)
        return rows, some, frame(some, what, metadata), lacks()

    def show(answer: tuple[Collection, Collection, pd.DataFrame, str]) -> None:
        which.visible = len(made[0]) > SHOWN
        box[:] = shown(*answer)

    def ask(_: Any = None) -> None:
        job.start(partial(read, which.value.strip()), show, f"Reading {what}…")

    def shown(rows: Collection, some: Collection, data: pd.DataFrame, lack: str) -> list[Any]:
        said = [Text(f"⚠ {lack}", margin=(8, 10))] if lack else []
        if not len(rows):
            none = f"This snapshot has no {what}." if not lack else f"No {what} could be read."
            return [*said, Text(f"No such {what}." if which.value.strip() else none, margin=20)]
        known_widths = WIDTHS | NARROW.get(what, {})
        wide = {c: known_widths.get(c, ID if c.endswith(IDS) else 110) for c in data.columns}
        text = {"type": "input", "func": "like", "placeholder": "filter"}
        least = {"type": "number", "func": ">=", "placeholder": "at least"}
        # Filters under the headings search what the page holds: of a part they would say that the rest is not there.
        searched = data.columns if len(some) == len(rows) else []
        filters = {
            c: text if data[c].dtype.kind in "OTU" or str(data[c].dtype) == "str" else least
            for c in searched
            if data[c].dtype.kind in "OTUiuf" or str(data[c].dtype) == "str"
        }
        look: dict[str, Any] = {"min_height": 300, "pagination": "remote", "page_size": 50}
        widget = grid(data, wide, header_filters=filters, wrapped=[*({"reason"} & {*data})], is_told=True, **look)
        key, kind = ABOUT.get(what, ("", ""))
        if key in data.columns:
            known = some.to_arrow().column(key)
            widget.on_click(lambda event: go(kind, str(known[int(event.row)].as_py())))
        first = f"the first {len(some):,} of " if len(some) < len(rows) else ""
        search = "; the field above searches all of them, and downloads have all" if first else ""
        many = count(len(rows), ONE.get(what, what[:-1]), what)
        caption = f"{first}{many}{search}{'. Click one to see it in the graph' if key in data.columns else ''}"
        buttons = download_buttons(lambda: rows, what, ("csv", "parquet", "json"))
        bar = pn.Row(Text(caption, variant="subtitle1"), *buttons, styles=WRAP)
        return [bar, *said, widget]

    which.param.watch(ask, "value")
    ask()
    return pn.Column(which, job.view, box, sizing_mode="stretch_both")


OUTLINED = ".bk-btn, .bk-btn a { font-size: 13px !important; } .bk-btn { border: 1px solid GrayText !important; }"


class Download(pn.widgets.FileDownload):
    """A button that saves a file. Pressed, it has the file made off the page's thread."""

    def __init__(self, **look: Any) -> None:
        super().__init__(callback=lambda: None, embed=False, button_type="default", stylesheets=[OUTLINED], **look)
        self.press: Callable[[], None]

    @param.depends("_clicks", watch=True)
    def _transfer(self) -> None:
        self.press()

    def send(self, data: bytes) -> None:
        """To the browser, which saves it."""
        self._sync_data(io.BytesIO(data))


def downloads(files: Mapping[str, Callable[[], bytes]], pool: Pool = HERE, **look: Any) -> list[Any]:
    """A button for each file, by its name; it is made when its button is pressed. Last, how far that is."""
    buttons = [Download(filename=name, label=name, **look) for name in files]
    job = Job(buttons=buttons, pool=pool)
    for button, make in zip(buttons, files.values(), strict=True):
        button.press = partial(job.start, make, button.send, f"Making {button.filename}…")
    return [*buttons, job.view]


EXPORTS = {
    "svg": "a picture that scales",
    "png": "a picture, laid out by Graphviz",
    "html": "a page that opens from disk, with pan, zoom and search",
    "dot": "Graphviz source",
    "json": "nodes, edges and what was left out",
}


def exports_view(graph: Callable[[], Graph | None]) -> Any:
    """Downloads of the graph as it is drawn when one is pressed."""

    def made(kind: str) -> bytes:
        drawn = graph()
        return export(drawn, kind) if drawn else b""

    *buttons, progress = downloads({f"graph.{kind}": partial(made, kind) for kind in EXPORTS}, width=140)
    lines = [pn.Row(b, Text(about, margin=(14, 6))) for b, about in zip(buttons, EXPORTS.values(), strict=True)]
    return pn.Column(Text("The graph as it is drawn now", variant="subtitle1"), *lines, progress, margin=12)


def download_buttons(get: Callable[[], Collection], what: str, kinds: Sequence[str], pool: Pool = HERE) -> list[Any]:
    """A button for each of csv, parquet and json; the rows are asked for when one is pressed. Last, how far that is."""
    makers = {"csv": _csv, "parquet": _parquet, "json": _json}
    files = {f"{what}.{kind}": partial(_made, makers[kind], get) for kind in kinds}
    *buttons, progress = downloads(files, pool, width=110, height=34)
    for button, kind in zip(buttons, kinds, strict=True):
        button.label = kind.upper()
    return [*buttons, progress]


def _made(make: Callable[[Collection], bytes], get: Callable[[], Collection]) -> bytes:
    return make(get())


def _csv(rows: Collection) -> bytes:
    out = io.BytesIO()
    rows.to_csv(out, for_spreadsheet=True)
    return out.getvalue()


def _parquet(rows: Collection) -> bytes:
    out = io.BytesIO()
    rows.to_parquet(out)
    return out.getvalue()


def _json(rows: Collection) -> bytes:
    return json.dumps(rows.to_json(), indent=1, ensure_ascii=False).encode()
