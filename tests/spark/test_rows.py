"""Rows computed from our verdicts, without Spark, against the rows that Spark reads; and row diffs against EXCEPT
ALL."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from explorer.lab.scenarios import NAMESPACE, SCENARIOS
from explorer.lab.scenarios.workshop import Workshop
from explorer.model.metadata import Field, Schema
from explorer.queries.row_diff import row_diff
from explorer.queries.row_reader import RowReader
from explorer.spark_engine.spark import SparkEngine
from explorer.spark_engine.versions import arrow_table
from explorer.storage.rows import read_schema
from explorer.table import Table
from tests.spark.test_scenarios import plain, sampled
from tests.support import direct
from tests.support.helpers import open_demo

NAMES = [s.name for s in SCENARIOS]


def canonical(value: Any) -> Any:
    """Hashable, and equal when Spark's EXCEPT ALL finds it equal."""
    if isinstance(value, dict):
        return tuple(canonical(v) for v in value.values())
    if isinstance(value, (list, tuple)):
        return tuple(canonical(v) for v in value)
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    return getattr(value, "isoformat", lambda: value)()[:26] if hasattr(value, "isoformat") else value


def bag(rows: list[dict[str, Any]]) -> Counter[Any]:
    return Counter(canonical(r) for r in rows)


def ours(table: Table, snapshot: Any) -> list[dict[str, Any]]:
    """Brute force: every data file, less what its applicable deletes hide."""
    reader = RowReader(table.tree)
    found = reader.applicability(snapshot)
    schema = read_schema(table.metadata, snapshot.schema_id)
    rows = []
    for data in found.data:
        rows += reader.live(data, found.of(data), schema).drop_columns(["_pos"]).to_pylist()
    return rows


def sparks(engine: SparkEngine, name: str, snapshot: Any) -> list[dict[str, Any]]:
    rows = arrow_table(engine.session().sql(f"SELECT * FROM {name} VERSION AS OF {snapshot.snapshot_id}"))
    return rows.to_pylist()  # type: ignore[no-any-return]


def projected(row: dict[str, Any], old: Schema, new: Schema) -> dict[str, Any]:
    """A row under one schema as another one reads it: by field id, deeper structs too; what is missing is its initial
    default, or null."""
    defaults = {field["id"]: field.get("initial-default") for field in new.raw["fields"]}

    def struct(value: dict[str, Any] | None, fields: list[Field], prefix: str) -> dict[str, Any] | None:
        if value is None and prefix:
            return None
        result = {}
        for f in fields:
            was = old.by_id.get(f.id)
            name = f.name.rsplit(".", 1)[-1]
            found = (value or {}).get(was.name.rsplit(".", 1)[-1]) if was else defaults.get(f.id)
            inner = [
                g
                for g in new.by_id.values()
                if g.name.startswith(f.name + ".") and g.name.count(".") == f.name.count(".") + 1
            ]
            is_struct = not isinstance(f.type, str) and f.type.get("type") == "struct"
            result[name] = struct(found, inner, f.name) if is_struct else found
        return result

    found = struct(row, list(new.fields), "")
    assert found is not None
    return found


@pytest.mark.parametrize("name", NAMES)
def test_rows_by_our_verdicts_are_sparks(name: str, sandbox: Path, engine: SparkEngine) -> None:
    table = open_demo(name)
    for snapshot in sampled(table)[-6 if len(table.metadata.snapshots) < 20 else -1 :]:  # each reads hundreds of files
        assert bag(ours(table, snapshot)) == bag(sparks(engine, f"sandbox.{NAMESPACE}.{name}", snapshot))


@pytest.mark.parametrize("name", NAMES)
def test_row_diffs_are_except_all(name: str, sandbox: Path, engine: SparkEngine) -> None:
    """Neighbours and the ends, both ways (of long histories some). With one schema by Spark's own EXCEPT ALL, with two
    by a projection of Spark's rows by field id."""
    table = open_demo(name)
    reader = RowReader(table.tree)
    full = f"sandbox.{NAMESPACE}.{name}"
    snapshots = sampled(table) if len(table.metadata.snapshots) < 20 else sampled(table)[:2]
    rows = {s.snapshot_id: sparks(engine, full, s) for s in snapshots}
    ends = [(snapshots[0], snapshots[-1]), (snapshots[-1], snapshots[0])]
    for a, b in [*itertools.pairwise(snapshots), *ends]:
        found = row_diff(reader, a, b)
        columns = list(found.columns)
        gone = bag(found.changes.deleted.select(columns).to_pylist()) + bag(
            found.changes.updated_before.select(columns).to_pylist()
        )
        come = bag(found.changes.inserted.select(columns).to_pylist()) + bag(
            found.changes.updated_after.select(columns).to_pylist()
        )
        schemas = [table.metadata.schema(s.schema_id) or table.metadata.schemas[-1] for s in (a, b)]
        newer = schemas[0] if a.sequence_number > b.sequence_number else schemas[1]
        before = bag([projected(r, schemas[0], newer) for r in rows[a.snapshot_id]])
        after = bag([projected(r, schemas[1], newer) for r in rows[b.snapshot_id]])
        assert (gone, come) == (before - after, after - before)
        if a is not b and abs(snapshots.index(a) - snapshots.index(b)) == 1 and a.schema_id == b.schema_id:
            sides = [f"SELECT * FROM {full} VERSION AS OF {s.snapshot_id}" for s in (a, b)]
            for (first, second), mine in (((0, 1), gone), ((1, 0), come)):
                truth = arrow_table(engine.session().sql(f"{sides[first]} EXCEPT ALL {sides[second]}")).to_pylist()
                assert mine == bag(truth)


def test_row_ids_are_sparks(sandbox: Path, engine: SparkEngine) -> None:
    table = open_demo("deletion_vectors")
    reader = RowReader(table.tree)
    for snapshot in table.metadata.snapshots:
        found = reader.applicability(snapshot)
        schema = read_schema(table.metadata, snapshot.schema_id)
        mine = []
        for data in found.data:
            for row in reader.live(data, found.of(data), schema, lineage=True).to_pylist():
                mine.append((data.path, row["_pos"], row["_row_id"], row["_last_updated_sequence_number"]))
        sql = (
            "SELECT _file, _pos, _row_id, _last_updated_sequence_number FROM sandbox.demo.deletion_vectors "
            "VERSION AS OF "
        )
        assert sorted(mine) == sorted(tuple(r) for r in engine.session().sql(f"{sql}{snapshot.snapshot_id}").collect())


def test_an_update_is_paired_by_row_id_or_key(sandbox: Path) -> None:
    table = open_demo("deletion_vectors")
    first, *_, last = table.metadata.snapshots
    found = row_diff(RowReader(table.tree), first, last)
    assert found.paired_by == ("_row_id",)
    assert found.changes.updated_before["favorite_color"].to_pylist() == ["red"]
    assert found.changes.updated_after["favorite_color"].to_pylist() == ["yellow"]
    assert found.changes.deleted["name"].to_pylist() == ["sarah"]
    assert found.changes.inserted.num_rows == 0
    table = open_demo("copy_on_write_update")
    first, last = table.metadata.snapshots
    found = row_diff(RowReader(table.tree), first, last, ["name"])
    assert found.changes.updated_before["name"].to_pylist() == ["jack"]
    assert found.partitions == {"": {"inserted": 0, "deleted": 0, "updated": 1}}


def test_dangling_deletes_and_costs(sandbox: Path) -> None:
    table = open_demo("compaction_sort")
    found = table.deletes()
    assert len(found.dangling) == 2  # the compaction wrote the deletes into its file
    assert [c.deletes for c in found.costs] == [0]
    table = open_demo("equality_deletes")
    found = table.deletes()
    assert found.dangling == ()
    assert [(c.data.path.rsplit("/", 1)[-1], c.equality) for c in found.costs][0] == ("data-1.parquet", 1)


def test_row_ids_come_with_version_3(sandbox: Path, engine: SparkEngine) -> None:
    """A table that becomes version 3 gives row ids to files it had before: not in snapshots from before."""
    made = Workshop(engine, "becomes_v3", str(sandbox / "warehouse" / "laws" / "becomes_v3"))
    made.sql("DROP TABLE IF EXISTS {t}")
    made.create("k INT", version=2)
    try:
        made.insert("1", "2")
        made.sql("ALTER TABLE {t} SET TBLPROPERTIES ('format-version' = '3')")
        made.insert("3")
        table = direct.open_table("building.becomes_v3")
        [path] = [row["file_path"] for row in table.files("snapshot-1")]
        for _ in range(2):
            assert [row["_row_id"] for row in table.file_rows(path, "snapshot-1")] == [None, None]
            assert None not in [row["_row_id"] for row in table.file_rows(path, "snapshot-2")]
        later = table.row_reader.applicability(table.resolve("snapshot-2").snapshot).data
        first = table.row_reader.applicability(table.resolve("snapshot-1").snapshot).data
        assert [f.first_row_id for f in first] == [None]
        assert None not in [f.first_row_id for f in later]
    finally:
        made.sql("DROP TABLE {t} PURGE")


COUNTER = itertools.count()
VALUES = st.fixed_dictionaries(
    {
        "k": st.sampled_from([None, 1, 2, 3]),
        "v": st.sampled_from([None, "x", "y"]),
        "d": st.sampled_from([None, 0.0, -0.0, 1.5, math.nan]),
    }
)
STEPS = st.one_of(
    st.tuples(st.just("append"), st.lists(VALUES, min_size=1, max_size=4), st.sampled_from("ab")),
    st.tuples(
        st.just("equality"),
        st.tuples(VALUES, st.sampled_from([("k",), ("v",), ("d",), ("k", "v"), ("v", "d")])),
        st.sampled_from("ab"),
    ),
    st.tuples(st.just("tie"), st.tuples(VALUES, st.sampled_from([("k",), ("v", "k")])), st.sampled_from("ab")),
    st.tuples(
        st.just("sql"), st.sampled_from(["k = 1", "v IS NULL", "d > 1", "k IN (2, 3) AND v = 'y'"]), st.just("a")
    ),
    st.tuples(st.just("spec"), st.sampled_from(["ADD PARTITION FIELD p", "DROP PARTITION FIELD p"]), st.just("a")),
    st.tuples(st.just("rewrite"), st.none(), st.just("a")),
)
ROWS = [
    {"k": k, "v": v, "d": d}
    for k, v, d in ((1, "x", 0.0), (2, None, math.nan), (None, "y", -0.0), (3, "x", None), (1, "x", 0.0))
]


def carry_out(w: Workshop, n: int, step: tuple[str, Any, str]) -> None:
    kind, detail, p = step
    table = w.java()
    where = "" if table.spec().isUnpartitioned() else f"p={p}"
    if kind == "append":
        table.newFastAppend().appendFile(
            w.data_file(table, f"data-{n}.parquet", [r | {"p": p} for r in detail], where)
        ).commit()
    elif kind in ("equality", "tie"):
        row, columns = detail
        delta = table.newRowDelta().addDeletes(
            w.equality_delete_file(table, f"delete-{n}.parquet", [{c: row[c] for c in columns}], where)
        )
        if kind == "tie":  # the row is written by the commit that deletes its likes: it must survive
            delta = delta.addRows(w.data_file(table, f"data-{n}.parquet", [row | {"p": p}], where))
        delta.commit()
    elif kind == "sql":
        w.sql(f"DELETE FROM {{t}} WHERE {detail}")
    elif kind == "spec" and table.spec().isUnpartitioned() == detail.startswith("ADD"):
        w.sql(f"ALTER TABLE {{t}} {detail}")
    elif kind == "rewrite":
        w.sql("CALL sandbox.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")


def key_row(k: Any = None, v: Any = None, d: Any = None) -> dict[str, Any]:
    return {"k": k, "v": v, "d": d}


@settings(max_examples=3, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(STEPS, min_size=3, max_size=7), st.sampled_from([2, 3]))
@example(
    [("append", ROWS, "b"), ("spec", "ADD PARTITION FIELD p", "a"), ("append", ROWS, "a"), ("equality", (key_row
     (v="x"), ("v",)), "a"),
     ("sql", "k = 1", "a"), ("spec", "DROP PARTITION FIELD p", "a"), ("equality", (key_row(), ("k",)), "a"),
     ("tie", (key_row(2), ("k",)), "a")],
    2,
)  # fmt: skip
@example(
    [("append", ROWS, "a"), ("equality", (key_row(d=math.nan), ("d",)), "a"), ("equality", (key_row(d=-0.0),
     ("d",)), "a"),
     ("append", ROWS, "b"), ("sql", "k = 1", "a"), ("sql", "v IS NULL", "a"), ("rewrite", None, "a"),
     ("sql", "d > 1", "a")],
    3,
)  # fmt: skip
def test_generated_deletes(sandbox: Path, engine: SparkEngine, steps: list[tuple[str, Any, str]], version: int) -> None:
    """Position, equality (null, NaN and negative zero, several id sets) and vector deletes, partition evolution, global
    deletes, sequence ties, compaction: our rows are Spark's in every snapshot."""
    name = f"rows_{next(COUNTER)}"
    workshop = Workshop(engine, name, str(sandbox / "warehouse" / "laws" / name))
    workshop.sql("DROP TABLE IF EXISTS {t}")
    workshop.create(
        "k INT, v STRING, d DOUBLE, p STRING", version=version, update_mode="merge-on-read", delete_mode="merge-on-read"
    )
    try:
        for n, step in enumerate([("append", ROWS, "a"), *steps]):
            carry_out(workshop, n, step)
        table = direct.open_table(f"building.{name}")
        for snapshot in table.metadata.snapshots:
            assert bag(ours(table, snapshot)) == bag([plain(r) for r in sparks(engine, workshop.identifier, snapshot)])
    finally:
        workshop.sql("DROP TABLE {t} PURGE")
