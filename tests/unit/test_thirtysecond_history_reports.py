"""What public reports of trouble with Iceberg tables told, a thirty-second time: histories that maintenance cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.spec.doctor.findings import Finding
from tests.cases.mini import Table
from tests.support import direct
from tests.support.cut_history_tables import expire, with_appends


def run(*words: str) -> str:
    return CliRunner().invoke(main, list(words)).output


def found(table: Table, rule: str) -> list[Finding]:
    return [finding for finding in direct.doctor(str(table.folder)).findings if finding.rule == rule]


# -- reasons of other snapshots (apache/iceberg#8378) ------------------------------------------------------------------
def test_older_snapshots_stay_for_their_own_reasons(tmp_path: Path) -> None:
    table = with_appends(tmp_path / "t", 2)
    now = run("storage", str(table.folder))
    assert "An expiry leaves them" not in now  # all is old: only the current snapshot stays
    table.md["properties"]["history.expire.max-snapshot-age-ms"] = str(10**14)
    table.write()
    told = run("storage", str(table.folder))
    assert "An expiry leaves them: their snapshots are younger than the policy's age.\n" in told
    table.md["refs"]["old"] = {"snapshot-id": 101, "type": "tag"}
    table.write()
    told = run("storage", str(table.folder))
    assert "An expiry leaves them: a branch or tag names their snapshots; their snapshots are younger than the" in told


# -- statistics that went with their snapshots (trinodb/trino#19992) ---------------------------------------------------
def with_statistics(folder: Path, kind: str) -> Table:
    table = with_appends(folder, 2)
    file = {"statistics-path": f"{table.location}/metadata/a.stats", "file-size-in-bytes": 1}
    table.md[kind] = [{"snapshot-id": 101, **file, "file-footer-size-in-bytes": 1, "blob-metadata": []}]
    table.save()
    table.md[kind] = []
    expire(table, 101)
    return table


def test_statistics_that_an_expiry_took_are_missed(tmp_path: Path) -> None:
    for kind, call in (("statistics", "compute_table_stats"), ("partition-statistics", "compute_partition_stats")):
        table = with_statistics(tmp_path / kind, kind)
        [finding] = found(table, "statistics-stale")
        name = kind.replace("-", " ")
        assert finding.severity == "info"
        assert finding.what == (
            f"the table has no {name} file any more: metadata-3 has 1, and metadata-4 has none: its snapshot has "
            "expired"
        )
        assert finding.remedy == f"CALL your_catalog.system.{call}('your_db.your_table') writes new ones."
        assert finding.location == f"/{kind}"


def test_statistics_that_the_table_never_had_are_not_missed(tmp_path: Path) -> None:
    table = with_appends(tmp_path / "t", 3)
    expire(table, 101)
    assert not found(table, "statistics-stale")


def test_an_expiry_that_takes_all_statistics_says_so(tmp_path: Path) -> None:
    table = with_appends(tmp_path / "t", 2)
    file = {"statistics-path": f"{table.location}/metadata/a.stats", "file-size-in-bytes": 1}
    own = {"snapshot-id": 101, **file, "file-footer-size-in-bytes": 1, "blob-metadata": []}
    table.md["statistics"] = [own]
    table.write()
    said = run("maintain", "preview", str(table.folder), "expire")
    assert "1 statistics file of them would be removed, and the table would have none." in said
    table.md["statistics"].append(own | {"snapshot-id": 102, "statistics-path": f"{table.location}/metadata/b.stats"})
    table.write()
    said = run("maintain", "preview", str(table.folder), "expire")
    assert "1 statistics file of them would be removed.\n" in said


# -- a history that an expiry cut in the middle (apache/iceberg#8565) --------------------------------------------------
CUT = (
    "the current snapshot descends from it, but a snapshot between them has expired: rollback_to_snapshot refuses it, "
    "and set_current_snapshot goes to it"
)


def cut_in_the_middle(folder: Path, forgets_parents: bool = False) -> Table:
    table = with_appends(folder, 5)
    expire(table, 103, forgets_parents=forgets_parents)
    return table


def without_older_metadata(table: Table) -> Table:
    for path in (table.folder / "metadata").glob("*.metadata.json"):
        if path.name != table.last:
            path.unlink()
    return table


def places(table: Table) -> dict[int, tuple[str, tuple[str, ...]]]:
    return {entry.snapshot_id: (entry.kind, entry.notes) for entry in direct.open_table(str(table.folder)).lineage()}


@pytest.mark.parametrize("forgets_parents", [False, True])
def test_what_lies_before_an_expired_snapshot_was_not_rolled_back(forgets_parents: bool, tmp_path: Path) -> None:
    table = cut_in_the_middle(tmp_path / "t", forgets_parents)
    known = places(table)
    assert [known[own][0] for own in (101, 102, 104, 105)] == ["cut off", "cut off", "ancestor", "current"]
    assert known[102][1][:2] == (CUT, "no ref leads to it")
    text = run("history", "lineage", str(table.folder))
    assert "rollback or a reset" not in text
    assert "began anew" not in text
    assert ("what came between has expired" in text) is forgets_parents
    landed = run("history", "landed", str(table.folder), "snapshot-2")
    assert landed.startswith("It landed. Snapshot-2: in main.")
    assert "not known" not in landed


def test_nobody_knows_it_without_older_metadata(tmp_path: Path) -> None:
    table = without_older_metadata(cut_in_the_middle(tmp_path / "t"))
    kind, notes = places(table)[101]
    assert kind == "detached"
    assert notes == (
        "no ref leads to it, and whether it was current is not known",
        "whether the current snapshot descends from it is not known: snapshots between them may have expired",
    )
    landed = run("history", "landed", str(table.folder), "101")
    assert landed.startswith("Whether it is in main's history is not known, since snapshots of main have expired.")
    [finding] = found(table, "log-incomplete")
    assert finding.what.startswith("2 snapshots may have been current, and have no line in the snapshot log")


def test_pyiceberg_forgets_a_parent_and_nobody_says_why(tmp_path: Path) -> None:
    table = without_older_metadata(cut_in_the_middle(tmp_path / "t", forgets_parents=True))
    kind, notes = places(table)[102]
    assert (kind, notes[0]) == (
        "detached",
        "it was current once, and no ref leads to it; whether the current snapshot descends from it is not known: "
        "snapshots between them may have expired",
    )
    text = run("history", "lineage", str(table.folder))
    assert "CREATE OR REPLACE), or a writer began anew, or pyiceberg expired its parent" in text


def test_a_table_that_was_replaced_is_still_said_to_be(tmp_path: Path) -> None:
    table = with_appends(tmp_path / "t", 2)
    table.append(table.parquet("new.parquet", {"id": [9]}), parent=None)
    assert "snapshot-3, which has no parent, took its place" in places(table)[102][1][0]
    assert "or pyiceberg" not in run("history", "lineage", str(table.folder))
    table.append(table.parquet("more.parquet", {"id": [10]}))
    assert places(table)[102][0] == "abandoned"


def test_a_rollback_is_still_called_one(tmp_path: Path) -> None:
    table = with_appends(tmp_path / "t", 4)
    table.md["refs"]["main"]["snapshot-id"] = table.md["current-snapshot-id"] = 103
    table.md["snapshot-log"].append({"snapshot-id": 103, "timestamp-ms": table.clock + 1000})
    table.save()
    expire(table, 102)
    known = places(table)
    assert known[104] == (
        "abandoned",
        ("it was current once, but a rollback or a reset left it, and no ref leads to it",),
    )
    assert known[101][0] == "cut off"


def test_two_gaps_are_bridged(tmp_path: Path) -> None:
    table = with_appends(tmp_path / "t", 7)
    expire(table, 103)
    expire(table, 105)
    known = places(table)
    assert [known[own][0] for own in (101, 102, 104, 106, 107)] == ["cut off"] * 3 + ["ancestor", "current"]


def test_going_back_over_a_gap_is_no_new_beginning(tmp_path: Path) -> None:
    table = cut_in_the_middle(tmp_path / "t")
    table.md["refs"]["main"]["snapshot-id"] = table.md["current-snapshot-id"] = 101
    table.md["snapshot-log"].append({"snapshot-id": 101, "timestamp-ms": table.clock + 1000})
    table.save()
    text = run("history", "lineage", str(table.folder))
    assert places(table)[105][1][0].startswith("it was current once, but a rollback or a reset left it")
    assert "rollback: the table went back from snapshot-4 to its ancestor snapshot-1" in text
    text = run("history", "lineage", str(without_older_metadata(table).folder))
    assert "jump: snapshot-1 was set by hand: whether snapshot-4 descends from it is not known" in text


def test_a_time_before_the_gap_leads_to_the_snapshot_of_then(tmp_path: Path) -> None:
    table = cut_in_the_middle(tmp_path / "t")
    times = {one["snapshot-id"]: one["timestamp-ms"] for one in table.md["snapshots"]}
    at = f"{times[102] + 1000}"
    says = run("count", str(table.folder), "-s", at)
    assert ". By metadata-5 snapshot-2 was current at " in says
    assert says.endswith("name it, or its id, in place of the time\n")
    assert "snapshot 103 was current at" in run("count", str(table.folder), "-s", f"{times[104] - 1000}")
    assert "no snapshot was current at" in run("count", str(table.folder), "-s", f"{times[101] - 1000}")
    says = run("count", str(without_older_metadata(table).folder), "-s", at)
    assert "The newest snapshot that is left from then is snapshot-2, of " in says


def test_the_doctor_names_the_snapshots_that_no_time_leads_to(tmp_path: Path) -> None:
    [finding] = found(cut_in_the_middle(tmp_path / "t"), "log-incomplete")
    assert finding.severity == "info"
    assert finding.snapshots == (102, 101)
    assert "a snapshot between them expired, and Iceberg drops all lines before that one" in finding.what
    assert "VERSION AS OF 102" in finding.remedy


def test_an_expiry_in_the_middle_is_warned_of(tmp_path: Path) -> None:
    table = with_appends(tmp_path / "t", 5)
    table.md["properties"]["history.expire.max-snapshot-age-ms"] = str(10**14)
    table.write()
    said = run("maintain", "preview", str(table.folder), "expire", "-O", "snapshot_ids=103")
    assert (
        "TIMESTAMP AS OF no longer finds snapshot-1 to snapshot-2, which stay: VERSION AS OF with their ids does.\n"
        "rollback_to_snapshot no longer goes to snapshot-1 to snapshot-2: set_current_snapshot does.\n"
    ) in said
    said = run("maintain", "preview", str(table.folder), "expire", "-O", "snapshot_ids=102")
    assert "TIMESTAMP AS OF no longer finds snapshot-1, which stays: VERSION AS OF 101 does.\n" in said
    said = run("maintain", "preview", str(table.folder), "expire", "-O", "snapshot_ids=101")
    assert "no longer" not in said


# -- files that one row rewrote (apache/iceberg#8378) ------------------------------------------------------------------
SPARK = {"engine-name": "spark", "engine-version": "4.1.4", "iceberg-version": "Apache Iceberg 1.12.0"}


def with_an_overwrite(folder: Path, version: int = 2, **counts: str) -> Table:
    table = with_appends(folder, 2, version)
    file = table.parquet("new.parquet", {"id": [0, 5]})
    manifest = table.manifest("new-m0.avro", [(1, file)])
    table.snapshot("overwrite", [manifest], SPARK | {name.replace("_", "-"): number for name, number in counts.items()})
    return table


COUNTS = {"deleted_data_files": "2", "added_data_files": "1", "deleted_records": "200"}
ADVICE = "ALTER TABLE your_catalog.your_db.your_table SET TBLPROPERTIES ({})"
ANY = ("delete", "merge", "update")


@pytest.mark.parametrize(
    ("more", "statements", "words"),
    [
        ({"added_records": "200"}, ANY, "Snapshot-3 replaced 2 data files of 200 rows by 1 of as many rows: how many "
         "rows it changed is not recorded. A DELETE, MERGE or UPDATE by copy-on-write does so, and an INSERT "
         "OVERWRITE. The old files stay"),
        ({"added_records": "199"}, ANY, "Snapshot-3 replaced 2 data files of 200 rows by 1 of 199. A DELETE, MERGE or"),
        ({"added_records": "201", "spark.merge-into.num-target-rows-copied": "197",
          "spark.merge-into.num-target-rows-updated": "2", "spark.merge-into.num-target-rows-deleted": "1"}, ("merge",),
         "Snapshot-3 is a MERGE that replaced 2 data files of 200 rows by 1: it carried 197 rows over, and changed 3."),
    ],
)  # fmt: skip
def test_storage_says_what_copy_on_write_replaced(
    more: dict[str, str], statements: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    table = with_an_overwrite(tmp_path / "t", **COUNTS, **more)
    told = run("storage", str(table.folder))
    assert words in told
    modes = [f"write.{statement}.mode" for statement in statements]
    assert ADVICE.format(", ".join(f"'{mode}' = 'merge-on-read'" for mode in modes)) in told
    table.md["properties"] |= dict.fromkeys(modes, "merge-on-read")
    table.write()
    assert "copy-on-write" not in run("storage", str(table.folder))


@pytest.mark.parametrize(
    "more",
    [
        {"added_records": "20"},  # most rows went: nothing was carried over to speak of
        {"added_records": "300"},  # an INSERT OVERWRITE, or a MERGE that counts nothing
        {"added_records": "200", "replace_partitions": "true"},
        {"added_records": "200", "added_delete_files": "1"},
        {"added_records": "200", "engine_name": "trino"},
        {"added_records": "200", "spark.sql.streaming.queryId": "a"},
    ],
)
def test_other_overwrites_are_not_taken_for_copy_on_write(more: dict[str, str], tmp_path: Path) -> None:
    table = with_an_overwrite(tmp_path / "t", **COUNTS, **more)
    assert "merge-on-read" not in run("storage", str(table.folder))


def test_version_1_has_no_merge_on_read(tmp_path: Path) -> None:
    table = with_an_overwrite(tmp_path / "t", 1, **COUNTS, added_records="200")
    assert "merge-on-read" not in run("storage", str(table.folder))


# -- what a reader of this change found --------------------------------------------------------------------------------
def test_a_file_after_an_expiry_of_pyiceberg_does_not_tell_that_a_snapshot_had_no_parent(tmp_path: Path) -> None:
    table = with_appends(tmp_path / "t", 4)
    expire(table, 103, forgets_parents=True)
    table.append(table.parquet("f5.parquet", {"id": [5]}))
    manifests = table.lists[table.md["current-snapshot-id"]]
    table.snapshot("append", manifests, ref="dev", parent=table.md["current-snapshot-id"])
    table.append(table.parquet("f7.parquet", {"id": [7]}))
    kinds = {own: kind for own, (kind, _) in places(table).items()}
    assert kinds == {101: "cut off", 102: "cut off", 104: "ancestor", 105: "ancestor", 106: "branch", 107: "current"}
    assert "CREATE OR REPLACE" not in run("history", "lineage", str(table.folder))


def test_a_tag_on_a_snapshot_does_not_tell_that_main_never_had_it(tmp_path: Path) -> None:
    table = with_appends(tmp_path / "t", 5)
    table.md["refs"]["old"] = {"snapshot-id": 101, "type": "tag"}
    expire(table, 102, 103)
    without_older_metadata(table)
    told = run("history", "landed", str(table.folder), "snapshot-1")
    assert "is not known, since snapshots of main have expired. Snapshot-1: on a branch or tag." in told
    assert "only on a branch" not in told
