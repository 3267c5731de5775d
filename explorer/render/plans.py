"""Planned scans, metrics modes and clustering as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from explorer.render.text import clean, render_table
from explorer.spec.deletes.deletes import lacks_place, missing_place_words, refusal
from explorer.spec.filters.expressions import TRUE, predicates
from explorer.spec.filters.pushdown import Pushdown, advice
from explorer.spec.layout.bound_advice import bound_advice, padded_advice, unmeasured_advice
from explorer.spec.layout.clustering import QUANTILES, Clustering
from explorer.spec.layout.metrics_modes import ColumnMode
from explorer.spec.scan.manifest_bytes import manifest_words, read_manifest_bytes
from explorer.spec.scan.null_rows import words_of_plan
from explorer.spec.scan.plan import Amount, Plan, PlannerAnswer
from explorer.spec.scan.pruning import MANY, ScanReason
from explorer.spec.scan.row_groups import GroupVerdict
from explorer.spec.scan.tasks import Task
from explorer.spec.text.names import base_name, first_of
from explorer.spec.text.units import brief_count, count, human_bytes

BAR = 30
STAGE_WORDS = {
    "snapshot": "all data manifests", "manifests": "after the manifest list", "partitions": "after partition values",
    "metrics": "after column metrics",
}  # fmt: skip


def plan_json(plan: Plan) -> dict[str, Any]:
    """A plan without its files: filter, projections, manifests, stages, residuals and tasks."""
    return {
        "where": plan.where,
        "filter": str(plan.bound),
        "snapshot-id": plan.snapshot.snapshot_id if plan.snapshot else None,
        "schema-id": plan.schema.schema_id,
        "specs": spec_rows(plan),
        "stages": stage_rows(plan),
        "manifests": manifest_rows(plan),
        "manifest_bytes": dict(zip(("read", "all"), read_manifest_bytes(plan), strict=True)),
        "wholly_matched_files": plan.wholly,
        "manifest_list_damaged": plan.damaged_list,
        "missing_files": plan.missing,
        "wrong_counts": [
            {
                "manifest_path": wrong.path, "listed_files": wrong.listed[0], "files": wrong.found[0],
                "listed_rows": wrong.listed[1], "rows": wrong.found[1],
            }
            for wrong in plan.wrong_counts
        ],
        "uncounted_manifests": plan.uncounted,
        "delete_files": plan.delete_files,
        "skipped_delete_files": plan.skipped_deletes,
        "refused_by_iceberg_java": plan.refused,
        "vectors_without_place": [
            {"file_path": vector.path, "content_offset": vector.content_offset, "lacks": lacks_place(vector)}
            for vector in plan.unplaced
        ],
        "columns_of_another_name": [*names.absent, *names.taken] if (names := plan.other_names) else [],
        "folded": plan.folded,
        "failing_manifests": list(plan.failing),
        "other_readers": [
            {"rule": o.difference.rule, "data_files": o.files, "more": o.more, "fewer": o.fewer, "words": str(o)}
            for o in plan.other_readers
        ],
        "residuals": dict(plan.residuals),
        "tasks": {
            "count": plan.tasks.count, "largest_weight": plan.tasks.largest,
            "split_target_size": plan.tasks.packing.target, "split_planning_lookback": plan.tasks.packing.lookback,
            "split_open_file_cost": plan.tasks.packing.open_cost, "first": task_rows(plan.tasks.first),
        },
    }  # fmt: skip


def spec_rows(plan: Plan) -> list[dict[str, Any]]:
    """The filter projected onto each spec that data manifests have: spec_id, fields, inclusive, strict."""
    return [
        {
            "spec_id": s.spec.spec_id,
            "fields": ", ".join(f"{f.name} ({f.transform})" for f in s.spec.fields) or "unpartitioned",
            "inclusive": str(s.inclusive), "strict": str(s.strict),
        }
        for s in plan.specs
    ]  # fmt: skip


def spec_lines(plan: Plan) -> Iterator[str]:
    """The projections in sentences, a spec at a time."""
    for spec in spec_rows(plan):
        if spec["fields"] != "unpartitioned":
            sure = f"; all rows match where {spec['strict']}" if spec["strict"] != "false" else ""
            may = (
                "any of its partitions may match"
                if spec["inclusive"] == "true"
                else f"may match where {spec['inclusive']}"
            )
            yield clean(f"spec {spec['spec_id']}, {spec['fields']}: {may}{sure}")


def stage_rows(plan: Plan) -> list[dict[str, Any]]:
    """What is left after each stage."""
    return [
        {
            "stage": s.name, "said": s.text, "manifests": s.left.manifests, "data_files": s.left.files,
            "rows": s.left.rows, "bytes": s.left.bytes, "skipped": s.skipped,
        }
        for s in plan.stages
    ]  # fmt: skip


def manifest_rows(plan: Plan) -> list[dict[str, Any]]:
    """A verdict for each data manifest."""
    return [
        {
            "manifest_path": v.manifest.manifest_path, "spec_id": v.manifest.partition_spec_id,
            "verdict": "read" if v.keeps else f"skipped by its {v.by}",
            "term": v.reason.term, "reason": v.reason.text,
            "data_files": _files(v.manifest.added_files_count, v.manifest.existing_files_count),
        }
        for v in plan.manifests
    ]  # fmt: skip


def _files(added: int | None, existing: int | None) -> int | None:
    return None if added is None or existing is None else added + existing


def task_rows(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Tasks with the parts of files that each reads."""
    return [
        {
            "task": at, "bytes": task.bytes, "weight": task.weight,
            "splits": [
                {"file_path": s.path, "start": s.start, "length": s.length, "delete_files": s.deletes}
                for s in task.splits
            ],
        }
        for at, task in enumerate(tasks, 1)
    ]  # fmt: skip


def plan_lines(plan: Plan, pushed: Pushdown | None = None) -> Iterator[str]:
    """A plan as text: the filter, its projections, the funnel, manifests, residuals, tasks."""
    yield clean(f"filter: {plan.bound}")
    yield from spec_lines(plan)
    yield ""
    yield from funnel_lines(plan)
    yield ""
    shown = [_short(row) for row in manifest_rows(plan)]
    yield from render_table(shown[:20], 200).splitlines()
    if len(shown) > 20:
        yield f"… {len(shown) - 20:,} more manifests (--stage manifests)"
    yield ""
    yield from summary_lines(plan, pushed)


def summary_lines(plan: Plan, pushed: Pushdown | None = None) -> Iterator[str]:
    """What comes along, what must still be asked of rows, and the tasks. `pushed` is what Spark handed to Iceberg of a
    condition in SQL: it asks the rest of every row."""
    left = plan.left
    spark_asks = bool(pushed and pushed.kept)
    if plan.damaged_list:
        yield "⚠ the manifest list could not be read whole: what is lost there is missing here"
    if plan.uncounted:
        yield f"⚠ {count(plan.uncounted, 'manifest')} could not be read whole: what is lost there is missing here"
    if plan.missing:
        verb = "is" if plan.missing == 1 else "are"
        yield f"⚠ {count(plan.missing, 'file')} that the manifest list counts {verb} not found in its manifests"
    if plan.wrong_counts:
        first = "; ".join(map(str, plan.wrong_counts[:3]))
        more = f"; and {len(plan.wrong_counts) - 3:,} more" if len(plan.wrong_counts) > 3 else ""
        yield clean(
            f"⚠ the manifest list disagrees with {count(len(plan.wrong_counts), 'manifest')} that the plan has read: "
            f"{first}{more}. What is said of all data manifests is by the list, and all below it by the manifests "
            "(icedive doctor TABLE --deep)"
        )
    if plan.folded:
        yield clean(f"Spark {plan.folded}")
    if plan.wholly:
        why = ": Iceberg is asked for every row" if plan.bound == TRUE else ", by partition or bounds"
        match = "match what Spark hands to Iceberg" if spark_asks else "match"
        yield f"all rows {match} in {plan.wholly:,} of {count(left.files, 'file')}{why}"
    if words := words_of_plan(plan.bound, plan.schema):
        yield clean(words)
    for leaf in predicates(plan.bound):
        if leaf.op == "in" and len(leaf.literals) > MANY:
            yield clean(
                f"⚠ {leaf.term} IN has {len(leaf.literals):,} values, and Iceberg compares more than {MANY} with no "
                f"bounds of files: a range beside it ({leaf.term} >= the least AND {leaf.term} <= the greatest) skips "
                "files"
            )
    if words := manifest_words(plan):
        yield clean(words)
    yield from filter(None, map(clean, (padded_advice(plan), *unmeasured_advice(plan), *bound_advice(plan))))
    yield from (clean(f"{'' if left.files else '⚠ '}{text}") for text in plan.similar)
    if plan.delete_files:
        yield f"{count(plan.delete_files, 'delete file')} {'comes' if plan.delete_files == 1 else 'come'} along"
    if plan.skipped_deletes:
        its, hide = ("its", "it alone hides") if plan.skipped_deletes == 1 else ("their", "they alone hide")
        yield (
            f"⚠ the filter skips {count(plan.skipped_deletes, 'delete file')} by {its} own bounds, counts or "
            f"partition: matching rows that {hide} come back (icedive docs readers)"
        )
    for text, files in list(plan.residuals.items())[:5]:
        what = "nothing more" if text == "true" else text
        if spark_asks:
            what = f"{'' if text == 'true' else f'{text}, and '}all conditions that Spark keeps"
        bounds = " (Iceberg takes partition values into account there, never bounds)" if plan.wholly else ""
        yield clean(f"the engine still asks {what} of the rows of {count(files, 'file')}{bounds * (text != 'true')}")
    if plan.refused:
        yield f"⚠ {refusal(plan.refused)}"
    if plan.unplaced:
        yield clean(f"⚠ {missing_place_words(plan.unplaced)}")
    if plan.other_names:
        yield clean(f"⚠ {plan.other_names}")
    if plan.failing:
        names = first_of([base_name(path) for path in plan.failing], 3)
        yield clean(
            "⚠ Spark 4.1 with Iceberg Java 1.12 fails with this filter: the manifest list has fewer partition "
            f"summaries than the spec has fields, for {names}"
        )
    for other in plan.other_readers:
        yield f"⚠ {other}"
    tasks = plan.tasks
    yield (
        f"{count(tasks.count, 'task')} of at most {human_bytes(tasks.packing.target)}, the largest "
        f"{human_bytes(tasks.largest)} (opening a file weighs {human_bytes(tasks.packing.open_cost)})"
    )


def _short(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "manifest": base_name(row["manifest_path"]), "spec": row["spec_id"], "verdict": row["verdict"],
        "why": because(row), "files": row["data_files"],
    }  # fmt: skip


def because(row: Mapping[str, Any]) -> str:
    """The deciding term of a manifest's or a file's verdict, and what it met."""
    return str(ScanReason(row["term"], row["reason"], row["verdict"] == "read"))


def funnel_lines(plan: Plan) -> Iterator[str]:
    """The funnel: files left at each stage, as bars."""
    most = max((s.left.files or 0 for s in plan.stages), default=0)
    for stage in plan.stages:
        bar = "█" * max(1 if stage.left.files else 0, round(BAR * (stage.left.files or 0) / most)) if most else ""
        yield f"{STAGE_WORDS[stage.name]:<24} {bar:<{BAR}} {amount(stage.left)}"


def brief_amount(left: Amount) -> str:
    """What is left at a stage, in as many letters as a picture has room for."""
    files = "data files not told" if left.files is None else brief_count(left.files, "data file")
    size = "" if left.bytes is None else f", {human_bytes(left.bytes)}"
    rows = "" if left.rows is None else f", {brief_count(left.rows, 'row')}"
    return f"{brief_count(left.manifests, 'manifest')}, {files}{rows}{size}"


def amount(left: Amount) -> str:
    """What is left at a stage, in words."""
    files = "data files not told" if left.files is None else count(left.files, "data file")
    size = "" if left.bytes is None else f", {human_bytes(left.bytes)}"
    rows = "" if left.rows is None else f", {count(left.rows, 'row')}"
    return f"{count(left.manifests, 'manifest')}, {files}{rows}{size}"


def mode_rows(modes: Sequence[ColumnMode]) -> list[dict[str, Any]]:
    """A column each: its metrics mode, the rule, what it can skip, what files have, the property that sets it."""
    return [
        {
            "column": m.name, "type": m.kind, "mode": m.mode, "rule": m.rule, "skips": m.skips, "files": m.files,
            "with_counts": m.counts, "with_null_counts": m.nulls, "with_bounds": m.lower, "agreement": m.agreement,
            "property": m.setting,
        }
        for m in modes
    ]  # fmt: skip


def clustering_rows(clusterings: Sequence[Clustering]) -> list[dict[str, Any]]:
    """A column each: files a query for one value opens, on average and by quantile."""
    names = {0.5: "median", 0.9: "p90", 1.0: "most"}
    return [
        {
            "column": c.name, "data_files": c.files, "with_bounds": c.bounded, "opened": round(c.average, 1),
            "share": None if c.share is None else f"{c.share:.0%}",
            **{names[q]: n for q, n in zip(QUANTILES, c.quantiles, strict=True)},
        }
        for c in clusterings
    ]  # fmt: skip


def pushdown_json(plan: Plan, pushed_down: Pushdown | None) -> dict[str, Any]:
    """What Spark handed to Iceberg of a condition in SQL, and what it kept, with advice; nothing without one."""
    if pushed_down is None:
        return {}
    kept = [{"condition": k, "advice": advice(k)} for k in pushed_down.kept]
    return {"pushed": str(plan.bound), "kept_by_spark": kept}


def pushdown_lines(plan: Plan, pushed_down: Pushdown | None) -> Iterator[str]:
    """The same in sentences."""
    if pushed_down is None:
        return
    yield clean(f"Spark hands to Iceberg: {plan.bound if pushed_down.pushed != TRUE else 'nothing'}")
    for kept in pushed_down.kept:
        yield clean(f"Spark asks every row itself: {kept}" + (f" ({hint})" if (hint := advice(kept)) else ""))
    yield ""


def group_rows(groups: Iterable[GroupVerdict]) -> Iterator[dict[str, Any]]:
    """A row group a row: its verdict, `by` which test, why, and what a reader of page indexes could leave out."""
    for g in groups:
        columns = g.pages.columns if g.pages else ()
        yield {
            "file_path": g.path, "row_group": g.ordinal, "rows": g.rows, "total_byte_size": g.bytes,
            "verdict": "read" if g.keeps else "skipped", "by": g.by, "term": g.reason.term, "reason": g.reason.text,
            "pages": "; ".join(f"{name}: {left:,} of {count(all_of, 'page')}" for name, all_of, left in columns),
            "page_rows": g.pages.rows if g.pages else None, "pages_reason": g.pages.reason if g.pages else "",
        }  # fmt: skip


def group_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The same as text: why, and what of a row group that is read a reader of page indexes could leave out."""
    for r in rows:
        size = f"{count(r['rows'], 'row')}, {human_bytes(r['total_byte_size'])}"
        verdict = f"skipped by its {r['by']}" if r["by"] else "read"
        yield clean(f"{base_name(r['file_path'])}, row group {r['row_group']} ({size}): {verdict}")
        yield clean(f"    {because(r)}")
        if r["pages"]:
            yield clean(f"    pages that may match: {page_words(r)}")


def page_words(row: Mapping[str, Any]) -> str:
    """What the page index says of a row group that is read."""
    if not row["pages"] or row["page_rows"] == row["rows"]:
        return f"all ({row['pages']})" if row["pages"] else str(row["pages_reason"])
    left = f"{row['page_rows']:,} of {count(row['rows'], 'row')} (Iceberg's readers read all)"
    return f"{row['pages']}; {left}; {row['pages_reason']}"


def answer_rows(plan: Plan, answers: Mapping[str, PlannerAnswer | Exception]) -> list[dict[str, Any]]:
    """What each planner says of the scan: planner, files, tasks, and how it differs from ours."""
    ours = {"planner": "this plan", "data_files": plan.left.files, "tasks": plan.tasks.count, "difference": ""}
    rows = [ours]
    own_paths: set[str] | None = None
    for name, answer in answers.items():
        if isinstance(answer, Exception):
            rows.append({"planner": name, "data_files": None, "tasks": None, "difference": f"it failed: {answer}"})
            continue
        difference = "" if answer.files == plan.left.files else f"{answer.files - (plan.left.files or 0):+,} files"
        if answer.paths is not None:
            own_paths = own_paths if own_paths is not None else read_paths(plan)
            difference = _differs(own_paths, answer.paths)
        rows.append(
            {"planner": name, "data_files": answer.files, "tasks": answer.tasks, "difference": difference or "none"}
        )
    return rows


def read_paths(plan: Plan) -> set[str]:
    """The paths of the data files that a plan reads."""
    paths: set[str] = set()
    for part in plan.files.read():
        read = part.filter(pc.equal(part["verdict"].cast(pa.string()), "read"))
        paths.update(read["file_path"].to_pylist())
    return paths


def _differs(ours: Set[str], theirs: Set[str]) -> str:
    more, less = sorted(theirs - ours), sorted(ours - theirs)
    parts = [f"{count(len(more), 'file')} more, such as {base_name(more[0])}"] if more else []
    return "; ".join([*parts, *([f"{count(len(less), 'file')} fewer, such as {base_name(less[0])}"] if less else [])])


def answer_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The planners as a table; nothing without any."""
    if rows:
        yield ""
        yield from render_table(rows, 200).splitlines()
