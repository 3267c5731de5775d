"""Estimates of what changes would make of filters: laws, edges, and what cannot be estimated."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.typedef import Record

from explorer.cli import main
from explorer.errors import NotPossible
from explorer.model.metadata import Schema
from explorer.queries.filters import filter_columns, parse_filter
from explorer.render.estimates import assumptions, change_rows, estimates_json, estimates_lines, filter_rows, verdicts
from explorer.render.layouts import ShownLayouts, layouts_json
from explorer.render.plans import mode_rows
from explorer.reports.estimates import estimate
from explorer.spark_engine.sql_guard.quoting import condition
from explorer.spec.filters.binding import bind
from explorer.spec.filters.expressions import FilterColumn
from explorer.spec.filters.filter_text import parse
from explorer.spec.layout import value_distribution
from explorer.spec.layout.estimates import Estimates, Reads
from explorer.spec.layout.layout_comparison import Layout, LayoutComparison, sample_queries
from explorer.spec.layout.layouts import transforms
from explorer.spec.layout.value_distribution import Axis, Spread
from explorer.spec.scan.plan import Amount
from explorer.spec.scan.ranges import values_of
from tests import examples
from tests.cases.mini import Table
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table, new_table, writable

ROWS, COMMITS = 400, 8
FILTERS = ("id = 7", "id < 800", "id IN (3, 3000)", "word = 'w-0100'", "word LIKE 'w-2%'", "at < '2024-01-15'",
           "day(at) = '2024-02-01'", "id < 800 OR word = 'w-0100'", "NOT (id = 5)", "at IS NULL", "price > 1.5",
           "")  # fmt: skip


def table_of(folder: Path, schema: pa.Schema, *commits: dict[str, list[Any]]) -> direct.Table:
    """A table with a commit, and a file, for each."""
    table = new_table(folder / "t", schema)
    for commit in commits:
        table.append(pa.table(commit, schema))
    return direct.open_table(str(folder / "t"))


def rows(commit: int) -> dict[str, list[Any]]:
    """Ids in any order, words too, times one after the other, a twentieth of them null."""
    rng = np.random.default_rng(commit)
    start = datetime.datetime(2024, 1, 1) + datetime.timedelta(days=10 * commit)
    times = [start + datetime.timedelta(minutes=36 * n) for n in range(ROWS)]
    return {
        "id": rng.integers(0, ROWS * COMMITS, ROWS).tolist(),
        "word": [f"w-{n:04}" for n in rng.integers(0, ROWS * COMMITS, ROWS)],
        "at": [None if n % 20 == 0 else at for n, at in enumerate(times)],
        "price": rng.random(ROWS).tolist(),
    }


@pytest.fixture(scope="module")
def scattered(tmp_path_factory: pytest.TempPathFactory) -> direct.Table:
    schema = pa.schema([("id", pa.int64()), ("word", pa.string()), ("at", pa.timestamp("us")), ("price", pa.float64())])
    return table_of(tmp_path_factory.mktemp("scattered"), schema, *map(rows, range(COMMITS)))


def after(found: Estimates, change: str, where: str) -> Reads:
    at = next(i for i, c in enumerate(found.changes) if c.text.startswith(change))
    reads = next(a for a in found.filters if a.where == where).reads[at]
    assert reads is not None
    return reads


def test_what_it_reads_now_is_the_plan(scattered: direct.Table) -> None:
    found = estimate(scattered, FILTERS)
    for asked in found.filters:
        assert asked.plan
        left = asked.plan.left
        assert (asked.now.files, asked.now.rows, asked.now.bytes) == (left.files, left.rows, left.bytes)
    assert [a.now.bytes for a in found.filters] == sorted((a.now.bytes for a in found.filters), reverse=True)


def holds(found: Estimates) -> None:
    """The laws of estimates: nobody reads more than there is, and all of it is there after each change."""
    for at, change in enumerate(found.changes):
        assert change.whole, change
        assert change.whole.rows == found.whole.rows == ROWS * COMMITS
        assert abs(change.whole.bytes - found.whole.bytes) <= 1
        for asked in found.filters:
            reads = asked.reads[at]
            assert reads
            assert reads.rows <= change.whole.rows, (change.text, asked.where)
            assert reads.files <= change.whole.files
            assert reads.bytes <= reads.weight
            if asked.where == "":
                assert reads == change.whole


@pytest.mark.parametrize("size", [None, 1000, 100_000])
def test_no_change_reads_more_than_the_table(scattered: direct.Table, size: int | None) -> None:
    holds(estimate(scattered, FILTERS, file_size=size))


ids = st.builds("id {} {}".format, st.sampled_from(["=", "<", ">=", "!="]), st.integers(-5, ROWS * COMMITS + 5))
texts = st.builds("word LIKE 'w-{}%'".format, st.integers(0, 40))
asked = st.recursive(
    ids | texts | st.sampled_from(FILTERS[:-1]),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR"]), inner), max_leaves=4,
)  # fmt: skip


@settings(max_examples=examples(12), deadline=None)
@given(st.lists(asked, min_size=1, max_size=6), st.integers(2000, 60_000))
def test_whatever_is_asked(scattered: direct.Table, filters: list[str], size: int) -> None:
    holds(estimate(scattered, filters, file_size=size))


def test_partitions_stay(tmp_path: Path) -> None:
    """What partitions skip now is skipped then; a field that is there is not proposed."""
    schema = pa.schema([("id", pa.int64()), ("part", pa.int32()), ("n", pa.int64())])
    table = new_table(tmp_path / "t", schema)
    with table.update_spec() as spec:
        spec.add_identity("part")
    for commit in range(3):
        ids = rows(commit)["id"]
        parts = [None if commit == 2 else commit] * ROWS
        table.append(pa.table({"id": ids, "part": parts, "n": list(range(ROWS))}, schema))
    opened = direct.open_table(str(tmp_path / "t"))
    where = "part = 1 AND id < 800"
    found = estimate(opened, [where, "part IS NULL", "part = 7"], file_size=1000)
    said = [c.text for c in found.changes]
    assert "partition by part" not in said
    assert not [text for text in said if text.startswith("partition by bucket") and "part)" in text]
    assert "sort by part" in said
    assert opened.plan(where).left.rows == ROWS
    assert 0 < after(found, "sort by id", where).rows < ROWS / 2
    for change in found.changes:
        assert after(found, change.text, where).rows <= ROWS, change
        assert after(found, change.text, "part IS NULL").rows == ROWS, change
        assert after(found, change.text, "part = 7") == Reads()


def test_a_sorted_column_is_read_in_part(scattered: direct.Table) -> None:
    """What a filter matches is evenly spread here, so a share of the files is read, and one file more at each end."""
    found, size = estimate(scattered, FILTERS), ROWS
    for change, where, least, most in (
        ("sort by id", "id = 7", 1, size), ("sort by id", "id < 800", 800, 800 + size),
        ("sort by id", "id IN (3, 3000)", 2, 2 * size), ("sort by word", "word LIKE 'w-2%'", 1000, 1000 + 2 * size),
        ("sort by word", "word = 'w-0100'", 1, size), ("sort by at", "at IS NULL", 160, size),
        ("sort by price", "price > 1.5", 0, 0), ("partition by day(at)", "day(at) = '2024-02-01'", 30, 48),
        ("partition by month(at)", "at < '2024-01-15'", 1100, 1250), ("partition by bucket(8, id)", "id = 7", 400, 400),
        ("sort by id", "word = 'w-0100'", ROWS * COMMITS, ROWS * COMMITS),
        ("compaction", "at < '2024-01-15'", ROWS * COMMITS, ROWS * COMMITS),
    ):  # fmt: skip
        assert least <= after(found, change, where).rows <= most, (change, where, after(found, change, where))


def test_compaction_keeps_neighbours_together(scattered: direct.Table) -> None:
    size = scattered.plan("").left.bytes or 0
    found = estimate(scattered, ["at < '2024-01-05'"], file_size=size // 4)
    reads = after(found, "compaction", "at < '2024-01-05'")
    assert (found.changes[0].whole or Reads()).files == 4
    assert (reads.files, reads.rows) == (1, 2 * ROWS)


@pytest.mark.parametrize("first", [1_700_000_000_000_000_001, -(2**63), 2**63 - 31, 0])
def test_large_numbers_are_told_apart(tmp_path: Path, first: int) -> None:
    """A float has no step of one above 2**53; rows that all have one value, and a time, lie there all the same."""
    schema, start = pa.schema([("id", pa.int64()), ("at", pa.timestamp("us"))]), datetime.datetime(2024, 3, 1)
    made = [{"id": [first + 10 * at] * 100, "at": [start + datetime.timedelta(at)] * 100} for at in range(4)]
    filters = [f"id = {first + 20}", "at = '2024-03-02'"]
    found = estimate(table_of(tmp_path, schema, *made), filters)
    assert {c.text for c in found.changes} >= {"partition by id", "partition by hour(at)", "partition by month(at)"}
    assert all(change.whole and change.whole.rows == 400 for change in found.changes)
    for change in ("sort by id", "partition by id"):
        assert (after(found, change, filters[0]).files, after(found, change, filters[0]).rows) == (1, 100)
    for change in ("sort by at", "partition by day(at)", "partition by hour(at)"):
        whole = next(c.whole for c in found.changes if c.text == change)
        assert whole
        assert (whole.files, after(found, change, filters[1]).rows) == (4, 100)


def test_no_row_lies_between_files(tmp_path: Path) -> None:
    made = [{"id": list(range(start, start + 100))} for start in (0, 50_000, 90_000)]
    found = estimate(table_of(tmp_path, pa.schema([("id", pa.int64())]), *made), ["id = 25000", "id = 50003"])
    split = next(c.whole for c in found.changes if c.text == "partition by id")
    assert split
    assert (split.files, split.rows) == (300, 300)
    for change in ("sort by id", "partition by id"):
        assert after(found, change, "id = 25000") == Reads()
    assert after(found, "sort by id", "id = 50003").rows == 100
    assert after(found, "partition by id", "id = 50003").rows == 1


def test_the_ends_of_files_are_not_lost(tmp_path: Path) -> None:
    words = [["anna", "bob"], ["jack", "kim"], ["mia", "zoe"]]
    filters = [f"name = '{name}'" for some in words for name in some]
    made = [{"name": some * 50} for some in words]
    found = estimate(table_of(tmp_path, pa.schema([("name", pa.string())]), *made), filters)
    assert [after(found, "sort by name", where).files for where in filters] == [1] * 6


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20), st.sampled_from(["long", "timestamp_ns"]))
def test_integers_come_back_in_order(numbers: list[int], kind: str) -> None:
    values = np.array(sorted(numbers), np.int64)
    axis = Axis.of(kind, values)
    assert axis
    there = axis.numbers(values)
    assert (np.diff(there) >= 0).all()
    back, wide = axis.values(there).tolist(), max(numbers) - min(numbers)
    assert all(abs(a - b) <= (axis.step if wide > 2**50 else 0) for a, b in zip(back, values.tolist(), strict=True))


def test_the_best_change_is_told(scattered: direct.Table) -> None:
    found = estimate(scattered, ["id = 7", "id = 9", "word = 'w-0100'"])
    assert found.best is not None
    assert found.lightest is not None
    best, lightest = (found.changes[at].text for at in (found.best, found.lightest))
    assert (best, lightest) == ("sort by id", "compaction to 512 MiB")  # a file for each id would weigh too much
    told = [line for line in verdicts(found) if not line.startswith("  ")]
    assert [best in line or lightest in line for line in told] == [False, True, True]
    first, second = (found.changes[at].statements for at in (found.best, found.lightest))
    assert [len(first), len(second)] == [1, 1]
    assert "strategy => 'sort', sort_order => 'id'" in first[0]
    assert "'target-file-size-bytes', '536870912'" in second[0]
    assert [row["estimate"] for row in change_rows(found)][:2] == [False, True]
    already = estimate(scattered, ["at < '2024-01-05'"], file_size=10**9)
    assert after(already, "sort by at", "at < '2024-01-05'").rows == ROWS * COMMITS  # one file, which is read


def test_a_filter_that_does_not_fit_is_a_row(scattered: direct.Table) -> None:
    found = estimate(scattered, ["id = 7", "idd = 7", "id ="])
    told = {row["where"]: row["error"] for row in filter_rows(found)}
    assert told["id = 7"] is None
    assert "is 'id' meant" in (told["idd = 7"] or "")
    assert told["id ="]
    assert found.total() == found.filters[0].now
    assert not estimate(scattered, ["nothing = 1"]).changes


def test_one_file_and_no_file(tmp_path: Path) -> None:
    found = estimate(direct.open_table(str(make_table(tmp_path / "one", 1))), ["id = 0", "fruit = 'x'"])
    assert found.whole.files == 1
    assert all(change.whole for change in found.changes)
    empty = direct.open_table(str(make_table(tmp_path / "none", 0)))
    found = estimate(empty, "id = 1")
    assert (found.whole, found.changes, found.total()) == (Reads(), (), Reads())
    assert list(estimates_lines(found))


def test_without_bounds_nothing_is_estimated(tmp_path: Path) -> None:
    name = "write.metadata.metrics.column.id"
    folder = make_table(tmp_path, 3, **{name: "counts"})
    found = estimate(direct.open_table(str(folder)), ["id = 1", "fruit = 'fruit-1'"])
    sort = next(c for c in found.changes if c.text == "sort by id")
    assert sort.whole is None
    assert f"writers keep none either ({name} = counts): set {name} to truncate(16) and rewrite" in sort.because
    assert not any(c.text.startswith("partition by id") for c in found.changes)
    assert any(c.text == "partition by bucket(4, id)" for c in found.changes)  # which needs none
    assert any("no file has bounds of id" in text for text in assumptions(found))
    edit_metadata(folder, lambda data: data["properties"].pop(name))
    [sort] = (c for c in estimate(direct.open_table(str(folder)), "id = 1").changes if c.text.startswith("sort"))
    assert "writers keep none" not in sort.because  # the next files will have them
    assert f"{name} need not be set, since writers are to keep them" in sort.because


@pytest.mark.parametrize("properties", [{}, {"write.metadata.metrics.column.id": "full"}, {
    "write.metadata.metrics.default": "full"}])  # fmt: skip
def test_no_property_is_to_be_set_that_is_set(properties: dict[str, str], tmp_path: Path) -> None:
    """As a writer leaves files that writes column sizes and counts of nulls, and no bounds, whatever the table says."""
    table = Table(tmp_path / "t", [(1, "id", "long")], properties=properties)
    for name in "ab":
        file = table.parquet(f"{name}.parquet", {"id": [1, None]})
        table.append({**file, "value_counts": None, "lower_bounds": None, "upper_bounds": None})
    opened = direct.open_table(str(tmp_path / "t"))
    sort = next(c for c in estimate(opened, "id = 1").changes if c.text == "sort by id")
    assert "write.metadata.metrics.column.id need not be set, since writers are to keep them (" in sort.because
    assert "files that Spark rewrites have them" in sort.because
    [mode] = opened.metrics()
    assert (mode.counts, mode.nulls, mode.lower, mode.upper) == (0, 2, 0, 0)
    assert mode.agreement.startswith("0 of 2 files have counts of values, 2 of nulls, 0 bounds; the others are older")
    [row] = mode_rows([mode])
    assert (row["with_counts"], row["with_null_counts"]) == (0, 2)


def test_transforms_that_keep_the_order_of_a_column() -> None:
    def told(kind: str, *values: Any) -> list[str]:
        axis = Axis.of(kind, np.array(values, dtype=object if kind == "string" else np.int64))
        assert axis is not None
        return transforms(FilterColumn(1, "c", kind), axis)

    assert told("date", 1, 400) == ["month", "day"]
    assert told("timestamptz", 1, 400) == ["month", "day", "hour"]
    assert told("string", "anna", "anton") == ["truncate[3]"]
    assert told("long", 1, 400) == ["identity"]
    assert told("double", 1, 400) == []


def with_file(folder: Path, **said: Any) -> direct.Table:
    """A table of `table_of`, to which a file is added of which the metadata say this and nothing else."""
    table = writable(folder / "t")
    metrics = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
    file = DataFile.from_args(
        content=DataFileContent.DATA, file_path=f"{table.location()}/data/0.parquet", file_format=FileFormat.PARQUET,
        partition=Record(), file_size_in_bytes=598, spec_id=0, **{**{name: {} for name in metrics}, **said},
    )  # fmt: skip
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        append.append_data_file(file)
    return direct.open_table(str(folder / "t"))


def test_files_without_rows_are_skipped_as_the_plan_does(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64())])
    table_of(tmp_path, schema, {"id": [1, 2, 3]})
    opened = with_file(tmp_path, record_count=0)
    for where, files in (("id > 1", 1), ("", 2)):
        found = estimate(opened, where, file_size=10)
        left, now = opened.plan(where).left, found.filters[0].now
        assert (now.files, now.rows, now.bytes) == (left.files, left.rows, left.bytes)
        assert (now.files, now.rows, now.weight) == (files, 3, files << 22)
        assert after(found, "compaction", where).rows == 3


def test_partitions_of_older_specs_are_told(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("hour", pa.int64()), ("day", pa.int64())])
    table = new_table(tmp_path / "t", schema)
    with table.update_spec() as update:
        update.add_identity("hour")
    for hour in range(3):
        table.append(pa.table({"id": [hour], "hour": [hour], "day": [1]}, schema))
    place = str(tmp_path / "t")
    assert not [text for text in assumptions(estimate(direct.open_table(place), "id = 1")) if "other specs" in text]
    with table.update_spec() as update:
        update.remove_field("hour")
        update.add_identity("day")
    found = estimate(direct.open_table(place), "id = 1")
    assert [text for text in assumptions(found) if "3 partitions of other specs than the current one, 2," in text]
    assert estimates_json(found)["assumed"] == list(found.assumed)


def test_words_agree_and_what_all_rest_on_is_said_once(scattered: direct.Table) -> None:
    one, two = ("\n".join(estimates_lines(estimate(scattered, list(FILTERS[:number])))) for number in (1, 2))
    assert "Now the filter reads " in one
    assert "Now 2 filters together read " in two
    assert " of 4 files (weight 16.0 MiB). A file weighs " in one
    assert one.count("rows are as wide as now") == one.count("spread evenly") == 1
    assert "partition by truncate(3, word)" in "\n".join(estimates_lines(estimate(scattered, "word = 'w-0100'")))


def test_filters_that_do_not_fit_are_told_once(scattered: direct.Table, tmp_path: Path) -> None:
    place = scattered.metadata.metadata_location
    some = CliRunner().invoke(main, ["scan", "estimate", place, "id = 7", "idd = 7"])
    assert (some.exit_code, some.output.count("there is no column 'idd'")) == (0, 1)
    for output in ("text", "json"):
        none = CliRunner().invoke(main, ["scan", "estimate", place, "idd = 7", "id =", "-o", output])
        assert (none.exit_code, none.stdout, none.stderr.count("there is no column 'idd'")) == (1, "", 1)
    other = tmp_path / "latin.txt"
    other.write_bytes(b"word = '\xe9'\n")
    refused = CliRunner().invoke(main, ["scan", "estimate", place, f"@{other}"])
    assert (refused.exit_code, "UTF-8" in refused.stderr) == (1, True)


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--picture", "a.svg", "--stage", "files"], 2, "leave out --stage"),
        (["--picture", "a.svg", "--measure"], 2, "and --measure"),
        (["--picture", "a.html", "--engines"], 2, "--engines"),
        (["--stage", "files", "--measure"], 2, "that stage alone"),
        (["--stage", "tasks", "--engines"], 2, "that stage alone"),
        (["--picture", "a.png"], 2, "drawn as .html or .svg"),
        (["--picture", "nowhere/a.svg"], 1, "there is no folder nowhere"),
        (["--compare-with", "main"], 2, "requires --measure"),
    ],
)  # fmt: skip
def test_options_that_would_be_ignored_are_refused(options: list[str], code: int, said: str) -> None:
    """Before the table is opened: there is none."""
    run = CliRunner().invoke(main, ["plan", "no-table", "id = 7", *options])
    assert (run.exit_code, said in run.stderr) == (code, True), run.stderr


def test_the_command(scattered: direct.Table, tmp_path: Path) -> None:
    listed = tmp_path / "past.txt"
    listed.write_text("# yesterday\nid = 7\n\nidd = 7\n")
    place = scattered.metadata.metadata_location
    run = CliRunner().invoke(main, ["scan", "estimate", place, "word = 'w-0100'", f"@{listed}", "--output", "json"])
    assert run.exit_code == 0, run.output
    told = json.loads(run.stdout)
    assert [row["where"] for row in told["filters"]] == ["word = 'w-0100'", "id = 7", "idd = 7"]
    assert told["estimates"][0]["change"] == "as it is"
    assert {row["estimate"] for row in told["estimates"][1:]} == {True}
    text = CliRunner().invoke(main, ["scan", "estimate", place, "@-"], input="id = 7\n")
    assert "an estimate" in text.stdout
    assert CliRunner().invoke(main, ["scan", "estimate", place]).exit_code == 2
    beside = CliRunner().invoke(main, ["plan", place, "id = 7", "--compare-with", "snapshot-1"])
    assert (beside.exit_code, "--measure" in beside.stderr) == (2, True)


def test_filters_in_sparks_words() -> None:
    kinds = {
        "a.b": "long",
        "s t": "string",
        "d": "date",
        "z": "timestamptz",
        "u": "uuid",
        "x": "decimal(4, 1)",
        "t": "time",
    }
    columns = {name: FilterColumn(at, name, kind) for at, (name, kind) in enumerate(kinds.items(), 1)}

    def words(where: str) -> str:
        return condition(bind(parse(where), columns), [{"id": c.field_id, "name": n, "type": c.kind} for n, c in named])

    named = list(columns.items())
    assert words("a.b IN (1, 2) AND `s t` = 'it''s \\'") == r"(`a.b` IN (1, 2) AND `s t` = 'it\'s \\')"
    assert words("NOT (d < '2024-03-01') OR z IS NULL") == "(`d` >= DATE'2024-03-01' OR `z` IS NULL)"
    assert words("day(z) = '2024-03-01'") == "sandbox.system.days(`z`) = DATE'2024-03-01'"
    assert words("bucket(4, a.b) = 1") == "sandbox.system.bucket(4, `a.b`) = 1"
    assert words("z > '2024-03-01 10:00:00Z'") == "`z` > TIMESTAMP'2024-03-01 10:00:00Z'"
    assert words("x != 1.5") == "`x` != CAST('1.5' AS DECIMAL(4, 1))"
    assert words("") == ""
    with pytest.raises(NotPossible, match="no value of t's type, time"):
        words("t = '10:00:00'")


def test_names_and_types_are_no_words_of_a_statement() -> None:
    """Names are words of SQL, have dots or backticks; a type is a stranger's text too."""
    inner = {"type": "struct", "fields": [{"id": 4, "name": "c.d", "type": "float"}]}
    fields = [
        {"id": 1, "name": "null", "type": "long"}, {"id": 2, "name": "x`y", "type": "string"},
        {"id": 3, "name": "s", "type": inner}, {"id": 5, "name": "e", "type": "decimal(9) AS INT) IS NULL OR (1=1,2)"},
    ]  # fmt: skip
    columns = filter_columns(Schema(0, (), {}, (), {"type": "struct", "fields": fields}))

    def words(where: str) -> str:
        return condition(parse_filter(where, columns, null_too=True), fields)

    assert words("`null` = 4") == "`null` = 4"
    assert words("`x``y` IS NOT NULL") == "`x``y` IS NOT NULL"
    assert words("`s.c.d` > 1") == "`s`.`c.d` > CAST('1.0' AS FLOAT)"
    with pytest.raises(NotPossible, match="no value of e's type"):
        words("e = 5")


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**40), 2**40), st.integers(0, 2**30), st.integers(1, 50)), min_size=1))
def test_a_spread_grows_and_keeps_its_ends(cells: list[tuple[int, int, int]]) -> None:
    lows = np.array([low for low, *_ in cells])
    highs, rows = lows + [width for _, width, _ in cells], np.array([n for *_, n in cells], float)
    known = Spread("long")
    known.add(lows, highs, rows)
    axis = Axis.of("long", known.bounds)
    assert axis
    curve = known.curve(axis)
    assert curve
    edges = curve.at(np.linspace(0, 1, 33))
    assert (np.diff(edges) >= 0).all()
    assert (edges[0], edges[-1]) == (lows.min(), highs.max())
    assert curve.rows == rows.sum()


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.text(max_size=8), min_size=2))
def test_texts_keep_their_order_as_numbers(texts: list[str]) -> None:
    axis = Axis.of("string", values_of(texts))
    assert axis
    ordered = sorted(texts)
    assert (np.diff(axis.numbers(values_of(ordered))) >= 0).all()
    back = axis.values(axis.numbers(values_of(ordered))).tolist()
    assert all(a <= b for a, b in zip(back, ordered, strict=True))  # cut at most


def test_many_intervals_are_kept_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows below each value stay as they were, within a hundredth."""
    monkeypatch.setattr(value_distribution, "MOST", 400)
    monkeypatch.setattr(value_distribution, "LEFT", 200)
    rng = np.random.default_rng(1)
    lows = rng.integers(0, 1_000_000, 5000)
    known = Spread("long")
    for some in np.split(lows, 50):
        known.add(some, some + 100, np.ones(len(some)))
    assert len(known.bounds) <= 2 * 400
    axis = Axis.of("long", known.bounds)
    assert axis
    curve = known.curve(axis)
    assert curve
    truth = np.searchsorted(np.sort(lows), np.arange(0, 1_000_000, 50_000)) / len(lows)
    assert np.abs(curve.below(np.arange(0, 1_000_000, 50_000).astype(float)) - truth).max() < 0.01


def test_queries_are_drawn_of_the_rows() -> None:
    """The middle of each of three columns that order; names and texts that end a quote; NaN and null are no values."""
    days = [datetime.datetime(2024, 1, 1) + datetime.timedelta(days=n) for n in range(100)]
    rows = pa.table(
        {
            "flag": [True, False] * 50, "same": [7] * 100, "a `b`": [float(n) for n in range(99)] + [float("nan")],
            "word": ["it's"] * 60 + ["x"] * 39 + [None], "at": days, "id": list(range(100)),
        }
    )  # fmt: skip
    queries, said = sample_queries(rows)
    name, word = "`a ``b```", "word = 'it''s'"
    price, at = f"{name} >= 44.0 AND {name} < 54.0", "at >= '2024-02-15 00:00:00' AND at < '2024-02-25 00:00:00'"
    assert queries == (price, word, at, f"{price} AND {word}")
    assert said == "drawn of the rows: the middle tenth of the values of a `b`, word, at; then a `b` and word at once"
    assert all(parse(query) for query in queries)
    (words,), _ = sample_queries(pa.table({"in": [1.0, 2.0, float("inf"), float("nan"), 3.0]}))
    assert parse(words)
    assert sample_queries(rows.select(["flag", "same"])) == ((), "no column has several numbers, times or texts")


def test_layouts_are_told_and_drawn_as_text() -> None:
    """What a stranger named stays text; a layout that could not be made is told, not drawn."""
    amount = Amount(1, 2, 3, 4096)
    made = Layout("sorted", "by <b>", seconds=1.5, written=amount, reads=(amount,))
    found = LayoutComparison("t<i>", 3, "all 3 rows", ("<b> = 1",), "", (made, Layout("z-ordered", "", "no <u>")))
    assert "not written: no <u>" in repr(ShownLayouts(found))
    assert layouts_json(found)["layouts"][0]["reads"] == [{"where": "<b> = 1", "data_files": 2, "bytes": 4096}]
    unwritten = layouts_json(found)["layouts"][1]
    assert unwritten.items() >= {"why_not": "no <u>", "files": 0, "bytes": 0, "reads": []}.items()
    html = ShownLayouts(found)._repr_html_()
    assert "&lt;b&gt;" in html
    assert not any(tag in html for tag in ("<b>", "<i>", "<u>"))
    assert html.count("2 files, 4.0 KiB") == 3


def test_a_column_with_half_its_bounds_is_not_said_to_have_none(tmp_path: Path) -> None:
    table_of(tmp_path, pa.schema([("id", pa.int64())]))
    opened = with_file(tmp_path, record_count=9, lower_bounds={1: (5).to_bytes(8, "little")})
    found = estimate(opened, "id = 7")
    sort = next(c for c in found.changes if c.text == "sort by id")
    assert sort.whole is None
    assert "values of id (long) have nothing between them" in sort.because
    assert not any("no file has bounds" in text for text in assumptions(found))
