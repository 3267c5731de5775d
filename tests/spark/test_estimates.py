"""Estimates held against what Spark makes of the table, and filters run in Spark beside their plans."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pyarrow.compute as pc
import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.errors import NotFoundInTable, StatementFailed
from explorer.queries.filters import arrow_columns, matching, parse_filter
from explorer.render.scan_reports import timings_json, timings_lines
from explorer.reports.estimates import estimate, layout_statements
from explorer.reports.timings import beside, measure
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.layout.estimates import FilterEstimate
from explorer.spec.scan.scan_report_diff import figures
from tests.support import direct
from tests.support.helpers import open_demo

FILTERS = ("id = 5000", "id BETWEEN 1000 AND 9000", "id IN (5, 40000)", "word LIKE 'user-05%'", "word = 'user-012345'",
           "ts >= '2024-01-10' AND ts < '2024-01-12'", "price > 90", "price > 90 AND id < 6000")  # fmt: skip
COLUMNS = "id BIGINT, ts TIMESTAMP, word STRING, price DOUBLE"
FILES, EACH = 8, 6000
WITHIN = 0.05
"""What an estimate may be off by beside one file: a share of the table's rows. Here values are spread evenly."""


@pytest.fixture(scope="module")
def scattered(engine: SparkEngine, sandbox: Path) -> Iterator[str]:
    """Ids and words in any order, times one after the other, a commit a file."""
    spark = engine.session()
    spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.estimates")
    spark.sql("DROP TABLE IF EXISTS sandbox.estimates.scattered PURGE")
    spark.sql(f"CREATE TABLE sandbox.estimates.scattered ({COLUMNS}) USING iceberg")
    for at in range(FILES):
        spark.sql(f"""
            INSERT INTO sandbox.estimates.scattered SELECT /*+ REPARTITION(1) */ (id + {at * EACH}) * 7919 % 48000,
            timestamp_seconds(1704067200 + ({at * EACH} + id) * 60),
            concat('user-', lpad(CAST((id + {at * EACH}) * 7877 % 100000 AS STRING), 6, '0')), rand({at}) * 100
            FROM range({EACH})""")
    yield "sandbox.estimates.scattered"
    for name in ("scattered", "real"):
        spark.sql(f"DROP TABLE IF EXISTS sandbox.estimates.{name} PURGE")
    spark.sql("DROP NAMESPACE sandbox.estimates")


@pytest.mark.parametrize(
    ("change", "how"),
    [
        ("sort by id", "CALL sandbox.system.rewrite_data_files(table => '{name}', strategy => 'sort', "
         "sort_order => 'id', options => map('rewrite-all', 'true', 'target-file-size-bytes', '{size}'))"),
        ("sort by word", "CALL sandbox.system.rewrite_data_files(table => '{name}', strategy => 'sort', "
         "sort_order => 'word', options => map('rewrite-all', 'true', 'target-file-size-bytes', '{size}'))"),
        ("compaction", "CALL sandbox.system.rewrite_data_files(table => '{name}', "
         "options => map('rewrite-all', 'true', 'target-file-size-bytes', '{size}'))"),
        ("partition by day(ts)", "days(ts)"), ("partition by bucket(8, id)", "bucket(8, id)"),
        ("partition by truncate(7, word)", "truncate(7, word)"),
    ],
    ids=lambda text: text.split("(")[0],
)  # fmt: skip
def test_estimates_come_true(engine: SparkEngine, scattered: str, change: str, how: str) -> None:
    spark, real = engine.session(), "sandbox.estimates.real"
    spark.sql(f"DROP TABLE IF EXISTS {real} PURGE")
    before = direct.open_table(scattered)
    total = before.plan("").left.bytes or 0
    if how.startswith("CALL"):
        spark.sql(f"CREATE TABLE {real} ({COLUMNS}) USING iceberg")
        for part in range(FILES):  # as the original: a commit a file
            rows = f"FROM {scattered} WHERE ts >= timestamp_seconds(1704067200 + {part * EACH * 60}) AND "
            rows += f"ts < timestamp_seconds(1704067200 + {(part + 1) * EACH * 60})"
            spark.sql(f"INSERT INTO {real} SELECT /*+ REPARTITION(1) */ * {rows}")
        # of several manifests Iceberg's planner, which reads them side by side, takes files in any order
        spark.sql("CALL sandbox.system.rewrite_manifests(table => 'estimates.real')")
        spark.sql(how.format(name="estimates.real", size=total // 4))
    else:
        spark.sql(f"CREATE TABLE {real} USING iceberg PARTITIONED BY ({how}) AS SELECT * FROM {scattered}")
    after = direct.open_table(real)
    made = after.plan("").left
    assert made.files
    # Spark's writers close files by what is not yet compressed, so there are more of them than were asked for
    found = estimate(before, FILTERS, file_size=-(-total // made.files) if how.startswith("CALL") else None)
    at = next(i for i, c in enumerate(found.changes) if c.text.startswith(change))
    whole = found.changes[at].whole
    assert whole
    print(f"\n{change}: estimated {whole.files} files, made {made.files}")
    assert abs(whole.files - made.files) <= max(2, made.files * WITHIN)
    one_file = 1.5 / min(whole.files, made.files)  # the places where files begin are not known
    for asked in found.filters:
        thought, is_so = _shares(asked, at, after, whole.rows)
        print(f"  {asked.where:42} of the rows {thought:6.1%} estimated, {is_so:6.1%} read, {thought - is_so:+.1%}")
        assert abs(thought - is_so) <= one_file + WITHIN, asked.where


def _shares(asked: FilterEstimate, at: int, after: direct.Table, rows: int) -> tuple[float, float]:
    reads = asked.reads[at]
    assert reads is not None
    return reads.rows / rows, (after.plan(asked.where).left.rows or 0) / rows


def test_figure_16_sorted(sandbox: Path) -> None:
    """What sorting is thought to make of the unsorted files is what the sorted are: one of four is read."""
    found = estimate(open_demo("unsorted_files"), ["name = 'jack'", "name = 'zoe'"])
    at = next(i for i, c in enumerate(found.changes) if c.text == "sort by name")
    for asked in found.filters:
        reads = asked.reads[at]
        assert reads
        assert (asked.now.files, reads.files) == (4 if "jack" in asked.where else 1, 1)
        assert open_demo("sorted_files").plan(asked.where).left.files == 1


def test_rows_that_deletes_hide_are_counted(sandbox: Path) -> None:
    """Ten of twelve rows are left, which only files tell: the estimate says that it counts twelve, as planning does."""
    found = estimate(open_demo("compaction_bin_pack"), "name > 'b'", "snapshot-4")
    assert (found.whole.rows, found.filters[0].now.rows) == (12, 12)
    assert all(c.whole and c.whole.rows == 12 for c in found.changes)
    assert any("those that deletes hide are counted" in said for said in found.assumed)


def test_two_snapshots_run_in_spark(sandbox: Path) -> None:
    """Before and after a compaction: the same rows, other figures, and both are the plan's."""
    ran = measure(open_demo("compaction_bin_pack"), "name > 'b'", ("snapshot-4", "snapshot-5"), runs=2)
    assert [m.rows for m in ran] == [9, 9]
    assert [len(m.seconds) for m in ran] == [2, 2]
    assert all(m.median > 0 and m.warming > 0 for m in ran)
    for m, files, deletes in zip(ran, (3, 1), (2, 0), strict=True):
        told = {f.name: f for f in figures(m)}
        assert (told["data files read"].planned, told["delete files"].planned) == (files, deletes)
        assert all(f.planned == f.spark and not f.why for f in told.values()), told
    assert any("the median of 2 runs" in line for line in timings_lines(ran))
    assert [m["version"] for m in timings_json(ran)] == ["snapshot-4", "snapshot-5"]
    asked = ["plan", "demo.compaction_bin_pack", "name > 'b'", "-s", "snapshot-4", "--measure"]
    told = CliRunner().invoke(main, [*asked, "--compare-with", "snapshot-5", "--output", "json"])
    assert [m["rows"] for m in json.loads(told.stdout)["runs"]] == [9, 9]


def test_another_table_is_run_beside(sandbox: Path) -> None:
    """Figure 16: sorting is what the other table did."""
    unsorted = open_demo("unsorted_files")
    ran = measure(unsorted, "name = 'jack'", (None, "demo.sorted_files@main"), runs=1)
    assert [(m.rows, m.metrics["resultDataFiles"]) for m in ran] == [(1, 4), (1, 1)]
    with pytest.raises(NotFoundInTable, match="it is no table"):
        beside(unsorted, "demo.no_such_table")
    with pytest.raises(NotFoundInTable, match="no-such-branch"):
        beside(unsorted, "no-such-branch")


def test_where_spark_reads_more_it_says_whose_choice_that_is(sandbox: Path) -> None:
    """A LIKE with an escape Spark does not hand to Iceberg, which could have left out all files but one."""
    ran = measure(open_demo("sorted_files"), r"name LIKE 'j\_%'", runs=1)[0]
    told = {f.name: f for f in figures(ran)}
    read = told["data files read"]
    assert (read.planned, read.spark) == (1, 4)
    assert read.why.startswith("Spark's choice: it hands Iceberg another filter than was asked for, and asks every row")
    assert "LIKE" in read.why
    assert not told["data manifests read"].why


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("hidden_partitioning", "id IN (1, 2) AND NOT (name = 'x''y\\z') AND name LIKE 'b%'"),
        ("hidden_partitioning", "born < '2000-01-01' OR seen IS NULL"),
        ("hidden_partitioning", "seen >= '2024-03-06 14:00:00'"),
        ("column_statistics", "reading IS NAN OR reading > 2"),
        ("hidden_partitioning", "bucket(4, id) = 1 OR month(joined) = '2024-03'"), ("deletion_vectors", ""),
    ],
)  # fmt: skip
def test_filters_have_words_in_spark(sandbox: Path, name: str, where: str) -> None:
    """Spark finds as many rows as match without it, in the files that the plan has."""
    table = open_demo(name)
    ran = measure(table, where, runs=1)[0]
    assert all(f.planned == f.spark for f in figures(ran))
    found = 0
    files = table.files().to_arrow()
    for path in files.filter(pc.equal(pc.fill_null(files["content"], 0), 0))["file_path"].to_pylist():
        rows = table.file_rows(path).to_arrow()
        rows = rows.filter(pc.is_null(rows["_deleted_by"]))
        found += matching(rows, parse_filter(where, arrow_columns(rows.schema))).num_rows
    assert ran.rows == found


def test_sql_that_fits_no_column_says_so(sandbox: Path) -> None:
    with pytest.raises(StatementFailed, match="nothing"):
        measure(open_demo("three_inserts"), "nothing = 1", sql=True)


def test_layouts_are_written_and_compared(engine: SparkEngine, sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figure 16: what sorting spares is what the plan of really sorted rows says, and nothing is left of them."""
    engine.session()  # the command's own Spark is the same one
    before, warehouse, given = open_demo("unsorted_files"), engine.sandbox / "warehouse" / "lab", uuid.uuid4()
    monkeypatch.setattr("explorer.lab.layouts.uuid", SimpleNamespace(uuid4=lambda: given))
    asked = ["scan", "estimate", "demo.unsorted_files", "--write", "name = 'jack'", "favorite_color = 'red'"]
    told = CliRunner().invoke(main, [*asked, "-o", "json"])
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert (found["rows"], found["which"], found["drawn"]) == (12, "all 12 rows", None)
    by = {one["layout"]: one for one in found["layouts"]}
    assert list(by) == ["unsorted", "bin-packed", "sorted", "z-ordered", "partitioned"]
    hows = [by[name]["how"] for name in ("unsorted", "sorted", "z-ordered")]
    assert hows == ["dealt out to 4 files", "by name", "by name, favorite_color"]
    assert by["partitioned"]["how"].startswith("by bucket(4, ")
    assert all(one["why_not"] is None and one["seconds"] > 0 and one["bytes"] > 0 for one in by.values())
    jack = {name: one["reads"][0] for name, one in by.items()}
    assert jack["sorted"]["data_files"] == 1 < jack["unsorted"]["data_files"]
    assert 0 < jack["sorted"]["bytes"] < by["sorted"]["bytes"]
    assert before.newer() is None
    assert warehouse.is_dir()
    assert not list(warehouse.glob(f"layouts_{given.hex[:12]}*"))


def test_a_query_that_does_not_fit_is_told_before_anything_is_written(sandbox: Path) -> None:
    with pytest.raises(NotFoundInTable, match="nothing"):
        direct.compare_layouts(open_demo("three_inserts"), ["nothing = 1"])


def test_a_coarser_partition_field_comes_true(engine: SparkEngine, scattered: str) -> None:
    """apache/iceberg#8663."""
    spark, real, where = engine.session(), "sandbox.estimates.days", "ts >= '2024-01-10' AND ts < '2024-01-12'"
    spark.sql(f"DROP TABLE IF EXISTS {real} PURGE")
    spark.sql(f"CREATE TABLE {real} ({COLUMNS}) USING iceberg PARTITIONED BY (days(ts))")
    for at in range(2):
        spark.sql(f"INSERT INTO {real} SELECT * FROM {scattered} WHERE id % 2 = {at} ORDER BY ts")
    table = direct.open_table(real)
    found = estimate(table, where)
    at = next(i for i, c in enumerate(found.changes) if c.text == "partition by month(ts) instead of day(ts)")
    statements, then, whole = layout_statements(table, found.changes[at]), found.total(at), found.changes[at].whole
    assert statements[0].endswith("REPLACE PARTITION FIELD ts_day WITH month(ts)")
    for statement in statements:
        spark.sql(statement).collect()
    made = direct.open_table(real)
    left = made.plan(where).left
    assert then is not None
    assert whole is not None
    assert (left.files, left.rows) == (then.files, then.rows)
    spark.sql(f"DROP TABLE {real} PURGE")


@pytest.mark.parametrize(("change", "number"), [("sort by ts", 1), ("partition by day(ts)", 2)])
def test_statements_make_the_change(engine: SparkEngine, scattered: str, change: str, number: int) -> None:
    spark, real, where = engine.session(), "sandbox.estimates.real", "ts >= '2024-01-10' AND ts < '2024-01-12'"
    spark.sql(f"DROP TABLE IF EXISTS {real} PURGE")
    spark.sql(f"CREATE TABLE {real} ({COLUMNS}) USING iceberg")
    for at in range(2):
        spark.sql(f"INSERT INTO {real} SELECT /*+ REPARTITION(1) */ * FROM {scattered} WHERE id % 2 = {at}")
    table = direct.open_table(real)
    found = estimate(table, where)
    at = next(i for i, c in enumerate(found.changes) if c.text == change)
    statements, then = layout_statements(table, found.changes[at]), found.total(at)
    assert len(statements) == number
    for statement in statements:
        spark.sql(statement).collect()
    left = direct.open_table(real).plan(where).left
    assert then is not None
    assert left.rows is not None
    assert left.rows <= then.rows * (1 + WITHIN)  # Spark may write smaller files than it was asked for
    assert left.rows < found.total().rows / 2  # type: ignore[union-attr]
