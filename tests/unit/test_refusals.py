"""Statements are printed only where they do what they say: sick tables, lost metadata, metadata that a table does not
know."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.errors import NotPossible, UnreadableFile
from explorer.reports.conflicts import explain_conflict
from explorer.reports.maintenance import preview, runs
from explorer.spark_engine.sql_guard import quoting
from explorer.storage.paths import local_path
from tests.cases import build_case
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table

ALL = {"rewrite-all": "true"}
NOW = {"older_than": "2999-01-01", "retain_last": "1"}


def case(name: str, folder: Path) -> direct.Table:
    """A table of tests/cases whose files are all old enough to be removed as orphans."""
    return direct.open_table(str(aged(build_case(name, folder))))


def aged(folder: Path) -> Path:
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - 9 * 86400,) * 2)
    return folder


@pytest.mark.parametrize(
    ("name", "operation", "options", "reason"),
    [
        ("01", "compact", ALL, "is live 2 times"),
        ("02", "compact", ALL, "is live 2 times"),
        ("04", "compact", {}, "does not exist"),
        ("04", "rewrite-manifests", {}, "does not exist"),
        ("04", "expire", NOW, "Spark would commit the expiry first"),
        ("04", "next-append", {}, "does not exist"),
        ("05", "compact", ALL, "does not exist"),
        ("05", "rewrite-manifests", {}, "does not exist"),
        ("05", "expire", NOW, "Spark would commit the expiry first"),
        ("05", "remove-orphans", {}, "does not exist"),
        ("15", "compact", ALL, "recorded in another partition"),
        ("15", "rewrite-position-deletes", ALL, "recorded in another partition"),
        ("26", "compact", ALL, "was a date"),
        ("27", "compact", ALL, "bytes long"),
        ("52", "compact", ALL, "has the id 1"),
        ("10", "remove-orphans", {}, "is not in the log of"),
    ],
)
def test_a_sick_table_gets_no_statement(
    name: str, operation: str, options: dict[str, str], reason: str, tmp_path: Path
) -> None:
    seen = preview(case(name, tmp_path), operation, options=options)
    assert seen.call == ""
    assert reason in seen.refusal
    assert seen.words[0] == seen.refusal


@pytest.mark.parametrize(
    ("name", "operation", "options"),
    [("02", "rewrite-manifests", {}), ("16", "rewrite-manifests", {}), ("12", "compact", {}), ("12", "expire", {}),
     ("12", "remove-orphans", {}), ("12", "rewrite-position-deletes", ALL)],
)  # fmt: skip
def test_what_changes_nothing_is_no_statement(
    name: str, operation: str, options: dict[str, str], tmp_path: Path
) -> None:
    table = case(name, tmp_path)
    if operation == "expire":
        options = {"older_than": "2001-01-01"}
    seen = preview(table, operation, options=options)
    assert (seen.call, seen.refusal) == ("", "")


def test_a_table_without_its_lists_is_not_counted_nor_compared(tmp_path: Path) -> None:
    for name in ("04", "05"):
        table = case(name, tmp_path / name)
        for ask in (
            lambda t: direct.live_rows(t),
            lambda t: t.diff("snapshot-1", "main"),
            lambda t: t.row_diff("snapshot-1", "main"),
            lambda t: explain_conflict(t, "snapshot-1", "cow-delete", []),
            lambda t: direct.estimate(t, "id = 1"),
        ):
            with pytest.raises(UnreadableFile, match="this answer depends on it"):
                ask(table)
        assert direct.live_rows(table, "snapshot-1").rows > 0


def test_what_was_lost_before_both_snapshots_is_no_part_of_their_difference(tmp_path: Path) -> None:
    table = case("05", tmp_path)  # manifest-2 is lost
    assert len(table.diff("snapshot-3", "snapshot-4").added) == 1


def test_going_back_says_what_is_at_least_known(tmp_path: Path) -> None:
    told = {}
    for name in ("04", "05"):
        outcome = runs.preview_undo(case(name, tmp_path), "rollback", snapshot="snapshot-1")
        told[name] = " ".join(outcome.words)
    assert "at most 1 file would come, and at least 0 go: 1 file of this table could not be read" in told["04"]
    assert "at most 0 files would come, and at least 2 go" in told["05"]
    assert "No other snapshot reaches at least 2 data or delete files" in told["05"]
    forward = runs.preview_undo(case("05", tmp_path / "again"), "set-current", snapshot="snapshot-4")
    assert "For readers" not in " ".join(forward.words)


def test_expiry_goes_by_the_policy_of_the_table(table: Path) -> None:
    opened = direct.open_table(str(table))
    assert [row["becomes"] for row in preview(opened, "expire").tables["snapshots"]] == ["kept"] * 3  # of today
    edit_metadata(
        table, lambda d: [s.update({"timestamp-ms": s["timestamp-ms"] - 9 * 86400_000}) for s in d["snapshots"]]
    )
    old = direct.open_table(str(table))
    assert [row["becomes"] for row in preview(old, "expire").tables["snapshots"]] == ["expired", "expired", "kept"]
    assert preview(old, "expire").call.endswith("expire_snapshots(table => 'your_db.your_table')")
    edit_metadata(table, lambda d: d["properties"].update({"history.expire.min-snapshots-to-keep": "2"}))
    policy = direct.open_table(str(table))
    assert [row["becomes"] for row in preview(policy, "expire").tables["snapshots"]] == ["expired", "kept", "kept"]
    kept = preview(policy, "expire", retain_last=3)
    assert kept.call == ""
    assert preview(policy, "expire", retain_last=1).call.endswith("retain_last => 1)")
    run = CliRunner().invoke(main, ["maintain", "preview", str(table), "expire", "-o", "json"])
    assert json.loads(run.stdout)["words"][0].startswith("1 snapshot of 3 would expire")


@pytest.mark.parametrize(("name", "number"), [("30", 102), ("45", 103)])
def test_expiry_warns_of_what_was_cut_off(name: str, number: int, tmp_path: Path) -> None:
    seen = preview(case(name, tmp_path), "expire", options=NOW)
    assert any(f"CREATE BRANCH cut_off AS OF VERSION {number}" in words for words in seen.words)
    healthy = preview(direct.open_table(str(make_table(tmp_path))), "expire", options=NOW)
    assert healthy.call
    assert not any("CREATE BRANCH" in words for words in healthy.words)


def test_a_missing_file_is_not_promised_to_be_compacted(table: Path) -> None:
    opened = direct.open_table(str(table))
    Path(str(local_path(opened.files()[0]["file_path"]))).unlink()
    seen = preview(opened, "compact", options=ALL)
    assert (seen.call, "is missing" in seen.refusal) == ("", True)


def test_live_files_of_newer_metadata_are_no_orphans(table: Path) -> None:
    """A table that is opened at an older metadata file: all that came later is live."""
    aged(table)
    older = sorted((table / "metadata").glob("*.metadata.json"))[1]
    stale = direct.open_table(str(older))
    seen = preview(stale, "remove-orphans")
    assert seen.call == ""
    assert "live files would be removed" in seen.refusal
    assert f"is newer than {older}, which was opened" in seen.refusal
    lost = {row["file"]: row["live"] for row in seen.tables["files"] if row["becomes"] == "removed"}
    assert len(lost) == 8  # of two more commits: data, manifest, list and metadata file each
    assert set(lost.values()) == {True}
    report = direct.doctor(str(older), files=True)
    assert "orphan-files" not in {f.rule for f in report.findings}
    assert any("newer than" in said for said in report.not_checked)
    current = preview(direct.open_table(str(table)), "remove-orphans")
    assert (current.refusal, len(current.tables["files"])) == ("", 0)


@pytest.mark.parametrize(
    ("hidden_as", "why"),
    [
        ("log", "has the opened metadata file in its log"), ("sequence", "has a higher sequence number"),
        ("version", "has no lower version"), ("METADATA.json", "in its log"), ("metadata.json", "in its log"),
    ],
)  # fmt: skip
def test_a_newer_metadata_file_may_say_an_older_time(hidden_as: str, why: str, table: Path) -> None:
    """Clocks differ, and a stranger sets them: version, sequence number and log tell, too."""
    older, newer = sorted((table / "metadata").glob("*.metadata.json"))[-2:]
    told = json.loads(newer.read_text()) | {"last-updated-ms": 1}
    if hidden_as in ("sequence", "version"):
        told["metadata-log"] = []
    if hidden_as == "version":
        told["last-sequence-number"] = 0
    newer.write_text(json.dumps(told))
    if hidden_as.endswith(".json"):
        newer.rename(newer.with_name(hidden_as if hidden_as[0] == "m" else newer.name.replace("metadata", "METADATA")))
    aged(table)
    seen = preview(direct.open_table(str(older)), "remove-orphans")
    assert seen.call == ""
    assert why in seen.refusal


def test_metadata_that_the_log_has_dropped_is_an_orphan_as_before(table: Path) -> None:
    edit_metadata(table, lambda d: d.update({"metadata-log": d["metadata-log"][-1:]}))
    aged(table)
    seen = preview(direct.open_table(str(table)), "remove-orphans")
    assert [Path(row["file"]).name[:5] for row in seen.tables["files"]] == ["00000", "00001"]
    assert not seen.refusal
    assert seen.call


def test_another_table_in_the_folder_is_live(tmp_path: Path) -> None:
    folder = aged(build_case("39", tmp_path))
    files = sorted((folder / "metadata").glob("*.metadata.json"))
    by_table: dict[str, Path] = {json.loads(path.read_text())["table-uuid"]: path for path in files}
    assert len(by_table) == 2
    for path in by_table.values():
        seen = preview(direct.open_table(str(path)), "remove-orphans")
        assert "is of another table (its UUID differs)" in seen.refusal
        assert seen.call == ""
    (folder / "metadata" / "00009-lost.metadata.json").write_text("{")
    unreadable = preview(direct.open_table(str(path)), "remove-orphans")
    assert "00009-lost" in unreadable.refusal


def test_a_refused_operation_is_not_run(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aged(table)
    older = direct.open_table(str(sorted((table / "metadata").glob("*.metadata.json"))[1]))
    monkeypatch.setattr(runs, "check_writable", lambda *_: None)
    monkeypatch.setattr(runs, "check_same_table", lambda *_: None)
    with pytest.raises(NotPossible, match="live files would be removed"):
        runs.run(older, "remove-orphans", engine=object())  # type: ignore[arg-type]  # nothing is asked of it


@pytest.mark.parametrize(
    ("milliseconds", "literal"),
    [
        (1, "TIMESTAMP '1970-01-01 00:00:00.001 UTC'"),
        (1795771566106, "TIMESTAMP '2026-11-27 09:26:06.106 UTC'"),
        (-62135596800000, "TIMESTAMP '0001-01-01 00:00:00.000 UTC'"),
        (253402300799999, "TIMESTAMP '9999-12-31 23:59:59.999 UTC'"),
    ],
)
def test_moments_are_literals_not_functions(milliseconds: int, literal: str) -> None:
    assert quoting.timestamp(milliseconds) == literal
    with pytest.raises(NotPossible):
        quoting.timestamp(253402300800000)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("13", "it would apply to a.parquet, but the delete is in partition region=us, the data file in region=eu"),
        ("14", "a delete for all partitions needs an unpartitioned spec"),
        ("64", "which is cut off"),
    ],
)
def test_a_delete_that_may_be_needed_is_not_offered_to_be_dropped(name: str, reason: str, tmp_path: Path) -> None:
    table = case(name, tmp_path)
    seen = preview(table, "dangling-deletes")
    assert [reason in row["may_be_needed"] for row in seen.tables["deletes"]] == [True]
    assert seen.words[1].startswith("Look before you drop them: 1 of them may have been meant")
    for finding in direct.doctor(table).findings:
        assert "rewrite_position_delete_files" not in finding.remedy
        assert "remove-dangling-deletes" not in finding.remedy
