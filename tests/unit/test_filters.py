"""The filter language: parsed, bound, written as JSON, projected; and which rows match."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from explorer.errors import NotFoundInTable
from explorer.queries.filters import arrow_columns, matching, parse_filter
from explorer.spec.filters.binding import bind
from explorer.spec.filters.calendar_numbers import with_stored_numbers
from explorer.spec.filters.expression_json import expression_json, parse_expression
from explorer.spec.filters.expressions import FALSE, TRUE, Expression, FilterColumn, push_down_not
from explorer.spec.filters.filter_text import DEEPEST, FilterError, parse
from explorer.spec.filters.projections import Projection
from explorer.storage.metadata import parse_metadata
from tests.cases.mini import Table
from tests.support import direct

COLUMNS = {
    name: FilterColumn(at, name, kind, required)
    for at, (name, kind, required) in enumerate(
        [
            ("id", "int", True), ("n", "long", False), ("x", "double", False), ("f", "float", False),
            ("name", "string", False), ("day", "date", False), ("ts", "timestamp", False), ("tz", "timestamptz", False),
            ("ns", "timestamp_ns", False), ("at", "time", False), ("price", "decimal(9, 2)", False),
            ("who", "uuid", False), ("raw", "binary", False), ("three", "fixed[3]", False), ("ok", "boolean", False),
            ("a.b", "int", False), ("tags", {"type": "list"}, False), ("nothing", "unknown", False),
        ],
        1,
    )
}  # fmt: skip


def bound(text: str) -> Expression:
    return bind(parse(text), COLUMNS)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("id=3", "id = 3"), ("3 < id", "id > 3"), ("id <> -3", "id != -3"), ("ID2 == 1e2", "ID2 = 1E+2"),
        ("name = 'o''hara'", "name = 'o''hara'"), ("`a col`.\"b\" = 1", "a col.b = 1"),
        ("not (id = 1 or n = 2) and x > 1.5", "NOT (id = 1 OR n = 2) AND x > 1.5"),
        ("id = 1 or n = 2 and x = 3", "id = 1 OR (n = 2 AND x = 3)"),
        ("id in (1,2) and name not in ('a')", "id IN (1, 2) AND name NOT IN ('a')"),
        ("id between 1 and 2 and n = 3", "id >= 1 AND id <= 2 AND n = 3"),
        ("name like 'ja%'", "name LIKE 'ja%'"), ("name not like 'ja\\%'", "name != 'ja%'"),
        ("x is not nan or name is null", "x IS NOT NAN OR name IS NULL"), ("true", "true"), ("  ", "true"),
        ("days(ts) = DATE '2024-01-01'", "day(ts) = '2024-01-01'"), ("bucket(16, id) = 3", "bucket(16, id) = 3"),
        ("truncate(name, 3) = 'abc'", "truncate(3, name) = 'abc'"), ("raw = X'00ff'", "raw = X'00ff'"),
        ("day = '2024-01-01'", "day = '2024-01-01'"), ("flag = TRUE", "flag = true"),
    ],
)  # fmt: skip
def test_what_is_written(text: str, means: str) -> None:
    assert str(parse(text)) == means


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("jack", "a comparison is expected after jack, such as jack = 'a'"), ("'jack'", "is a value: compare a column"),
        ("id = ", "a value is expected, not the end of the filter"), ("id = 1 2", "2 is not expected"),
        ("(id = 1", ") is expected"), ("id = 'a", "a text begins that has no end"), ("id ? 1", "no part of a filter"),
        ("name like '%a'", "% at the end only"), ("id is 3", "NULL or NAN is expected"), ("id in 3", "( is expected"),
        ("bucket(id) = 1", ", is expected"), ("bucket(0, id) = 1", "takes a number from 1"), ("and = 1", "a column"),
        ("(" * (DEEPEST + 1) + "id = 1", "parentheses"), ("id between 1 or 2", "AND is expected"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(text: str, says: str) -> None:
    with pytest.raises(FilterError) as error:
        parse(text)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("NOT (id = 1 OR x < 2)", "id != 1 AND x >= 2.0"), ("day = '2024-03-01'", "day = '2024-03-01'"),
        ("ts >= '2024-03-01'", "ts >= '2024-03-01 00:00:00'"),
        ("tz = '2024-03-01 10:00:00+02:00'", "tz = '2024-03-01 08:00:00Z'"),
        ("tz = '2024-03-01 10:00:00+00:59'", "tz = '2024-03-01 09:01:00Z'"),
        ("price = 1.5", "price = 1.50"),
        ("who = 'F79C3E09-677C-4BBD-A479-3F349CB785E7'", "who = f79c3e09-677c-4bbd-a479-3f349cb785e7"),
        ("three = '00ff01'", "three = 0x00ff01"), ("ok = 'true'", "ok = true"), ("n = '12'", "n = 12"),
        ("id > 3000000000", "false"), ("id < 3000000000", "true"), ("id != -3000000000", "true"), ("f > 1e39", "false"),
        ("id IN (3000000000)", "false"), ("id NOT IN (3000000000)", "true"), ("id IN (3, 3000000000)", "id = 3"),
        ("id IS NULL", "false"), ("id IS NOT NULL", "true"), ("nothing IS NULL", "true"), ("n IS NULL", "n IS NULL"),
        ("year(ts) = '2024'", "year(ts) = 2024"), ("year(ts) = 54", "year(ts) = 2024"),
        ("month(ts) = '2024-03'", "month(ts) = 2024-03"), ("hour(ts) = '2024-03-01-10'", "hour(ts) = 2024-03-01-10"),
        ("day(ts) < '2024-03-01'", "day(ts) < 2024-03-01"), ("a.b = 1", "a.b = 1"), ("tags IS NULL", "tags IS NULL"),
    ],
)  # fmt: skip
def test_what_is_bound(text: str, means: str) -> None:
    assert str(bound(text)) == means


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nme = 'a'", "there is no column 'nme'; is 'name' meant?"), ("NAME = 'a'", "is 'name' meant?"),
        ("zzz = 1", "(columns: id, n, x"), ("id = 1.5", "it has a fraction"),
        ("id = 'a'", "'a' is no int, which id is"),
        ("name = 3", "3 is no string"), ("day = '2024-02-30'", "is no date"), ("day = 'x'", "it is written 2024-03-01"),
        ("three = '00'", "it has 1 bytes"), ("ts = '2024-01-01 00:00:00Z'", "it has a time zone"),
        ("id IS NAN", "only float"),
        ("n LIKE 'a%'", "LIKE takes texts"), ("tags = 1", "is a list: it can only be asked for IS NULL"),
        ("year(name) = 1", "year takes no string"), ("ok = 1", "1 is no boolean"),
        ("ts = '2024-01-01 25:00:00'", "is no timestamp"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(text: str, says: str) -> None:
    with pytest.raises(FilterError) as error:
        bound(text)
    assert says in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "id IN (1, 2) AND (name LIKE 'a%' OR x IS NAN)", "day >= '2024-03-01'", "ns < '2024-03-01 10:00:00.123456789'",
        "price != 1.50", "raw = X'00ff'", "bucket(16, id) = 3", "at = '10:20:30'", "tz < '1969-12-31 23:00:00Z'",
    ],
)  # fmt: skip
def test_json_and_back(text: str) -> None:
    whole = bound(text)
    assert bind(parse_expression(expression_json(whole)), COLUMNS) == whole


def test_json_that_is_no_filter_is_refused() -> None:
    for data in ([], {"type": "apply"}, {"type": 3}, "x"):
        with pytest.raises(ValueError, match="no "):
            parse_expression(data)


def test_not_is_pushed_down() -> None:
    assert push_down_not(parse("NOT (NOT (a = 1) OR true)")) == FALSE
    assert push_down_not(parse("NOT (a IS NULL AND b LIKE 'x%')")) == parse("a IS NOT NULL OR b NOT LIKE 'x%'")


def spec(transform: str, kind: str) -> Projection:
    schema = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "c", "required": False, "type": kind}]}
    fields = [{"source-id": 1, "field-id": 1000, "name": "p", "transform": transform}]
    data: dict[str, Any] = {
        "format-version": 2, "table-uuid": "u", "location": "/t", "last-sequence-number": 0, "last-updated-ms": 0,
        "last-column-id": 1, "current-schema-id": 0, "schemas": [schema], "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": fields}], "last-partition-id": 1000, "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
    }  # fmt: skip
    import json

    metadata, _ = parse_metadata(json.dumps(data).encode(), "/t/metadata/v1.metadata.json")
    return Projection(metadata.partition_specs[0], metadata)


@pytest.mark.parametrize(
    ("transform", "kind", "text", "inclusive", "strict"),
    [
        ("identity", "int", "c > 3", "p > 3", "p > 3"), ("bucket[8]", "int", "c > 3", "true", "false"),
        ("bucket[8]", "int", "c = 3", "p = 3", "false"), ("bucket[8]", "int", "c != 3", "true", "p != 3"),
        ("truncate[10]", "int", "c > 9", "p >= 10", "p > 0"), ("truncate[10]", "int", "c < 10", "p <= 0", "p < 10"),
        ("truncate[2]", "string", "c LIKE 'abc%'", "p LIKE 'ab%'", "false"),
        ("truncate[3]", "string", "c NOT LIKE 'abc%'", "p != 'abc'", "p != 'abc'"),
        ("day", "timestamp", "c >= '2024-03-01 10:00:00'", "p >= 2024-03-01", "p > 2024-03-01"),
        ("month", "date", "c < '2024-03-01'", "p <= 2024-02", "p < 2024-03"),
        ("day", "timestamp", "day(c) = '2024-03-01'", "p = 2024-03-01", "p = 2024-03-01"),
        ("day", "timestamp", "hour(c) = '2024-03-01-00'", "true", "false"),
        ("year", "date", "c = '1969-06-01'", "p IN (1969, 1970)", "false"), ("void", "int", "c = 3", "true", "false"),
        ("year", "date", "c != '1969-06-01'", "true", "p NOT IN (1969, 1970)"),
    ],
)  # fmt: skip
def test_projections(transform: str, kind: str, text: str, inclusive: str, strict: str) -> None:
    projection = spec(transform, kind)
    whole = bind(parse(text), {"c": FilterColumn(1, "c", kind)})
    assert (str(projection.inclusive(whole)), str(projection.strict(whole))) == (inclusive, strict)


ROWS = pa.table(
    {
        "id": [1, 2, 3, None],
        "name": ["anna", "bert", None, "carl"],
        "day": [datetime.date(2024, 3, d) for d in (1, 2, 3)] + [None],
        "ts": pa.array([datetime.datetime(2024, 3, d, 10) for d in (1, 2, 3)] + [None], pa.timestamp("us")),
        "price": [Decimal("1.50"), Decimal("2.50"), None, Decimal("3.00")],
        "at": [{"b": 1}, {"b": 2}, None, {"b": None}],
    }
)


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("id >= 2", [2, 3]), ("id != 2", [1, 3]), ("id NOT IN (2, 5)", [1, 3]), ("NOT (id = 2)", [1, 3]),
        ("name LIKE 'b%' OR name IS NULL", [2, 3]), ("name NOT LIKE 'b%'", [1, None]), ("day = '2024-03-02'", [2]),
        ("ts < '2024-03-02 10:00:00'", [1]), ("price IN (1.5, 3)", [1, None]), ("at.b = 2", [2]),
        ("true", [1, 2, 3, None]),
        ("day(ts) = '2024-03-03'", [3]), ("truncate(2, name) = 'be'", [2]), ("bucket(4, id) IS NULL", [None]),
        ("", [1, 2, 3, None]),
    ],
)  # fmt: skip
def test_rows_that_match(where: str, ids: list[int | None]) -> None:
    assert matching(ROWS, parse_filter(where, arrow_columns(ROWS.schema)))["id"].to_pylist() == ids


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id = " + "9" * 5000, "a number of 5,000 characters"), ("bucket(" + "9" * 5000 + ", id) = 1", "a number of"),
        ("price = 'NaN'", "at most 38 digits"), ("price IN ('Infinity', 1)", "at most 38 digits"),
        ("price = 1e999999999", "at most 38 digits"), ("name LIKE 'j_ck'", "% at the end only"),
        ("at = '10:00:00+02:00'", "it has a time zone"), ("tz = '2024-01-01 00:00:00+99:99'", "no such time zone"),
        ("day(ts) = '2024-03-01 23:00'", "it is written 2024-03-01"),
    ],
)  # fmt: skip
def test_what_no_column_holds_is_said_at_once(text: str, says: str) -> None:
    with pytest.raises(FilterError) as error:
        bound(text)
    assert says in str(error.value)


def test_numbers_beyond_all_types_take_no_time() -> None:
    assert bound("id < 1e999999999") == bound("n > '-1e99999999'") == TRUE
    assert str(bound("ns < '9999-01-01'")) == "true"
    assert str(bound("name LIKE 'a\\_b\\\\%'")) == "name LIKE 'a_b\\%'"


def test_long_filters_are_no_deep_ones() -> None:
    whole = bound(" OR ".join(f"id = {i}" for i in range(5000)))
    assert len(str(whole)) > 40_000
    assert bind(parse_expression(expression_json(whole)), COLUMNS) == whole
    assert bound(f"id IN ({', '.join(map(str, range(50_000)))})") != FALSE


def test_more_digits_than_python_reckons_with() -> None:
    columns = {"big": FilterColumn(1, "big", "decimal(38, 2)")}
    told = "123456789012345678901234567890.12"
    assert str(bind(parse(f"big = {told}"), columns)) == f"big = {told}"
    projection = spec("truncate[10]", "decimal(38, 2)")
    whole = bind(parse(f"c > {told}"), {"c": FilterColumn(1, "c", "decimal(38, 2)")})
    assert str(projection.inclusive(whole)) == "p >= 123456789012345678901234567890.10"


@pytest.mark.parametrize("transform", ["geohash", "bucket[0]", "truncate[0]", "year", "bucket", "zorder[3]"])
def test_transforms_that_are_not_the_specs_say_nothing(transform: str) -> None:
    projection = spec(transform, "string")
    whole = bind(parse("c = 'anna' OR c IS NULL"), {"c": FilterColumn(1, "c", "string")})
    assert (projection.inclusive(whole), projection.strict(whole)) == (TRUE, FALSE)


def test_null_rows_match_no_comparison() -> None:
    for where in ("id < 3000000000", "id != 3000000000", "id NOT IN (3000000000)"):
        assert matching(ROWS, parse_filter(where, arrow_columns(ROWS.schema)))["id"].to_pylist() == [1, 2, 3]


def test_milliseconds_of_rows_have_days_too() -> None:
    rows = pa.table({"ms": pa.array([datetime.datetime(2024, 3, d, 10) for d in (1, 2)], pa.timestamp("ms"))})
    assert matching(rows, parse_filter("day(ms) = '2024-03-02'", arrow_columns(rows.schema))).num_rows == 1


def test_constants() -> None:
    assert bound("true") == TRUE
    assert bound("NOT true") == FALSE


def test_a_name_of_two_fields_is_refused(tmp_path: Path) -> None:
    """apache/iceberg#13807: a column `A.B` beside a field B in a column A, with which Java loads no table."""
    struct = {"type": "struct", "fields": [{"id": 3, "name": "B", "required": False, "type": "int"}]}
    table = Table(tmp_path / "t", [(1, "A.B", "int"), (2, "A", struct), (4, "id", "long")])
    table.append(table.parquet("a.parquet", {"A.B": [1], "id": [1]}))
    opened = direct.open_table(str(tmp_path / "t"))
    for ask in (opened.plan, opened.row_history):
        with pytest.raises(NotFoundInTable, match=r"`A\.B` \(field 1\) and of `A`\.`B` \(field 3\)"):
            ask('"A.B" = 2')
    current = opened.metadata.current_snapshot
    assert current is not None
    assert "shows 1 row" in opened.row_history("id = 1").explain(current)[0]
    [finding] = [f for f in direct.doctor(opened).findings if f.rule == "field-id-conflict"]
    assert finding.what == "in schema 0, 2 fields have the name 'A.B', with the ids 1 and 3"
    assert finding.about.title == "A field id or name is used twice, or an id is reserved"


def test_a_name_that_another_column_had_is_told(tmp_path: Path) -> None:
    written = Table(tmp_path / "t", [(1, "id", "long"), (2, "v", "string")])
    written.append(written.parquet("a.parquet", {"id": [1], "v": ["x"]}))
    written.set_schema([(1, "id", "long")])
    written.save()
    dropped = direct.open_table(tmp_path / "t")
    with pytest.raises(NotFoundInTable, match=r"no column 'v'.* It fits schema 0, by which -s snapshot-1 is read"):
        dropped.row_history("v = 'x'")
    with pytest.raises(NotFoundInTable, match="It fits schema 0"):
        dropped.plan("v = 'x'")
    written.set_schema([(1, "id", "long"), (3, "v", "string")])
    written.append(written.parquet("b.parquet", {"id": [2], "v": ["y"]}))
    table = direct.open_table(tmp_path / "t")
    lines = table.row_history("v = 'x'").explain(table.metadata.current_snapshot)
    assert lines[-1].startswith("⚠ v is field 3 of the schema that the filter is read by. Another column, field 2, had")
    assert lines[-1].endswith("which -s snapshot-1 shows.")
    assert len(table.row_history("v = 'x'", snapshot="snapshot-1").rows) == 1
    assert not table.row_history("id = 1").former


def test_numbers_of_years_months_days_and_hours() -> None:
    """A year is itself; the number of a month, day or hour may be SQL's, which is no transform."""

    def stored(text: str) -> str:
        return str(bind(with_stored_numbers(parse(text)), COLUMNS))

    for text in ("year(ts) = 2024", "year(ts) = 54", "year(ts) IN (2024)", "NOT year(ts) != 2024"):
        assert stored(text) == "year(ts) = 2024" == stored(stored(text)), text
    assert stored("day(ts) = 19783") == "day(ts) = 2024-03-01"
    for text, other in (
        ("month(ts) = 6", "month(ts) = '2024-03'"), ("day(ts) IN (1, 19783)", "day(ts) = '2024-03-01'"),
        ("hour(ts) >= 23", "hour(ts) = '2024-03-01-10'"), ("x = 1 OR NOT hour(ts) = 0", "of every day"),
    ):  # fmt: skip
        with pytest.raises(FilterError, match=r"counts from 1970 here") as error:
            stored(text)
        assert other in str(error.value)
