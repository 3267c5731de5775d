"""What the health of a table is measured by: what each measure is of, from where on it matters, what helps; and what
came of it for one table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from explorer.errors import NotFoundInTable

Scope = str
"""What a number is of: never of two of them. The retained history is that of the current snapshot: itself and its
ancestors, as far as they are left."""
Unit = Literal["", "bytes", "share", "times", "per hour"]
MeasureLevel = Literal["error", "warning", "ok"]
LEVELS: Sequence[MeasureLevel] = ("error", "warning", "ok")


@dataclass(frozen=True)
class Measure:
    """Beyond `threshold` it is a warning, beyond `error` times that an error. `why` says where the threshold comes
    from, `remedy` what brings the number down. `preview` is the procedure that does, with its options: the preview of
    it looks at data files, too, and says whether the statement may be run; health itself reads metadata alone."""

    id: str
    title: str
    scope: Scope
    threshold: float
    unit: Unit
    why: str
    remedy: str
    error: float = 10
    preview: str = ""


_COMPACT, _DELETED = "compact", "compact -O delete-file-threshold=1"
_MERGE = "compaction merges small files"
_APPLY = "compaction applies deletes"
_NOW: Scope = "current snapshot"
MEASURES: Sequence[Measure] = (
    Measure("small-files", "Small files beyond those that their bytes fill", _NOW, 100, "",
            "data files below 75% of write.target-file-size-bytes (rewrite_data_files' min-file-size-bytes), less the "
            "files that their bytes fill, partition by partition: each is a request and a task more",
            f"{_MERGE}, where a partition has at least five of them; of fewer with min-input-files=2", 100, _COMPACT),
    Measure("files-per-partition", "Data files in the fullest partition", _NOW, 1_000, "",
            "a scan of one partition plans and opens all of them", f"where they are small, {_MERGE}; else a "
            "finer partition transform", preview=_COMPACT),
    Measure("partition-skew", "Largest partition against the median one, in bytes", _NOW, 100, "times",
            "tasks of a job by partition end together only where partitions are alike; told of three or more "
            "partitions, the largest of which fills a file",
            "another partition field, or a bucket of it"),
    Measure("tiny-partitions", "Partitions below a tenth of a file", _NOW, 1_000, "",
            "files never span partitions, so no compaction makes these larger",
            "a coarser partition transform; icedive scan estimate TABLE FILTER tells what some would do, and prints "
            "statements"),
    Measure("deletes-per-file", "Deletes that apply to the most loaded data file", _NOW, 10, "",
            "a reader opens each of them for that one file", f"{_APPLY}; rewrite_position_delete_files merges those of "
            "positions", preview=_DELETED),
    Measure("deleted-share", "Rows of position deletes and vectors, of all rows", _NOW, 0.3, "share",
            "rewrite_data_files rewrites files of which 30% is deleted (delete-ratio-threshold); not judged below that "
            "where equality deletes apply, which hide rows that no metadata counts", _APPLY, 2, _COMPACT),
    Measure("equality-deletes", "Live equality delete files", _NOW, 10, "",
            "readers compare each row of the files that they apply to with theirs; sinks of Flink and Kafka Connect "
            "add some for each row that they update, and in upsert mode for each row that they write, whatever "
            "write.update.mode says", _APPLY, preview=_DELETED),
    Measure("dangling-deletes", "Delete files that hide nothing", _NOW, 100, "",
            "whoever plans a scan reads their entries in manifests",
            "each has a procedure that drops it", preview="dangling-deletes"),
    Measure("small-manifests", "Manifests beyond those that their bytes fill", _NOW, 100, "",
            "commit.manifest.min-count-to-merge is 100: a planner opens each",
            "rewriting manifests merges those of the current partition spec; with -O spec_id=N those of others",
            preview="rewrite-manifests"),
    Measure("manifests-per-partition", "Manifests that list files of one partition, on average", _NOW, 10, "",
            "a scan of one partition opens that many; told where manifests hold several megabytes",
            "rewriting manifests sorts their entries by partition", preview="rewrite-manifests"),
    Measure("older-specs", "Data files under older partition specs", _NOW, 1_000, "",
            "filters on the new partition fields do not skip them by partition",
            "rewriting all data files writes them under the current spec", preview="compact -O rewrite-all=true"),
    Measure("unsorted-files", "Data files that do not record the table's sort order", _NOW, 0.5, "share",
            "writers record the order that they wrote a file in; told of tables with a sort order and ten files or "
            "more, of which some record one", "compaction that sorts writes them in the order", 1.6, "compact-sort"),
    Measure("planning-bytes", "Bytes of manifests that a plan without a filter reads", _NOW, 64 << 20, "bytes",
            "whoever plans such a scan reads and decodes all of them before the first task starts",
            f"{_MERGE}, which makes entries fewer; filters on partition fields read fewer manifests",
            preview=_COMPACT),
    Measure("expirable-snapshots", "Snapshots that expiry would remove now", "metadata file", 100, "",
            "by the table's and its refs' retention; each keeps its files and its place in the metadata file",
            "expiry removes them", preview="expire"),
    Measure("metadata-size", "Bytes of the metadata file", "metadata file", 8 << 20, "bytes",
            "each commit writes it anew, and whoever opens the table reads all of it",
            "expire_snapshots, remove old statistics and refs; write.metadata.previous-versions-max bounds the log", 8),
    Measure("old-refs", "Branches and tags older than 90 days that never expire", "metadata file", 10, "",
            "each keeps its snapshot, and every file of it; told of those beside main that no max-ref-age-ms ends",
            "drop those that nobody needs: ALTER TABLE ... DROP TAG, ... DROP BRANCH; or give them a retention"),
    Measure("schemas", "Schemas that are kept", "metadata file", 100, "",
            "each is written in full in every metadata file",
            "expiry removes those that no snapshot needs", preview="expire -O clean_expired_metadata=true"),
    Measure("commits-per-hour", "Commits in the busiest hour", "retained history", 60, "per hour",
            "each writes a manifest list and a metadata file, and commits that meet are retried",
            "fewer, larger commits: a longer trigger of streaming writers"),
    Measure("freshness", "Hours since the last commit that added rows", "retained history", 24, "",
            "told where its threshold is given, for example --threshold freshness=6",
            "icedive history writers TABLE tells who writes"),
    Measure("written-files", "Data files that commits wrote for each that they needed", "retained history", 5,
            "times", "a commit needs one for each partition, and for each target size; of commits that wrote a file's "
            "worth of bytes or more, and of smaller ones where they wrote many files too many: several tasks wrote to "
            "each partition",
            "the distribution mode of the statement that wrote them (write.distribution-mode, or that of "
            "merge, update or delete): hash; or fewer tasks that write"),
    Measure("metadata-amplification", "Bytes of metadata written for each byte of files", "retained history", 0.1,
            "share", "manifests, the manifest list and the metadata file of each commit, whatever it added; told once "
            "64 MiB of it were written", "fewer, larger commits; rewrite_manifests and expire_snapshots"),
    Measure("write-amplification", "Bytes written for each byte still read", "retained history", 3, "times",
            "data and delete files; copy-on-write and compaction write rows again; told once a file's worth of bytes "
            "was written", "merge-on-read where updates are many: write.update.mode, write.delete.mode", 4),
    Measure("unclustered", "Files that a query for one value of the first sort column opens", _NOW, 0.5, "share",
            "by bounds, on average; told on request, of tables with a sort order and ten files or more",
            "compaction that sorts makes their bounds narrow", 2, "compact-sort"),
    Measure("unbounded", "Data files without bounds, of the column that most files have bounds of", _NOW, 0.1, "share",
            "no filter skips them by their values; told on request",
            "writers that record bounds: write.metadata.metrics.default, and a compaction after it", 5, _COMPACT),
)  # fmt: skip
RISE = frozenset(
    {"small-files", "files-per-partition", "deletes-per-file", "equality-deletes", "older-specs", "small-manifests",
     "planning-bytes"}
)  # fmt: skip
"""Measures that files or manifests more only raise: what is beyond the threshold without them is with them."""
OF_FILES = frozenset({
    "small-files", "files-per-partition", "partition-skew", "tiny-partitions", "deletes-per-file", "deleted-share",
    "equality-deletes", "dangling-deletes", "manifests-per-partition", "older-specs", "metadata-amplification",
    "write-amplification", "unclustered", "unbounded", "unsorted-files", "written-files", "freshness",
})  # fmt: skip
"""Measures of what manifests list."""
OF_LISTS = OF_FILES | {"small-manifests", "planning-bytes"}
"""Measures of what manifest lists list, too."""
BY_ID = {measure.id: measure for measure in MEASURES}


def helps(measure: Measure) -> str:
    """Say what brings a measure down, and the command that shows what that would change."""
    command = f". Preview it: icedive maintain preview TABLE {measure.preview}" if measure.preview else ""
    return measure.remedy + command


def thresholds(given: Mapping[str, float] | None = None) -> dict[str, float]:
    """All thresholds by measure, with those given in place of the usual ones. Raises NotFoundInTable for a measure that
    there is none of, or a number that is not above 0."""
    for name, value in (given or {}).items():
        if name not in BY_ID:
            raise NotFoundInTable(f"no measure {name!r}: there are {', '.join(BY_ID)}")
        if not 0 < value * BY_ID[name].error < float("inf"):
            raise NotFoundInTable(f"the threshold of {name} is to be above 0, not {value:g}")
    return {m.id: m.threshold for m in MEASURES} | dict(given or {})


@dataclass(frozen=True)
class MeasuredValue:
    """A measure of one table: None where it says nothing, with `words` for why, or for what it comes from.
    `caution` is what the remedy takes away for good; `advice` is what helps this table, where the measure's remedy is
    too general."""

    id: str
    value: float | None
    threshold: float
    words: str = ""
    caution: str = ""
    advice: str = ""

    @property
    def helps(self) -> str:
        """What would help, and what it would take away; empty where nothing needs help."""
        about = replace(self.about, remedy=self.advice) if self.advice else self.about
        return "" if self.level == "ok" else ". ".join(filter(None, (helps(about), self.caution)))

    @property
    def about(self) -> Measure:
        """Which measure it is."""
        return BY_ID[self.id]

    @property
    def times(self) -> float:
        """How many times the threshold it is."""
        return (self.value or 0) / self.threshold

    @property
    def level(self) -> MeasureLevel:
        """How bad that is."""
        return "ok" if self.times <= 1 else "error" if self.times > self.about.error else "warning"


@dataclass(frozen=True)
class SectionNumber:
    """A number beside the measures."""

    name: str
    value: float | int | str | None
    unit: Unit = ""


@dataclass(frozen=True)
class Bars:
    """What a picture of bars is made of: a label and, for each of the series, a number; `unit` is theirs. `marked` is
    the label beneath which a target lies, which `mark` names."""

    title: str
    labels: tuple[str, ...]
    series: Mapping[str, tuple[float, ...]]
    unit: Unit = ""
    marked: int | None = None
    mark: str = ""


@dataclass(frozen=True)
class Tile:
    """A partition, or several: its path, data files and bytes, and how many files merging small ones would save."""

    label: str
    files: int
    bytes: int
    saved: int
    partitions: int = 1


@dataclass(frozen=True)
class HealthSection:
    """One side of a table's health: all of its numbers are of `scope`."""

    id: str
    title: str
    scope: Scope
    measures: tuple[MeasuredValue, ...]
    numbers: tuple[SectionNumber, ...]
    bars: Bars | None = None
    tiles: tuple[Tile, ...] = ()


def withhold_judgement(section: HealthSection, unsure: Collection[str], why: str) -> HealthSection:
    """Withhold judgement where something could not be read.

    Args:
        section: What was measured of what could be read.
        unsure: The ids of measures that need all of it.
        why: What could not be read.

    Returns:
        The section, in which an unsure measure has no value, unless what is missing can only raise it and it is beyond
        its threshold already.
    """

    def limit_judgement(measured: MeasuredValue) -> MeasuredValue:
        if measured.id not in unsure or measured.value is None:
            return measured
        if measured.id in RISE and measured.level != "ok":
            return replace(measured, words=f"at least, since {why}" + (f"; {measured.words}" if measured.words else ""))
        return replace(measured, value=None, words=why)

    return replace(section, measures=tuple(map(limit_judgement, section.measures)))


@dataclass(frozen=True)
class Health:
    """How a table is. `snapshot` names the current one, of which are `data_files` and `data_bytes`; `not_read` counts
    what could not be read, and is missing in all numbers."""

    table: str
    snapshot: str
    data_files: int
    data_bytes: int
    sections: tuple[HealthSection, ...]
    not_read: int = 0

    def under(self, limits: Mapping[str, float]) -> Health:
        """The same under other thresholds."""

        def apply_limits(section: HealthSection) -> HealthSection:
            measures = (replace(m, threshold=limits.get(m.id, m.threshold)) for m in section.measures)
            return replace(section, measures=tuple(measures))

        return replace(self, sections=tuple(map(apply_limits, self.sections)))

    @property
    def measures(self) -> list[MeasuredValue]:
        """All measures, the worst first."""
        measures = [m for section in self.sections for m in section.measures]
        return sorted(measures, key=lambda m: (LEVELS.index(m.level), -m.times))

    @property
    def worst(self) -> MeasureLevel:
        """The worst level."""
        return self.measures[0].level if self.sections else "ok"

    @property
    def beyond(self) -> list[MeasuredValue]:
        """The measures beyond their thresholds, the worst first."""
        return [m for m in self.measures if m.level != "ok"]
