"""Columns that Parquet files store in another type than the spec's, required ones that files lack, and INT96."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.reports.maintenance import runs
from explorer.spec.doctor.findings import Finding
from explorer.spec.scan.row_groups import GroupVerdict
from tests.cases.mini import Table
from tests.support import direct
from tests.support.other_types import BY_SOME, COMMON, FAILS, INT96, MISREAD, RIGHT, Stored, write_table

MILLIS = MISREAD[0]
BY_ROWS = {
    "timestamp as int64", "int as date", "long as micros", "binary as fixed", "fixed[16] as binary", "uuid as binary",
    "timestamp as millis", "timestamptz as millis", "decimal(9,2) as scale 3", "decimal(9,2) as scale 1",
}  # fmt: skip
"""What Spark reads rightly without its vectorized reader."""


def found(folder: Path, **options: Any) -> list[Finding]:
    return list(direct.doctor(str(folder), deep=True, **options).findings)


def said(folder: Path, where: str) -> str:
    table = direct.open_table(str(folder))
    current = table.metadata.current_snapshot
    assert current is not None
    return "\n".join(table.row_history(where).explain(current))


def judged(folder: Path, where: str) -> GroupVerdict:
    """The verdict on the one row group of a table."""
    table = direct.open_table(str(folder))
    [verdict] = table.row_groups(table.plan(where))
    return verdict


@pytest.mark.parametrize("stored", [*MISREAD, *FAILS], ids=str)
def test_a_type_that_spark_does_not_take_is_an_error(stored: Stored, tmp_path: Path) -> None:
    write_table(tmp_path / "t", stored)
    [finding] = [f for f in found(tmp_path / "t") if f.rule == "column-type"]
    assert (finding.severity, finding.columns) == ("error", ("x",))
    assert finding.refused == ("part" if stored in FAILS else "")
    assert ("'read.parquet.vectorization.enabled'='false'" in finding.remedy) == (str(stored) in BY_ROWS)
    assert ("rewrite_data_files" in finding.remedy) == (str(stored) in BY_ROWS)
    assert str(stored) in BY_ROWS or "No procedure mends it" in finding.remedy


@pytest.mark.parametrize("stored", BY_SOME, ids=str)
def test_what_some_readers_refuse_is_a_warning(stored: Stored, tmp_path: Path) -> None:
    write_table(tmp_path / "t", stored)
    [finding] = [f for f in found(tmp_path / "t") if f.rule == "column-type"]
    assert (finding.severity, finding.refused) == ("warning", "")
    assert "Cannot promote an int to date" in finding.what
    assert "rewrite-all" in finding.remedy


@pytest.mark.parametrize("stored", [*RIGHT, *COMMON], ids=str)
def test_what_readers_take_is_no_error(stored: Stored, tmp_path: Path) -> None:
    write_table(tmp_path / "t", stored)
    expected = ["info"] if stored in RIGHT else []
    assert [f.severity for f in found(tmp_path / "t") if f.rule == "column-type"] == expected


@pytest.mark.parametrize("mapped", [False, True])
def test_files_without_field_ids_are_looked_at_too(mapped: bool, tmp_path: Path) -> None:
    """As add_files leaves them, by the name mapping, and as others do, by the places of their columns."""
    mapping = json.dumps([{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["x"]}])
    properties = {"schema.name-mapping.default": mapping} if mapped else {}
    write_table(tmp_path / "t", MILLIS, ids=False, properties=properties)
    assert ("error", ("x",)) in [(f.severity, f.columns) for f in found(tmp_path / "t") if f.rule == "column-type"]
    verdict = judged(tmp_path / "t", "x > '1990-01-01'")
    assert verdict.by == "statistics"


@pytest.mark.parametrize("dictionary", [True, False])
def test_plan_and_fate_say_what_java_makes_of_milliseconds(dictionary: bool, tmp_path: Path) -> None:
    write_table(tmp_path / "t", MILLIS, dictionary)
    verdict = judged(tmp_path / "t", "x = '2020-01-01'")
    assert verdict.by == "statistics"
    assert "its values begin" in str(verdict.reason) or "its values end at '1970-01-19" in str(verdict.reason)
    assert "Iceberg Java compares the values as microseconds" in str(verdict.reason)
    assert "shows them so, as of 1970" in str(verdict.reason)
    kept = judged(tmp_path / "t", "x > '1970-01-02'")
    assert kept.keeps
    assert "shows them so, as of 1970" in str(kept.reason)
    assert "Spark does not return 1 of them" in said(tmp_path / "t", "x = '2020-01-01'")
    other = said(tmp_path / "t", "id = 1")
    assert "does not return" not in other
    assert "Spark may show another value of x, stored as INT64 (TIMESTAMP_MILLIS)" in other


def test_dictionaries_and_bloom_filters_are_compared_as_stored(tmp_path: Path) -> None:
    times = pa.array([datetime(1960, 1, 1), datetime(2090, 1, 1)], pa.timestamp("ms"))
    write_table(tmp_path / "d", Stored("timestamp", "millis", times))
    verdict = judged(tmp_path / "d", "x = '1970-01-10'")
    assert verdict.by == "dictionary"
    options = {"bloom_filter_options": {"x": {"ndv": 8, "fpp": 0.01}}}
    write_table(tmp_path / "b", Stored("timestamp", "millis", times, options), dictionary=False)
    verdict = judged(tmp_path / "b", "x = '1970-01-10'")
    assert verdict.by == "bloom filter"


def test_no_rewrite_is_printed_for_what_spark_misreads(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "x", "timestamp")])
    rows = {"id": [1, 2], "x": [datetime(2020, 1, 1), datetime(2020, 1, 2)]}
    file = table.parquet("a.parquet", rows, coerce_timestamps="ms")
    table.append({**file, "lower_bounds": file["upper_bounds"], "upper_bounds": file["lower_bounds"]})
    wrong = {f.rule: f.remedy for f in found(tmp_path / "t")}
    assert wrong.keys() == {"column-type", "metrics-wrong"}
    assert wrong["metrics-wrong"].startswith("First mend column-type: until then Spark takes values for others")
    [quick] = direct.doctor(str(tmp_path / "t")).findings
    assert quick.rule == "metrics-wrong"
    assert quick.remedy.startswith("First run doctor --deep: what Spark misreads in data files")


def test_no_compaction_is_printed_for_what_spark_misreads(tmp_path: Path) -> None:
    write_table(tmp_path / "t", MILLIS)
    table = direct.open_table(str(tmp_path / "t"))
    seen = runs.preview(table, "compact", options={"rewrite-all": "true"})
    assert not seen.call
    assert "Do not run this: column 'x'" in " ".join(seen.words)
    rows = {"read.parquet.vectorization.enabled": "false"}
    write_table(tmp_path / "r", MILLIS, properties=rows)
    seen = runs.preview(direct.open_table(str(tmp_path / "r")), "compact", options={"rewrite-all": "true"})
    assert "rewrite_data_files" in seen.call


def test_types_inside_structs_lists_and_maps_are_looked_at(tmp_path: Path) -> None:
    millis = pa.timestamp("ms")

    def own(name: str, kind: pa.DataType, number: int, nullable: bool = True) -> pa.Field:
        return pa.field(name, kind, nullable, {"PARQUET:field_id": str(number)})

    inner = pa.struct([own("at", millis, 3)])
    pairs = pa.map_(own("key", pa.string(), 5, False), own("value", pa.list_(own("element", millis, 7)), 6))
    fields = [
        (1, "s", {"type": "struct", "fields": [{"id": 3, "name": "at", "required": False, "type": "timestamp"}]}),
        (2, "m", {"type": "map", "key-id": 5, "key": "string", "value-id": 6, "value-required": False, "value": {
            "type": "list", "element-id": 7, "element-required": False, "element": "timestamp"}}),
    ]  # fmt: skip
    table = Table(tmp_path / "t", fields)
    table.md["last-column-id"] = 7
    day = datetime(2020, 1, 1)
    rows = [pa.array([{"at": day}], inner), pa.array([[("k", [day])]], pairs)]
    written = pa.table(rows, schema=pa.schema([own("s", inner, 1), own("m", pairs, 2)]))
    table.append(table.parquet("a.parquet", written, ids=False))
    [finding] = [f for f in found(tmp_path / "t") if f.rule == "column-type"]
    assert finding.columns == ("s.at", "m.value.element")


def test_int96_dictionaries_are_read(tmp_path: Path) -> None:
    """Before 1970, too: apache/iceberg#2553."""
    times = pa.array([datetime(2020, 1, 1), datetime(1960, 1, 2)], RIGHT[1].array.type)
    write_table(tmp_path / "t", Stored("timestamptz", "int96", times, INT96))
    filters = ("x > '2022-01-01'", "x < '1961-01-01'", "x < '1950-01-01'")
    answers = {where: judged(tmp_path / "t", where).by for where in filters}
    assert answers == {"x > '2022-01-01'": "dictionary", "x < '1961-01-01'": "", "x < '1950-01-01'": "dictionary"}
    for command in ("data history T", "plan T --stage row-groups"):
        words = [str(tmp_path / "t") if word == "T" else word for word in command.split()]
        result = CliRunner().invoke(main, [*words, "x > '2019-01-01'"])
        assert result.exit_code == 0, result.output


# -- required columns that files lack ---------------------------------------------------------------------------------
def optional(number: int, name: str, kind: Any, required: bool = False, **more: Any) -> dict[str, Any]:
    return {"id": number, "name": name, "required": required, "type": kind, **more}


def lacking(folder: Path, fields: list[tuple[Any, ...]], rows: pa.Table, **more: Any) -> list[tuple[str, str, str]]:
    """The severity and columns of what is found, and what Spark is kept from."""
    table = Table(folder, fields)
    table.md["last-column-id"] = 99
    for field in table.md["schemas"][0]["fields"]:
        field.update(more.get(field["name"], {}))
    table.append(table.parquet("a.parquet", rows, ids=False))
    absent = [f for f in found(folder) if f.rule == "required-absent"]
    return [(f.severity, f.refused, column) for f in absent for column in f.columns]


def column(name: str, kind: pa.DataType, number: int) -> pa.Field:
    return pa.field(name, kind, True, {"PARQUET:field_id": str(number)})


IDS = pa.table([pa.array([1])], schema=pa.schema([column("id", pa.int64(), 1)]))
YEAR = optional(15, "year", "int", True)


def test_a_required_column_that_a_file_lacks(tmp_path: Path) -> None:
    fields = [(1, "id", "long"), (2, "year", "int", True)]
    assert lacking(tmp_path / "t", fields, IDS) == [("error", "part", "year")]
    with_default = {"year": {"initial-default": 7}}
    assert lacking(tmp_path / "d", fields, IDS, **with_default) == []


def test_a_required_field_that_a_files_struct_lacks(tmp_path: Path) -> None:
    struct = {"type": "struct", "fields": [optional(14, "detail", "string"), YEAR]}
    kind = pa.struct([column("detail", pa.string(), 14)])
    rows = pa.table([pa.array([{"detail": "d"}], kind)], schema=pa.schema([column("school", kind, 4)]))
    fields = [(4, "school", struct)]
    assert lacking(tmp_path / "t", fields, rows) == [("error", "part", "school.year")]
    [finding] = [f for f in found(tmp_path / "t") if f.rule == "required-absent"]
    assert "ALTER TABLE your_catalog.your_db.your_table ALTER COLUMN school.year DROP NOT NULL" in finding.remedy
    elements = {"type": "list", "element-id": 5, "element-required": False, "element": struct}
    lists = pa.list_(column("element", kind, 5))
    rows = pa.table([pa.array([[{"detail": "d"}]], lists)], schema=pa.schema([column("schools", lists, 4)]))
    assert lacking(tmp_path / "l", [(4, "schools", elements)], rows) == [("error", "part", "schools.element.year")]


def test_a_struct_that_a_file_lacks_as_a_whole_is_null(tmp_path: Path) -> None:
    struct = {"type": "struct", "fields": [YEAR]}
    assert lacking(tmp_path / "t", [(1, "id", "long"), (4, "school", struct)], IDS) == []
    assert lacking(tmp_path / "r", [(1, "id", "long"), (4, "school", struct, True)], IDS) == [
        ("error", "part", "school")
    ]


def test_a_required_column_that_a_partition_gives_is_not_absent(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "p", "string", True)], [(2, 1000, "p", "identity")])
    file = table.parquet("a.parquet", {"id": [1]}, partition={"p": "x"})
    table.append(file)
    assert [f.severity for f in found(tmp_path / "t")] == ["info"]


def test_the_footer_tells_its_columns_own_ids(tmp_path: Path) -> None:
    """What a file itself says, without what readers make of it."""
    write_table(tmp_path / "t", MILLIS, ids=False)
    footer = direct.open_table(str(tmp_path / "t")).footer("a.parquet")
    assert [c["field_id"] for c in footer["columns"]] == [None, None]
    assert "field_ids" not in footer
    assert pq.read_metadata(tmp_path / "t" / "data" / "a.parquet").num_columns == 2
