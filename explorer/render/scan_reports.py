"""Reads by Spark beside their plans, as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from explorer.render.text import clean, render_table
from explorer.spec.scan.scan_report_diff import MeasuredRun, figures
from explorer.spec.text.units import count


def timings_json(measured: Sequence[MeasuredRun]) -> list[dict[str, Any]]:
    """A version each: what Spark was asked, seconds, rows, its scan report, and its figures beside the plan's."""
    return [
        {
            "version": m.version, "sql": m.sql, "kept_by_spark": list(m.kept), "rows": m.rows,
            "first_run_seconds": round(m.warming, 3), "seconds": [round(s, 3) for s in m.seconds],
            "median_seconds": round(m.median, 3), "figures": figure_rows(m), "scan_report": dict(m.metrics),
        }
        for m in measured
    ]  # fmt: skip


def figure_rows(measured: MeasuredRun) -> list[dict[str, Any]]:
    """The plan's figures beside Spark's, and where they differ whose choice it is."""
    return [
        {"figure": f.name, "plan": f.planned, "spark": f.spark, "whose_choice": f.why or None}
        for f in figures(measured)
    ]


def short_figures(measured: MeasuredRun) -> list[dict[str, Any]]:
    """The same as a person reads them."""
    return [
        {
            "figure": f.name, "the plan": count(f.planned), "Spark": count(f.spark),
            "whose choice": f.why or "the same",
        }
        for f in figures(measured)
    ]  # fmt: skip


def timing(measured: MeasuredRun) -> str:
    """How long it took, in a sentence."""
    runs = count(len(measured.seconds), "run")
    return clean(
        f"{measured.version} in Spark: {measured.median:.2f} s, the median of {runs}; one before them, which warms up, "
        f"took {measured.warming:.2f} s. {count(measured.rows, 'row')}."
    )


def timings_lines(measured: Sequence[MeasuredRun]) -> Iterator[str]:
    """All as text."""
    for m in measured:
        yield ""
        yield timing(m)
        yield clean(f"asked: {m.sql or 'every row'}")
        yield from render_table(short_figures(m), 200).splitlines()
