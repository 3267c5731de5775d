"""What a scan of a snapshot with a filter reads and skips, stage by stage, from metadata alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.core.batches import Batches, Parts
from explorer.core.chunk_tests import Part, Unread
from explorer.core.clustering import Clustering, Overlaps
from explorer.core.delete_pairs import Pairs
from explorer.core.deletes import Applicability
from explorer.core.expressions import TRUE, BoundTerm, Column, Expression, predicates
from explorer.core.live_files import LiveFiles
from explorer.core.metrics_modes import ColumnMode, Told, column_modes
from explorer.core.ordering import plain
from explorer.core.plan import TASKS, Amount, Interval, Intervals, Plan, Stage, Task, Tasks
from explorer.core.ranges import Ranges, file_ranges
from explorer.core.row_diff import named_fields
from explorer.core.row_groups import GroupVerdict
from explorer.core.row_groups import row_groups as judged_groups
from explorer.core.scan import BY_METRICS, BY_PARTITION, OUTCOMES, READ, FileVerdicts, ManifestVerdict, Scan
from explorer.core.tasks import Chosen, Packing, packed
from explorer.core.totals import totals
from explorer.errors import NotFoundInTable, UnreadableFile
from explorer.filters import bound_filter, filter_columns
from explorer.io.chunks import read_parts
from explorer.metadata_tree import MetadataTree
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Schema, Snapshot
from explorer.model.problem import Problem
from explorer.progress import steps
from explorer.rowlevel import RowReader

DRAWN = 3000
"""Files of which intervals are drawn."""
CHOSEN = ("file_path", "file_size_in_bytes", "file_format", "split_offsets")


def plan_scan(
    tree: MetadataTree, reader: RowReader, snapshot: Snapshot | None, schema: Schema, where: str | Expression
) -> Plan:
    """Plan a scan of a snapshot under a schema, with a filter's text or an unbound expression. Raises NotFoundInTable
    for a filter that does not fit."""
    columns = filter_columns(schema, required=True)
    bound = bound_filter(where, columns, null_too=True)
    metadata = tree.metadata
    top = {f["id"] for f in schema.raw["fields"]}
    nested = frozenset(c.field_id for c in columns.values() if c.field_id not in top)
    scan = Scan(metadata, snapshot.snapshot_id if snapshot else None, bound, nested)
    listed = tree.manifests(snapshot)
    data = [m for m in listed if m.content == 0]
    verdicts = scan.manifests(data)
    kept = [v.manifest for v in verdicts if v.keeps]
    specs = tuple(scan.specs[i] for i in sorted({m.partition_spec_id for m in data} & set(scan.specs)))
    fold = _Fold(scan, _deletes(tree, reader, snapshot, listed))

    def entries() -> Iterator[tuple[ManifestFile, pa.Table]]:
        return tree.stored(kept, metrics=True) if snapshot else iter(())

    for manifest, stored in entries():
        fold.add(manifest, scan.files(manifest, stored))
    parts = Parts(kept, True, partial(file_verdicts, scan), FILE_COLUMNS)
    return Plan(
        where=str(where), snapshot=snapshot, schema=schema, scan=scan, specs=specs,
        manifests=tuple(verdicts), stages=_stages(snapshot, verdicts, fold), wholly=fold.wholly,
        delete_files=len(fold.used), residuals=dict(fold.residuals.most_common()),
        files=tree.read(parts) if snapshot else Batches(parts.schema, lambda: iter(())),
        make_tasks=lambda: _tasks(Packing.of(metadata.properties), fold.chosen(entries())),
    )  # fmt: skip


def _deletes(
    tree: MetadataTree, reader: RowReader, snapshot: Snapshot | None, listed: Sequence[ManifestFile]
) -> Pairs | None:
    deletes = [m for m in listed if m.content != 0]
    if snapshot is None or not deletes:
        return None
    files = [f for some in reader.live_files(deletes, snapshot) for f in some]
    return Pairs(Applicability(tree.metadata, LiveFiles.of([]), files))


class _Fold:
    """The kept manifests, one after the other, added up."""

    def __init__(self, scan: Scan, deletes: Pairs | None) -> None:
        self.scan, self.deletes = scan, deletes
        self.amounts = np.zeros((3, 3), np.int64)
        """Files, rows and bytes by outcome."""
        self.wholly = 0
        self.used: set[int] = set()
        self.residuals = Counter[str]()

    def add(self, manifest: ManifestFile, verdicts: FileVerdicts) -> None:
        """One manifest more."""
        rows, sizes = (_numbers(verdicts.entries[n]) for n in ("record_count", "file_size_in_bytes"))
        for outcome in (READ, BY_PARTITION, BY_METRICS):
            chosen = verdicts.outcome == outcome
            self.amounts[outcome] += (chosen.sum(), rows[chosen].sum(), sizes[chosen].sum())
        self.wholly += int(verdicts.wholly.sum())
        if self.scan.bound != TRUE:
            codes, counts = np.unique(verdicts.codes[verdicts.outcome == READ], return_counts=True)
            for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
                self.residuals[str(verdicts.residuals[code])] += count
        if self.deletes is not None:
            found = self.deletes.count(_read(verdicts), manifest.partition_spec_id)
            self.used |= set(found.used.tolist())

    def chosen(self, entries: Iterator[tuple[ManifestFile, pa.Table]]) -> Iterator[Chosen]:
        """The files that are read, manifest by manifest, with the deletes that come along."""
        for manifest, stored in entries:
            files = _read(self.scan.files(manifest, stored))
            deletes = more = [0] * files.num_rows
            if self.deletes is not None:
                sums = self.deletes.count(files, manifest.partition_spec_id).sums
                deletes = (sums["position"] + sums["equality"] + sums["vectors"]).tolist()
                more = sums["bytes"].tolist()
            columns = (files[name].to_pylist() for name in CHOSEN)
            for path, size, kind, offsets, *with_deletes in zip(*columns, deletes, more, strict=True):
                yield Chosen(path, size or 0, kind or "", offsets or (), *with_deletes)


def _read(verdicts: FileVerdicts) -> pa.Table:
    return verdicts.entries.take(pa.array(np.flatnonzero(verdicts.outcome == READ)))


def _numbers(column: pa.ChunkedArray) -> np.typing.NDArray[np.int64]:
    return column.fill_null(0).to_numpy()


def _tasks(packing: Packing, chosen: Iterator[Chosen]) -> Tasks:
    first: list[Task] = []
    count = largest = 0
    for splits in packed(chosen, packing):
        count += 1
        largest = max(largest, sum(s.weight for s in splits))
        if count <= TASKS:
            first.append(Task(tuple(splits)))
    return Tasks(packing, count, largest, tuple(first))


def _stages(snapshot: Snapshot | None, verdicts: Sequence[ManifestVerdict], fold: _Fold) -> tuple[Stage, ...]:
    listed = [v.manifest for v in verdicts]
    recorded = {t.name: t for t in totals(snapshot.summary if snapshot else {}, listed)}
    files, rows = recorded["total-data-files"].computed, recorded["total-records"].computed
    read, by_partition, by_metrics = fold.amounts[READ], fold.amounts[BY_PARTITION], fold.amounts[BY_METRICS]
    kept = sum(v.keeps for v in verdicts)

    def left(amounts: np.typing.NDArray[np.int64]) -> Amount:
        return Amount(kept, *(int(x) for x in amounts))

    manifests = left(read + by_partition + by_metrics)
    size = manifests.bytes if kept == len(listed) else None
    return (
        Stage("snapshot", "all data manifests of the snapshot", Amount(len(listed), files, rows, size)),
        Stage("manifests", "by partition summaries in the manifest list", manifests, len(listed) - kept),
        Stage("partitions", "by the files' partition values", left(read + by_metrics), int(by_partition[0])),
        Stage("metrics", "by the counts and bounds of their columns", left(read), int(by_metrics[0])),
    )


FILE_COLUMNS = pa.schema(
    [
        ("file_path", pa.string()), ("verdict", pa.dictionary(pa.int8(), pa.string())), ("term", pa.string()),
        ("reason", pa.string()), ("partition", pa.string()), ("wholly", pa.bool_()), ("residual", pa.string()),
        ("record_count", pa.int64()), ("file_size_in_bytes", pa.int64()), ("spec_id", pa.int32()),
        ("manifest_path", pa.string()),
    ]
)  # fmt: skip


def file_verdicts(scan: Scan, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """FILE_COLUMNS, a row for each live data file: verdict (one of OUTCOMES), the deciding term and what it met,
    partition, whether all rows match, and what must still be asked of its rows."""
    found = scan.files(manifest, stored)
    count = len(found.outcome)
    reasons = [found.reason(at) for at in range(count)]
    columns = {
        "file_path": found.entries["file_path"],
        "verdict": pa.DictionaryArray.from_arrays(pa.array(found.outcome), pa.array(OUTCOMES)),
        "term": [r.term for r in reasons],
        "reason": [r.said for r in reasons],
        "partition": [found.partition(at) for at in range(count)],
        "wholly": pa.array(found.wholly),
        "residual": [str(found.residual(at)) for at in range(count)],
        "record_count": found.entries["record_count"],
        "file_size_in_bytes": found.entries["file_size_in_bytes"],
        "spec_id": pa.repeat(pa.scalar(manifest.partition_spec_id, pa.int32()), count),
        "manifest_path": pa.repeat(pa.scalar(manifest.manifest_path), count),
    }
    return pa.table(columns, schema=FILE_COLUMNS)


def intervals(tree: MetadataTree, plan: Plan, name: str) -> Intervals:
    """The data files that a plan looks at, by the bounds of one column. Raises NotFoundInTable."""
    columns = filter_columns(plan.schema)
    if name not in columns:
        raise NotFoundInTable(f"there is no column {name!r} (columns: {', '.join(columns)})")
    column = columns[name]
    items: list[Interval] = []
    left_out = 0
    for manifest, stored in tree.stored([v.manifest for v in plan.manifests if v.keeps], metrics=True):
        found = plan.scan.files(manifest, stored)
        ranges = file_ranges(found.entries, column.field_id, column.kind, False)
        room = max(0, DRAWN - len(items))
        left_out += max(0, len(ranges) - room)
        items += [_interval(found, ranges, at, column) for at in range(min(len(ranges), room))]
    asked = tuple(p for p in predicates(plan.bound) if isinstance(p.term, BoundTerm) and p.term.column.name == name)
    items.sort(key=lambda i: (i.low is None, i.low if i.low is not None else 0, i.high is None, i.path))
    return Intervals(column, asked, tuple(items), left_out)


def _interval(found: FileVerdicts, ranges: Ranges, at: int, column: Column) -> Interval:
    low, high = (b.values[at] if b.known[at] else None for b in (ranges.lower, ranges.upper))
    back = plain(column.kind)
    said = " to ".join("unknown" if v is None else column.said(back(v)) for v in (low, high))
    path = found.entries["file_path"][at].as_py()
    return Interval(path, low, high, said, int(found.outcome[at]), bool(found.wholly[at]), str(found.reason(at)))


def row_groups(tree: MetadataTree, plan: Plan) -> Iterator[GroupVerdict]:
    """Verdicts on the row groups of the Parquet files that a plan reads, by their footers, dictionaries, bloom filters
    and page indexes. A file whose footer cannot be read is noted and left out; what else cannot be, is noted."""
    fields = named_fields(plan.schema.raw["fields"]).values()
    defaults = {field["id"]: field.get("initial-default") for field in fields}
    asked = {p.term.column.field_id for p in predicates(plan.bound) if isinstance(p.term, BoundTerm)}
    for part in plan.files.read():
        read = part.filter(pc.equal(part["verdict"].cast(pa.string()), OUTCOMES[READ]))
        for path in steps(read["file_path"].to_pylist(), "footers"):
            try:
                footer = tree.reader.parquet_footer(path, sorted(asked))
                yield from judged_groups(plan.bound, path, footer, partial(_parts, tree, path, footer), defaults)
            except UnreadableFile as error:
                tree.note([Problem(path, error.cause, unaffected="other files are not affected")])


def _parts(
    tree: MetadataTree, path: str, footer: Mapping[str, Any], part: Part, chunks: Sequence[tuple[int, int]]
) -> Iterator[Any]:
    for (group, column), found in zip(chunks, read_parts(tree.reader.storage, path, part, footer, chunks), strict=True):
        if isinstance(found, Unread):
            where = f"row group {group}, {part} of {footer['columns'][column]['path']}"
            tree.note([Problem(path, found.cause, where, unaffected="the row group is kept")])
        yield found


def column_statistics(tree: MetadataTree, snapshot: Snapshot | None, schema: Schema) -> list[ColumnMode]:
    """The metrics mode of every column, and how many live data files of a snapshot have what it says."""
    told = Told()
    for entries in _data_entries(tree, snapshot):
        told.add(entries)
    return [told.of(mode) for mode in column_modes(tree.metadata, schema)]


def clustering(tree: MetadataTree, snapshot: Snapshot | None, schema: Schema, names: Sequence[str]) -> list[Clustering]:
    """How well the live data files of a snapshot are clustered by columns; by all that can have bounds, if none are
    named. Raises NotFoundInTable."""
    columns = {n: c for n, c in filter_columns(schema).items() if isinstance(c.kind, str)}
    if unknown := [n for n in names if n not in columns]:
        raise NotFoundInTable(f"there is no column {unknown[0]!r} that can have bounds (columns: {', '.join(columns)})")
    found = Overlaps([columns[n] for n in names or columns])
    for entries in _data_entries(tree, snapshot):
        found.add(entries)
    return found.clustering()


def _data_entries(tree: MetadataTree, snapshot: Snapshot | None) -> Iterator[pa.Table]:
    if snapshot is not None:
        data = [m for m in tree.manifests(snapshot) if m.content == 0]
        yield from (entries for _, entries in tree.logical(data, snapshot, metrics=True))
