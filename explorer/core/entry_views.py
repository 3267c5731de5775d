"""The columns of entries under each of their three states, for tables and exports."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from explorer.core.entries import INHERITED

VIEWS = ("stored", "inherited", "logical", "all")
PLACE = ["manifest_path", "ordinal", "spec_id"]
SAID = ["logical_status", "reason"]


def entry_view(tables: Sequence[pa.Table], view: str) -> pa.Table:
    """Logical entries with their place (PLACE), of several manifests, as one table under one of VIEWS.

    "stored": null where the Avro has null. "inherited": after inheritance, with `<name>_origin` in words. "logical":
    inherited values with `logical_status` and `reason`. "all": structs `stored` and `inherited` beside these two.
    Raises ValueError for another view."""
    if view not in VIEWS:
        raise ValueError(f"view {view!r}: use one of {', '.join(VIEWS)}")
    shown = [_view(table, view) for table in tables]
    return pa.concat_tables(shown, promote_options="default") if shown else pa.table({})


def _view(entries: pa.Table, view: str) -> pa.Table:
    inherited, origins = [f"inherited_{n}" for n in INHERITED], [f"{n}_origin" for n in INHERITED]
    stored = [n for n in entries.column_names if n not in {*inherited, *origins, *PLACE, *SAID}]
    if view == "stored":
        return entries.select([*PLACE, *stored])
    if view == "all":
        both = [n for n in entries.column_names if n in {*inherited, *origins}]
        structs = {"stored": _struct(entries, stored), "inherited": _struct(entries, both)}
        return pa.table({n: entries[n] for n in PLACE} | structs | {n: entries[n] for n in SAID})
    table = entries
    for name in INHERITED:
        table = table.set_column(table.schema.get_field_index(name), name, entries[f"inherited_{name}"])
    kept = [n for n in stored if n != "status"]
    if view == "inherited":
        return table.select([*PLACE, "status", *kept, *origins])
    return table.select(["logical_status", *kept, "status", "reason", *PLACE])


def _struct(entries: pa.Table, columns: list[str]) -> pa.StructArray:
    arrays = [entries[n].combine_chunks() for n in columns]
    fields = [pa.field(n.removeprefix("inherited_"), a.type) for n, a in zip(columns, arrays, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=fields)
