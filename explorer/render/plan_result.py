"""A plan as a notebook shows it: funnel, intervals and some reasons, as HTML that needs no script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import Any

import pyarrow as pa

from explorer.render.pictures import stack
from explorer.render.plan_pictures import funnel_svg, intervals_svg, partitions_svg
from explorer.render.plans import because, funnel_lines, manifest_rows, pushdown_lines, spec_lines, summary_lines
from explorer.render.rows import json_rows
from explorer.render.text import clean, not_typeset, render_table
from explorer.spec.filters.pushdown import Pushdown
from explorer.spec.scan.plan import Intervals, Plan
from explorer.spec.text.names import base_name

EACH = 4
"""Manifests, and files of each verdict, whose reasons are told."""
CELL = 'style="text-align:left;padding:1px 12px 1px 0"'


@dataclass(frozen=True)
class ShownPlan:
    """A plan with the files' bounds of the column that is asked, if one is, what Spark pushed down of SQL, if it was
    SQL, and what is read of each partition (spec.scan.plan_parts.PARTITIONS), if the table has any."""

    plan: Plan
    intervals: Intervals | None = None
    pushed: Pushdown | None = None
    partitions: pa.Table | None = None

    def reasons(self) -> list[dict[str, str]]:
        """place, verdict and because: of the first manifests that are skipped, and the first files of each verdict."""
        skipped = (r for r in manifest_rows(self.plan) if r["verdict"] != "read")
        rows = [_reason(f"manifest {base_name(r['manifest_path'])}", r) for r in islice(skipped, EACH)]
        numbers = Counter[str]()
        for part in self.plan.files.read():
            for row in json_rows(part):
                numbers[row["verdict"]] += 1
                if numbers[row["verdict"]] <= EACH:
                    rows.append(_reason(base_name(row["file_path"]), row))
        return rows

    def _lines(self) -> list[str]:
        return [*pushdown_lines(self.plan, self.pushed), *spec_lines(self.plan)]

    def __repr__(self) -> str:
        head = (clean(f"filter: {self.plan.bound}"), *self._lines(), "", *funnel_lines(self.plan), "")
        return "\n".join((*head, render_table(self.reasons(), 200), *summary_lines(self.plan, self.pushed)))

    def _repr_html_(self) -> str:
        return not_typeset("\n".join(self._html()))

    def to_svg(self) -> str:
        """Its pictures below each other, as one."""
        return stack(list(self.pictures()), "a planned scan")

    def pictures(self) -> Iterator[str]:
        """Its pictures: the funnel, the files' bounds, the partitions."""
        yield funnel_svg(self.plan)
        if self.intervals and self.intervals.items:
            yield intervals_svg(self.intervals)
        if self.partitions is not None:
            yield partitions_svg(self.partitions)

    def _html(self) -> Iterator[str]:
        yield f"<div><p><b>{escape(clean(str(self.plan.bound)))}</b></p>"
        yield from self.pictures()
        yield f"{self.facts_html()}</div>"

    def facts_html(self) -> str:
        """What is told without pictures: projections, reasons, residuals, tasks."""
        return "".join(self._facts())

    def _facts(self) -> Iterator[str]:
        yield from (f"<div>{escape(line)}</div>" for line in self._lines() if line)
        rows = self.reasons()
        if rows:
            head = "".join(f"<th {CELL}>{name}</th>" for name in rows[0])
            body = "".join(f"<tr>{''.join(_cell(value) for value in row.values())}</tr>" for row in rows)
            yield f"<table><tr>{head}</tr>{body}</table>"
        yield from (f"<div>{escape(line)}</div>" for line in summary_lines(self.plan, self.pushed))


def _reason(place: str, row: Mapping[str, Any]) -> dict[str, str]:
    return {"place": place, "verdict": row["verdict"], "because": because(row)}


def _cell(value: str) -> str:
    return f"<td {CELL}>{escape(clean(value))}</td>"
