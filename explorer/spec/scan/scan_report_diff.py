"""A filter's plan beside what Spark did with it: where the two differ, whose choice that is, and why."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from explorer.spec.scan.plan import Plan


@dataclass(frozen=True)
class MeasuredRun:
    """One version that a filter was run on in Spark. `plan` is the plan of the filter, `pushed` that of what Spark
    handed to Iceberg of it, and `kept` what Spark asks of each row itself. `metrics` are Iceberg's scan report."""

    version: str
    sql: str
    plan: Plan
    pushed: Plan
    kept: tuple[str, ...]
    warming: float
    """Seconds of the first run, in which files and code come into memory."""
    seconds: tuple[float, ...]
    """Of the runs after it."""
    rows: int
    metrics: Mapping[str, int]

    @property
    def median(self) -> float:
        """Seconds of the runs after the first."""
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Figure:
    """One number of a scan, planned and as Spark reports it (None where it does not), and where they differ whose
    choice that is and why."""

    name: str
    planned: int | None
    spark: int | None
    why: str = ""


def figures(measured: MeasuredRun) -> Iterator[Figure]:
    """The numbers of both, beside each other."""
    plan_numbers, pushed, report = _numbers(measured.plan), _numbers(measured.pushed), measured.metrics
    for name, metric in _METRICS.items():
        planned, spark = plan_numbers[name], report.get(metric)
        yield Figure(name, planned, spark, _why(name, planned, pushed[name], spark, measured.kept))


_METRICS = {
    "data manifests read": "scannedDataManifests", "data manifests skipped": "skippedDataManifests",
    "data files read": "resultDataFiles", "data files skipped": "skippedDataFiles",
    "bytes of data files": "totalDataFileSize", "delete files": "resultDeleteFiles",
}  # fmt: skip


def _numbers(plan: Plan) -> dict[str, int | None]:
    """What a plan says of these; None where it says nothing."""
    kept = sum(v.keeps for v in plan.manifests)
    return {
        "data manifests read": kept, "data manifests skipped": len(plan.manifests) - kept,
        "data files read": plan.left.files, "data files skipped": sum(s.skipped for s in plan.stages[2:]),
        "bytes of data files": plan.left.bytes, "delete files": plan.delete_files,
    }  # fmt: skip


def _why(name: str, planned: int | None, pushed: int | None, spark: int | None, kept: tuple[str, ...]) -> str:
    if spark is None:
        return "Spark's report has no such number"
    if spark == planned:
        return ""
    if spark == pushed:
        held = f", and asks every row itself: {'; '.join(kept)}" if kept else ""
        return f"Spark's choice: it hands Iceberg another filter than was asked for{held}"
    if name == "delete files":
        return (
            "Iceberg's way to count: a delete file once for each data file that it applies to; the plan counts it once"
        )
    return "Iceberg's choice, by rules that the plan does not know: Iceberg's own planner (--engines) tells which files"
