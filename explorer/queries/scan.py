"""What a scan of a snapshot with a filter reads and skips, stage by stage, from metadata alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from functools import partial
from operator import attrgetter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import NotFoundInTable, UnreadableFile
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Schema, Snapshot
from explorer.model.problem import Problem
from explorer.progress import steps
from explorer.queries.filters import filter_columns, filter_for, fold_like_spark, scan_of
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.parquet_groups import row_groups_of_file
from explorer.queries.row_reader import RowReader
from explorer.spark_engine.engine_choice import Choice
from explorer.spec.deletes.delete_pairs import DeletePairs
from explorer.spec.deletes.deletes import Applicability
from explorer.spec.entries.entries import live_entries
from explorer.spec.entries.lazy_table import Batches, Parts, all_alike
from explorer.spec.entries.live_files import LiveFiles
from explorer.spec.entries.numpy_columns import amounts, total
from explorer.spec.filters.expressions import BoundTerm, Expression, FilterColumn, has_or, predicates
from explorer.spec.layout.clustering import Clustering, Overlaps, bounds_of, bounds_schema
from explorer.spec.layout.metrics_modes import METRICS_COUNTS, ColumnMode, MetricsCounts, column_modes, count_statistics
from explorer.spec.overview.summary_totals import totals
from explorer.spec.scan import plan_parts
from explorer.spec.scan.plan import Amount, Interval, Intervals, OtherReader, Plan, PlanStage, WrongCounts
from explorer.spec.scan.ranges import Ranges, file_ranges
from explorer.spec.scan.reader_rules import differences
from explorer.spec.scan.row_groups import GroupVerdict
from explorer.spec.scan.scan import BY_METRICS, BY_PARTITION, READ, FileVerdicts, ManifestVerdict, Scan
from explorer.spec.scan.similar_texts import SimilarText
from explorer.spec.scan.tasks import CHOSEN, Packing, tasks
from explorer.spec.scan.unmeasured import older_snapshots
from explorer.spec.values.ordering import plain

DRAWN = 3000
"""Files of which intervals are drawn."""
BuildTable = Callable[[Parts, str], tuple[Batches, Choice]]
"""Has a table made of manifests, and says by whom; its second argument is what Spark's pages call it."""


def plan_scan(
    tree: MetadataTree,
    reader: RowReader,
    snapshot: Snapshot | None,
    schema: Schema,
    where: str | Expression,
    make: BuildTable,
) -> Plan:
    """Plan a scan of a snapshot under a schema, with a filter's text or an unbound expression. Raises NotFoundInTable
    for a filter that does not fit."""  # fmt: skip
    columns = filter_columns(schema, required=True)
    metadata = tree.metadata
    bound = filter_for(metadata, where, columns, null_too=True)
    _, folded = fold_like_spark(filter_for(metadata, where, filter_columns(schema), null_too=True), schema)
    scan = scan_of(metadata, schema, columns, bound)
    listed = tree.manifests(snapshot)
    data = [m for m in listed if m.content == 0]
    verdicts = scan.manifests(data)
    kept = [v.manifest for v in verdicts if v.keeps]
    specs = tuple(scan.specs[i] for i in sorted({m.partition_spec_id for m in data} & set(scan.specs)))
    deletes = deletes_of(tree, reader, snapshot, listed)
    come, come_back = (deletes, None) if deletes is None else _put_to(scan, deletes, reader, snapshot, listed)

    summed, older = plan_parts.Sums(), older_snapshots(metadata, bound)
    of_spec = attrgetter("partition_spec_id") if deletes is None else None  # deletes ask when each file was added
    alike = attrgetter("partition_spec_id", "added_snapshot_id") if of_spec and any(older.values()) else of_spec

    def build(
        part: Callable[[ManifestFile, pa.Table], pa.Table], schema: pa.Schema,
        alike: Callable[[ManifestFile], Hashable] | None = None,
    ) -> Batches:  # fmt: skip
        return make(Parts(kept, True, part, schema, alike), f"plan for {bound}")[0]

    why = ""
    for surely in (False, True):  # columns' counts and bounds are most of a manifest
        some = [v.manifest for v in verdicts if v.keeps and (v.surely and deletes is None) == surely]
        part = partial(plan_parts.sums, scan, come, come_back, older, surely=surely)
        rows, choice = make(Parts(some, not surely, part, plan_parts.SUMS, alike), f"plan for {bound}")
        summed.add(rows)
        why = choice.why if choice.large else why
    files_read = int(summed.amounts[:, 0].sum()) + (len(deletes) if deletes else 0)
    read = [*kept, *(m for m in listed if m.content != 0)]
    missing, (damaged_list, lost) = (
        _missing(read, files_read),
        tree.unreadable_in(snapshot) if snapshot else (False, []),
    )
    uncounted = len({m.manifest_path for m in read}.intersection(lost)) if missing is None else 0
    short = bool(missing or uncounted)
    wrong = _wrong_counts(tree, kept, summed, set(lost))
    chosen_files = build(partial(plan_parts.files_to_read, scan, come), CHOSEN, of_spec)
    return Plan(
        where=str(where), snapshot=snapshot, schema=schema, scan=scan, specs=specs,
        manifests=tuple(verdicts), stages=_stages(snapshot, verdicts, summed, short), wholly=summed.wholly,
        delete_files=len(summed.used), delete_bytes=come.bytes_of(summed.used) if come else 0,
        delete_weight=summed.delete_weight, skipped_deletes=len(summed.skipped),
        unplaced=come.vectors_without_place(summed.used) if come else (),
        refused=summed.refused, folded=folded, failing=tuple(m.manifest_path for m in scan.failing_manifests(listed)),
        missing=missing or 0, wrong_counts=wrong, uncounted=uncounted, damaged_list=damaged_list,
        make_other_readers=partial(_other_readers, scan, data, make), residuals=dict(summed.residuals.most_common()),
        unmeasured=summed.unmeasured, stored_bounds=summed.bounds,
        similar=_similar(scan, data, verdicts, summed), engine_note=why,
        files=build(partial(plan_parts.verdicts, scan), plan_parts.FILES),
        make_tasks=lambda: tasks(Packing.of(metadata.properties), chosen_files.read()),
    )  # fmt: skip


def _similar(
    scan: Scan, data: Sequence[ManifestFile], verdicts: Sequence[ManifestVerdict], summed: plan_parts.Sums
) -> list[SimilarText]:
    """Stored texts that the filter's are alike, in the manifests that are read and in the list."""
    skipped = [verdict.manifest for verdict in verdicts if not verdict.keeps]
    found = scan.asked_texts.in_lists(skipped, scan.metadata)
    found.update(summed.similar)
    return scan.asked_texts.told(found)


def _other_readers(scan: Scan, data: Sequence[ManifestFile], make: BuildTable) -> tuple[OtherReader, ...]:
    """Count the data files that other readers read for the same filter, where these are not the scan's."""
    others = []
    for difference in differences(scan.metadata, scan.bound):
        part = partial(plan_parts.other_reader, scan, scan.as_read_by(difference.rules))
        rows, _ = make(Parts(data, True, part, plan_parts.READERS), f"{difference.rule} of a plan")
        counts = [row for some in rows.read() for row in some.to_pylist()]
        others.append(OtherReader(difference, *(sum(row[n] for row in counts) for n in plan_parts.READERS.names)))
    return tuple(other for other in others if other.more or other.fewer)


def deletes_of(
    tree: MetadataTree, reader: RowReader, snapshot: Snapshot | None, listed: Sequence[ManifestFile]
) -> DeletePairs | None:
    """The deletes of a snapshot, ready to be held against its data files; None where it has no delete manifests."""
    deletes = [m for m in listed if m.content != 0]
    if snapshot is None or not deletes:
        return None
    files = [f for some in reader.live_files(deletes, snapshot) for f in some]
    return DeletePairs(Applicability(tree.metadata, LiveFiles.of([]), files))


def _put_to(
    scan: Scan, deletes: DeletePairs, reader: RowReader, snapshot: Snapshot | None, listed: Sequence[ManifestFile]
) -> tuple[DeletePairs, DeletePairs | None]:
    """Tell the deletes that a scan opens from those that it skips although rows that they hide may match; these are
    None where there are none."""
    skipped = {} if snapshot is None else reader.find_skipped_deletes(scan, listed, snapshot)
    if not skipped:
        return deletes, None
    may_hide = {key for key, delete in skipped.items() if delete.may_hide}
    return deletes.without(skipped), deletes.of(may_hide) if may_hide else None


def _missing(read: Sequence[ManifestFile], files_read: int) -> int | None:
    """How many more files a manifest list counts in manifests than are found there; None where it does not say (v1), or
    says what cannot be."""
    counted = {total.name: total.computed for total in totals({}, read)}
    data, deletes = counted["total-data-files"], counted["total-delete-files"]
    counts = [count or 0 for m in read for count in (m.added_files_count, m.existing_files_count)]
    if data is None or deletes is None or min(counts, default=0) < 0:
        return None
    return data + deletes - files_read if data + deletes >= files_read else None


def _wrong_counts(
    tree: MetadataTree, read: Sequence[ManifestFile], summed: plan_parts.Sums, lost: Collection[str]
) -> tuple[WrongCounts, ...]:
    """Find the data manifests that were read and that the manifest list counts otherwise. Of those that could not be
    read whole nobody knows; version 1 may not count."""
    listed = {m.manifest_path: (_sum(m, "files"), _sum(m, "rows")) for m in read if m.manifest_path not in lost}
    told = [(files, rows) for files, rows in listed.values() if files is not None and rows is not None]
    sums = [sum(files for files, _ in told), sum(rows for _, rows in told)]
    if len(told) == len(read) and sums == summed.amounts.sum(axis=0)[:2].tolist():
        return ()
    wrong = []
    some = [m for m in read if None not in listed.get(m.manifest_path, (None,))]
    for manifest, stored in tree.stored_entries(some):
        files = live_entries(stored, manifest)
        files = files.filter(pc.equal(pc.fill_null(files["content"], 0), 0))
        found = files.num_rows, total(amounts(files["record_count"]))
        own = tuple(number or 0 for number in listed[manifest.manifest_path])
        if own != found:
            wrong.append(WrongCounts(manifest.manifest_path, (own[0], own[1]), found))
    return tuple(wrong)


def _sum(manifest: ManifestFile, what: str) -> int | None:
    """The live files or rows of a manifest by the list; None where it does not say."""
    numbers = [getattr(manifest, f"{how}_{what}_count") for how in ("added", "existing")]
    return None if None in numbers else sum(numbers)


def _stages(
    snapshot: Snapshot | None, verdicts: Sequence[ManifestVerdict], summed: plan_parts.Sums, short: bool
) -> tuple[PlanStage, ...]:
    listed = [v.manifest for v in verdicts]
    recorded = {t.name: t for t in totals(snapshot.summary if snapshot else {}, listed)}
    files, rows = recorded["total-data-files"].computed, recorded["total-records"].computed
    read, by_partition, by_metrics = summed.amounts[READ], summed.amounts[BY_PARTITION], summed.amounts[BY_METRICS]
    kept = sum(v.keeps for v in verdicts)

    def amount(amounts: np.typing.NDArray[np.int64]) -> Amount:
        return Amount(kept, *(int(x) for x in amounts))

    manifests = amount(read + by_partition + by_metrics)
    size = manifests.bytes if kept == len(listed) and not short else None
    return (
        PlanStage("snapshot", "all data manifests of the snapshot", Amount(len(listed), files, rows, size)),
        PlanStage("manifests", "by partition summaries in the manifest list", manifests, len(listed) - kept),
        PlanStage("partitions", "by the files' partition values", amount(read + by_metrics), int(by_partition[0])),
        PlanStage("metrics", "by the counts and bounds of their columns", amount(read), int(by_metrics[0])),
    )


def intervals(tree: MetadataTree, plan: Plan, name: str) -> Intervals:
    """The data files that a plan looks at, by the bounds of one column. Raises NotFoundInTable."""
    columns = filter_columns(plan.schema)
    if name not in columns:
        raise NotFoundInTable(f"there is no column {name!r} (columns: {', '.join(columns)})")
    column = columns[name]
    items: list[Interval] = []
    left_out = 0
    for manifest, stored in tree.stored_entries([v.manifest for v in plan.manifests if v.keeps], metrics=True):
        verdicts = plan.scan.files(manifest, stored)
        ranges = file_ranges(verdicts.entries, column.field_id, column.kind, False)
        room = max(0, DRAWN - len(items))
        left_out += max(0, len(ranges) - room)
        items += [_interval(verdicts, ranges, at, column) for at in range(min(len(ranges), room))]
    own_predicates = tuple(
        p for p in predicates(plan.bound) if isinstance(p.term, BoundTerm) and p.term.column.name == name
    )
    items.sort(key=lambda i: (i.low is None, i.low if i.low is not None else 0, i.high is None, i.path))
    return Intervals(column, own_predicates, not has_or(plan.bound), tuple(items), left_out)


def _interval(verdicts: FileVerdicts, ranges: Ranges, at: int, column: FilterColumn) -> Interval:
    low, high = (b.values[at] if b.known[at] else None for b in (ranges.lower, ranges.upper))
    back = plain(column.kind)
    words = " to ".join("unknown" if v is None else column.value_text(back(v)) for v in (low, high))
    path = verdicts.entries["file_path"][at].as_py()
    return Interval(
        path, low, high, words, int(verdicts.outcome[at]), bool(verdicts.wholly[at]), str(verdicts.reason(at))
    )


def partition_verdicts(tree: MetadataTree, plan: Plan, make: BuildTable) -> pa.Table:
    """The live data files of a plan's snapshot by partition: how many are read and skipped (see
    spec.scan.plan_parts.PARTITIONS), those in skipped manifests too."""
    part, alike = partial(plan_parts.partitions, plan.scan), attrgetter("partition_spec_id")
    parts = Parts(_data(tree, plan.snapshot), True, part, plan_parts.PARTITIONS, alike)
    return plan_parts.by_partition(make(parts, "partitions of a plan")[0])


def row_groups(tree: MetadataTree, plan: Plan) -> Iterator[GroupVerdict]:
    """Verdicts on the row groups of the Parquet files that a plan reads (see parquet_groups); asked is what is left to
    ask of each file's rows. A file whose footer cannot be read is noted and left out."""

    def files() -> Iterator[tuple[str, Expression]]:
        for manifest, stored in tree.stored_entries([v.manifest for v in plan.manifests if v.keeps], metrics=True):
            verdicts = plan.scan.files(manifest, stored)
            places, paths = np.flatnonzero(verdicts.outcome == READ).tolist(), verdicts.entries["file_path"]
            yield from ((paths[at].as_py(), verdicts.residual(at)) for at in steps(places, "footers"))

    for path, residual in tree.reader.storage.read_ahead(files(), lambda file: (file[0], 0), ends=True):
        try:
            yield from row_groups_of_file(tree.reader, path, residual, plan.schema, tree.note)
        except UnreadableFile as error:
            tree.note([Problem(path, error.cause, unaffected="other files are not affected")])


def column_statistics(
    tree: MetadataTree, snapshot: Snapshot | None, schema: Schema, make: BuildTable
) -> list[ColumnMode]:
    """The metrics mode of every column, and how many live data files of a snapshot have what it says."""
    parts = Parts(_data(tree, snapshot), True, count_statistics, METRICS_COUNTS, all_alike)
    files = MetricsCounts(make(parts, "statistics of columns")[0].read())
    return [files.of(mode) for mode in column_modes(tree.metadata, schema)]


def clustering(
    tree: MetadataTree, snapshot: Snapshot | None, schema: Schema, names: Sequence[str], make: BuildTable
) -> list[Clustering]:
    """How well the live data files of a snapshot are clustered by columns; by all that can have bounds, if none are
    named. Raises NotFoundInTable."""
    columns = {n: c for n, c in filter_columns(schema).items() if isinstance(c.kind, str)}
    if unknown := [n for n in names if n not in columns]:
        raise NotFoundInTable(f"there is no column {unknown[0]!r} that can have bounds (columns: {', '.join(columns)})")
    chosen_columns = [columns[n] for n in names or columns]
    fields = [column.field_id for column in chosen_columns]
    part = partial(bounds_of, fields)
    parts = Parts(_data(tree, snapshot), True, part, bounds_schema(fields), all_alike)
    return Overlaps(chosen_columns, make(parts, "bounds")[0].read()).clustering()


def _data(tree: MetadataTree, snapshot: Snapshot | None) -> list[ManifestFile]:
    return [m for m in tree.manifests(snapshot) if m.content == 0]
