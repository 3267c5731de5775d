"""Troubles from public reports, made by Spark itself: what is answered, and that what is printed does it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from explorer.spec.doctor.findings import Finding
from tests.cases import thirteenth
from tests.statements.printed import statements
from tests.support import direct
from tests.support.report_tables import found, java_table, live_files
from tests.unit.test_screen import run

SPACE = "sandbox.thirteenth"


def test_a_table_made_with_a_sort_order(session: Any) -> None:
    """apache/iceberg#17814: Spark cannot sort its files by another one."""
    iceberg, name = session._jvm.org.apache.iceberg, f"{SPACE}.ordered"
    fields = session._jvm.java.util.ArrayList()
    for number, column in enumerate(("id", "v"), 1):
        fields.add(iceberg.types.Types.NestedField.optional(number, column, iceberg.types.Types.IntegerType.get()))
    schema = iceberg.Schema(fields)
    order = iceberg.SortOrder.builderFor(schema).asc("id").build()
    catalog = iceberg.spark.Spark3Util.loadIcebergCatalog(session._jsparkSession, "sandbox")
    at = iceberg.catalog.TableIdentifier.parse("thirteenth.ordered")
    catalog.buildTable(at, schema).withSortOrder(order).create()
    for number in range(3):
        session.sql(f"INSERT INTO {name} VALUES ({number}, {9 - number})")

    def preview(kind: str, columns: str) -> tuple[str, list[str]]:
        words = ["--sort-by", columns] if columns else []
        told = run("maintain", "preview", name, kind, *words, "-O", "rewrite-all=true").output
        return told, statements(told)

    refused = [("compact-sort", "v"), ("compact-z-order", "id,v"), ("compact-sort", "id,v")]
    for kind, columns in refused:
        told, printed = preview(kind, columns)
        assert "Spark would fail: 'Cannot use output sort order id 0 because" in told, (kind, columns)
        assert printed == []
    with pytest.raises(Exception, match="Cannot use output sort order id 0 because the table does not contain"):
        session.sql(
            "CALL sandbox.system.rewrite_data_files(table => 'thirteenth.ordered', strategy => 'sort', "
            "sort_order => 'v', options => map('rewrite-all', 'true'))"
        )
    for kind, columns in [("compact-sort", ""), ("compact-sort", "id"), ("compact", "")]:
        _, [statement] = preview(kind, columns)
        session.sql(statement)
    session.sql(f"ALTER TABLE {name} WRITE UNORDERED")
    session.sql(f"ALTER TABLE {name} WRITE ORDERED BY id")
    for kind, columns in refused:
        _, [statement] = preview(kind, columns)
        session.sql(statement)
    assert str(java_table(session, name).sortOrder().orderId()) == "1"


def register(session: Any, name: str, folder: Path) -> str:
    """A table of the newest metadata file of a folder."""
    newest = max((folder / "metadata").glob("*.metadata.json"))
    session.sql(f"CALL sandbox.system.register_table(table => 'thirteenth.{name}', metadata_file => '{newest}')")
    return f"{SPACE}.{name}"


def test_an_upsert_that_removed_nothing(session: Any, tmp_path: Path) -> None:
    """apache/iceberg-python#3758: one finding, which leads back to the rows as they were."""
    name = register(session, "upsert", thirteenth.upsert_beside(tmp_path / "t"))
    assert sorted((row.k, row.v) for row in session.table(name).collect()) == [("a", 1), ("a", 2), ("b", 1), ("b", 1)]
    report = direct.doctor(name)
    [finding] = report.findings
    assert (finding.rule, finding.severity, finding.snapshots) == ("operation-contradicts", "warning", (102, 103))
    assert "counts 1 data file of 2 rows as removed, which its manifests still list" in finding.what
    assert {f.rule for f in finding.explains} == {"totals-differ"}
    for statement in statements(finding.remedy):
        session.sql(statement)
    session.sql(f"REFRESH TABLE {name}")
    assert sorted((row.k, row.v) for row in session.table(name).collect()) == [("a", 1), ("b", 1)]


def test_an_upsert_under_a_newer_spec(session: Any, tmp_path: Path) -> None:
    """apache/iceberg#8979: the remedy keeps the row that the upsert wrote."""
    name = register(session, "evolved", thirteenth.upsert_under_a_newer_spec(tmp_path / "t"))
    told = run("data", "history", name, "id = 1").output
    assert "does not apply: the delete is of partition spec 1, the data of spec 0" in told
    [finding] = found(name, "delete-misplaced", deep=True)
    assert "by what tells them from newer rows" in finding.remedy
    assert "a DELETE by the key alone takes that one too" in finding.remedy
    session.sql(f"DELETE FROM {name} WHERE id = 1 AND v = 'old'")
    assert sorted((row.id, row.v) for row in session.table(name).collect()) == [(1, "new"), (2, "old")]


def lineage_findings(name: str) -> list[Finding]:
    return [f for f in direct.doctor(name, deep=True).findings if f.about.number in (50, 51, 76)]


def test_an_update_that_copied_the_table(session: Any) -> None:
    """apache/iceberg#18004: it rewrote every file, and removed one; in version 3 the copies have their row's id."""
    name = f"{SPACE}.copied"
    session.sql(
        f"CREATE TABLE {name} (id INT, v INT) USING iceberg "
        "TBLPROPERTIES ('format-version' = '3', 'write.update.mode' = 'copy-on-write')"
    )
    for number in range(4):
        session.sql(f"INSERT INTO {name} VALUES ({number}, {number})")
    session.sql(f"ALTER TABLE {name} CREATE BRANCH work")
    session.sql(f"UPDATE {name}.branch_work SET v = CASE id WHEN 3 THEN 30 ELSE v END WHERE id IN (0, 1, 2, 3)")
    table = java_table(session, name)
    added = list(table.snapshot("work").addedDataFiles(table.io()))
    overwrite = table.newOverwrite()
    for file in added:
        overwrite.addFile(file)
    [updated] = [f for f in live_files(session, name) if bytes(f.lowerBounds().get(1).array())[0] == 3]
    overwrite.deleteFile(updated).commit()
    session.sql(f"ALTER TABLE {name} DROP BRANCH work")
    session.sql(f"REFRESH TABLE {name}")
    rows = session.sql(f"SELECT id, v, _row_id FROM {name}").collect()
    assert (len(rows), len({row._row_id for row in rows})) == (7, 4)
    [finding] = lineage_findings(name)
    assert finding.what.startswith("3 visible rows share their row id with another visible row")
    assert (finding.rule, finding.severity, finding.examples) == ("row-ids-overlap", "error", (added[0].location(),))
    back, distinct = statements(finding.remedy)
    session.sql("SET spark.sql.sources.partitionOverwriteMode=static")
    session.sql(distinct)
    assert sorted((row.id, row.v) for row in session.table(name).collect()) == [(0, 0), (1, 1), (2, 2), (3, 30)]
    assert lineage_findings(name) == []
    session.sql(back)
    session.sql(f"REFRESH TABLE {name}")
    assert sorted(row.v for row in session.table(name).collect()) == [0, 1, 2, 3]


def test_a_rewrite_that_lost_row_ids(session: Any) -> None:
    """apache/iceberg-go#999, apache/paimon#9245: compaction by a writer that does not know row lineage."""
    name, other = f"{SPACE}.renumbered", f"{SPACE}.unnumbered"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    for number in range(2):
        session.sql(f"INSERT INTO {name} VALUES ({number})")
    session.sql(f"CREATE TABLE {other} USING iceberg AS SELECT /*+ COALESCE(1) */ * FROM {name}")
    [written] = live_files(session, other)
    table = java_table(session, name)
    rewrite = table.newRewrite()
    for file in live_files(session, name):
        rewrite.deleteFile(file)
    target = Path(table.location(), "data", "compacted.parquet")
    shutil.copy(written.location(), target)
    builder = session._jvm.org.apache.iceberg.DataFiles.builder(table.spec()).withPath(str(target))
    builder = builder.withFormat("parquet").withRecordCount(2).withFileSizeInBytes(target.stat().st_size)
    rewrite.addFile(builder.build()).commit()
    session.sql(f"REFRESH TABLE {name}")
    assert sorted(row._row_id for row in session.sql(f"SELECT _row_id FROM {name}").collect()) == [2, 3]
    [finding] = lineage_findings(name)
    assert (finding.rule, finding.severity, finding.found) == ("row-ids-changed", "warning", "row ids from 2 on")
    assert finding.file == str(target)


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_row_ids_that_spark_keeps(session: Any, mode: str) -> None:
    """Updates, merges and compaction by Spark, also of a table that was upgraded: no alarm."""
    name = f"{SPACE}.kept"
    modes = ", ".join(f"'write.{kind}.mode' = '{mode}'" for kind in ("update", "merge", "delete"))
    session.sql(f"CREATE TABLE {name} (id INT, v INT) USING iceberg TBLPROPERTIES ('format-version' = '2', {modes})")
    session.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ id, id FROM range(6)")
    session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('format-version' = '3')")
    options = "options => map('rewrite-all', 'true')"
    rewrite = f"CALL sandbox.system.rewrite_data_files(table => 'thirteenth.kept', {options})"
    session.sql(rewrite)
    assert lineage_findings(name) == []
    session.sql(f"INSERT INTO {name} VALUES (6, 6)")
    session.sql(f"UPDATE {name} SET v = v + 10 WHERE id IN (1, 6)")
    session.sql(
        f"MERGE INTO {name} t USING (SELECT 2 AS id UNION ALL SELECT 9) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = 22 WHEN NOT MATCHED THEN INSERT (id, v) VALUES (9, 9)"
    )
    session.sql(f"DELETE FROM {name} WHERE id = 0")
    assert lineage_findings(name) == []
    session.sql(rewrite)
    rows = session.sql(f"SELECT id, _row_id FROM {name}").collect()
    assert len({row._row_id for row in rows}) == len(rows) == 7
    assert lineage_findings(name) == []


def test_snapshots_without_parents(session: Any, tmp_path: Path) -> None:
    """apache/iceberg-python#3068: nothing is lost, and a rollback fails."""
    name = register(session, "orphaned", thirteenth.without_parents(tmp_path / "t"))
    [finding] = direct.doctor(name).findings
    assert (finding.rule, finding.severity, finding.count) == ("commit-cut-off", "warning", 2)
    assert finding.snapshots == (101, 102, 103)
    assert statements(finding.remedy) == []
    with pytest.raises(Exception, match="not an ancestor of the current state"):
        session.sql("CALL sandbox.system.rollback_to_snapshot('thirteenth.orphaned', 101)")
    reader = session.read.format("iceberg").option("start-snapshot-id", 101).option("end-snapshot-id", 103)
    with pytest.raises(Exception, match="is not a parent ancestor of end snapshot"):
        reader.load(name).collect()
    for words in ("'not an ancestor of the current state'", "'is not a parent ancestor of end snapshot'"):
        assert words in finding.what
    session.sql("CALL sandbox.system.set_current_snapshot('thirteenth.orphaned', 101)")
    session.sql(f"REFRESH TABLE {name}")
    assert [row.id for row in session.table(name).collect()] == [1]


@pytest.mark.parametrize(("default", "later"), [("initial-default", False), ("write-default", True)])
def test_a_default_that_is_null(session: Any, tmp_path: Path, default: str, later: bool) -> None:
    """apache/iceberg#15932: Java opens no table with one in any schema; the metadata file before has none."""
    folder = thirteenth.null_default(tmp_path / "t", default, later)
    with pytest.raises(Exception, match="Cannot create expression literal from null"):
        register(session, "null_default", folder)
    [finding] = direct.doctor(folder).findings
    assert (finding.rule, finding.severity, finding.refused) == ("metadata-field", "error", "table")
    assert f"the {default} of column 'x' is null, not absent ('Cannot create expression literal" in finding.what
    [statement] = statements(finding.remedy)  # goes to a file without the fault: not always to the one before
    session.sql(statement.replace("your_catalog", "sandbox").replace("your_db.", "thirteenth."))


def test_partition_values_that_are_folder_names(session: Any, tmp_path: Path) -> None:
    """apache/iceberg#7612: a migration took them from paths, as they are encoded there."""
    name = f"{SPACE}.encoded"
    session.sql(f"CREATE TABLE {name} (id INT, s STRING) USING iceberg PARTITIONED BY (s)")
    session.sql(f"INSERT INTO {name} VALUES (1, '11/12/13'), (2, 'plain'), (3, '11%2F12')")  # no code but the value
    assert found(name, "value-suspect", deep=True) == []
    table = java_table(session, name)
    folder = Path(table.location(), "data", "s=a%2Fb")
    folder.mkdir()
    rows = session.sql("SELECT 4 AS id").coalesce(1)
    rows.write.mode("append").parquet(str(folder))
    [path] = folder.glob("*.parquet")
    builder = session._jvm.org.apache.iceberg.DataFiles.builder(table.spec()).withPath(str(path)).withFormat("parquet")
    builder = builder.withRecordCount(1).withFileSizeInBytes(path.stat().st_size).withPartitionPath("s=a%2Fb")
    table.newAppend().appendFile(builder.build()).commit()
    mapping = session._jvm.org.apache.iceberg.mapping
    text = mapping.NameMappingParser.toJson(mapping.MappingUtil.create(table.schema()))
    table.updateProperties().set("schema.name-mapping.default", text).commit()
    session.sql(f"REFRESH TABLE {name}")
    assert session.sql(f"SELECT id FROM {name} WHERE s = 'a/b'").collect() == []
    for deep in (False, True):
        [finding] = found(name, "value-suspect", deep=deep)
        assert (finding.severity, finding.found, finding.expected) == ("warning", "a%2Fb", "a/b")
    session.sql(f"UPDATE {name} SET s = '{finding.expected}' WHERE s = '{finding.found}'")
    assert [row.id for row in session.sql(f"SELECT id FROM {name} WHERE s = 'a/b'").collect()] == [4]
    [finding] = found(name, "value-suspect", deep=True)
    assert "Only older snapshots have it" in finding.remedy


def test_filters_as_of_a_snapshot_by_names_of_its_time(session: Any) -> None:
    """apache/iceberg#11162, trinodb/trino#23295: columns changed, and no snapshot was committed since."""
    name = f"{SPACE}.travel"
    session.sql(f"CREATE TABLE {name} (id INT, a INT, c INT) USING iceberg")
    session.sql(f"INSERT INTO {name} VALUES (1, 5, 100)")
    session.sql(f"ALTER TABLE {name} CREATE TAG then")
    session.sql(f"ALTER TABLE {name} CREATE BRANCH now")
    session.sql(f"ALTER TABLE {name} RENAME COLUMN a TO b")
    with pytest.raises(Exception, match="Cannot find field 'a' in struct"):
        session.sql(f"SELECT * FROM {name} VERSION AS OF 'then' WHERE a = 5").collect()
    fails = "fails with this filter: Iceberg looks for its columns in the table's current schema (1), which has no 'a'"
    for question in (["plan", name, "a = 5"], ["data", "history", name, "a = 5"], ["rows", name, "--where", "a = 5"]):
        told = run(*question, "-s", "then")
        assert fails in told.output, question
        assert told.exit_code == (question[0] == "rows")
    session.sql(f"ALTER TABLE {name} RENAME COLUMN c TO a")
    assert session.sql(f"SELECT * FROM {name} VERSION AS OF 'then' WHERE a = 5").collect() == []
    assert len(session.sql(f"SELECT * FROM (SELECT * FROM {name} VERSION AS OF 'then' LIMIT 9) WHERE a = 5").collect())
    loses = "may lose rows with this filter: Iceberg looks for its columns in the table's current schema (2)"
    for question in (["plan", name, "a = 5"], ["data", "history", name, "a = 5"]):
        assert loses in run(*question, "-s", "then").output
    read = direct.open_table(name).rows("then", where="a = 5")
    assert (len(read), loses in read.words) == (0, True)
    for version in ("now", "main"):  # a branch is read by the current schema
        [row] = session.sql(f"SELECT * FROM {name} VERSION AS OF '{version}' WHERE a = 100").collect()
        assert (row.b, row.a) == (5, 100)
        assert "Iceberg looks" not in run("plan", name, "a = 100", "-s", version).output
    told = run("plan", name, "b = 5", "-s", "then").output
    assert "no column 'b' (columns: id, a, c). It fits schema 2, by which the table is read without -s" in told
    session.sql(f"INSERT INTO {name} VALUES (2, 6, 7)")
    assert len(session.sql(f"SELECT * FROM {name} VERSION AS OF 'then' WHERE a = 5").collect()) == 1
    assert "Iceberg looks" not in run("plan", name, "a = 5", "-s", "then").output


def test_a_catalog_that_points_to_a_file_that_is_gone(session: Any) -> None:
    """apache/iceberg#11814, #2602: what is printed for a table that does not load runs, by any of its names."""
    name = f"{SPACE}.gone"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    for number in (1, 2):
        session.sql(f"INSERT INTO {name} VALUES ({number})")
    newest = Path(java_table(session, name).operations().current().metadataFileLocation())
    kept = newest.read_bytes()
    newest.unlink()
    printed = {statements(direct.doctor(asked).findings[0].remedy)[0] for asked in (name, "thirteenth.gone")}
    assert "the file does not exist" in run("doctor", name).output
    [statement] = printed
    session.sql(statement)
    assert [row.id for row in session.table(f"{name}_restored").collect()] == [1]
    newest.write_bytes(kept)


@pytest.mark.parametrize(
    ("columns", "row", "where", "why"),
    [
        ("id INT, k STRING", "{0}, 'order-of-2026-prefix-{0}'", "k = 'order-of-2026-prefix-2'",
         "bounds keep its first 16 characters, and the filter asks for 22"),
        (", ".join(f"c{n} INT" for n in range(100)) + ", k INT", ", ".join(["{0}"] * 101), "k = 2",
         "writers leave out its bounds, since the schema has 101 fields, and only the first 100 get statistics"),
    ],
    ids=["same beginnings", "many columns"],
)  # fmt: skip
def test_why_bounds_skip_nothing(session: Any, columns: str, row: str, where: str, why: str) -> None:
    """databendlabs/databend#20185 (the same in Iceberg), apache/iceberg#11253: a filter reads all files."""
    name = f"{SPACE}.slow"
    session.sql(f"CREATE TABLE {name} ({columns}) USING iceberg")
    for number in range(3):
        session.sql(f"INSERT INTO {name} VALUES ({row.format(number)})")
    told = run("plan", name, where).output
    assert f"no file is skipped by k: {why}" in told
    [setting, mode] = re.findall(r"(write\.metadata\.metrics\.column\.k) = (truncate\(\d+\))", told)[0]
    session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{setting}' = '{mode}')")
    session.sql(f"DELETE FROM {name}")
    for number in range(3):
        session.sql(f"INSERT INTO {name} VALUES ({row.format(number)})")
    plan = direct.open_table(name).plan(where)
    assert (plan.left.files, plan.stages[-1].skipped) == (1, 2)
    assert "no file is skipped" not in run("plan", name, where).output
