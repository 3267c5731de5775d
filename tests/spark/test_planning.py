"""The planner, held against Iceberg's own evaluators and planner, and against rows."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.transforms import parse_transform

from explorer.render.plans import read_paths
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.filters.expressions import And, BoundTerm, Constant, Expression, Or, Predicate
from explorer.spec.filters.pushdown import advice
from explorer.spec.scan.plan import Plan, PlannerAnswer
from explorer.spec.scan.scan import READ
from explorer.spec.values.ordering import comparable
from explorer.spec.values.values import primitive_type
from tests.spark.planner_oracle import Iceberg, Made, Row, drawn_filter, drawn_transform, evolved, make
from tests.support import direct
from tests.support.helpers import open_demo

TABLES = int(os.environ.get("ICEDIVE_PLANS", "0")) or 8
FILTERS = 25


@pytest.fixture(scope="module")
def iceberg(engine: SparkEngine) -> Iceberg:
    return Iceberg(engine)


def holds_for(node: Expression, row: Row) -> bool:
    """Whether a row matches, as Iceberg's Evaluator has it: null is below all values, and unequal to them."""
    if isinstance(node, And):
        return holds_for(node.left, row) and holds_for(node.right, row)
    if isinstance(node, Or):
        return holds_for(node.left, row) or holds_for(node.right, row)
    if isinstance(node, Constant):
        return node.value
    assert isinstance(node, Predicate)
    assert isinstance(node.term, BoundTerm)
    kind = node.term.kind
    found = row[node.term.column.name]
    primitive = primitive_type(node.term.column.kind)
    if node.term.transform != "identity" and primitive is not None:
        found = parse_transform(node.term.transform).transform(primitive)(found)
    literals = [comparable(v, kind) for v in node.literals]
    key = None if found is None else comparable(found, kind)
    nan = isinstance(found, float) and found != found
    return {
        "is-null": lambda: key is None, "not-null": lambda: key is not None,
        "is-nan": lambda: nan, "not-nan": lambda: not nan,
        "eq": lambda: key in literals, "in": lambda: key in literals,
        "not-eq": lambda: key not in literals, "not-in": lambda: key not in literals,
        "lt": lambda: key is not None and key < literals[0], "lt-eq": lambda: key is not None and key <= literals[0],
        "gt": lambda: key is not None and key > literals[0], "gt-eq": lambda: key is not None and key >= literals[0],
        "starts-with": lambda: key is not None and key.startswith(literals[0]),
        "not-starts-with": lambda: key is None or not key.startswith(literals[0]),
    }[node.op]()  # fmt: skip


@pytest.mark.parametrize("seed", range(TABLES))
def test_every_verdict_is_icebergs_and_true(iceberg: Iceberg, tmp_path: Path, seed: int) -> None:
    made = make(iceberg, tmp_path / "t", seed)
    table = direct.open_table(str(made.folder))
    rng = random.Random(1000 + seed)
    for n in range(FILTERS):
        plan, asked = compare(iceberg, made, table, drawn_filter(rng, made))
        if n % 4 == 0:  # the whole way takes Iceberg longer
            compare_tasks(made, plan, asked)
    assert not table.problems


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("shape", ["transforms", "nested", "renamed and promoted"])
def test_other_terms_and_schemas(iceberg: Iceberg, tmp_path: Path, seed: int, shape: str) -> None:
    made = make(iceberg, tmp_path / "t", 100 + seed, nested=shape == "nested")
    made = evolved(iceberg, made) if shape == "renamed and promoted" else made
    table = direct.open_table(str(made.folder))
    rng = random.Random(seed)
    for _ in range(8):
        compare(iceberg, made, table, (drawn_transform if shape == "transforms" else drawn_filter)(rng, made))
    assert not table.problems


def compare(iceberg: Iceberg, made: Made, table: direct.Table, where: str) -> tuple[Plan, Any]:
    """The plan, and the filter as Iceberg's."""
    plan = table.plan(where)
    asked = iceberg.expression(plan.bound, made.table)
    said = f"{where!r} of {made.folder}: {plan.bound}"
    specs = {spec.spec.spec_id: made.table.specs().get(spec.spec.spec_id) for spec in plan.specs}
    expressions = iceberg.iceberg.expressions
    kept = {v.manifest.manifest_path: v for v in plan.manifests}
    for manifest in made.table.currentSnapshot().dataManifests(made.table.io()):
        spec = specs[int(manifest.partitionSpecId())]
        theirs = bool(expressions.ManifestEvaluator.forRowFilter(asked, spec, True).eval(manifest))
        ours = kept[str(manifest.path())]
        assert ours.keeps == theirs, (said, str(ours.reason))
    inclusive = expressions.InclusiveMetricsEvaluator(made.table.schema(), asked)
    strict = expressions.StrictMetricsEvaluator(made.table.schema(), asked)
    residuals = {i: expressions.ResidualEvaluator.of(spec, asked, True) for i, spec in specs.items()}
    assert plan.snapshot
    rows_of = {f.path: f.rows for f in made.files}
    for manifest, stored in table.tree.stored_entries(table.tree.manifests(plan.snapshot), metrics=True):
        found = plan.scan.files(manifest, stored)
        for at, path in enumerate(found.entries["file_path"].to_pylist()):
            file = made.theirs[path]
            evidence = (said, path, str(found.reason(at)))
            assert bool(found.metrics.may[at]) == bool(inclusive.eval(file)), evidence
            assert bool(found.metrics.must[at]) == bool(strict.eval(file)), evidence
            residual = str(residuals[manifest.partition_spec_id].residualFor(file.partition())).lower()
            sure = [str(found.residual(at)), residual]
            assert sure[0] == sure[1] or not {"true", "false"} & set(sure), (evidence, sure)
            matches = [holds_for(plan.bound, row) for row in rows_of[path]]
            if found.outcome[at] != READ:
                assert not any(matches), evidence
            if found.wholly[at]:
                assert all(matches), evidence
    return plan, asked


def compare_tasks(made: Made, plan: Plan, asked: Any) -> None:
    said = f"{plan.bound} of {made.folder}"
    scan_of = made.table.newScan().filter(asked)
    verdicts = [row for part in plan.files.read() for row in part.to_pylist()]
    assert all(row["reason"] for row in verdicts)
    groups = [[(str(t.file().location()), int(t.length())) for t in g.files()] for g in every(scan_of.planTasks())]
    planned = {path for group in groups for path, _ in group}
    assert {row["file_path"] for row in verdicts if row["verdict"] == "read"} == planned, said
    ours_bytes = sum(s.length for task in plan.tasks.first for s in task.splits)
    assert ours_bytes == sum(length for group in groups for _, length in group), said
    if sum(v.keeps for v in plan.manifests) == 1:  # more are read in parallel, in any order
        assert len(groups) == plan.tasks.count, said


def every(iterable: Any) -> Iterator[Any]:
    items = iterable.iterator()
    while items.hasNext():
        yield items.next()


def test_figure_16(sandbox: Path) -> None:
    """Unsorted, each of the four files may hold jack; sorted, one does."""
    for name, files in (("unsorted_files", 4), ("sorted_files", 1)):
        assert open_demo(name).plan("name = 'jack'").left.files == files


def test_what_bounds_cannot_tell(sandbox: Path) -> None:
    table = open_demo("column_statistics")
    read = {
        where: table.plan(where).left.files
        for where in (
            "place = 'weather station Zug'", "place = 'weather'", "reading > 5", "reading IS NAN", "remark = 'moved'",
            "remark IS NULL", "note = 'q'", "note IS NULL",
        )
    }  # fmt: skip
    assert list(read.values()) == [3, 1, 1, 2, 1, 3, 3, 0]
    files = [row for part in table.plan("place = 'weather station Zug'").files.read() for row in part.to_pylist()]
    assert "its values lie between 'weather station ' and 'weather station!'" in {f["reason"] for f in files}
    modes = {m.name: m for m in table.metrics()}
    assert (modes["note"].mode, modes["note"].lower, modes["note"].counts) == ("counts", 0, 3)
    assert modes["note"].setting in modes["note"].rule


def test_a_wide_tables_late_columns_have_no_statistics(sandbox: Path) -> None:
    table = open_demo("wide_table")
    assert [table.plan(f"{name} = 5").left.files for name in ("id", "c50", "c105")] == [1, 1, 2]
    modes = {m.name: m for m in table.metrics()}
    assert (modes["c50"].mode, modes["c105"].mode) == ("truncate(16)", "none")
    assert "max-inferred-column-defaults" in modes["c105"].rule
    files = [row for part in table.plan("c105 = 5").files.read() for row in part.to_pylist()]
    assert {f["reason"] for f in files} == {"no lower and no upper bound of c105"}


def test_a_bloom_filter_saves_a_read(sandbox: Path) -> None:
    table = open_demo("bloom_filter")
    plan = table.plan("badge = 'k77'")
    groups = list(table.row_groups(plan))
    assert plan.left.files == len(groups) == 3
    assert sorted(g.by for g in groups) == ["", "bloom filter", "bloom filter"]
    (skipped, _) = {str(g.reason) for g in groups}
    assert "bloom filter of 1,024 bytes: 'k77' " in skipped
    assert {g.by for g in table.row_groups(table.plan("badge > 'k77'"))} == {""}  # only = and IN can be looked up


NESTED = {
    "type": "struct", "schema-id": 0, "fields": [
        {"id": 1, "name": "a", "required": False, "type": "int"},
        {"id": 2, "name": "s", "required": False, "type": {"type": "struct", "fields": [
            {"id": 5, "name": "x", "required": False, "type": "string"},
            {"id": 6, "name": "y", "required": False, "type": "long"}]}},
        {"id": 3, "name": "l", "required": False, "type": {
            "type": "list", "element-id": 7, "element-required": False, "element": "int"}},
        {"id": 4, "name": "z", "required": False, "type": "int"},
        {"id": 8, "name": "m", "required": False, "type": {
            "type": "map", "key-id": 9, "key": "string", "value-id": 10, "value-required": False, "value": "int"}},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    "properties",
    [
        {}, {"default": "none"}, {"default": "counts", "column.s.x": "full"}, {"default": "nonsense", "column.a": "x"},
        {"max-inferred-column-defaults": "3"}, {"max-inferred-column-defaults": "4", "column.z": "counts"},
        {"max-inferred-column-defaults": "10"}, {"max-inferred-column-defaults": "9"}, {"column.l.element": "none"},
        {"default": "truncate(4)"},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("ordered", [False, True])
def test_metrics_modes_are_icebergs(
    iceberg: Iceberg, tmp_path: Path, properties: dict[str, str], ordered: bool
) -> None:
    table = iceberg.create(tmp_path / "t", NESTED, [], 2)
    update = table.updateProperties()
    for name, value in properties.items():
        update = update.set(f"write.metadata.metrics.{name}", value)
    update.commit()
    if ordered:
        first = iceberg.iceberg.NullOrder.NULLS_FIRST
        table.replaceSortOrder().asc(iceberg.iceberg.expressions.Expressions.ref("z"), first).commit()
    theirs = iceberg.iceberg.MetricsConfig.forTable(table)
    ours = direct.open_table(str(tmp_path / "t")).metrics()
    assert {m.name: m.mode for m in ours} == {m.name: str(theirs.columnMode(m.name)) for m in ours}


def test_what_spark_hands_over_is_planned(sandbox: Path) -> None:
    table = open_demo("hidden_partitioning")
    plan, found = table.plan_sql("date(born) = DATE'1990-01-01' AND year(joined) = 2024 AND id IN (1, 2)")
    assert "born >= '1990-01-01 00:00:00Z'" in str(plan.bound)
    assert "id IN (1, 2)" in str(plan.bound)
    assert [advice(kept)[:14] for kept in found.kept if "year(" in kept] == ["a part of a da"]
    assert table.plan(str(plan.bound).replace("Z'", "'").replace("00'", "00Z'")).stages == plan.stages


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("hidden_partitioning", "id = 2 AND name LIKE 'b%'"),
        ("hidden_partitioning", "born < '2000-01-01' OR seen IS NULL"),
        ("hidden_partitioning", ""), ("deletion_vectors", "name != 'x'"), ("equality_deletes", "name > 'b'"),
    ],
)  # fmt: skip
def test_other_planners_read_the_same(sandbox: Path, name: str, where: str) -> None:
    table = open_demo(name)
    plan = table.plan(where)
    java, python = table.ask_planners(plan).values()
    assert isinstance(java, PlannerAnswer), java
    assert (java.paths, java.tasks) == (read_paths(plan), plan.tasks.count)
    if name == "equality_deletes":
        assert "equality deletes" in str(python)  # pyiceberg reads none
    else:
        assert isinstance(python, PlannerAnswer), python
        assert python.paths == java.paths
