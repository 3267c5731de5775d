"""Every scenario does what it claims: the claims are held against Iceberg's own metadata tables and rows."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from explorer.lab.scenarios import NAMESPACE, SCENARIOS, Scenario
from explorer.model.manifest import STATUS
from explorer.spark_engine import gateway, jvm_cds
from explorer.spark_engine.java import find_java, resolve_jars, spark_home
from explorer.spark_engine.local_files import CLASS, write_plainly
from explorer.spark_engine.spark import SparkEngine
from tests.support.helpers import file_names, open_demo

BY_NAME = {s.name: s for s in SCENARIOS}


def ordered(table: Any) -> list[Any]:
    return sorted(table.metadata.snapshots, key=lambda s: (s.sequence_number, s.timestamp_ms))


def query(engine: SparkEngine, name: str, suffix: str = "", snapshot_id: int | None = None) -> list[Any]:
    at = f" VERSION AS OF {snapshot_id}" if snapshot_id is not None else ""
    return engine.session().sql(f"SELECT * FROM sandbox.{NAMESPACE}.{name}{suffix}{at}").collect()


def plain(value: Any) -> Any:
    if isinstance(value, (bytearray, bytes)):
        return bytes(value)
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if hasattr(value, "asDict"):
        return {k: plain(v) for k, v in value.asDict().items()}
    return value


@pytest.mark.parametrize("name", BY_NAME)
def test_claims(name: str, sandbox: Path, engine: SparkEngine) -> None:
    scenario: Scenario = BY_NAME[name]
    table = open_demo(name)
    snapshots = ordered(table)
    number = {s.snapshot_id: i + 1 for i, s in enumerate(snapshots)}
    assert table.metadata.format_version == scenario.format_version
    if scenario.snapshots:
        assert [s.operation for s in snapshots] == [c.operation for c in scenario.snapshots]
    names = file_names(table) if any(c.manifests for c in scenario.snapshots) else {}
    for snapshot, claim in zip(snapshots, scenario.snapshots, strict=False):
        if claim.rows is not None:
            assert len(query(engine, name, snapshot_id=snapshot.snapshot_id)) == claim.rows
        if claim.manifests is None:
            continue
        listed = query(engine, name, ".manifests", snapshot.snapshot_id)
        truth = Counter(
            (number[m.added_snapshot_id], m.content, m.added_data_files_count + m.added_delete_files_count,
             m.existing_data_files_count + m.existing_delete_files_count,
             m.deleted_data_files_count + m.deleted_delete_files_count)
            for m in listed
        )  # fmt: skip
        claimed = Counter()
        for m in claim.manifests:
            statuses = Counter(status for status, _ in m.entries)
            claimed[
                (m.added_by, int(m.content == "deletes"), statuses["ADDED"], statuses["EXISTING"], statuses["DELETED"])
            ] += 1
        assert truth == claimed
        ours = Counter()
        for manifest in table.tree.manifests(snapshot):
            entries = table.tree.logical_entries(manifest, snapshot)
            assert entries is not None
            content = tuple(
                sorted((STATUS[r["status"]], names[(r["file_path"], r["content_offset"])]) for r in entries.to_pylist())
            )
            ours[(number[manifest.added_snapshot_id], "deletes" if manifest.content else "data", content)] += 1
        assert ours == Counter((m.added_by, m.content, tuple(sorted(m.entries))) for m in claim.manifests)
    if scenario.rows is not None:
        assert Counter(tuple(r) for r in query(engine, name)) == Counter(scenario.rows)
    if scenario.refs is not None:
        assert {r.name: number[r.snapshot_id] for r in query(engine, name, ".refs")} == scenario.refs
    if scenario.current is not None:
        assert number[table.metadata.current_snapshot_id or 0] == scenario.current
    files = query(engine, name, ".files")
    found = {
        "data_files": sum(f.content == 0 for f in files),
        "delete_files": sum(f.content != 0 for f in files),
        "manifests": len(query(engine, name, ".manifests")),
        "snapshots": len(query(engine, name, ".snapshots")),
        "metadata_files": len(query(engine, name, ".metadata_log_entries")),
        "partitions": len(query(engine, name, ".partitions")),
        "specs": len(table.metadata.partition_specs),
        "schemas": len(table.metadata.schemas),
    }
    assert {k: found[k] for k in scenario.counts} == dict(scenario.counts)


def sampled(table: Any) -> list[Any]:
    snapshots = ordered(table)
    return snapshots if len(snapshots) <= 10 else [snapshots[0], snapshots[99], snapshots[100], snapshots[-1]]


@pytest.mark.parametrize("name", BY_NAME)
def test_entries_equal_icebergs(name: str, sandbox: Path, engine: SparkEngine) -> None:
    """Every entry of every snapshot, field by field, against Iceberg's `entries` table.

    Listed differences: Iceberg reads a null `content` (version 1) as 0, and its `entries` table shows no row ids'
    inheritance beyond what its reader assigns, which is the same rule as ours."""
    table = open_demo(name)
    for snapshot in sampled(table):
        truth = {}
        for row in query(engine, name, ".entries", snapshot.snapshot_id):
            flat = plain(row)
            flat |= flat.pop("data_file")
            truth[(flat["file_path"], flat.get("content_offset"), flat["status"])] = flat
        ours = table.entries(snapshot.snapshot_id, "inherited", metrics=True)
        assert len(ours) == len(truth)
        compared = set()
        for row in ours.to_arrow().to_pylist(maps_as_pydicts="strict"):
            other = truth[(row["file_path"], row["content_offset"], row["status"])]
            row["content"] = row["content"] or 0
            row["partition"] = row["partition"] or {}
            if "partition" in other:
                mine = {k: row["partition"].get(k) for k in other["partition"]}
                assert mine == other["partition"]
            for field in other.keys() & row.keys() - {"partition"}:
                compared.add(field)
                assert plain(row[field]) == other[field], f"{field} of {row['file_path']}"
        assert {
            "status",
            "snapshot_id",
            "sequence_number",
            "file_sequence_number",
            "record_count",
            "lower_bounds",
            "upper_bounds",
        } <= compared


@pytest.mark.parametrize("name", BY_NAME)
def test_manifests_snapshots_refs_and_log_equal_icebergs(name: str, sandbox: Path, engine: SparkEngine) -> None:
    """Iceberg's `manifests`, `snapshots`, `refs` and `metadata_log_entries` tables against ours."""
    table = open_demo(name)
    for snapshot in sampled(table):
        truth = {m.path: m for m in query(engine, name, ".manifests", snapshot.snapshot_id)}
        mine = table.manifests(snapshot.snapshot_id).to_json()
        assert [m["manifest_path"] for m in mine] == list(truth)
        for row in mine:
            other = truth[row["manifest_path"]]
            kind = "delete" if row["content"] == "deletes" else "data"
            assert (row["manifest_length"], row["partition_spec_id"], row["added_snapshot_id"]) == (
                other.length,
                other.partition_spec_id,
                other.added_snapshot_id,
            )
            for status in ("added", "existing", "deleted"):
                assert row[f"{status}_files_count"] == other[f"{status}_{kind}_files_count"]
            assert [p["contains_null"] for p in row["partitions"]] == [
                p.contains_null for p in other.partition_summaries
            ]
    spark_snapshots = {s.snapshot_id: s for s in query(engine, name, ".snapshots")}
    for row in table.snapshots:
        other = spark_snapshots[row["snapshot-id"]]
        assert (row["parent-snapshot-id"], row["operation"], row["manifest-list"]) == (
            other.parent_id,
            other.operation,
            other.manifest_list,
        )
        assert {k: v for k, v in row["summary"].items() if k != "operation"} == other.summary
    refs = {(r.name, r.type.lower(), r.snapshot_id) for r in query(engine, name, ".refs")}
    assert {(r["name"], r["type"], r["snapshot-id"]) for r in table.refs} == refs
    log = [e.file for e in query(engine, name, ".metadata_log_entries")]
    assert [e["metadata-file"] for e in table.metadata_log] == log


@pytest.mark.parametrize("name", BY_NAME)
def test_history_equals_icebergs(name: str, sandbox: Path, engine: SparkEngine) -> None:
    """Iceberg's `history` table: the snapshot log, with whether each snapshot is an ancestor of the current one."""
    table = open_demo(name)
    kinds = {h.snapshot_id: h.kind for h in table.lineage()}
    mine = [
        (e.timestamp_ms, e.snapshot_id, kinds[e.snapshot_id] in ("current", "ancestor")) for e in table.current_log()
    ]
    truth = (
        engine.session()
        .sql(
            "SELECT unix_millis(made_current_at), snapshot_id, is_current_ancestor FROM "
            f"sandbox.{NAMESPACE}.{name}.history"
        )
        .collect()
    )
    assert mine == [tuple(r) for r in truth]


@pytest.mark.parametrize("name", BY_NAME)
def test_diffs_equal_the_difference_of_icebergs_files(name: str, sandbox: Path, engine: SparkEngine) -> None:
    """Every pair of snapshots (of long histories, some): net files are the difference of Iceberg's `files` tables."""
    table = open_demo(name)
    snapshots = sampled(table)
    files = {
        s.snapshot_id: {(f.file_path, f["content_offset"]) for f in query(engine, name, ".files", s.snapshot_id)}
        for s in snapshots
    }
    for a in snapshots:
        for b in snapshots:
            change = table.diff(a.snapshot_id, b.snapshot_id)
            assert {c.key[:2] for c in change.added} == files[b.snapshot_id] - files[a.snapshot_id]
            assert {c.key[:2] for c in change.removed} == files[a.snapshot_id] - files[b.snapshot_id]


def keyed(rows: list[dict[str, Any]]) -> Counter[Any]:
    return Counter(
        (r["file_path"], r.get("content_offset"), r["record_count"], r["file_size_in_bytes"], r["spec_id"])
        for r in rows
    )


@pytest.mark.parametrize("name", BY_NAME)
def test_files_equal_icebergs(name: str, sandbox: Path, engine: SparkEngine) -> None:
    """Iceberg's `files` table of every snapshot, field by field. Iceberg shows no sequence numbers or snapshot ids
    there."""
    table = open_demo(name)
    for snapshot in sampled(table):
        truth = {
            (f["file_path"], f["content_offset"]): plain(f) for f in query(engine, name, ".files", snapshot.snapshot_id)
        }
        ours = list(table.files(snapshot.snapshot_id, metrics=True).to_arrow().to_pylist(maps_as_pydicts="strict"))
        assert len(ours) == len(truth)
        for row in ours:
            other = truth[(row["file_path"], row["content_offset"])]
            row["content"], row["partition"] = row["content"] or 0, row["partition"] or {}
            fields = other.keys() & row.keys() - {"partition"}
            assert len(fields) >= 15
            assert {f: plain(row[f]) for f in fields} == {f: other[f] for f in fields}
            if "partition" in other:
                assert {k: row["partition"].get(k) for k in other["partition"]} == other["partition"]


@pytest.mark.parametrize("name", BY_NAME)
def test_all_manifests_entries_and_files_equal_icebergs(name: str, sandbox: Path, engine: SparkEngine) -> None:
    """Iceberg's `all_manifests` has a row for each snapshot and manifest; `all_entries` each reachable manifest once;
    `all_files` their stored live entries. Listed difference: `all_files` and `all_entries` are of stored statuses, as
    of no snapshot."""
    table = open_demo(name)
    listed = [(s, m) for s in table.metadata.snapshots for m in table.tree.manifests(s)]
    truth = Counter(
        (m.reference_snapshot_id, m.path, m.content, m.length, m.partition_spec_id, m.added_snapshot_id,
         m.added_data_files_count + m.added_delete_files_count,
         m.existing_data_files_count + m.existing_delete_files_count,
         m.deleted_data_files_count + m.deleted_delete_files_count)
        for m in query(engine, name, ".all_manifests")
    )  # fmt: skip
    assert truth == Counter(
        (s.snapshot_id, m.manifest_path, m.content, m.manifest_length, m.partition_spec_id, m.added_snapshot_id,
         m.added_files_count, m.existing_files_count, m.deleted_files_count)
        for s, m in listed
    )  # fmt: skip
    once = {m.manifest_path: (s, m) for s, m in listed}
    ours = []
    for snapshot, manifest in once.values():
        entries = table.tree.logical_entries(manifest, snapshot)
        assert entries is not None
        ours += [r | {"spec_id": manifest.partition_spec_id} for r in entries.to_pylist()]
    entries_table = f"sandbox.{NAMESPACE}.{name}.all_entries"
    columns = "status, snapshot_id, sequence_number, file_sequence_number, data_file.file_path, data_file.record_count"
    theirs = engine.session().sql(f"SELECT {columns} FROM {entries_table}").collect()
    names = (
        "inherited_snapshot_id",
        "inherited_sequence_number",
        "inherited_file_sequence_number",
        "file_path",
        "record_count",
    )
    assert Counter(tuple(r) for r in theirs) == Counter((r["status"], *(r[n] for n in names)) for r in ours)
    assert keyed([plain(f) for f in query(engine, name, ".all_files")]) == keyed([r for r in ours if r["status"] != 2])


@pytest.mark.parametrize("name", BY_NAME)
def test_partitions_equal_icebergs(name: str, sandbox: Path, engine: SparkEngine) -> None:
    table = open_demo(name)
    for snapshot in sampled(table):
        sums = (
            "record_count, file_count, total_data_file_size_in_bytes, position_delete_record_count, "
            "position_delete_file_count"
        )
        sums += (
            ", equality_delete_record_count, equality_delete_file_count, last_updated_snapshot_id, "
            "unix_millis(last_updated_at) AS at"
        )
        extra = ", partition, spec_id" if any(s.fields for s in table.metadata.partition_specs) else ""
        at = f"sandbox.{NAMESPACE}.{name}.partitions VERSION AS OF {snapshot.snapshot_id}"
        theirs = [plain(r) for r in engine.session().sql(f"SELECT {sums}{extra} FROM {at}").collect()]
        ours = list(table.partitions(snapshot.snapshot_id).to_arrow().to_pylist())
        assert len(theirs) == len(ours)

        def key(row: dict[str, Any]) -> str:
            values = {k: v for k, v in (row.get("partition") or {}).items() if v is not None}
            return str(sorted(values.items()))

        for mine, other in zip(sorted(ours, key=key), sorted(theirs, key=key), strict=True):
            assert key(mine) == key(other)
            fields = other.keys() - {"partition", "at"}
            assert {f: mine[f] for f in fields} == {f: other[f] for f in fields}
            assert mine["last_updated_ms"] == other["at"]


@pytest.mark.parametrize("name", BY_NAME)
def test_every_header_agrees_with_its_list(name: str, sandbox: Path) -> None:
    from explorer.spec.entries.manifest_headers import check_header

    table = open_demo(name)
    for snapshot in sampled(table):
        for manifest in table.tree.manifests(snapshot):
            checks = check_header(table.manifest_header(manifest.manifest_path), manifest, table.metadata)
            assert any(c.agrees for c in checks)
            assert not [c for c in checks if c.agrees is False]


def test_the_lifecycle_is_figure_8s(sandbox: Path) -> None:
    cells = {(c.manifest, c.snapshot): c for c in open_demo("manifest_lifecycle").lifecycle()}
    states = {key: (c.state, c.into) for key, c in cells.items()}
    assert states == {
        ("manifest-1", "snapshot-1"): ("created", ()),
        ("manifest-1", "snapshot-2"): ("rewritten", ("manifest-2",)),
        ("manifest-2", "snapshot-2"): ("created", ()),
        ("manifest-2", "snapshot-3"): ("carried", ()),
        ("manifest-2", "snapshot-4"): ("rewritten", ("manifest-4",)),
        ("manifest-3", "snapshot-3"): ("created", ()),
        ("manifest-3", "snapshot-4"): ("carried", ()),
        ("manifest-3", "snapshot-5"): ("carried", ()),
        ("manifest-4", "snapshot-4"): ("created", ()),
        ("manifest-4", "snapshot-5"): ("dropped", ()),
        ("manifest-5", "snapshot-5"): ("created", ()),
    }
    assert "only DELETED entries" in cells[("manifest-4", "snapshot-5")].reason


def test_a_failed_build_leaves_no_table(sandbox: Path, engine: SparkEngine) -> None:
    from explorer.lab.scenarios import available_names, build_all

    def broken(w: Any) -> None:
        w.create("fruit STRING")
        w.insert("'apple'")
        raise RuntimeError("the power went out")

    scenario = Scenario("half_made", "nothing", "none", broken)
    spark = engine.session()
    others = "sandbox.building.another_process_builds_this"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.building")
    spark.sql(f"CREATE TABLE {others} (id INT) USING iceberg")
    spark.sql("CREATE TABLE sandbox.building.half_made (left_by_an_earlier_run INT) USING iceberg")
    try:
        with pytest.raises(RuntimeError, match="power"):
            build_all(engine, [scenario])
        assert spark.catalog.tableExists(others)
    finally:
        spark.sql(f"DROP TABLE {others} PURGE")
    assert "half_made" not in {
        r.tableName for ns in (NAMESPACE, "building") for r in spark.sql(f"SHOW TABLES IN sandbox.{ns}").collect()
    }
    assert not (sandbox / "warehouse" / NAMESPACE / "half_made").exists()
    assert available_names() == set(BY_NAME)


def test_java_starts_with_the_classes_that_were_kept(sandbox: Path, engine: SparkEngine) -> None:
    """`-Xshare:on` fails where the archive does not fit the class path."""
    java = find_java()
    kept = engine.keep_classes()
    assert not list(Path.cwd().glob(f"java_pid{gateway.pid()}_*"))  # another process may keep its own meanwhile
    class_path = os.pathsep.join([*map(str, resolve_jars(java)), str(spark_home() / "jars" / "*")])
    told = subprocess.run([java.command, *jvm_cds.options(kept), "-Xshare:on", "-cp", class_path, "-version"])
    assert (kept.is_file(), told.returncode) == (True, 0)


def test_local_files_are_written_by_java_itself(tmp_path: Path, engine: SparkEngine) -> None:
    jvm: Any = engine.session()._jvm
    hadoop = jvm.org.apache.hadoop
    local = hadoop.fs.FileSystem.getLocal(hadoop.conf.Configuration())
    assert local.getClass().getName() == CLASS
    local.create(hadoop.fs.Path(f"file:{tmp_path}/folder/file"), True).close()
    assert [p.name for p in tmp_path.rglob("*")] == ["folder", "file"]
    assert [oct(p.stat().st_mode & 0o777) for p in sorted(tmp_path.rglob("*"))] == ["0o755", "0o644"]
    (tmp_path / "folder").chmod(0o2775)  # a group's: what is made in it is the group's, too
    local.mkdirs(hadoop.fs.Path(f"file:{tmp_path}/folder/inner"))
    assert (tmp_path / "folder" / "inner").stat().st_mode & 0o2000
    (tmp_path / "folder" / "inner").rmdir()
    strict = hadoop.conf.Configuration()
    strict.set("fs.permissions.umask-mode", "077")
    write_plainly(jvm, strict)
    hadoop.fs.FileSystem.getLocal(strict).create(hadoop.fs.Path(f"file:{tmp_path}/own/file"), True).close()
    write_plainly(jvm, engine.session().sparkContext._jsc.hadoopConfiguration())
    assert [oct((tmp_path / p).stat().st_mode & 0o777) for p in ("own", "own/file")] == ["0o700", "0o600"]
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    listed = local.listStatus(hadoop.fs.Path(f"file:{tmp_path}/link"))
    assert [status.getPath().getName() for status in listed] == ["file"]
