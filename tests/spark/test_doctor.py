"""Each remedy that the doctor shows is run, as it is shown, on a table that was damaged; the doctor is then clean."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer.lab import scenarios
from explorer.lab.scenarios import NAMESPACE, SCENARIOS
from explorer.lab.scenarios.workshop import Workshop
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.doctor.findings import Finding
from explorer.storage.paths import local_path
from tests.robustness.corpus import outcomes
from tests.robustness.editing import edit_avro, edit_json
from tests.statements.printed import statements
from tests.support import direct

SOME = float(os.environ.get("ICEDIVE_CORPUS", "0.1"))
"""The share of the corpus that is asked: `make robustness` asks all."""


def fresh(engine: SparkEngine, name: str) -> direct.Table:
    return direct.open_table(scenarios.fresh_copy(name))


def place(path: Any) -> Path:
    return Path(str(local_path(str(path))))


def edited(path: Any, change: Any) -> None:
    """Change a file of a table that Spark reads: its checksum goes."""
    file = place(path)
    (edit_json if file.name.endswith(".json") else edit_avro)(file, lambda data: (change(data), None)[1])
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def found(name: str, **options: Any) -> dict[str, Finding]:
    return {f.rule: f for f in direct.doctor(name, **options).findings if f.severity != "info"}


def run(engine: SparkEngine, finding: Finding, wanted: str = "CALL") -> None:
    """The first statement of a remedy, as it is shown."""
    shown = next(s for s in statements(finding.remedy) if wanted in s)
    engine.session().sql(shown)


def expire_others(engine: SparkEngine, name: str) -> None:
    """All snapshots but the current one."""
    table = name.removeprefix("sandbox.")
    now = f"TIMESTAMP_MILLIS({int(time.time() * 1000) + 1000}L)"
    engine.session().sql(
        f"CALL sandbox.system.expire_snapshots(table => '{table}', older_than => {now}, retain_last => 1)"
    )


def test_pristine_tables_give_nothing_above_info(sandbox: Path) -> None:
    for scenario in SCENARIOS:
        deep = scenario.name != "long_history"  # whose three thousand files take half a minute
        report = direct.doctor(f"{NAMESPACE}.{scenario.name}", files=True, deep=deep)
        assert report.exit_code == 0, report
        assert report.not_checked == ()


@pytest.mark.parametrize("victim", ["data file", "manifest", "manifest list"])
def test_a_lost_file(victim: str, sandbox: Path, engine: SparkEngine) -> None:
    table = fresh(engine, "three_inserts")
    name = table.name
    last = table.metadata.current_snapshot
    assert last is not None
    newest = next(m for m in table.tree.manifests(last) if m.added_snapshot_id == last.snapshot_id)
    file = next(f["file_path"] for f in table.files() if f["snapshot_id"] == last.snapshot_id)
    place({"data file": file, "manifest": newest.manifest_path, "manifest list": last.manifest_list}[victim]).unlink()
    rule = {"data file": "file-missing", "manifest": "manifest-missing", "manifest list": "manifest-list-missing"}[
        victim
    ]
    sick = found(name, files=True)[rule]
    assert sick.snapshots == (last.snapshot_id,)
    assert sick.refs == ("main",)
    run(engine, sick)
    if victim == "data file":
        expire_others(engine, name)
    else:  # the procedure would read what is missing
        session = engine.session()
        java = session._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(session._jsparkSession, name)
        java.expireSnapshots().expireSnapshotId(last.snapshot_id).cleanExpiredFiles(False).commit()
    assert found(name, files=True) == {}
    assert engine.session().table(name).count() == 2


@pytest.mark.parametrize("field", ["added_files_count", "added_rows_count", "min_sequence_number", "manifest_length"])
def test_a_list_that_is_wrong_about_a_manifest(field: str, sandbox: Path, engine: SparkEngine) -> None:
    table = fresh(engine, "three_inserts")
    name = table.name
    last = table.metadata.current_snapshot
    assert last is not None
    edited(last.manifest_list, lambda records: records[0].update({field: records[0][field] + 1}))
    rule = {"min_sequence_number": "min-sequence", "manifest_length": "manifest-length"}.get(field, "manifest-counts")
    run(engine, found(name)[rule])
    expire_others(engine, name)
    assert found(name) == {}
    assert engine.session().table(name).count() == 3


def test_dangling_deletes_orphans_statistics_and_properties(sandbox: Path, engine: SparkEngine) -> None:
    name = fresh(engine, "compaction_bin_pack").name
    before = {f.rule: f for f in direct.doctor(name).findings}
    run(engine, before["delete-dangling"])
    table = direct.open_table(name)
    edited(table.metadata.metadata_location, lambda data: data["properties"].update({"password": "x"}))
    unsafe = found(name)["property-unsafe"]
    engine.session().sql(re.search(r"ALTER TABLE \S+ UNSET TBLPROPERTIES \('password'\)", unsafe.remedy)[0])
    left = place(table.metadata.location) / "data" / "left-behind.parquet"
    left.write_text("x")
    os.utime(left, (time.time() - 5 * 86400,) * 2)
    orphan = next(f for f in direct.doctor(name, files=True).findings if f.rule == "orphan-files")
    assert orphan.examples == (str(left),)
    run(engine, orphan)
    assert left.exists()  # a dry run, as it is shown
    engine.session().sql(re.search(r"CALL .*?\)", orphan.remedy)[0].replace(", dry_run => true", ""))
    statistics = f"CALL sandbox.system.compute_table_stats('{name.removeprefix('sandbox.')}')"
    engine.session().sql(statistics)
    engine.session().sql(f"INSERT INTO {name} SELECT * FROM {name}")
    stale = next(f for f in direct.doctor(name).findings if f.rule == "statistics-stale")
    run(engine, stale)
    expire_others(engine, name)
    assert not {f.rule for f in direct.doctor(name, files=True).findings} - {"parent-expired"}


def test_a_partition_summary_that_excludes_files(sandbox: Path, engine: SparkEngine) -> None:
    table = fresh(engine, "partition_evolution")
    last = table.metadata.current_snapshot
    assert last is not None

    def narrow(records: list[dict[str, Any]]) -> None:
        bounds = next(r["partitions"][0] for r in records if not r["content"])
        bounds["lower_bound"] = bounds["upper_bound"] = b"\xff\xff\xff\x7f"

    edited(last.manifest_list, narrow)
    run(engine, found(table.name)["partition-summary"])
    expire_others(engine, table.name)
    assert found(table.name) == {}


def test_equality_deletes_that_dangle(engine: SparkEngine, tmp_path: Path) -> None:
    workshop = Workshop(engine, "doctored", str(tmp_path / "doctored"))
    workshop.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.building")
    workshop.sql("DROP TABLE IF EXISTS {t}")
    workshop.create("id INT, part STRING", partitioned="part")
    workshop.insert("1, 'a'")  # older than the delete: compaction alone does not drop it
    workshop.insert("2, 'b'", "3, 'b'")
    java = workshop.java()
    java.newRowDelta().addDeletes(workshop.equality_delete_file(java, "eq.parquet", [{"id": 2}], "part=b")).commit()
    workshop.sql(
        "CALL sandbox.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'), "
        "where => 'part = \"b\"')"
    )
    name = workshop.identifier
    sick = next(f for f in direct.doctor(name).findings if f.rule == "delete-dangling")
    run(engine, sick)  # part=a has rows that are older, but none of them has this id
    assert "delete-dangling" not in {f.rule for f in direct.doctor(name).findings}
    assert engine.session().table(name).count() == 2
    workshop.sql("DROP TABLE {t}")


def test_workers_find_what_is_found_here(sandbox: Path, engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.table.shared_engine", lambda: engine)
    table = fresh(engine, "deletion_vectors")
    manifest = table.tree.manifests(table.metadata.current_snapshot)[0]
    edited(manifest.manifest_path, lambda records: [records[0]["data_file"].update({"record_count": -1})])
    here, there = (direct.doctor(table.name, engine=e).to_json() for e in ("local", "spark"))
    assert here == there
    assert here["worst"] == "error"


def test_rows_are_counted_as_spark_counts_them(sandbox: Path, engine: SparkEngine) -> None:
    for scenario in SCENARIOS:
        if scenario.name == "long_history":
            continue
        table = direct.open_table(f"{NAMESPACE}.{scenario.name}")
        for snapshot in table.metadata.snapshots:
            counted = direct.live_rows(table, snapshot.snapshot_id)
            query = f"SELECT count(*) FROM {table.name} VERSION AS OF {snapshot.snapshot_id}"
            assert counted.rows == engine.session().sql(query).first()[0], (scenario.name, counted)
            assert counted.recorded in (None, counted.data_rows)
        vectors_only = all(d.kind == "deletion_vector" for d in counted.deletes)
        assert not (vectors_only and counted.files_read)


def test_a_share_of_the_corpus_is_detected(sandbox: Path, tmp_path: Path) -> None:
    results = list(outcomes(tmp_path, ["deletion_vectors", "partition_evolution"], 16, SOME))
    assert not [o for o in results if o.crashed]
    # one bit may fall where nobody could know: those are counted by `make robustness`
    assert not [o for o in results if not o.detected and "bit flipped" not in o.case.mutation]
    assert max(o.seconds for o in results) < 60  # none hangs


def test_rows_are_not_counted_without_the_vectors_that_hide_some(sandbox: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(sandbox / "warehouse" / "demo" / "deletion_vectors", tmp_path / "t")
    assert direct.live_rows(copied).hidden == 2
    for path in copied.rglob("*.puffin"):
        path.unlink()
    with pytest.raises(explorer.ExplorerError, match="cannot be found; this answer depends on it"):
        direct.live_rows(copied)
