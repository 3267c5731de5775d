"""Tables of public reports (tests/spark/test_twelfth_reports.py has more, and runs what is printed)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.reports.maintenance import preview
from explorer.spec.doctor.findings import Finding
from tests.cases import twelfth
from tests.cases.mini import Table
from tests.support import direct
from tests.unit.test_screen import run


def found(path: Path, rule: str, **options: bool) -> list[Finding]:
    return [f for f in direct.doctor(str(path), **options).findings if f.rule == rule]


@pytest.mark.parametrize("again", [True, False])
def test_a_key_that_one_commit_wrote_twice(again: bool, tmp_path: Path) -> None:
    path = twelfth.two_checkpoints(tmp_path / "t", again)
    findings = found(path, "delete-repeated", deep=True)
    assert len(findings) == again
    told = run("data", "history", str(path), "id = 1").output
    assert f"snapshot-2 shows {'2 rows' if again else '1 row'} with id = 1" in told
    assert "the equality delete e1.parquet holds equal values, but does not apply: the data's sequence number 2" in told
    if again:
        assert findings[0].what == (
            "2 equality delete files of one commit hold 1 key in common, each of which has several rows that the "
            "commit added: all are visible"
        )
        assert (findings[0].found, findings[0].columns) == ("1", ("id",))


def test_a_row_that_a_position_delete_hides_is_not_told_of_twice(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    data = [table.parquet(f"c{n}.parquet", {"id": [1]}) for n in (1, 2)]
    deletes = [table.equality_delete(f"e{n}.parquet", {"id": [1]}) for n in (1, 2)]
    table.delta(data, [*deletes, table.position_delete("p.parquet", [(data[0]["file_path"], 0)])])
    assert found(tmp_path / "t", "delete-repeated", deep=True) == []


def test_statistics_of_all_files_in_each_entry(tmp_path: Path) -> None:
    path = twelfth.statistics_of_all_files(tmp_path / "t")
    null, size = found(path, "metrics-wrong")
    assert "null in all rows by its counts, and yet has bounds" in null.what
    assert (null.severity, null.columns, null.count) == ("error", ("v",), 3)
    assert "its column sizes come to more than the file" in size.what
    assert (size.severity, size.count) == ("warning", 3)
    told = run("data", "history", str(path), "v = 'x'").output
    assert "Spark does not return 2 of them" in told
    assert "v is null in all rows (its manifest entry says so); the file has the row, so this statistic" in told


def test_delete_files_in_a_data_manifest(tmp_path: Path) -> None:
    path = twelfth.equality_deletes_as_data(tmp_path / "t")
    [finding] = found(path, "manifest-content")
    assert "Spark reads the rows of the delete file as rows of the table" in finding.what
    told = run("data", "history", str(path), "id = 2")
    assert "Spark reads what delete files hold as rows of the table" in told.stderr


def test_a_column_that_only_the_partition_has(tmp_path: Path) -> None:
    path = twelfth.column_of_the_partition_alone(tmp_path / "t")
    [finding] = found(path, "readers-differ", deep=True)
    assert (finding.severity, finding.columns, finding.count) == ("info", ("country",), 2)
    assert "Snowflake could not read such a table" in finding.what
    told = run("data", "history", str(path), "id = 1").output
    assert "Its file lacks columns that the schema has: country = 'USA' by its partition." in told


def test_a_file_that_a_sink_left_between_commits(tmp_path: Path) -> None:
    path = twelfth.lost_by_a_coordinator(tmp_path / "t")
    [finding] = found(path, "orphan-files", files=True)
    assert 'kafka.connect.offsets.control.cg = {"0": 200}: nobody has committed their rows' in finding.what
    assert finding.remedy.startswith("First ask the writer of those files")
    assert "Look first: of these 1 data file" in " ".join(preview(direct.open_table(path), "remove-orphans").words)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_no_current_snapshot_id(version: int, tmp_path: Path) -> None:
    """apache/iceberg-python#134: Trino could not read a table that pyiceberg had made."""
    Table(tmp_path / "t", [(1, "id", "long")], version=version)
    told = [f for f in found(tmp_path / "t", "metadata-field") if "current-snapshot-id" in f.what]
    assert len(told) == (version < 3)
    for finding in told:
        assert finding.severity == "info"
        assert "Cannot parse missing long: current-snapshot-id" in finding.what
        assert "SET TBLPROPERTIES ('written-again' = 'true')" in finding.remedy


def test_a_folder_whose_hint_is_gone(tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#120164: OPTIMIZE removed it, and the metadata files but v0."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [2, 3]}))
    for path in (tmp_path / "t" / "metadata").glob("*.metadata.json"):
        path.unlink()
    (tmp_path / "t" / "metadata" / "v0.metadata.json").write_text(json.dumps(table.md | {"metadata-log": []}))
    [finding] = found(tmp_path / "t", "metadata-choice")
    assert finding.severity == "info"
    assert "Iceberg opens the highest version, 0, and readers that need the hint" in finding.what
    assert direct.live_rows(tmp_path / "t").rows == 2


def test_a_manifest_that_is_longer_than_recorded(tmp_path: Path) -> None:
    """trinodb/trino#25340: Trino failed, and Hive did not."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    manifest = table.manifest("m1.avro", [(1, table.parquet("a.parquet", {"id": [1]}))])
    manifest["manifest_length"] -= 100
    table.snapshot("append", [manifest])
    [finding] = found(tmp_path / "t", "manifest-length")
    assert "readers that go by the length fail (Trino: 'Incorrect file size'" in finding.what


def test_sorting_takes_files_by_their_size(tmp_path: Path) -> None:
    """apache/iceberg#17489."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(*(table.parquet(f"{n}.parquet", {"id": list(range(n, 1000, 7))}) for n in range(6)))
    sizes = [path.stat().st_size for path in (tmp_path / "t" / "data").iterdir()]
    options = {"min-file-size-bytes": str(min(sizes) - 1), "max-file-size-bytes": str(max(sizes) + 1),
               "target-file-size-bytes": str(min(sizes))}  # fmt: skip
    told = preview(direct.open_table(tmp_path / "t"), "compact-sort", options=options)
    assert not told.call
    assert "6 files stay as written, and their ranges may overlap" in " ".join(told.words)
    told = preview(direct.open_table(tmp_path / "t"), "compact-sort", options=options | {"rewrite-all": "true"})
    assert told.call
    assert "stay as written" not in " ".join(told.words)


def test_defaults_of_types_that_spark_lacks(tmp_path: Path) -> None:
    """facebookincubator/velox#17790."""
    table = Table(tmp_path / "t", [(1, "id", "long")], version=3)
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.set_schema([(1, "id", "long"), (2, "nano", "timestamp_ns"), (3, "code", "binary"), (4, "pair", "fixed[2]"),
                      (5, "at", "time"), (6, "any", "variant"), (7, "none", "unknown")])  # fmt: skip
    given = {"nano": "2024-01-15T01:02:03.000000004", "code": "cafe", "pair": "0102", "at": "01:02:03.000004"}
    for field in table.md["schemas"][1]["fields"]:
        if field["name"] in given:
            field["initial-default"] = given[field["name"]]
    table.save()
    told = run("data", "history", str(tmp_path / "t"), "code = X'CAFE'").output
    assert "snapshot-1 shows 1 row" in told
    assert "nano = '2024-01-15T01:02:03.000000004', code = 'cafe', pair = '0102', at = '01:02:03.000004' by the" in told
    assert "any, none are null, without an initial default" in told


@pytest.mark.parametrize("bounds", [True, False])
def test_position_deletes_of_a_table_that_was_moved(bounds: bool, tmp_path: Path) -> None:
    path = twelfth.moved(tmp_path / "t", bounds)
    findings = [f for f in direct.doctor(str(path), deep=True).findings if f.rule.startswith("delete-")]
    assert {f.rule for f in findings} == {"delete-names-nothing"} | ({"delete-dangling"} if bounds else set())
    for finding in findings:
        assert finding.severity == "warning"
        assert finding.remedy.startswith("Do not drop them before you know")
        assert "its position deletes name the old place: the procedure rewrite_table_path" in finding.remedy
    told = run("data", "history", str(path), "id = 2").output
    assert (
        "holds its position, but does not apply: it names the data file by another scheme, authority or place" in told
    )
    assert "holds its position" not in run("data", "history", str(path), "id = 3").output
    words = " ".join(preview(direct.open_table(path), "dangling-deletes").words)
    assert ("Look before you drop them" in words) == bounds


def test_deletes_that_compaction_left_are_no_sign_of_a_move(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    gone = table.parquet("old/a.parquet", {"id": [1, 2]})
    delete = table.position_delete("d.parquet", [(gone["file_path"], 0)])
    table.delta(data=[table.parquet("a.parquet", {"id": [2]})], deletes=[delete])
    [finding] = found(tmp_path / "t", "delete-dangling")
    assert (finding.severity, "Do not drop" in finding.remedy) == ("info", False)


@pytest.mark.parametrize(
    ("tag", "lost"), [({}, True), ({"max-ref-age-ms": 1_000}, False), ({"max-ref-age-ms": 10**12}, True)]
)
def test_a_tag_that_expired_with_its_snapshot(tag: dict[str, int], lost: bool, tmp_path: Path) -> None:
    findings = found(twelfth.expired_with_its_tag(tmp_path / "t", **tag), "ref-dangling")
    assert len(findings) == lost
    for finding in findings:
        assert (finding.severity, finding.refs) == ("warning", ("month",))
        assert "the tag 'month' and its snapshot 101 were in the metadata file before" in finding.what
        assert "register_table(table => 'your_db.your_table_before', metadata_file => '" in finding.remedy


def test_properties_that_iceberg_does_not_know(tmp_path: Path) -> None:
    """apache/gravitino#10995: write.delete.format did nothing."""
    meant = {
        "write.delete.format": "write.delete.format.default",
        "write.target-file-size": "write.target-file-size-bytes",
        "commit.retry.num-retry": "commit.retry.num-retries",
    }
    known = dict.fromkeys(
        ("owner", "my.write.mode", "write.metadata.metrics.column.id", "write.amoro.x", "comment"), "1"
    )
    Table(tmp_path / "t", [(1, "id", "long")], properties=dict.fromkeys(meant, "1") | known)
    told = {f.location.removeprefix("/properties/"): f for f in found(tmp_path / "t", "property-refused")}
    assert told.keys() == meant.keys()
    for name, finding in told.items():
        assert finding.severity == "info"
        assert (
            f"which Iceberg does not know: it has no effect on Iceberg's writers and readers ({meant[name]}"
            in finding.what
        )


def test_an_empty_newest_version_in_a_folder(tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#111726: power was lost after a commit; tests/spark has what Spark makes of it."""
    twelfth.empty_version(tmp_path / "t")
    [finding] = found(tmp_path / "t", "metadata-unreadable")
    assert "it starts with b'' and has 0 bytes" in finding.what
    assert "move v2.metadata.json out of it, and let version-hint.text say 1, or remove that" in finding.remedy


def test_a_checkpoint_that_was_committed_twice(tmp_path: Path) -> None:
    """apache/iceberg#14425."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    file, summary = table.parquet("a.parquet", {"id": [1]}), {"flink.max-committed-checkpoint-id": "7"}
    for number in (1, 2):
        before = table.lists.get(table.md["current-snapshot-id"], [])
        table.snapshot("append", [*before, table.manifest(f"m{number}.avro", [(1, file)])], summary)
    [finding] = found(tmp_path / "t", "file-twice")
    assert "and both say flink.max-committed-checkpoint-id = 7: the sink committed it twice" in finding.what


def test_what_readers_need(tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#53054: a reader that does not know deletes."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "name", "string")], version=3)
    data = table.parquet("a.parquet", {"id": [1], "name": ["a"]})
    table.append(data)
    assert direct.overview(tmp_path / "t").readers_need == ("version 3",)
    table.delta(deletes=[table.position_delete("d.parquet", [(data["file_path"], 0)])])
    table.set_schema([(1, "id", "long"), (2, "title", "string"), (3, "at", "timestamp_ns")])
    table.md["schemas"][1]["fields"][2]["initial-default"] = "2024-01-01T00:00:00"
    table.md["properties"]["schema.name-mapping.default"] = "[]"
    table.save()
    needs = [
        "version 3", "position deletes", "initial defaults (at)", "types of version 3 (at)",
        "columns by field id, not by name (title)", "the name mapping, for files without field ids",
    ]  # fmt: skip
    assert list(direct.overview(tmp_path / "t").readers_need) == needs
    assert f"readers need  {'; '.join(needs)}" in run("overview", str(tmp_path / "t")).output
