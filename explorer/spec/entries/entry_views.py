"""The columns of entries under each of their three states, for tables and exports."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa

from explorer.model.manifest import ManifestFile
from explorer.spec.entries.entries import INHERITED, live
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.entries.manifest_run import ManifestRun, as_of_run
from explorer.spec.values.values import conform_partition

VIEWS = ("stored", "inherited", "logical", "all")
PLACE = ["manifest_path", "ordinal", "spec_id"]
SAID = ["logical_status", "reason"]


def entries_as_of(snapshot_id: int, unified: pa.StructType, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """The entries of a manifest as of a snapshot, so that they can stand in one table with those of others: `partition`
    of one type for all, `spec_id`, `manifest_path` and `ordinal` (in the manifest)."""
    return entries_of_run(snapshot_id, unified, ManifestRun([manifest], [stored.num_rows]), stored)


def entries_of_run(snapshot_id: int, unified: pa.StructType, run: ManifestRun, stored: pa.Table) -> pa.Table:
    """`entries_as_of` of manifests whose entries follow each other."""
    entries = as_of_run(stored, run, snapshot_id)
    at = entries.schema.get_field_index("partition")
    wide = entries.set_column(at, pa.field("partition", unified), conform_partition(entries, unified))
    paths = pa.array([manifest.manifest_path for manifest in run.manifests], pa.string())
    path = pa.DictionaryArray.from_arrays(pa.array(run.places(), pa.int32()), paths)
    spec_ids = np.array([manifest.partition_spec_id for manifest in run.manifests], np.int32)
    return (
        wide.append_column("spec_id", pa.array(np.repeat(spec_ids, run.counts)))
        .append_column("manifest_path", path)
        .append_column("ordinal", pa.array(run.ordinals()))
    )


def entry_view(entries: Parts, view: str) -> Parts:
    """Logical entries with their place (PLACE) under one of VIEWS.

    "stored": null where the Avro has null. "inherited": after inheritance, with `<name>_origin` in words. "logical":
    inherited values with `logical_status` and `reason`. "all": structs `stored` and `inherited` beside these two.
    Raises ValueError for another view."""
    if view not in VIEWS:
        raise ValueError(f"view {view!r}: use one of {', '.join(VIEWS)}")
    return entries.map(partial(_view, view))


def read_files(entries: Parts) -> Parts:
    """Of logical entries (of the view of that name) those that a reader sees, as files."""
    return entries.map(_live_files)


def _live_files(entries: pa.Table) -> pa.Table:
    return live(entries).drop_columns(["status", "reason"])


def _view(view: str, entries: pa.Table) -> pa.Table:
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
