"""A table at a glance: what spec.overview.overview tells of its metadata, and what more is cheap to know."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

from explorer.errors import ExplorerError
from explorer.progress import steps
from explorer.render import doctor, health
from explorer.render.overview import ShownOverview
from explorer.reports.doctor import diagnose
from explorer.reports.health import checkup
from explorer.reports.row_count import live_rows
from explorer.spec.health.current_state import HIDDEN_AT_ONCE
from explorer.spec.overview.overview import Assessment, Overview, overview_of
from explorer.spec.overview.requirements import requirements
from explorer.spec.text.units import count
from explorer.storage.paths import local_path
from explorer.table import SMALL, Table

FILES, SNAPSHOTS, CHECKED = 16 << 20, 500, 100
"""Data and delete files of together so many bytes are read, where rows cannot be counted without;
and histories of at most so many snapshots are measured and, which takes longer, checked."""
HISTORY = 16 << 20


def overview(
    table: Table, snapshot: str | int | None = None, *, quick: bool = False, now_ms: int | None = None
) -> ShownOverview:
    """A table as of a snapshot (the current one), see spec.overview.overview.Overview. Reads the snapshot's manifest
    list; where its manifests are together at most 4 MiB also these, for deletes by kind, where its files are at most 16
    MiB what hides rows of them; of the current snapshot what Assessment has, for which all of the history is read,
    where that is at most 16 MiB of manifests on this machine, of 500 snapshots (for the doctor 100): with `quick` none
    of that. `now_ms` is when, for its age. Raises NotFoundInTable."""
    meta = table.metadata
    at = table.resolve(snapshot).snapshot if snapshot is not None else meta.current_snapshot
    listed = table.tree.manifests(at)
    catalog = table.reader.location.catalog or ""
    answer = overview_of(table.name, catalog, meta, at, listed, now_ms or int(time.time() * 1000))
    if at is not None and table.tree.unreadable_in(at)[0]:  # no list, no numbers of what it lists
        answer = replace(answer, rows_listed=None, rows_counted=None, data_files=None, delete_files=None, deletes=None)
    return ShownOverview(**vars(answer if quick else complete_overview(table, answer)))


def complete_overview(table: Table, quick_overview: Overview) -> Overview:
    """What was told with `quick`, and the rest."""
    meta = table.metadata
    at = meta.snapshot(quick_overview.snapshot_id) if quick_overview.snapshot_id is not None else None
    if sum(m.manifest_length or 0 for m in table.tree.manifests(at)) > SMALL:
        return quick_overview
    quick_overview = _with_counts(table, quick_overview)
    if quick_overview.is_current and len(meta.snapshots) <= SNAPSHOTS and _is_light(table):
        return replace(quick_overview, judged=_judge(table))
    return quick_overview


def _with_counts(table: Table, quick_overview: Overview) -> Overview:
    """With deletes by kind, and rows as readers see them."""
    if not quick_overview.delete_files or quick_overview.snapshot_id is None:
        return quick_overview
    at = table.metadata.snapshot(quick_overview.snapshot_id)
    files = table.row_reader.applicability(at)
    kinds = Counter(file.kind for file in files.deletes)
    needs = tuple(requirements(table.metadata, table.tree.manifests(at), kinds))
    quick_overview = replace(quick_overview, deletes=dict(kinds), readers_need=needs)
    if quick_overview.bytes is None or quick_overview.bytes > FILES:
        return quick_overview
    try:
        return replace(quick_overview, rows_counted=live_rows(table, quick_overview.snapshot_id).rows)
    except ExplorerError:  # a file is gone: the doctor says which
        return quick_overview


def _is_light(table: Table) -> bool:
    """Whether all its manifests, those of older snapshots too, lie on this machine and are together at most HISTORY
    bytes. Reads no more lists than it takes to know."""
    if local_path(table.metadata.metadata_location) is None:
        return False
    seen: set[str] = set()
    size = 0
    for snapshot in steps(table.metadata.snapshots[::-1], "snapshots"):
        new = {m.manifest_path: m.manifest_length or 0 for m in table.tree.manifests(snapshot)}
        size += sum(length for path, length in new.items() if path not in seen)
        seen |= new.keys()
        if size > HISTORY:
            return False
    return True


def _hidden_at_once(measured: health.ShownHealth) -> str:
    """Say how many rows the commit hid that added them; empty without any."""
    numbers = (number for section in measured.sections for number in section.numbers)
    hidden = next((int(number.value or 0) for number in numbers if number.name == HIDDEN_AT_ONCE), 0)
    return (
        f"; {count(hidden, 'row')} hidden by the commit that added {'it' if hidden == 1 else 'them'}" if hidden else ""
    )


def _judge(table: Table) -> Assessment:
    number = len(table.metadata.snapshots)
    measured, report = checkup(table), diagnose(table) if number <= CHECKED else None
    sections = {section.id: section for section in measured.sections}
    return Assessment(
        f"{health.verdict(measured)}{_hidden_at_once(measured)}", measured.worst,
        doctor.verdict(report) if report else f"{count(number, 'snapshot')}: they are checked on demand",
        (report.worst or "ok") if report else "",
        sections["file-sizes"].bars, sections["partitions"].tiles,
    )  # fmt: skip
