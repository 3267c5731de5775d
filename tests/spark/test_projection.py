"""Rows of generated tables, read here without Spark, against those that Spark reads: nested types that evolve, three
file formats, every kind of delete, name mappings, partition columns that files lack, defaults and variants."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import types as t

from explorer.lab.scenarios.workshop import Workshop
from explorer.spark_engine.spark import SparkEngine
from tests.security import EVERY
from tests.spark.test_rows import bag, ours, sparks
from tests.support import direct

FORMATS = ("parquet", "orc", "avro")
CASES = list(itertools.product((1, 2, 3), range(12))) if EVERY else [(2, 1), (3, 2)]
STEPS = 14 if EVERY else 4
LEAVES = {
    t.BooleanType(): ("true", "false"), t.IntegerType(): ("1", "-2", "2147483647"), t.LongType(): ("1", "-9000000000"),
    t.FloatType(): ("1.5", "-0.0", "'NaN'"), t.DoubleType(): ("2.25", "0.0", "'NaN'"),
    t.DecimalType(9, 2): ("1.25", "-1234567.89"), t.DateType(): ("DATE'2020-02-29'", "DATE'1900-01-01'"),
    t.TimestampType(): ("TIMESTAMP'2020-01-01 00:00:00.123456 UTC'", "TIMESTAMP'1901-01-01 00:00:00.000001 UTC'"),
    t.TimestampNTZType(): ("TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'", "TIMESTAMP_NTZ'2200-01-01 00:00:00'"),
    t.StringType(): ("'x'", "''", "'ü'"), t.BinaryType(): ("X'00ff'", "X''"),
}  # fmt: skip


class Generated:
    """A table of drawn columns, and steps drawn from what its schema allows."""

    def __init__(self, workshop: Workshop, version: int, seed: int) -> None:
        self.draw, self.names = random.Random(f"{version} {seed}"), itertools.count()
        self.workshop, self.version = workshop, version
        mode = "merge-on-read" if version > 1 else "copy-on-write"
        inside = ", ".join(f"c{next(self.names)} {self.kind(2).simpleString()}" for _ in range(5))
        columns = (
            f"id INT, s STRUCT<a: INT, b: STRUCT<c: FLOAT, d: STRING>>, l ARRAY<STRUCT<e: INT, f: STRING>>, {inside}"
        )
        workshop.create(f"{columns}, p STRING", version, "p", delete_mode=mode, update_mode=mode)
        for kind in FORMATS:
            self.write(kind)
            self.append()

    def write(self, file_format: str) -> None:
        """From now on data and delete files of this format."""
        self.workshop.file_format = file_format
        names = ("write.format.default", "write.delete.format.default")
        values = ", ".join(f"'{name}'='{file_format}'" for name in names)
        self.workshop.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ({values})")

    def kind(self, depth: int) -> t.DataType:
        """A drawn type, of at most `depth` levels."""
        choice = self.draw.randrange(6) if depth else 5
        if choice == 0:
            return t.ArrayType(self.kind(depth - 1))
        if choice == 1:
            key = self.draw.choice(
                (t.StringType(), t.IntegerType(), t.StructType([t.StructField("k", t.IntegerType())]))
            )
            return t.MapType(key, self.kind(depth - 1))
        if choice == 2:
            named = [
                t.StructField(f"n{next(self.names)}", self.kind(depth - 1)) for _ in range(self.draw.randint(1, 3))
            ]
            return t.StructType(named)
        return self.draw.choice(list(LEAVES))

    def literal(self, kind: t.DataType, never_null: bool = False) -> str:
        """A drawn value as SQL."""
        if not never_null and self.draw.random() < 0.25:
            text = "NULL"
        elif isinstance(kind, t.ArrayType):
            text = f"array({', '.join(self.literal(kind.elementType) for _ in range(self.draw.randrange(3)))})"
        elif isinstance(kind, t.MapType):
            pair = f"{self.literal(kind.keyType, True)}, {self.literal(kind.valueType)}"
            text = f"map({pair})" if self.draw.random() < 0.8 else "map()"
        elif isinstance(kind, t.StructType):
            text = f"named_struct({', '.join(f'{f.name!r}, {self.literal(f.dataType)}' for f in kind)})"
        else:
            alike = next(k for k in LEAVES if isinstance(kind, type(k)))
            text = self.draw.choice(LEAVES[alike])
        return f"CAST({text} AS {kind.simpleString()})"

    @property
    def schema(self) -> t.StructType:
        return self.workshop.spark.table(self.workshop.identifier).schema

    def fields(self) -> Iterator[tuple[str, t.DataType, bool]]:
        """(path, type, whether it is a field of a struct) of everything that may be changed."""

        def walk(kind: t.DataType, path: str, is_field: bool) -> Iterator[tuple[str, t.DataType, bool]]:
            if path:
                yield path, kind, is_field
            if isinstance(kind, t.StructType):
                for field in kind:
                    yield from walk(field.dataType, f"{path}.{field.name}".lstrip("."), True)
            elif isinstance(kind, t.ArrayType):
                yield from walk(kind.elementType, f"{path}.element", False)
            elif isinstance(kind, t.MapType):
                yield from walk(kind.valueType, f"{path}.value", False)

        return (field for field in walk(self.schema, "", False) if field[0] not in ("p", "id"))

    def step(self) -> None:
        """A drawn commit in a drawn format."""
        self.write(self.draw.choice(FORMATS))
        self.draw.choice(
            (self.evolve, self.evolve, self.evolve, self.append, self.delete, self.update, self.equality)
        )()

    def append(self) -> None:
        schema = self.schema
        rows = []
        for _ in range(3):
            values = [self.literal(f.dataType) for f in schema if f.name not in ("id", "p")]
            own = {"id": f"CAST({self.draw.randrange(9)} AS INT)", "p": self.draw.choice(("'a'", "'b'", "NULL"))}
            rest = iter(values)
            rows.append(", ".join(own[f.name] if f.name in own else next(rest) for f in schema))
        self.workshop.insert(*rows)

    def evolve(self) -> None:
        for _ in range(3):
            path, kind, is_field = self.draw.choice(list(self.fields()))
            wider = {"int": "BIGINT", "float": "DOUBLE", "decimal(9,2)": "DECIMAL(20,2)"}.get(kind.simpleString())
            choice = self.draw.randrange(4)
            if wider:
                self.workshop.sql(f"ALTER TABLE {{t}} ALTER COLUMN {path} TYPE {wider}")
            elif choice == 0 and is_field:
                self.workshop.sql(f"ALTER TABLE {{t}} RENAME COLUMN {path} TO r{next(self.names)}")
            elif choice == 1 and is_field and path.count(".") == 0:
                self.workshop.sql(f"ALTER TABLE {{t}} DROP COLUMN {path}")
            elif choice == 2 and is_field:
                self.workshop.sql(f"ALTER TABLE {{t}} ALTER COLUMN {path} FIRST")
            elif isinstance(kind, t.StructType):
                self.workshop.sql(
                    f"ALTER TABLE {{t}} ADD COLUMN {path}.x{next(self.names)} {self.kind(1).simpleString()}"
                )
        self.append()

    def delete(self) -> None:
        self.workshop.sql(f"DELETE FROM {{t}} WHERE id = {self.draw.randrange(9)}")

    def update(self) -> None:
        self.workshop.sql(f"UPDATE {{t}} SET id = {self.draw.randrange(9)} WHERE id < {self.draw.randrange(9)}")

    def equality(self) -> None:
        if self.version > 1:
            table, name = self.workshop.java(), f"eq-{next(self.names)}.{self.workshop.file_format}"
            row = [{"id": self.draw.randrange(9)}]
            where = f"p={self.draw.choice('ab')}" if not table.spec().isUnpartitioned() else ""
            table.newRowDelta().addDeletes(self.workshop.equality_delete_file(table, name, row, where)).commit()

    def drop_partitioning(self) -> None:
        self.workshop.sql("ALTER TABLE {t} DROP PARTITION FIELD p")


@contextmanager
def workshop(engine: SparkEngine, sandbox: Path, name: str) -> Iterator[Workshop]:
    """A table of that name to be made, which is gone afterwards."""
    made = Workshop(engine, name, str(sandbox / "warehouse" / "laws" / name))
    made.sql("DROP TABLE IF EXISTS {t}")
    try:
        yield made
    finally:
        made.sql("DROP TABLE IF EXISTS {t} PURGE")


def agree(engine: SparkEngine, made: Workshop) -> None:
    """Our rows are Spark's in every snapshot."""
    table = direct.open_table(f"building.{made.name}")
    for snapshot in table.metadata.snapshots:
        assert bag(ours(table, snapshot)) == bag(sparks(engine, made.identifier, snapshot))
    assert not table.problems


@pytest.mark.parametrize(("version", "seed"), CASES)
def test_generated_rows(sandbox: Path, engine: SparkEngine, version: int, seed: int) -> None:
    with workshop(engine, sandbox, f"generated_{version}_{seed}") as made:
        generated = Generated(made, version, seed)
        for n in range(STEPS):
            generated.step()
            if n == STEPS // 2:
                generated.drop_partitioning()
                generated.append()
        agree(engine, made)


@pytest.mark.parametrize("file_format", FORMATS if EVERY else ["orc"])
def test_added_files_have_no_ids_and_no_partition_columns(
    sandbox: Path, engine: SparkEngine, file_format: str, tmp_path: Path
) -> None:
    """Files of another writer: a name mapping, a partition's value in the path alone, a column that came later."""
    rows = engine.session().sql("SELECT 1 AS id, array(named_struct('x', 1)) AS l, 'a' AS p, DATE'2020-01-01' AS day "
                                "UNION ALL SELECT 2, null, 'b', DATE'2021-01-01'")  # fmt: skip
    rows.write.format(file_format).partitionBy("p", "day").save(str(tmp_path / "files"))
    with workshop(engine, sandbox, f"added_{file_format}") as made:
        made.create("id INT, l ARRAY<STRUCT<x: INT>>, p STRING, day DATE", 2, "p, day")
        made.sql(f"CALL sandbox.system.add_files('{{name}}', '`{file_format}`.`{tmp_path}/files`')")
        made.sql("ALTER TABLE {t} ADD COLUMN late STRING")
        made.sql("ALTER TABLE {t} ADD COLUMN l.element.y INT")
        made.sql("ALTER TABLE {t} RENAME COLUMN id TO key")
        made.insert("3, array(named_struct('x', 1, 'y', 2)), 'a', DATE'2020-01-01', 'z'")
        location = made.java().location()
        table = direct.open_table(f"building.{made.name}")
        assert "schema.name-mapping.default" in table.metadata.properties
        opened = direct.open_table(table.metadata.metadata_location, roots=[str(tmp_path), location])
        for snapshot in opened.metadata.snapshots:
            assert bag(ours(opened, snapshot)) == bag(sparks(engine, made.identifier, snapshot))


def test_defaults_and_variants(sandbox: Path, engine: SparkEngine) -> None:
    with workshop(engine, sandbox, "defaults") as made:
        made.create("id INT, v VARIANT, s STRUCT<a: INT>", 3)
        texts = ['{"a": [1, 2.50, null, true, "x"], "b": {"c": -1e300, "a": {}}}', '"text"', "12345678901234", "[]"]
        made.insert(
            *(f"{i}, parse_json('{text}'), named_struct('a', {i})" for i, text in enumerate(texts)), "9, NULL, NULL"
        )
        made.insert(
            "10, CAST(DATE'2020-01-01' AS VARIANT), NULL", "11, CAST(CAST(1.50 AS DECIMAL(9,2)) AS VARIANT), NULL"
        )
        types, literal = (
            made.jvm.org.apache.iceberg.types.Types,
            made.jvm.org.apache.iceberg.expressions.Expressions.lit,
        )
        change = made.java().updateSchema()
        change = change.addColumn("n", types.IntegerType.get(), literal(34))
        change = change.addColumn("t", types.StringType.get(), literal("given"))
        change.addColumn("s", "b", types.IntegerType.get(), "", literal(7)).commit()
        made.insert("12, NULL, NULL, 1, 'own'")
        table = direct.open_table("building.defaults")
        snapshot = table.metadata.current_snapshot
        mine = {row["id"]: row for row in ours(table, snapshot)}
        truth = (
            engine.session().sql(f"SELECT id, to_json(v) AS v, s, n, t FROM {made.identifier}").toArrow().to_pylist()
        )
        for row in truth:
            own = mine.pop(row["id"])
            assert {k: own[k] for k in ("s", "n", "t")} == {k: row[k] for k in ("s", "n", "t")}
            assert (own["v"] and json.loads(own["v"])) == (row["v"] and json.loads(row["v"]))
        assert not mine
        assert {row["n"] for row in truth} == {34, 1}


def test_shredded_variants(sandbox: Path, engine: SparkEngine) -> None:
    """Whole, in part, and not at all like the columns that Iceberg made of the first ones."""
    with workshop(engine, sandbox, "shredded") as made:
        made.create("id INT, v VARIANT, s STRUCT<w: VARIANT>", 3)
        own = {"write.parquet.shred-variants": "true", "write.parquet.variant-inference-buffer-size": "4"}
        made.sql("ALTER TABLE {t} SET TBLPROPERTIES (" + ", ".join(f"'{k}'='{v}'" for k, v in own.items()) + ")")
        first = '{"a": 1, "b": "x", "c": [{"i": 1.5, "j": "k"}], "d": {"e": true}}'
        others = [
            '{"a": "text", "c": [{"i": 2, "h": null}, 5], "z": {"y": 1}, "B": 1e300}', "null", "[1]", "{}",
            '{"d": {"e": {"f": 1}, "g": 2}, "c": []}', '{"a": 123456789012, "c": 7, "d": null}',
        ]  # fmt: skip
        texts = [first] * 6 + others
        made.insert(*(f"{i}, parse_json('{t}'), named_struct('w', parse_json('{t}'))" for i, t in enumerate(texts)))
        table = direct.open_table("building.shredded")
        [data] = [file["file_path"].removeprefix("file:") for file in table.files()]
        assert pq.read_schema(data).field("v").type.get_field_index("typed_value") >= 0
        query = f"SELECT id, to_json(v) AS v, to_json(s.w) AS w FROM {made.identifier} ORDER BY id"
        truth = [[json.loads(row.v), json.loads(row.w)] for row in engine.session().sql(query).collect()]
        mine = sorted(ours(table, table.metadata.current_snapshot), key=lambda row: row["id"])
        assert [[json.loads(row["v"]), json.loads(row["s"]["w"])] for row in mine] == truth
        made.sql("ALTER TABLE {t} UNSET TBLPROPERTIES ('write.parquet.shred-variants')")


def test_position_deletes_by_another_spelling_hide_nothing(sandbox: Path, engine: SparkEngine) -> None:
    """Paths are compared as they are written, by Spark and here; a delete that names none of them is told."""
    with workshop(engine, sandbox, "spelled") as made:
        made.create("id INT", 2)
        made.insert("1", "2")
        path = direct.open_table("building.spelled").files()[0]["file_path"]
        plain = path.removeprefix("file://").removeprefix("file:")
        places = [
            ("/a", 0),
            (plain if plain != path else f"file:{path}", 0),
            ("z", 0),
        ]  # so that bounds rule nothing out
        table = made.java()
        table.newRowDelta().addDeletes(made.position_delete_file(table, "d.parquet", sorted(places))).commit()
        agree(engine, made)
        opened = direct.open_table("building.spelled")
        (verdict,) = opened.file_verdicts(path)
        assert "it names no data file of this snapshot, but" in verdict.against
        assert opened.file_rows(path).to_arrow()["_deleted_by"].null_count == 2
        assert [p.severity for p in opened.problems] == ["warning"]
        explained = opened.row_history("id = 1").explain(opened.metadata.current_snapshot)
        assert any("hides nothing" in line for line in explained)
