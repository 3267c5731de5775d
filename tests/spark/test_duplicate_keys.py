"""Keys that several rows have, in tables that Spark wrote: how many, since when and why."""

from __future__ import annotations

import pytest

import explorer
from explorer.errors import NotFoundInTable
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.rows.duplicate_keys import DuplicateKey, DuplicateKeys

SCHEMA = "id BIGINT, at STRUCT<day: DATE, text: STRING>, v STRING"


class Work:
    """A table of Spark, and what it is asked."""

    def __init__(self, engine: SparkEngine, name: str, columns: str = SCHEMA) -> None:
        self.spark, self.name = engine.session(), f"repeated.{name}"
        self.spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.repeated")
        self.spark.sql(
            f"CREATE OR REPLACE TABLE sandbox.{self.name} ({columns}) USING iceberg "
            "TBLPROPERTIES ('format-version' = '2')"
        )

    def insert(self, *values: str) -> None:
        self.spark.sql(f"INSERT INTO sandbox.{self.name} VALUES {', '.join(values)}")

    def duplicates(self, *key: str, **more: object) -> DuplicateKeys:
        return explorer.open_table(self.name).data.duplicates(key=key, **more).value  # type: ignore[arg-type]


def row(number: int, text: str = "x", day: str = "DATE '2024-03-01'", v: str = "'v'") -> str:
    return f"({number}, named_struct('day', {day}, 'text', '{text}'), {v})"


def by_id(found: DuplicateKeys) -> dict[object, DuplicateKey]:
    return {one.values["id"]: one for one in found.first}


def test_each_cause_is_told(engine: SparkEngine) -> None:
    work = Work(engine, "causes")
    work.insert(row(1), row(2), row(3))
    work.insert(row(2, v="'again'"), row(4), row(4))
    work.spark.sql(f"INSERT INTO sandbox.{work.name} SELECT * FROM VALUES {row(5)}")
    work.insert(row(5), row(5))
    work.spark.sql(f"DELETE FROM sandbox.{work.name} WHERE id = 5 AND v = 'nobody'")
    found = work.duplicates("id")
    counts = work.spark.sql(f"SELECT id, count(*) AS n FROM sandbox.{work.name} GROUP BY id HAVING count(*) > 1")
    expected = {one.id: one.n for one in counts.collect()}
    assert {key: one.rows for key, one in by_id(found).items()} == expected == {2: 2, 4: 2, 5: 3}
    assert (found.keys, found.rows) == (3, 7)
    assert found.words == (
        "At snapshot-5, 3 keys (id) have several rows: 7 in total, 4 too many if keys are to be unique."
    )
    told = by_id(found)
    assert [told[key].since for key in (2, 4, 5)] == ["snapshot-2", "snapshot-2", "snapshot-4"]
    assert told[2].why.startswith("an append deletes nothing, so that the older row stays")
    assert told[4].why.startswith(("one commit wrote it into 2 files", "one file has it 2 times"))
    assert work.duplicates("id", snapshot="snapshot-1").keys == 0
    work.spark.sql(f"CALL sandbox.system.rewrite_data_files('{work.name}', options => map('rewrite-all', 'true'))")
    after = by_id(work.duplicates("id"))
    assert [after[key].since for key in (2, 4, 5)] == ["snapshot-2", "snapshot-2", "snapshot-4"]


def test_keys_of_every_kind_are_explained(engine: SparkEngine) -> None:
    columns = {
        "a": ("INT", "7"), "b": ("STRING", "'it''s \"x\" \\\\ ü'"), "c": ("DATE", "DATE '2024-03-01'"),
        "d": ("TIMESTAMP", "TIMESTAMP '2024-03-01 10:00:00.123456 UTC'"),
        "e": ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ '1969-12-31 23:59:59.5'"), "f": ("DECIMAL(20, 4)", "-12345678901.5BD"),
        "g": ("BINARY", "X'00ff'"), "h": ("BOOLEAN", "true"), "i": ("DOUBLE", "double('NaN')"),
        "j": ("FLOAT", "float(0.1)"), "k": ("STRING", "NULL"), "rows": ("BIGINT", "9007199254740993"),
    }  # fmt: skip
    work = Work(engine, "kinds", ", ".join(f"`{name}` {kind}" for name, (kind, _) in columns.items()))
    values = f"({', '.join(value for _, value in columns.values())})"
    work.insert(values)
    work.insert(values)
    for name in columns:
        [one] = work.duplicates(name).first
        assert (one.rows, one.since) == (2, "snapshot-2"), (name, one)
        assert one.why.startswith("an append deletes nothing"), (name, one)
    [together] = work.duplicates(*columns).first
    assert together.since == "snapshot-2"


def test_fields_in_structs_limits_and_what_is_not_there(engine: SparkEngine) -> None:
    work = Work(engine, "nested")
    work.insert(row(1, "a"), row(2, "a"), row(3, "b"), row(4, "b"), row(5, "b"), row(6, "c", "NULL"))
    found = work.duplicates("at.text", most=1, explain=0)
    assert (found.keys, found.rows, len(found.first)) == (2, 5, 1)
    assert (dict(found.first[0].values), found.first[0].why) == ({"at.text": "b"}, "")
    assert work.duplicates("at.day", "at.text").first[0].since == "snapshot-1"
    [whole, *_] = work.duplicates("at").first
    assert whole.why.startswith("it cannot be told: ")  # no filter compares a struct
    with pytest.raises(NotFoundInTable, match="no column 'nothing'"):
        work.duplicates("nothing")
    with pytest.raises(NotFoundInTable, match="no identifier fields: name the columns of the key"):
        work.duplicates()
