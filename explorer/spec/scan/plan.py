"""A planned scan, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from explorer.model.metadata import Schema, Snapshot
from explorer.spec.entries.lazy_table import Batches
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.filters.expressions import BoundTerm, Expression, FilterColumn, Predicate, predicates
from explorer.spec.scan.filter_names import OtherNames, other_names
from explorer.spec.scan.reader_rules import ReaderDifference
from explorer.spec.scan.scan import ManifestVerdict, Scan, SpecPlan
from explorer.spec.scan.similar_texts import SimilarText
from explorer.spec.scan.stored_bounds import StoredBounds
from explorer.spec.scan.tasks import Tasks
from explorer.spec.scan.unmeasured import UnmeasuredFiles
from explorer.spec.text.names import base_name
from explorer.spec.text.units import count


@dataclass(frozen=True)
class Amount:
    """What is left at a stage. `files`, `rows` and `bytes` are of data files; None where metadata does not tell: a
    manifest list has no sizes of data files, and v1 may lack its counts."""

    manifests: int
    files: int | None
    rows: int | None
    bytes: int | None


@dataclass(frozen=True)
class PlanStage:
    """One stage of planning: what is left after it, and how many manifests or files it skipped."""

    name: str
    text: str
    left: Amount
    skipped: int = 0


@dataclass(frozen=True)
class WrongCounts:
    """A data manifest that a plan read, of which the manifest list counts other live files or rows than it has.

    Attributes:
        path: The manifest.
        listed: Files and rows by the list.
        found: Files and rows by its entries.
    """

    path: str
    listed: tuple[int, int]
    found: tuple[int, int]

    def __str__(self) -> str:
        listed, found = (
            f"{count(files, 'file')} and {count(rows, 'row')}" for files, rows in (self.listed, self.found)
        )
        return f"in {base_name(self.path)} it counts {listed}, and the manifest has {found}"


@dataclass(frozen=True)
class OtherReader:
    """Readers that read other data files than this plan does.

    Attributes:
        difference: In what they differ.
        files: Data files that they read.
        more: Of these, files that the plan skips.
        fewer: Files of the plan that they skip.
    """

    difference: ReaderDifference
    files: int
    more: int
    fewer: int

    def __str__(self) -> str:
        counts = [f"{self.more:,} more" * bool(self.more), f"{self.fewer:,} fewer" * bool(self.fewer)]
        number = f"{count(self.files, 'data file')} ({', '.join(filter(None, counts))})"
        return f"Readers differ: {self.difference.words}. {self.difference.readers} would read {number}."


@dataclass(frozen=True)
class Plan:
    """A scan of one snapshot with a filter. Files' verdicts are read again when they are asked for."""

    where: str
    snapshot: Snapshot | None
    schema: Schema
    scan: Scan = field(repr=False)
    specs: tuple[SpecPlan, ...]
    """The filter projected onto each spec that data manifests have."""
    manifests: tuple[ManifestVerdict, ...]
    stages: tuple[PlanStage, ...]
    wholly: int
    """Data files that are read and all of whose rows match."""
    delete_files: int
    """Delete files that come along, each counted once."""
    delete_bytes: int
    """Bytes of these."""
    delete_weight: int
    """What they add to the weight of the data files, each of which brings its own along (see spec.scan.tasks)."""
    skipped_deletes: int
    """Delete files that would come along, but that the filter skips by columns that they do not delete by, or by where
    they are recorded: matching rows that they hide come back."""
    unplaced: tuple[LiveFile, ...]
    """Of those that come along, the deletion vectors whose entries do not say where they are: Spark fails."""
    refused: int
    """Data files that are read, and that Iceberg Java 1.12 refuses to scan (see DeleteVerdict.is_refused)."""
    folded: str
    """What Spark makes of IS NULL and IS NOT NULL of required columns, in words; empty where the filter has none."""
    failing: tuple[str, ...]
    """Paths of manifests, of data and deletes, on which Iceberg Java fails with this filter (spec.scan.scan.Scan)."""
    missing: int
    """Data and delete files that the manifest list counts in what is read, and that are not found there: the plan lacks
    them."""
    uncounted: int
    """Where the manifest list does not count files (v1), or counts what cannot be: the manifests that are read and
    could not be read whole."""
    damaged_list: bool
    """Whether the manifest list could not be read whole: the plan lacks what is lost there."""
    wrong_counts: tuple[WrongCounts, ...]
    """Data manifests that were read and that the list counts otherwise than they are: what is left before they are read
    is by the list."""
    residuals: Mapping[str, int]
    """What must still be asked of rows, with the number of files it is asked of."""
    unmeasured: Mapping[int, UnmeasuredFiles]
    """By field id of columns of the filter: files that are read without their counts or bounds, if there are any."""
    stored_bounds: Mapping[int, StoredBounds]
    """By field id of texts and binaries of the filter: the bounds of files that are read, not all of whose rows are
    known to match."""
    similar: Sequence[SimilarText]
    """Stored texts that the filter's would equal but for blanks or capital letters."""
    engine_note: str
    """Who decoded the manifests, and why; nothing where nobody had to be chosen."""
    files: Batches = field(repr=False)
    make_tasks: Callable[[], Tasks] = field(repr=False)
    make_other_readers: Callable[[], tuple[OtherReader, ...]] = field(repr=False)

    @cached_property
    def tasks(self) -> Tasks:
        """What is read, split and packed; made when first asked for."""
        return self.make_tasks()

    @cached_property
    def other_readers(self) -> tuple[OtherReader, ...]:
        """Readers that read other files for the same filter; counted when first asked for."""
        return self.make_other_readers()

    @property
    def bound(self) -> Expression:
        """The filter, bound to columns, without NOT."""
        return self.scan.bound

    @property
    def columns(self) -> list[str]:
        """The columns that the filter asks of, each once."""
        terms = (p.term for p in predicates(self.bound))
        return list(dict.fromkeys(t.column.name for t in terms if isinstance(t, BoundTerm)))

    @property
    def other_names(self) -> OtherNames | None:
        """The columns of the filter that Iceberg Java takes for others; None where it finds all of them."""
        return other_names(self.scan.metadata, self.snapshot, self.schema, self.bound)

    @property
    def left(self) -> Amount:
        """What is read in the end."""
        return self.stages[-1].left


@dataclass(frozen=True, slots=True)
class Interval:
    """The bounds of one column in one data file, as values that order (see spec.scan.ranges.comparable) and as a person
    reads them; None where they are not known. `outcome` is one of spec.scan.scan.OUTCOMES by place."""

    path: str
    low: Any
    high: Any
    text: str
    outcome: int
    wholly: bool
    reason: str


@dataclass(frozen=True)
class Intervals:
    """The data files of the manifests that a plan reads, by the bounds of one column, lowest first; `comparisons` are
    those of the filter with it. Of more than can be drawn, the rest is only counted."""

    column: FilterColumn
    comparisons: tuple[Predicate, ...]
    together: bool
    """Whether a row must meet all that is asked: the filter has no OR."""
    items: tuple[Interval, ...]
    left_out: int


PLANNERS = ("Iceberg (Java)", "pyiceberg")
"""Those that can be asked for the same scan, in the order in which they answer."""
SERVER_PLANNER = "the REST catalog's server"
"""One more, of a table of a REST catalog."""


@dataclass(frozen=True)
class PlannerAnswer:
    """What another planner says of a scan. `paths` is None where there are too many, `tasks` where it makes none."""

    files: int
    tasks: int | None
    paths: frozenset[str] | None
