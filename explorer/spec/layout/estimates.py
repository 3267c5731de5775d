"""What filters would read of a snapshot if its table were sorted, partitioned or compacted: estimates, by bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

from explorer.model.metadata import PartitionField, PartitionSpec, TableMetadata
from explorer.spec.filters.expressions import BoundTerm, FilterColumn, predicates, term_text
from explorer.spec.filters.projections import Projection, takes
from explorer.spec.layout.layouts import COARSER, FileKinds, Layouts, bucket_count, transforms
from explorer.spec.layout.metrics_modes import USUAL, ColumnMode
from explorer.spec.maintenance.rewrite_options import file_target
from explorer.spec.scan.plan import Plan
from explorer.spec.scan.scan import Scan, evaluate
from explorer.spec.text.units import count, human_bytes

HEAVIER = 2.0
"""A change after which the whole table weighs so many times what it does is not offered, whatever one filter reads: it
makes small files of the rest."""
LESS = 0.99
"""What is not less than so much of the present is not called less: nobody knows where files will begin."""
EVENLY = "values are spread evenly between each file's bounds, other columns over all files of a partition"
APPLIED = "each change writes all files anew, and so applies the deletes: no delete file is read after it"
AS_WIDE = "rows are as wide as now, and those that deletes hide are counted"


@dataclass(frozen=True)
class Reads:
    """What is read: data files, their rows and bytes, and what they weigh in a scan: of each file its bytes, or what
    opening one costs if that is more (read.split.open-file-cost; see spec.scan.tasks). `delete_files` and
    `delete_bytes` are of the deletes that come along, each counted once; each data file weighs with its own."""

    files: int = 0
    rows: int = 0
    bytes: int = 0
    weight: int = 0
    delete_files: int = 0
    delete_bytes: int = 0

    @property
    def all_bytes(self) -> int:
        """Bytes of data files and of deletes."""
        return self.bytes + self.delete_bytes

    def __add__(self, other: Reads) -> Reads:
        return Reads(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True)
class LayoutChange:
    """One thing that might be done to a table, what the table would be then (`whole`, files of all partitions) and what
    that rests on beside what all rest on; or why nothing can be estimated, and `whole` is None. `column` is that which
    it is sorted by or, with a `transform`, partitioned by, in place of the partition field that it `replaces`. Its
    files have `file_bytes` at most. `statements` make the change, of those that are proposed."""

    text: str
    because: str
    whole: Reads | None = None
    column: str = ""
    transform: str = ""
    file_bytes: int = 0
    statements: tuple[str, ...] = ()
    replaces: str = ""


@dataclass(frozen=True)
class FilterEstimate:
    """One filter: its plan, or why it has none; what it reads now, and after each change, in their order."""

    where: str
    plan: Plan | None
    error: str = ""
    now: Reads = Reads()
    reads: tuple[Reads | None, ...] = ()


@dataclass(frozen=True)
class Estimates:
    """Filters, those that read the most bytes first, and what changes would make of them: an estimate, not a plan.
    `assumed` is what all estimates rest on."""

    whole: Reads
    filters: tuple[FilterEstimate, ...]
    changes: tuple[LayoutChange, ...] = ()
    assumed: tuple[str, ...] = ()

    def total(self, at: int | None = None) -> Reads | None:
        """What all filters read together, now or after the change in one place."""
        if at is not None and self.changes[at].whole is None:
            return None
        reads = [a.now if at is None else a.reads[at] for a in self.filters if a.plan]
        return sum((r for r in reads if r), Reads())

    @property
    def ranking(self) -> list[int]:
        """Places of the changes that can be estimated, the one after which the fewest bytes are read first, and those
        last that make the whole table too heavy."""
        return self._by("all_bytes", "weight")

    @property
    def best(self) -> int | None:
        """The change after which the fewest bytes are read; None where none spares any."""
        return self._first("all_bytes", "weight")

    @property
    def lightest(self) -> int | None:
        """The change after which what is read weighs the least; None where none makes it less."""
        return self._first("weight", "all_bytes")

    def heavier(self, at: int) -> float:
        """How many times its present weight the whole table has after a change, if it is too much; else 0."""
        whole = self.changes[at].whole
        times = whole.weight / self.whole.weight if whole and self.whole.weight else 0.0
        return times if times > HEAVIER else 0.0

    def _by(self, *names: str) -> list[int]:
        totals = {at: total for at in range(len(self.changes)) if (total := self.total(at))}
        return sorted(totals, key=lambda at: [self.heavier(at) > 0, *(getattr(totals[at], name) for name in names)])

    def _first(self, *names: str) -> int | None:
        now = self.total() or Reads()
        offered = (at for at in self._by(*names) if not self.heavier(at) and spares(now, self.total(at), names[0]))
        return next(offered, None)


def spares(now: Reads, then: Reads | None, what: str) -> bool:
    """Whether less is read after a change, in bytes or weight, and nothing more of what it weighs."""
    return then is not None and then.weight <= now.weight and getattr(then, what) < LESS * getattr(now, what)


def target_size(metadata: TableMetadata, file_size: int | None) -> int:
    """Bytes of a file that is written anew: as asked for, or as the table's properties have it."""
    return file_size or file_target(metadata)


def filter_columns(plans: Sequence[Plan]) -> dict[str, FilterColumn]:
    """The columns that filters ask of, each once."""
    terms = (p.term for plan in plans for p in predicates(plan.bound))
    return {t.column.name: t.column for t in terms if isinstance(t, BoundTerm) and isinstance(t.column.kind, str)}


def estimates(
    metadata: TableMetadata, layouts: Layouts, queries: Sequence[FilterEstimate], modes: Mapping[int, ColumnMode],
    file_size: int | None,
) -> Estimates:  # fmt: skip
    """What changes would make of filters that were planned: those in `queries` that have a plan, in order, are the
    scans of `layouts`. Without `file_size` (bytes) files are compacted to the table's target size, and otherwise as
    large as now."""
    if layouts.partitions is None:
        return Estimates(Reads(), tuple(queries))
    changes = list(_changes(metadata, layouts, [a.plan.scan for a in queries if a.plan], modes, file_size))
    whole, *now = (_reads(row) for row in layouts.present)
    then = zip(now, zip(*(some for _, some in changes), strict=True), strict=True)
    done = [_with_reads(a, a.plan, *next(then)) if a.plan else a for a in queries]
    ranked = tuple(sorted(done, key=lambda a: -a.now.all_bytes))
    assumed = [*_assumptions(metadata, layouts), *[APPLIED] * any(a.now.delete_files for a in done)]
    return Estimates(whole, ranked, tuple(change for change, _ in changes), tuple(assumed))


def _with_reads(query: FilterEstimate, plan: Plan, now: Reads, reads: tuple[Reads | None, ...]) -> FilterEstimate:
    """With what its plan reads, and weighs in the layout, and what it would read."""
    amounts = {name: value for name in ("files", "rows", "bytes") if (value := getattr(plan.left, name)) is not None}
    deletes = {"delete_files": plan.delete_files, "delete_bytes": plan.delete_bytes}
    return replace(query, now=replace(now, **amounts, **deletes, weight=now.weight + plan.delete_weight), reads=reads)


def _assumptions(metadata: TableMetadata, layouts: Layouts) -> Iterator[str]:
    yield EVENLY
    yield AS_WIDE
    spec = metadata.default_spec_id
    if other := layouts.of_other_specs(spec):
        yield (
            f"{count(other, 'partition')} of other specs than the current one, {spec}, as if left as they are; but "
            f"rewrite_data_files writes their rows into partitions of spec {spec}, of which there may be fewer or more"
        )


Made = tuple[LayoutChange, Sequence[Reads | None]]


def _changes(
    metadata: TableMetadata, layouts: Layouts, scans: Sequence[Scan], modes: Mapping[int, ColumnMode],
    file_size: int | None,
) -> Iterator[Made]:  # fmt: skip
    target = target_size(metadata, file_size)
    yield _compaction(layouts, target)
    assert layouts.partitions
    files, _, sizes, _ = layouts.present[0]
    size = file_size or max(1.0, min(target, sizes / files))
    spec = next((s for s in metadata.partition_specs if s.spec_id == metadata.default_spec_id), None)
    has = {(f.source_ids, f.transform) for f in spec.fields} if spec else set()
    for at, column in enumerate(layouts.columns):
        yield from _by_column(layouts, at, len(scans), size, has, modes)
        yield from _coarser(layouts, column, len(scans), target, spec)
        wanted = f"bucket[{bucket_count(sizes / size / len(layouts.partitions.group))}]"
        parted = any(source == (column.field_id,) for source, _ in has)
        if not parted and _compares_equal(scans, column) and takes(wanted, column.kind):
            yield _buckets(metadata, layouts, scans, column, wanted, size)


def _compaction(layouts: Layouts, target: int) -> Made:
    whole, *reads = (_reads(row) for row in layouts.compact())
    because = (
        f"the files of each partition are put together in the order of the manifests, up to {human_bytes(target)} "
        "(Iceberg reads manifests side by side: of several, such as lie far apart may come together)"
    )
    return LayoutChange(f"compaction to {human_bytes(target)}", because, whole, file_bytes=target), reads


def _by_column(
    layouts: Layouts, at: int, scans: int, size: float, has: set[Any], modes: Mapping[int, ColumnMode]
) -> Iterator[Made]:
    """Sorting by one column, and partitioning by it."""
    column, axis = layouts.columns[at], layouts.axis(at)
    nothing = [None] * scans
    if axis is None:
        yield (
            LayoutChange(
                f"sort by {column.name}", _reason_for_none(column, modes.get(column.field_id)), None, column.name
            ),
            nothing,
        )
        return
    missing = int(layouts.present[0, 0]) - int(layouts.bounded[at])
    blind = f"; {count(missing, 'file')} without bounds of {column.name} as those beside them" if missing else ""
    files = layouts.sort_by(at, axis, size)
    because = f"the rows of each partition are sorted, in files of {human_bytes(round(size))}{blind}"
    change = LayoutChange(f"sort by {column.name}", because, None, column.name, file_bytes=round(size))
    yield _of_files(layouts, change, files, scans)
    for transform in transforms(column, axis):
        if any(((column.field_id,), finer) in has for finer in (transform, *_finer(transform))):
            continue
        text = f"partition by {term_text(column.name, transform)}"
        split = layouts.split_by(at, axis, transform, size)
        if split is None:
            yield (
                LayoutChange(text, "that would be more than 100,000 partitions", None, column.name, transform),
                nothing,
            )
        else:
            because = f"one partition field more, in files of at most {human_bytes(round(size))}{blind}"
            change = LayoutChange(text, because, None, column.name, transform, round(size))
            yield _of_files(layouts, change, split, scans)


def _finer(transform: str) -> list[str]:
    """The transforms of a time beside which another partition field says nothing more."""
    return [finer for finer, coarser in COARSER.items() if transform in coarser]


def _coarser(
    layouts: Layouts, column: FilterColumn, scans: int, size: float, spec: PartitionSpec | None
) -> Iterator[Made]:
    """Partitioning by a coarser transform of a time in place of the one there is: beside another it would change
    nothing, and Iceberg allows no second one."""
    of = [field for field in spec.fields if field.source_ids == (column.field_id,)] if spec else []
    times = [field for field in of if field.transform in (*COARSER, "year")]
    for field in times if len(times) == 1 else ():
        for transform in COARSER.get(field.transform, ()):
            assert spec
            before, after = (term_text(column.name, one) for one in (field.transform, transform))
            text = f"partition by {after} instead of {before}"
            because = f"partitions of one {transform} are put together, in files of at most {human_bytes(round(size))}"
            files = layouts.coarsen(spec.spec_id, field.field_id, field.transform, transform, size)
            change = LayoutChange(text, because, None, column.name, transform, round(size), replaces=field.name)
            yield _of_files(layouts, change, files, scans)


def _of_files(layouts: Layouts, change: LayoutChange, files: FileKinds, scans: int) -> Made:
    change_with_reads = replace(change, whole=_reads(layouts.amount(files)))
    return change_with_reads, [_reads(layouts.read(files, at)) for at in range(scans)]


def _buckets(
    metadata: TableMetadata, layouts: Layouts, scans: Sequence[Scan], column: FilterColumn, transform: str, size: float
) -> Made:
    """Which buckets a filter asks for is computed; how full they are is assumed."""
    number = int(transform[7:-1])
    files = layouts.buckets(number, size)
    one = PartitionField(1000, "bucket", transform, (column.field_id,))
    projection = Projection(PartitionSpec(-1, (one,), {}), metadata)

    def share(scan: Scan) -> float:
        onto = projection.inclusive(scan.bound)
        if evaluate(onto, {one.field_id: None}):  # nulls are in none of them
            return 1.0
        return sum(evaluate(onto, {one.field_id: bucket}) for bucket in range(number)) / number

    because = f"each of {number} buckets has as many rows, in files of at most {human_bytes(round(size))}"
    text = f"partition by {term_text(column.name, transform)}"
    change = LayoutChange(text, because, _reads(layouts.amount(files)), column.name, transform, round(size))
    return change, [_reads(layouts.read(files, at) * share(scan)) for at, scan in enumerate(scans)]


def _compares_equal(scans: Sequence[Scan], column: FilterColumn) -> bool:
    return any(
        p.op in ("eq", "in") and isinstance(p.term, BoundTerm) and p.term.column.field_id == column.field_id
        for scan in scans
        for p in predicates(scan.bound)
    )


def _reason_for_none(column: FilterColumn, mode: ColumnMode | None) -> str:
    if mode is None or mode.lower:
        return f"values of {column.name} ({column.kind}) have nothing between them that could be estimated"
    nothing = f"no file has bounds of {column.name}, so nothing can be estimated"
    if not mode.bounds:
        return f"{nothing}; writers keep none either ({mode.rule}): set {mode.setting} to {USUAL} and rewrite"
    return (
        f"{nothing}; {mode.setting} need not be set, since writers are to keep them ({mode.rule}): files that Spark "
        "rewrites have them, unless they hold nulls and NaN only"
    )


def _reads(amount: Iterable[float]) -> Reads:
    """Whole files, rows and bytes; of something at least one."""
    return Reads(*(int(-(-round(float(x), 6) // 1)) for x in amount))
