"""A filter put to the manifests and files of one snapshot, stage by stage (spec: "Scan Planning").

Manifests are kept or skipped by their partition summaries, files by their partition values, then by their columns'
counts and bounds. Doubt keeps. Rules: org.apache.iceberg.ManifestGroup, ManifestReader."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import PartitionSpec, TableMetadata
from explorer.spec.entries.entries import NO_LIVE, are_live, chosen_rows
from explorer.spec.filters.expressions import (
    FALSE,
    TRUE,
    BoundTerm,
    Constant,
    Expression,
    FilterColumn,
    Predicate,
    PredicateOperation,
    predicates,
    rebuilt,
)
from explorer.spec.filters.projections import Projection
from explorer.spec.scan.pruning import ScanReason, Verdicts, judge
from explorer.spec.scan.ranges import Mask, Ranges, file_ranges, summary_ranges
from explorer.spec.scan.reader_rules import JAVA, ReaderRules
from explorer.spec.scan.similar_texts import AskedTexts
from explorer.spec.values.ordering import comparable
from explorer.spec.values.transforms import is_narrow
from explorer.spec.values.values import distinct_partitions, partition_path

READ, BY_PARTITION, BY_METRICS = 0, 1, 2
OUTCOMES = ("read", "skipped by its partition", "skipped by column metrics")
"""What becomes of a file, by READ, BY_PARTITION and BY_METRICS."""


@dataclass(frozen=True)
class SpecPlan:
    """A filter projected onto one partition spec."""

    spec: PartitionSpec
    columns: Mapping[int, FilterColumn]
    inclusive: Expression
    strict: Expression
    field_ids: tuple[int, ...]
    """The partition fields of the filter's columns: the others say nothing."""


def _last_place(plan: SpecPlan) -> int:
    """The place of the last of a spec's fields that a filter is projected onto; -1 if there is none."""
    asked = {p.term.column.field_id for p in predicates(plan.inclusive) if isinstance(p.term, BoundTerm)}
    return max((at for at, field in enumerate(plan.spec.fields) if field.field_id in asked), default=-1)


@dataclass(frozen=True)
class ManifestVerdict:
    """Whether a manifest is read, and why. `by` is "summaries", or "counts" where the list counts none that are live.
    `why` is a ScanReason, or makes one when it is asked for."""

    manifest: ManifestFile
    keeps: bool
    why: ScanReason | Callable[[], ScanReason]
    by: str = "summaries"
    surely: bool = False
    """Whether all rows of its files match, as its summaries say: columns' counts and bounds could add nothing."""

    @property
    def reason(self) -> ScanReason:
        """What decided."""
        return self.why if isinstance(self.why, ScanReason) else self.why()


class Scan:
    """A bound filter, ready to be put to manifests and entries as some readers take them. Can be pickled."""

    def __init__(
        self, metadata: TableMetadata, bound: Expression, nested: frozenset[int], rules: ReaderRules = JAVA
    ) -> None:
        self._arguments = metadata, bound, nested, rules
        metadata, bound = rules.metadata(metadata), rules.expression(bound)
        self.metadata, self.bound, self.nested, self.rules = metadata, bound, nested, rules
        self._projections = {spec.spec_id: Projection(spec, metadata, rules) for spec in metadata.partition_specs}
        self.asked_texts = AskedTexts(bound)
        self._known: dict[tuple[int, int], list[tuple[Predicate | None, Predicate | None]]] = {}
        """By spec and the identity of a comparison of `bound`."""
        self._partitions: dict[tuple[int, str], tuple[bool, bool, Expression]] = {}
        """By spec and the values of the fields that the filter is projected onto."""
        sources = {(p.term.column.field_id,) for p in predicates(bound) if isinstance(p.term, BoundTerm)}
        self.specs = {
            spec_id: SpecPlan(
                p.spec, p.columns, p.inclusive(bound), p.strict(bound),
                tuple(f.field_id for f in p.spec.fields if f.source_ids in sources),
            )
            for spec_id, p in self._projections.items()
        }  # fmt: skip

    def __reduce__(self) -> tuple[type[Scan], tuple[Any, ...]]:
        return Scan, self._arguments

    def as_read_by(self, rules: ReaderRules) -> Scan:
        """Return the same filter as other readers put it to manifests and entries."""
        return Scan(*self._arguments[:3], rules)

    def manifests(self, listed: Sequence[ManifestFile]) -> list[ManifestVerdict]:
        """A verdict for each data manifest, in order."""
        verdicts: dict[int, ManifestVerdict] = {}
        by_spec: dict[int, list[int]] = {}
        for at, manifest in enumerate(listed):
            by_spec.setdefault(manifest.partition_spec_id, []).append(at)
        for spec_id, places in by_spec.items():
            some = [listed[at] for at in places]
            for at, verdict in zip(places, self._of_spec(spec_id, some), strict=True):
                verdicts[at] = verdict
        return [verdicts[at] for at in range(len(listed))]

    def failing_manifests(self, listed: Sequence[ManifestFile]) -> list[ManifestFile]:
        """Return the manifests, of data and deletes, on which Iceberg Java fails with this filter: they have partition
        summaries, but not of every field that the filter is projected onto (ManifestEvaluator reads these by place)."""
        places = {spec_id: _last_place(plan) for spec_id, plan in self.specs.items()}
        return [
            m for m in listed if m.partitions is not None and len(m.partitions) <= places.get(m.partition_spec_id, -1)
        ]

    def _of_spec(self, spec_id: int, manifests: Sequence[ManifestFile]) -> list[ManifestVerdict]:
        plan = self.specs.get(spec_id)
        if plan is None:
            unknown = ScanReason("", f"partition spec {spec_id} is not known", True)
            return [ManifestVerdict(m, True, unknown) for m in manifests]
        fields = plan.spec.fields
        summarized = [m for m in manifests if m.partitions is not None and len(m.partitions) == len(fields)]
        order = {field.field_id: at for at, field in enumerate(fields)}

        def ranges(term: BoundTerm) -> Ranges:
            return summary_ranges(summarized, order[term.column.field_id], term.kind)

        verdicts = judge(plan.inclusive, len(summarized), ranges)
        sure = judge(plan.strict, len(summarized), ranges).must
        columns = plan.columns.values()
        if any(is_narrow(c.shown_as, c.source_kind) for c in columns if c.field_id in plan.field_ids):
            sure = np.zeros(len(summarized), bool)  # values that wrapped round are not sure
        place = {m.manifest_path: at for at, m in enumerate(summarized)}
        return [self._manifest(m, verdicts, sure, place.get(m.manifest_path)) for m in manifests]

    def _manifest(self, manifest: ManifestFile, verdicts: Verdicts, sure: Mask, at: int | None) -> ManifestVerdict:
        keeps = at is None or bool(verdicts.may[at])
        if keeps and manifest.counts_no_live:
            return ManifestVerdict(manifest, False, ScanReason("", NO_LIVE, False), "counts")
        if at is None:
            return ManifestVerdict(manifest, True, ScanReason("", "it has no partition summaries", True))
        if keeps and verdicts.expression == TRUE:
            spec, text = self.metadata.spec(manifest.partition_spec_id), "the filter says nothing of its partitions"
            if self.bound == TRUE:
                text = "Iceberg is asked for every row"
            elif spec is not None and not spec.fields:
                text = "its files are not partitioned: no filter skips it as a whole"
            return ManifestVerdict(manifest, True, ScanReason("", text, True), surely=bool(sure[at]))
        return ManifestVerdict(manifest, keeps, partial(verdicts.reason, at), surely=keeps and bool(sure[at]))

    def files(self, manifest: ManifestFile, stored: pa.Table, surely: bool = False) -> FileVerdicts:
        """The verdicts on the live data files among a manifest's stored entries, which have their metrics, unless all
        rows match `surely` (see ManifestVerdict)."""
        data = pc.and_(are_live(stored), pc.equal(pc.fill_null(stored["content"], 0), 0))
        return FileVerdicts(self, manifest, chosen_rows(stored, data), surely)

    def deletes(self, manifest: ManifestFile, live: pa.Table, columns: Collection[int] | None = None) -> FileVerdicts:
        """The verdicts on live delete files of a manifest, which have their metrics: Iceberg Java puts the filter to
        them as to data files (DeleteFileIndex). With `columns`, no other columns' counts and bounds are asked."""
        return FileVerdicts(self, manifest, live, False, columns)

    def keeps(self, spec_id: int, partition: Mapping[int, Any]) -> bool:
        """Whether rows of a partition may match."""
        return (plan := self.specs.get(spec_id)) is None or evaluate(plan.inclusive, partition)

    def partition(self, spec_id: int, partition: Mapping[int, Any]) -> tuple[bool, bool, Expression]:
        """Whether surely all rows of a partition match, whether some may, and the residual."""
        plan = self.specs.get(spec_id)
        fields = () if plan is None else plan.field_ids
        key = (spec_id, repr([partition.get(field, ...) for field in fields]))  # 0.0 is not -0.0
        if key not in self._partitions:
            sure = plan is not None and evaluate(plan.strict, partition, sure=True)
            keeps = self.keeps(spec_id, partition)
            residual = TRUE if sure else self.residual(spec_id, partition) if keeps else FALSE
            self._partitions[key] = (sure, keeps, residual)
        return self._partitions[key]

    def residual(self, spec_id: int, partition: Mapping[int, Any]) -> Expression:
        """What must still be asked of the rows of a partition (Iceberg: ResidualEvaluator)."""

        def leaf(predicate: Predicate) -> Expression:
            for strictly, loosely in self._onto(spec_id, predicate):
                if strictly is not None and holds(strictly, partition):
                    return TRUE
                if loosely is not None and not holds(loosely, partition):
                    return FALSE
            return predicate

        return rebuilt(self.bound, leaf)

    def _onto(self, spec_id: int, predicate: Predicate) -> list[tuple[Predicate | None, Predicate | None]]:
        """A comparison projected onto each field of its column, strictly and inclusively."""
        key = (spec_id, id(predicate))
        if key not in self._known and (projection := self._projections.get(spec_id)):
            both = (projection.each(predicate, strict) for strict in (True, False))
            self._known[key] = list(zip(*both, strict=True))
        return self._known.get(key, [])


class FileVerdicts:
    """The live files of one manifest (`entries`, as stored), and what becomes of each (`outcome`).
    `wholly`: all its rows match, whether by its partition or by its bounds. Files of one partition have one of the
    `codes`, and `partitions` and `residuals` go by these."""

    def __init__(
        self,
        scan: Scan,
        manifest: ManifestFile,
        entries: pa.Table,
        surely: bool,
        columns: Collection[int] | None = None,
    ) -> None:
        self.entries, self._scan = entries, scan
        plan = scan.specs.get(manifest.partition_spec_id)
        count = entries.num_rows
        self.codes, first = distinct_partitions(entries["partition"])
        self.partitions = partition_values(entries["partition"], first)
        decided = [scan.partition(manifest.partition_spec_id, p) for p in self.partitions]
        sure, keeps = ([each[i] for each in decided] for i in (0, 1))
        self.residuals = [residual for _, _, residual in decided]
        self._plan = plan
        by_partition = np.array(keeps, bool)[self.codes] if count else np.zeros(0, bool)
        must = np.array(sure, bool)[self.codes] if count else np.zeros(0, bool)
        rows = entries["record_count"].fill_null(-1).to_numpy() if count else np.zeros(0, np.int64)
        self._empty = (rows == 0) & (scan.bound != TRUE)
        self.unbounded: dict[int, npt.NDArray[np.bool_]] = {}
        """Which files have no bounds, by the field id of a column of the filter."""
        ranges = partial(_file_ranges, entries, scan, columns, self.unbounded)
        self.metrics = judge(TRUE if surely else scan.bound, count, ranges)
        may = (self.metrics.may | (rows < 0)) & ~self._empty  # bounds are asked of partitions that match wholly, too
        self.outcome = np.where(~by_partition, BY_PARTITION, np.where(may, READ, BY_METRICS)).astype(np.int8)
        self.wholly = (must | (self.metrics.must & (rows > 0))) & (self.outcome == READ)

    def similar_texts(self, spec: PartitionSpec | None) -> Counter[tuple[int, str]]:
        """Stored texts that the filter's texts are alike, with the number of files (spec.scan.similar_texts)."""
        asked = self._scan.asked_texts
        return asked.in_files(self.entries, spec, self.partitions, self.codes) if asked else Counter()

    def residual(self, at: int) -> Expression:
        """What must still be asked of a file's rows."""
        return self.residuals[int(self.codes[at])]

    def partition(self, at: int) -> str:
        """A file's partition, as a path."""
        values = {str(k): v for k, v in self.partitions[int(self.codes[at])].items()}
        return partition_path(values, self._plan.spec if self._plan else None, self._scan.metadata)

    def reason(self, at: int) -> ScanReason:
        """What decided about a file."""
        outcome = self.outcome[at]
        if outcome == BY_PARTITION and self._plan is not None:
            return exactly(self._plan.inclusive, self.partitions[int(self.codes[at])])
        if self._empty[at]:
            return ScanReason("", "it has no rows", False)
        reason = self.metrics.reason(at)
        if outcome == READ and self.wholly[at] and self._scan.bound != TRUE:
            return ScanReason(reason.term, f"{reason.text}: all rows match", True)
        return reason


NO_FIELD = -1
"""No column has this id, so that no file has counts or bounds for it."""


def _file_ranges(
    entries: pa.Table,
    scan: Scan,
    columns: Collection[int] | None,
    unbounded: dict[int, npt.NDArray[np.bool_]],
    term: BoundTerm,
) -> Ranges:
    column = term.column
    short_days = scan.rules.short_bounds_are_days
    field_id = column.field_id if columns is None or column.field_id in columns else NO_FIELD
    ranges = file_ranges(entries, field_id, column.kind, column.field_id in scan.nested, short_days)
    if term.transform == "identity":
        unbounded[column.field_id] = ~(ranges.lower.known | ranges.upper.known)
    return ranges.of(term)


def partition_values(column: pa.ChunkedArray, first: npt.NDArray[np.int64]) -> list[dict[int, Any]]:
    """Distinct partition structs as internal values (days, microseconds, bytes), by partition field id."""
    rows = column.take(pa.array(first)) if len(first) else column.slice(0, 0)
    fields: dict[int, list[Any]] = {}
    for at, field in enumerate(column.type):
        values = pc.struct_field(rows, at)
        if pa.types.is_date32(field.type) or pa.types.is_time32(field.type):
            values = values.cast(pa.int32())
        elif pa.types.is_temporal(field.type):
            values = values.cast(pa.int64())
        fields[int(field.name)] = values.to_pylist()
    return [{name: values[i] for name, values in fields.items()} for i in range(len(first))]


def holds(predicate: Predicate, partition: Mapping[int, Any], sure: bool = False) -> bool:
    """Whether a comparison holds for a partition's value. Iceberg orders null before all values
    (org.apache.iceberg.expressions.Evaluator), so that `<` holds for it; but not if one must be `sure`."""
    term, op = predicate.term, predicate.op
    assert isinstance(term, BoundTerm)
    if term.column.field_id not in partition:  # doubt keeps
        return not sure
    value = partition[term.column.field_id]
    if op in ("is-null", "not-null"):
        return (value is None) == (op == "is-null")
    if op in ("is-nan", "not-nan"):
        return (isinstance(value, float) and value != value) == (op == "is-nan")
    if value is None:
        return op in ("not-eq", "not-in", "not-starts-with") or (op in ("lt", "lt-eq") and not sure)
    try:
        return _compare(op, comparable(value, term.kind), predicate)
    except TypeError:  # a value of another type than the field's
        return not sure


def _compare(op: PredicateOperation, key: Any, predicate: Predicate) -> bool:
    if type(key) is not type(predicate.keys[0]):
        raise TypeError
    if op in ("eq", "in", "not-eq", "not-in"):
        return (key in predicate.key_set) == (op in ("eq", "in"))
    literal = predicate.keys[0]
    if op in ("starts-with", "not-starts-with"):
        return bool(key[: len(literal)] == literal) == (op == "starts-with")
    return bool({"lt": operator.lt, "lt-eq": operator.le, "gt": operator.gt, "gt-eq": operator.ge}[op](key, literal))


def evaluate(expression: Expression, partition: Mapping[int, Any], sure: bool = False) -> bool:
    """Whether a projected filter holds for a partition; see `holds`."""
    return rebuilt(expression, lambda leaf: Constant(holds(leaf, partition, sure))) == TRUE


def exactly(expression: Expression, partition: Mapping[int, Any]) -> ScanReason:
    """Why a projected filter does not hold for a partition: its comparisons that fail, with the values met."""
    failing = [leaf for leaf in predicates(expression) if not holds(leaf, partition)]
    met = {}
    for leaf in failing:
        assert isinstance(leaf.term, BoundTerm)
        met[str(leaf)] = f"{leaf.term} is {leaf.term.value_text(partition.get(leaf.term.column.field_id))}"
    if len(met) == 1:
        return ScanReason(*next(iter(met.items())), False)
    return ScanReason("", "; ".join(f"{term}: {text}" for term, text in met.items()), False)
