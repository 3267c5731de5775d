"""Previews against what Spark's procedures then really do, on fresh copies of teaching tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from explorer.errors import AccessRefused, NotFoundInTable, NotPossible, StatementFailed
from explorer.lab import scenarios
from explorer.lab.observe import observe, observe_api
from explorer.queries.orphans import orphans
from explorer.questions import QUESTIONS
from explorer.reports.maintenance import runs
from explorer.reports.maintenance.procedure_calls import LOOKS, PROCEDURES
from explorer.spark_engine.spark import SparkEngine, sandbox_conf
from explorer.spec.maintenance.reachability import reach
from explorer.spec.snapshots.lineage import ancestry
from explorer.spec.text.units import count
from explorer.table import Table
from tests.support import direct
from tests.support.small_tables import make_table

ALL = {"rewrite-all": "true"}


def copy(engine: SparkEngine, name: str) -> Table:
    return direct.open_table(scenarios.fresh_copy(name))


def on_disk(table: Table) -> set[str]:
    root = Path(table.metadata.location.removeprefix("file:"))
    return {str(p) for p in root.rglob("*") if p.is_file() and p.suffix != ".crc"}


def test_the_command_knows_every_operation() -> None:
    for name in ("preview", "run"):
        [operation] = [p for p in QUESTIONS["maintain", name].parameters if p.name == "operation"]
        assert operation.kind.choices == (*PROCEDURES, *LOOKS)


@pytest.mark.parametrize(
    ("name", "retain"),
    [
        ("manifest_lifecycle", 1),
        ("manifest_lifecycle", 2),
        ("branches_and_tags", 1),
        ("deletion_vectors", 1),
        ("compaction_sort", 1),
    ],
)
def test_expiry_removes_what_the_preview_says(name: str, retain: int, sandbox: Path, engine: SparkEngine) -> None:
    table = copy(engine, name)
    before = on_disk(table)
    now = {"older_than": "2999-01-01"}
    seen = runs.preview(table, "expire", retain_last=retain, options=now)
    done, after = runs.run(table, "expire", retain_last=retain, options=now, engine=engine)
    assert done.sql == seen.call
    gone = before - on_disk(after)
    assert {p.removeprefix("file:") for p in seen.files} == gone
    assert gone
    assert done.after.snapshots == len(after.metadata.snapshots) < done.before.snapshots
    assert f"{done.before.snapshots - done.after.snapshots} snapshot" in seen.words[0]


def test_compaction_before_and_after(sandbox: Path, engine: SparkEngine) -> None:
    table = copy(engine, "position_deletes")
    seen = runs.preview(table, "compact")
    assert len(seen.files) == 2
    assert [row["reason"] for row in seen.tables["groups"]] == ["a file with too high a delete ratio"]
    done, after = runs.run(table, "compact", engine=engine)
    assert done.sql == seen.call
    assert (done.before.data_files, done.before.position_delete_files) == (2, 1)
    assert done.after.data_files == 1
    assert {f["file_path"] for f in after.files()} & set(seen.files) == set()
    assert done.answer[0]["rewritten_data_files_count"] == 2
    assert after.row_diff("snapshot-2", "main").changes.inserted.num_rows == 0  # no row changed


def test_sorting_and_the_other_rewrites(sandbox: Path, engine: SparkEngine) -> None:
    table = copy(engine, "three_inserts")
    idle = runs.preview(table, "compact")
    assert idle.words[1].startswith("Nothing would be rewritten: in none of 1 group")
    assert idle.files == []
    done, table = runs.run(table, "compact", engine=engine)
    assert done.answer[0]["rewritten_data_files_count"] == 0
    for operation in ("compact-sort", "compact-z-order", "rewrite-manifests"):
        options = {} if operation == "rewrite-manifests" else ALL
        done, table = runs.run(table, operation, "fruit", engine=engine, options=options)
        assert done.after.manifests >= 1
    assert [r["fruit"] for r in table.file_rows(table.files()[0]["file_path"])] == ["apple", "banana", "cherry"]
    table = copy(engine, "compaction_bin_pack")
    assert len(table.deletes().dangling) == 2
    dangling = runs.preview(table, "dangling-deletes")
    assert dangling.words[0].startswith("2 deletes of 2")
    assert all("rewrite_position_delete_files" in row["dropped_by"] for row in dangling.tables["deletes"])
    done, table = runs.run(table, "rewrite-position-deletes", engine=engine, options=ALL)
    assert done.after.position_delete_files == 0


@pytest.mark.parametrize("granularity", ["", "partition"])
def test_position_deletes_are_rewritten_by_data_file(granularity: str, sandbox: Path, engine: SparkEngine) -> None:
    name = f"rewrites.by_{granularity or 'default'}"
    sql = engine.session().sql
    sql("CREATE NAMESPACE IF NOT EXISTS sandbox.rewrites")
    sql(f"CREATE TABLE sandbox.{name} (id BIGINT) USING iceberg TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    for k in range(5):
        sql(f"INSERT INTO sandbox.{name} SELECT id FROM range({k * 10}, {k * 10 + 10})")
    sql(f"DELETE FROM sandbox.{name} WHERE id % 10 = 3")
    if granularity:
        sql(f"ALTER TABLE sandbox.{name} SET TBLPROPERTIES ('write.delete.granularity' = '{granularity}')")
    table = direct.open_table(name)
    seen = runs.preview(table, "rewrite-position-deletes")
    expected = "about 1 position delete file" if granularity else "5 position delete files, one for each data file"
    assert expected in seen.words[1]
    assert ("So they do not become fewer" in " ".join(seen.words)) is not bool(granularity)
    [row] = seen.tables["groups"]
    done, table = runs.run(table, "rewrite-position-deletes", engine=engine)
    written = done.answer[0]["added_delete_files_count"]
    assert written == (1 if granularity else 5)
    assert row["expected_files"] == (1 if granularity else None)
    if granularity:  # one file for all: what Spark makes of it when the property is gone, nobody can say from entries
        engine.session().sql(f"ALTER TABLE sandbox.{name} UNSET TBLPROPERTIES ('write.delete.granularity')")
        seen = runs.preview(direct.open_table(name), "rewrite-position-deletes", options=ALL)
        assert "one position delete file for each data file that they name, which their" in seen.words[1]


def test_files_of_an_older_spec_become_at_least_as_many_as_is_said(sandbox: Path, engine: SparkEngine) -> None:
    sql = engine.session().sql
    sql("CREATE NAMESPACE IF NOT EXISTS sandbox.rewrites")
    sql("CREATE TABLE sandbox.rewrites.finer (id BIGINT, dt STRING) USING iceberg PARTITIONED BY (dt)")
    for k in range(2):
        sql(f"INSERT INTO sandbox.rewrites.finer VALUES ({2 * k}, 'a'), ({2 * k + 1}, 'a')")
    sql("ALTER TABLE sandbox.rewrites.finer ADD PARTITION FIELD id")
    table = direct.open_table("rewrites.finer")
    seen = runs.preview(table, "compact", options={"min-input-files": "2"})
    assert "would become about 1 data file" in seen.words[1]
    assert "go to the partitions of spec 1, at least one file to each" in seen.words[2]
    [row] = seen.tables["groups"]
    assert row["expected_files"] is None
    done, table = runs.run(table, "compact", engine=engine, options={"min-input-files": "2"})
    assert done.answer[0]["added_data_files_count"] == 4


def test_deletes_and_row_ids_across_an_upgrade_to_version_3(sandbox: Path, engine: SparkEngine) -> None:
    sql = engine.session().sql
    sql("CREATE NAMESPACE IF NOT EXISTS sandbox.rewrites")
    modes = "'write.delete.mode' = 'merge-on-read', 'format-version' = '2'"
    sql(f"CREATE TABLE sandbox.rewrites.upgraded (id BIGINT, v STRING) USING iceberg TBLPROPERTIES ({modes})")
    rows = "VALUES (1L, 'a'), (2L, 'b'), (3L, 'c') AS r(id, v)"
    sql(f"INSERT INTO sandbox.rewrites.upgraded SELECT /*+ COALESCE(1) */ * FROM {rows}")
    sql("DELETE FROM sandbox.rewrites.upgraded WHERE id = 1")
    sql("ALTER TABLE sandbox.rewrites.upgraded SET TBLPROPERTIES ('format-version' = '3')")
    table = direct.open_table("rewrites.upgraded")
    seen = runs.preview(table, "rewrite-position-deletes", options=ALL)
    assert "1 deletion vector" in seen.words[1]
    assert "never ends" not in " ".join(seen.words)
    _, table = runs.run(table, "rewrite-position-deletes", engine=engine, options=ALL)
    again = runs.preview(table, "rewrite-position-deletes", options=ALL)
    assert "no other position deletes left" in " ".join(again.words)
    sql("UPDATE sandbox.rewrites.upgraded SET v = 'z' WHERE id = 3")
    table = direct.open_table("rewrites.upgraded")
    old, new, last = (table.metadata.snapshots[at].snapshot_id for at in (1, 2, -1))
    change = table.row_diff(old, last)
    assert change.paired_by == ()
    assert "have no row ids" in change.note
    assert table.row_diff(old, last, ["id"]).counts["updated"] == 1
    assert table.row_diff(new, last).paired_by == ("_row_id",)


def test_a_dynamic_overwrite_replaces_partitions_of_its_spec_alone(sandbox: Path, engine: SparkEngine) -> None:
    sql = engine.session().sql
    sql("CREATE NAMESPACE IF NOT EXISTS sandbox.rewrites")
    sql("CREATE TABLE sandbox.rewrites.dynamic (id BIGINT, p STRING, q STRING) USING iceberg PARTITIONED BY (p)")
    sql("INSERT INTO sandbox.rewrites.dynamic VALUES (1, 'a', 'x')")
    sql("ALTER TABLE sandbox.rewrites.dynamic ADD PARTITION FIELD q")
    sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
    try:
        sql("INSERT OVERWRITE sandbox.rewrites.dynamic VALUES (1, 'a', 'x')")
    finally:
        sql("RESET spark.sql.sources.partitionOverwriteMode")
    assert sql("SELECT * FROM sandbox.rewrites.dynamic").count() == 2
    events = direct.open_table("rewrites.dynamic").row_history("id = 1").events
    assert "replaces partitions of the spec that it writes alone" in events[-1].words


def test_orphans_are_found_and_young_ones_kept(sandbox: Path, engine: SparkEngine) -> None:
    import os
    import time

    table = copy(engine, "three_inserts")
    assert orphans(table.tree) == {}
    folder = Path(table.metadata.location.removeprefix("file:")) / "data"
    young, old = folder / "left-behind-1.parquet", folder / "left-behind-2.parquet"
    young.write_text("x")
    old.write_text("x")
    past = time.time() - 5 * 86400
    os.utime(old, (past, past))
    seen = runs.preview(table, "remove-orphans")
    becomes = {row["file"]: row["becomes"] for row in seen.tables["files"]}
    assert becomes == {f"file:{young}": "too young", f"file:{old}": "removed"}
    runs.run(table, "remove-orphans", engine=engine)
    assert (young.exists(), old.exists()) == (True, False)


def test_only_in_the_sandbox(sandbox: Path, engine: SparkEngine, tmp_path: Path) -> None:
    with pytest.raises(AccessRefused, match="teaching table"):
        runs.run(direct.open_table("demo.three_inserts"), "compact", engine=engine)
    elsewhere = direct.open_table(str(make_table(tmp_path)))
    assert runs.preview(elsewhere, "compact", options=ALL).files  # a preview writes nothing
    with pytest.raises(AccessRefused, match="not in the sandbox"):
        runs.run(elsewhere, "compact", engine=engine, allow_writes=True)
    with pytest.raises(NotFoundInTable, match="no column"):
        runs.preview(direct.open_table("demo.three_inserts"), "compact-sort", "x')")


def test_another_catalog_is_written_to_only_when_allowed(
    sandbox: Path, engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__OTHER__TYPE", "sql")
    monkeypatch.setenv("PYICEBERG_CATALOG__OTHER__URI", f"sqlite:///{tmp_path}/catalog.db")
    monkeypatch.setenv("PYICEBERG_CATALOG__OTHER__WAREHOUSE", f"file://{tmp_path}/warehouse")
    catalog = SqlCatalog("other", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("db")
    made = catalog.create_table("db.t", pa.schema([("id", pa.int32())]))
    for i in range(2):
        made.append(pa.table({"id": pa.array([i], pa.int32())}))
    table = direct.open_table("other.db.t")
    for refused in (
        lambda: runs.run(table, "compact", engine=engine),
        lambda: runs.run_undo(table, "rollback", snapshot="snapshot-1", engine=engine),
        lambda: observe(table, "DELETE FROM t", engine),
        lambda: observe_api(table, "newFastAppend", engine),
    ):
        with pytest.raises(AccessRefused, match="allow_writes"):
            refused()
    with pytest.raises(NotPossible, match="does not know the catalog other"):
        runs.run(table, "compact", engine=engine, allow_writes=True)
    session = engine.session()
    for key, value in sandbox_conf(tmp_path).items():
        session.conf.set(key.replace("sandbox", "other"), value)
    outcome, after = runs.run(table, "compact", engine=engine, allow_writes=True, options=ALL)
    assert (outcome.before.data_files, outcome.after.data_files) == (2, 1)
    _, after = runs.run_undo(after, "rollback", snapshot="snapshot-1", engine=engine, allow_writes=True)
    seen = observe(after, "INSERT INTO t VALUES (7)", engine, allow_writes=True)
    assert seen.commits == 1
    assert seen.report is not None
    with pytest.raises(AccessRefused):  # to that table, and to no other
        observe(seen.table, "DELETE FROM sandbox.demo.three_inserts", engine, allow_writes=True)


UNDOS = [
    ("tag", "kept", "snapshot-2"), ("tag", "opening", "snapshot-2"), ("branch", "dev", "snapshot-4"),
    ("drop", "audit", None), ("drop", "main", None),
    ("drop", "nothing", None), ("fast-forward", "audit", "main"), ("fast-forward", "main", "audit"),
    ("rollback", "", "snapshot-4"),
    ("rollback", "", "snapshot-2"), ("set-current", "", "snapshot-2"), ("set-current", "", "snapshot-6"),
    ("cherry-pick", "", "snapshot-2"),
    ("cherry-pick", "", "snapshot-3"), ("cherry-pick", "", "snapshot-6"), ("cherry-pick", "", "snapshot-4"),
    ("publish", "night-load", None), ("publish", "no-load", None),
]  # fmt: skip


@pytest.fixture(scope="module")
def branchy(sandbox: Path, engine: SparkEngine) -> str:
    return scenarios.fresh_copy("branches_and_tags")


@pytest.mark.parametrize(("operation", "name", "snapshot"), UNDOS)
def test_refs_and_rollbacks_do_what_the_preview_says(
    operation: str, name: str, snapshot: str | None, branchy: str, engine: SparkEngine
) -> None:
    """Each starts from the same metadata, registered anew."""
    session = engine.session()
    source = direct.open_table(branchy).metadata.metadata_location
    own = f"lab.undo_{operation.replace('-', '_')}_{UNDOS.index((operation, name, snapshot))}"
    session.sql(f"DROP TABLE IF EXISTS sandbox.{own}")
    session.sql(f"CALL sandbox.system.register_table('{own}', '{source}')")
    table = direct.open_table(own)
    seen = runs.preview_undo(table, operation, name, snapshot)
    if not seen.allowed:
        with pytest.raises(StatementFailed):
            runs.run_undo(table, operation, name, snapshot, engine=engine)
        return
    if seen.current not in (None, table.metadata.current_snapshot_id):
        net = table.diff(table.metadata.current_snapshot_id, seen.current)
        said = f"{count(len(net.added), 'file')} would come, and {len(net.removed)} go."
        assert any(said in words for words in seen.words)
    _, after = runs.run_undo(table, operation, name, snapshot, engine=engine)
    refs = {r.name: r.snapshot_id for r in after.metadata.refs}
    if seen.current is None:
        assert after.metadata.current_snapshot is not None
        assert after.metadata.current_snapshot.parent_snapshot_id == table.metadata.current_snapshot_id
        assert {k: v for k, v in refs.items() if k != "main"} == seen.after
    else:
        assert refs == seen.after
        assert after.metadata.current_snapshot_id == seen.current
    lines = len(after.metadata.snapshot_log) - len(table.metadata.snapshot_log)
    assert lines == any("would get a line" in w for w in seen.words)
    led = {i for head in refs.values() for i in ancestry(after.metadata, head)}
    still = reach(after.tree, [s for s in after.metadata.snapshots if s.snapshot_id in led])
    assert not set(seen.files) & set(still.paths)
    assert bool(seen.files) == bool(seen.abandoned)
    kinds = {h.snapshot_id: h.kind for h in after.lineage()}
    assert all(kinds[i] in ("abandoned", "detached", "staged") for i in seen.abandoned)


def test_rollback_to_a_time(branchy: str, engine: SparkEngine) -> None:
    session = engine.session()
    source = direct.open_table(branchy).metadata.metadata_location
    session.sql("DROP TABLE IF EXISTS sandbox.lab.undo_time")
    session.sql(f"CALL sandbox.system.register_table('lab.undo_time', '{source}')")
    table = direct.open_table("lab.undo_time")
    moment = table.resolve("snapshot-5").snapshot.timestamp_ms
    seen = runs.preview_undo(table, "rollback-to-time", snapshot=moment)
    assert seen.current == table.resolve("snapshot-4").snapshot.snapshot_id
    _, after = runs.run_undo(table, "rollback-to-time", snapshot=moment, engine=engine)
    assert after.metadata.current_snapshot_id == seen.current
    assert not runs.preview_undo(table, "rollback-to-time", snapshot=1000).allowed
    _, branched = runs.run_undo(table.refresh(), "branch", "old", "snapshot-1", engine=engine)
    ahead = runs.preview_undo(branched, "fast-forward", "old", "main")
    _, moved = runs.run_undo(branched, "fast-forward", "old", "main", engine=engine)
    assert {r.name: r.snapshot_id for r in moved.metadata.refs} == ahead.after
    with pytest.raises(NotFoundInTable, match="is no time"):
        runs.preview_undo(table, "rollback-to-time", snapshot="soon")
    with pytest.raises(AccessRefused):
        runs.run_undo(direct.open_table("demo.branches_and_tags"), "rollback", snapshot="snapshot-4", engine=engine)


def test_another_table_of_the_name_is_not_written_to(
    sandbox: Path, engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pyiceberg's catalog `twin` and Spark's catalog `twin` are two catalogs."""
    for place in ("ours", "sparks"):
        own = {"uri": f"sqlite:///{tmp_path}/{place}/catalog.db", "warehouse": f"file://{tmp_path}/{place}/warehouse"}
        (tmp_path / place).mkdir()
        catalog = SqlCatalog("twin", **own)
        catalog.create_namespace("db")
        made = catalog.create_table("db.t", pa.schema([("id", pa.int32())]))
        for i in range(2):
            made.append(pa.table({"id": pa.array([i], pa.int32())}))
    for key, value in {"TYPE": "sql", "URI": f"sqlite:///{tmp_path}/ours/catalog.db"}.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__TWIN__{key}", value)
    session = engine.session()
    for key, value in sandbox_conf(tmp_path / "sparks").items():
        session.conf.set(key.replace("sandbox", "twin"), value)
    table, before = direct.open_table("twin.db.t"), made.refresh().metadata_location
    for refused in (
        lambda: runs.run(table, "compact", engine=engine, allow_writes=True, options=ALL),
        lambda: runs.run_undo(table, "rollback", snapshot="snapshot-1", engine=engine, allow_writes=True),
        lambda: observe(table, "INSERT INTO t VALUES (7)", engine, allow_writes=True),
        lambda: observe_api(table, "newFastAppend", engine, allow_writes=True),
    ):
        with pytest.raises(AccessRefused, match=r"another table named db.t .* Nothing was written"):
            refused()
    assert made.refresh().metadata_location == before


@pytest.mark.parametrize(
    "where", ["note LIKE '50\\%%'", "NOT note LIKE 'a%'", "x IS NAN", "x IS NOT NAN", "x > 1 or note LIKE '5%'"]
)
def test_a_filter_of_a_procedure_is_one_that_iceberg_translates(where: str, engine: SparkEngine) -> None:
    """LIKE with an escape and isnan() are refused there: "Cannot translate Spark expression"."""
    session = engine.session()
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.lab")
    session.sql("CREATE OR REPLACE TABLE sandbox.lab.filtered (x DOUBLE, note STRING) USING iceberg")
    session.sql("INSERT INTO sandbox.lab.filtered VALUES (double('NaN'), '50% off'), (2.0, 'a'), (null, null)")
    table = direct.open_table("lab.filtered")
    seen = runs.preview(table, "compact", options={"rewrite-all": "true"}, where=where)
    assert seen.call
    session.sql(seen.call)
    assert session.table("sandbox.lab.filtered").count() == 3
    session.sql("DROP TABLE sandbox.lab.filtered")
