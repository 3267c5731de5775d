"""What was left of the rounds of public reports, on tables that are built here."""

from __future__ import annotations

import ast
import inspect
import json
import re
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from explorer.spec.doctor import remedy_parts
from explorer.spec.doctor.remedy_texts import TEXTS_OF
from tests.cases import build_case
from tests.cases.mini import Table
from tests.robustness.editing import edit_avro, edit_json
from tests.support import direct
from tests.support.report_tables import found
from tests.support.small_tables import make_table, newest_metadata
from tests.unit.test_cli import run
from tests.unit.test_doctor import ROOT, current
from tests.unit.test_twentyeighth_reports import stale
from tests.unit.test_twentyfirst_reports import age, raced, unnamed


# -- advice that holds for each cause that a finding names -------------------------------------------------------------
def test_a_property_that_names_a_class_is_no_secret_to_change(tmp_path: Path) -> None:
    [finding] = found(make_table(tmp_path, 1, **{"write.location-provider.impl": "org.x.Y"}), "property-unsafe")
    assert "change the secret" not in finding.remedy
    assert "Nothing has to be done if you know the class" in finding.remedy
    assert "UNSET TBLPROPERTIES ('write.location-provider.impl')" in finding.remedy
    [secret] = found(make_table(tmp_path / "b", 1, **{"s3.secret-access-key": "abcdefgh12345678"}), "property-unsafe")
    assert "change the secret. If it is none, nothing has to be done" in secret.remedy


def _with_statistics(table: Path, path: str) -> Path:
    file: dict[str, Any] = {"statistics-path": path, "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1}
    edit_json(
        newest_metadata(table),
        lambda d: d.update(statistics=[{"snapshot-id": d["current-snapshot-id"], **file, "blob-metadata": []}]),
    )
    return table


def test_statistics_that_nobody_may_look_at_are_not_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.stats").write_text("x")
    table = _with_statistics(make_table(tmp_path, 1), f"file://{tmp_path}/elsewhere.stats")
    report = direct.doctor(str(table))
    assert not [f for f in report.findings if f.rule == "statistics-file"]
    assert any("elsewhere.stats: it lies outside the folders" in words for words in report.not_checked)
    gone = _with_statistics(make_table(tmp_path / "b", 1), f"file://{tmp_path}/b/warehouse/db/t/metadata/gone.stats")
    [finding] = found(gone, "statistics-file")
    assert finding.what == "it is missing"
    assert "compute_table_stats" in finding.remedy


def test_no_root_is_offered_for_a_file_of_another_store(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    file = table.parquet("a.parquet", {"id": [1]})
    table.append({**file, "file_path": file["file_path"].replace("file://", "s3://b")})
    [finding] = found(table.folder, "path-outside")
    assert "--root" not in finding.remedy
    assert "Nothing has to be done where each reader finds it" in finding.remedy


def test_no_way_back_leads_to_another_table(tmp_path: Path) -> None:
    own, other = make_table(tmp_path / "a", 2), make_table(tmp_path / "b", 2)
    newest = newest_metadata(own)
    before = json.loads(newest.read_text())["metadata-log"][-1]["metadata-file"].removeprefix("file://")
    shutil.copy(newest_metadata(other), before)
    [finding] = found(newest, "uuid-changed")
    assert finding.severity == "warning"
    assert "a file of another table lies where the metadata log has the one before" in finding.what
    assert "register_table" not in finding.remedy
    assert "No row of this table is affected" in finding.remedy
    edit_json(newest, lambda d: d.update({"default-spec-id": 9}))
    [broken] = found(newest, "default-missing")
    assert Path(before).name not in broken.remedy
    assert "00000-" in broken.remedy  # the older one, which is this table's


def test_a_table_that_was_replaced_needs_no_way_back(tmp_path: Path) -> None:
    own, other = make_table(tmp_path / "a", 2), make_table(tmp_path / "b", 2)
    log = json.loads(newest_metadata(own).read_text())["metadata-log"]
    theirs = json.loads(newest_metadata(other).read_text())
    newest_metadata(own).write_text(json.dumps({**theirs, "metadata-log": log}))
    [finding] = found(newest_metadata(own), "uuid-changed")
    assert "the table was replaced, or this file was swapped" in finding.what
    assert "If its writer replaced the table, nothing has to be done" in finding.remedy
    assert "If a file was swapped, no procedure mends it. Restore the metadata file" in finding.remedy


@pytest.mark.parametrize("newest", [True, False])
def test_no_rewrite_makes_what_a_wrong_list_says_true(newest: bool, tmp_path: Path) -> None:
    table = make_table(tmp_path, 3)
    lists = {s["snapshot-id"]: s["manifest-list"] for s in json.loads(newest_metadata(table).read_text())["snapshots"]}
    own = list(lists)[-1 if newest else -2]
    edit_avro(Path(lists[own].removeprefix("file://")), _number_three)
    [finding] = found(table, "records-differ")
    assert "system.rewrite" not in finding.remedy
    if newest:
        assert "the current one is wrong, and a rewrite would write" in finding.what
        assert "Do not run rewrite_manifests or rewrite_data_files before" in finding.remedy
        assert f"rollback_to_snapshot('your_db.your_table', {list(lists)[-2]})" in finding.remedy  # its list is right
    else:
        assert f"that of snapshot {own} is wrong" in finding.what
        assert finding.snapshots == (own,)
        assert "the current one is not affected" in finding.remedy


def _number_three(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    records[-1]["sequence_number"] = 3
    return records


def test_a_rewrite_mends_counts_that_lists_differ_in(tmp_path: Path) -> None:
    table = make_table(tmp_path, 3)
    edit_avro(current(table)[0], lambda records: [{**r, "min_sequence_number": 0} for r in records])
    assert all("rewrite" in f.remedy and "Do not" not in f.remedy for f in found(table, "records-differ"))


def test_a_dropped_delete_is_looked_at_before_anybody_goes_back(tmp_path: Path) -> None:
    [finding] = found(build_case("12", tmp_path), "delete-dropped")
    assert finding.remedy.index("If none is back, nothing has to be done") < finding.remedy.index(
        "rollback_to_snapshot"
    )


def test_a_replace_that_adds_rows_is_not_said_to_lose_nothing(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    both = [table.manifest(f"{n}.avro", [(1, table.parquet(f"{n}.parquet", {"id": [1, 2]}))]) for n in "bc"]
    table.snapshot("replace", both, {"added-data-files": "2"})
    [finding] = [f for f in found(table.folder, "operation-contradicts") if "adds no rows" in f.what]
    assert finding.remedy.startswith("See whether rows are there twice")
    assert "incremental reads leave this commit out" in finding.remedy


@pytest.mark.parametrize("gone", ["first", "last"])
def test_a_rule_of_the_store_takes_the_oldest_files_first(gone: str, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    for name in ("first", "last"):
        table.append(table.parquet(f"{name}.parquet", {"id": [1]}))
    (table.folder / "data" / f"{gone}.parquet").unlink()
    [finding] = found(table.folder, "file-missing", files=True)
    assert ("a rule of the store that removes files by their age" in finding.what) == (gone == "first")
    assert ("(a lifecycle rule), end that first" in finding.remedy) == (gone == "first")


CAUSES = re.compile(
    r"may have (?:been|removed)|\beither\b|one of the \w+ is wrong|one of them is wrong|looks like|as when|So may"
    r"|as those of|or edited|, or (?:another|this|somebody|two|of unpacked|a rule|its)|if it wrote|out of reach"
)
"""In the words of a finding that names more than one possible cause."""
DEPENDS = re.compile(r"\b(?:[Ii]f|[Ww]here|[Ll]ook|[Ss]ee|[Uu]nless|[Cc]ompare)\b")
"""In a remedy that says which cause it is for, or how to tell the causes apart."""
ALTERNATIVES: dict[str, str] = {
    # words of the finding: the remedy's key, or why one advice holds for each cause
    "looks like a secret": "property-unsafe",
    "was replaced, or this": "swapped-metadata",
    "one of the lists is wrong": "= a rewrite counts anew, and what it would keep has a remedy that keeps from it",
    "if it wrote their rows anew": "files-kept",
    "one of the two is wrong, and filters go by the counts": "= a rewrite reads the rows, and counts both anew",
    "of other files too, or of unpacked columns": "= a rewrite sums the sizes anew",
    "a bound is no text, as when": "= a rewrite makes the bounds anew",
    "times are of January 1970, as those": "= the remedy asks for --deep, and with it for what was meant",
    "of the column's bounds: one of them is wrong": "= without opening files the remedy asks for --deep",
    "So may an expiry by Iceberg's API": "= the file is missing by each",
    "So may remove_orphan_files": "= the file is missing by each; end a rule of the store first, says the remedy",
    "for failed may have removed all": "= the manifest list is missing by each",
    "gone or out of reach": "= nothing has to be done in either case",
    "in its place, or two tables have one location": "shared-folder",
    "another table was made of this one's metadata": "metadata-fork",
    "or somebody took the line out": "= nothing has to be done in either case",
    "it was expired, or its commit was lost": "lost-metadata",
    "or its writer keeps no log": "begun-anew",
    "may have been current": "= its id or a tag names a snapshot, whether it was current or not",
}  # fmt: skip
"""Every text of the doctor that names alternatives, and how its remedy deals with them."""


def _texts() -> Iterator[str]:
    """The texts of the doctor's findings, with {} for what is filled in."""
    for folder in ("spec/doctor", "reports/doctor"):
        for path in sorted((ROOT / "explorer" / folder).glob("*.py")):
            if path.stem in ("rules", "remedies", "remedy_texts", "remedy_parts", "java_schema", "lost_metadata"):
                continue
            tree = ast.parse(path.read_text())
            within = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
            within |= {id(part) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for part in n.values}
            for node in ast.walk(tree):
                if isinstance(node, ast.JoinedStr):
                    yield "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in within:
                    yield node.value


def test_every_finding_with_alternatives_has_advice_for_each() -> None:
    texts = [text for text in _texts() if CAUSES.search(text) and " " in text.strip(", ")]
    assert len(texts) > 10
    for text in texts:
        assert any(words in text for words in ALTERNATIVES), f"which advice holds for each cause? {text}"
    for words, key in ALTERNATIVES.items():
        assert any(words in text for text in texts), f"no finding says so any more: {words}"
        if key.startswith("= "):
            continue
        advice = TEXTS_OF.get(key) or inspect.getsource(remedy_parts._fork)
        assert DEPENDS.search(advice), key


# -- an equality delete that contradicts its own partition (apache/iceberg#11891) --------------------------------------
def contradictory(
    folder: Path, own: Any, kind: str = "long", transform: str = "identity", elsewhere: bool = False
) -> Table:
    """A table with a delete in the partition of `own`, whose rows are of another one; with `elsewhere` that one has a
    data file of the key too."""
    table = Table(folder, [(1, "id", "long"), (2, "p", kind)], [(2, 1000, "p", transform)])
    other = {"long": 7, "string": "z", "date": date(2024, 5, 5)}[kind]
    part = own if transform == "identity" else (own.year - 1970) * 12 + own.month - 1
    other_part = other if transform == "identity" else (other.year - 1970) * 12 + other.month - 1
    table.append(table.parquet("a.parquet", {"id": [1, 2], "p": [own, own]}, partition={"p": part}))
    if elsewhere:
        table.append(table.parquet("b.parquet", {"id": [1], "p": [other]}, partition={"p": other_part}))
    delete = table.equality_delete("d.parquet", {"id": [1], "p": [other]}, partition={"p": part})
    table.delta(deletes=[delete], operation="delete")
    return table


@pytest.mark.parametrize(
    ("own", "kind", "transform"),
    [(2, "long", "identity"), ("a", "string", "identity"), (date(2023, 1, 2), "date", "month")],
)
def test_a_delete_that_contradicts_its_partition_is_told(own: Any, kind: str, transform: str, tmp_path: Path) -> None:
    place = contradictory(tmp_path / "t", own, kind, transform).folder
    [finding] = found(place, "partition-value")
    assert finding.severity == "warning"
    assert "it hides nothing (#11891)" in finding.what
    assert finding.columns == ("p",)
    assert "Do not drop it before you know which of the two is wrong" in finding.remedy
    [dangling] = found(place, "delete-dangling")
    assert dangling.severity == "warning"
    assert "one of the two is wrong" in str(dangling.expected)
    assert dangling.remedy.startswith("Do not drop them before you know")
    preview = run("maintain", "preview", str(place), "dangling-deletes").output
    assert "Look before you drop them" in preview
    assert "one of the two is wrong" in preview


def test_a_delete_that_was_put_into_another_partition_is_misplaced(tmp_path: Path) -> None:
    place = contradictory(tmp_path / "t", 2, elsewhere=True).folder
    [finding] = found(place, "delete-misplaced")
    assert "b.parquet" in str(finding.expected)
    assert found(place, "partition-value")
    assert not found(place, "delete-dangling")


def test_a_delete_of_nulls_in_another_partition_is_told(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "p", "long")], [(2, 1000, "p", "identity")])
    table.append(table.parquet("a.parquet", {"id": [1], "p": [2]}, partition={"p": 2}))
    delete = table.equality_delete("d.parquet", {"id": [1], "p": [None]}, partition={"p": 2})
    table.delta(deletes=[delete], operation="delete")
    assert "it hides nothing (#11891)" in found(table.folder, "partition-value")[0].what
    assert "its p is null, and its partition p=2" in str(found(table.folder, "delete-dangling")[0].expected)


def test_a_contradictory_delete_without_older_rows_may_go(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "p", "long")], [(2, 1000, "p", "identity")])
    delete = table.equality_delete("d.parquet", {"id": [1], "p": [7]}, partition={"p": 2})
    table.delta(deletes=[delete], operation="delete")
    table.append(table.parquet("a.parquet", {"id": [1], "p": [2]}, partition={"p": 2}))
    [dangling] = found(table.folder, "delete-dangling")
    assert "remove-dangling-deletes" in dangling.remedy
    assert "Do not drop" not in dangling.remedy


def test_a_delete_of_its_own_partition_is_not_told(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "p", "date")], [(2, 1000, "p", "month")])
    table.append(table.parquet("a.parquet", {"id": [1], "p": [date(2024, 5, 5)]}, partition={"p": 652}))
    delete = table.equality_delete("d.parquet", {"id": [1], "p": [date(2024, 5, 5)]}, partition={"p": 652})
    table.delta(deletes=[delete], operation="delete")
    assert not found(table.folder, "partition-value")
    assert not found(table.folder, "delete-dangling")


# -- a partition field that became void (apache/gluten#8352) -----------------------------------------------------------
@pytest.mark.parametrize("of", ["current", "older", "renamed"])
def test_the_column_of_a_void_field_is_named(of: str, tmp_path: Path) -> None:
    name = "other" if of == "renamed" else "p"
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "p", "string")], [(2, 1000, name, "void")], version=1)
    table.append(table.parquet("a.parquet", {"id": [1], "p": ["x"]}, partition={name: None}))
    if of == "older":
        table.set_spec([(1, 1001, "id", "identity")])
        table.save()
    told = [f for f in found(table.folder, "readers-differ") if "void" in f.what]
    assert [f.severity for f in told] == ["info"]
    assert ("show null in it (Gluten did, apache/gluten#8352)" in told[0].what) == (of != "renamed")
    assert told[0].columns == (() if of == "renamed" else ("p",))
    assert ("partition spec 0 has" in told[0].what) == (of == "older")
    assert ("rewrite_data_files" in told[0].remedy) == (of == "older")
    assert ("removeField" in told[0].remedy) == (of != "older")


# -- commits of deletes that changed nothing ---------------------------------------------------------------------------
def _rewritten(folder: Path) -> tuple[Table, dict[str, Any]]:
    """A table whose one data file a compaction wrote anew, and the old file."""
    table = Table(folder, [(1, "id", "long")])
    old = table.parquet("old.parquet", {"id": [1, 2]})
    table.append(old)
    new = table.manifest("new.avro", [(1, table.parquet("new.parquet", {"id": [1, 2]}))])
    gone = table.manifest("gone.avro", [(2, old, {"sequence_number": 1})])
    table.snapshot("replace", [new, gone], {"added-data-files": "1", "deleted-data-files": "1"})
    return table, old


def test_a_delete_commit_that_removed_nothing_has_a_finding(tmp_path: Path) -> None:
    table, _ = _rewritten(tmp_path / "t")
    assert not found(table.folder, "operation-contradicts")
    manifests = [
        m for m in table.lists[table.md["current-snapshot-id"]] if m["existing_files_count"] + m["added_files_count"]
    ]
    table.snapshot("delete", manifests, {})
    [finding] = found(table.folder, "operation-contradicts")
    assert finding.severity == "info"
    assert "removed nothing, and added no delete" in finding.what
    assert "Snapshot-2 (replace) had removed data files before" in finding.what
    assert "delete them again" in finding.remedy
    table.snapshot("delete", [], {"deleted-data-files": "1"})
    assert len(found(table.folder, "operation-contradicts")) == 1


@pytest.mark.parametrize("kind", ["position", "equality", "partition", "upsert", "later"])
def test_a_delete_that_applied_to_nothing_from_the_first_is_told(kind: str, tmp_path: Path) -> None:
    if kind == "position":
        table, old = _rewritten(tmp_path / "t")
        table.delta(deletes=[table.position_delete("p.parquet", [(old["file_path"], 0)])], operation="delete")
    else:
        table = Table(tmp_path / "t", [(1, "id", "long"), (2, "p", "long")], [(2, 1000, "p", "identity")])
        data = table.parquet("a.parquet", {"id": [1, 2], "p": [1, 1]}, partition={"p": 1})
        table.append(data)
        key = 9 if kind == "equality" else 1
        delete = {
            **table.equality_delete("d.parquet", {"id": [key]}),
            "partition": {"p": 7 if kind == "partition" else 1},
        }
        rows = [table.parquet("b.parquet", {"id": [1], "p": [1]}, partition={"p": 1})] if kind == "upsert" else []
        table.delta(data=rows, deletes=[delete], operation="overwrite" if rows else "delete")
        if kind in ("later", "upsert"):
            gone = table.manifest("gone.avro", [(2, data, {"sequence_number": 1})])
            kept = [m for m in table.lists[table.md["current-snapshot-id"]] if m["added_snapshot_id"] == 102]
            table.snapshot("overwrite", [gone, *kept], {"deleted-data-files": "1"})
    own = "applied to no data file when it was committed: that commit changed no row"
    told = [f for f in direct.doctor(str(table.folder)).findings if own in f.what]
    assert bool(told) == (kind in ("position", "equality"))
    assert bool(found(table.folder, "delete-misplaced")) == (kind == "partition")  # its rows are there
    if told:
        assert told[0].rule == "delete-dangling"
        assert told[0].remedy.index("Look first whether its rows are there") < told[0].remedy.index("CALL")


# -- what is said of one file ------------------------------------------------------------------------------------------
def test_nobody_is_said_to_need_a_delete_that_hides_nothing(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1, 2]}))
    table.delta(deletes=[table.equality_delete("d.parquet", {"id": [9]})], operation="delete")
    path = f"{table.location}/data/d.parquet"
    told = run("maintain", "file", str(table.folder), path).output
    assert "hides nothing in the current snapshot" in told
    assert "need it" not in told
    assert "That snapshot lists it all the same" in told
    table.append(table.parquet("b.parquet", {"id": [3]}))
    assert "Readers of snapshot-2 may need it." in run("maintain", "file", str(table.folder), path).output
    inspected = run("inspect", "file", str(table.folder), path).output
    assert "it is a delete file of main" in inspected
    assert "rows that deletes hide stay in it" not in inspected


def test_a_delete_in_doubt_is_looked_at_before_it_is_dropped(tmp_path: Path) -> None:
    table = contradictory(tmp_path / "t", 2)
    told = run("maintain", "file", str(table.folder), f"{table.location}/data/d.parquet").output
    assert told.count("one of the two is wrong") == 1
    assert told.index("Look before you drop it") < told.index("dangling-deletes tells what drops it")


def test_a_delete_that_is_needed_is_not_said_to_hold_rows(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1, 2]}))
    table.delta(deletes=[table.equality_delete("d.parquet", {"id": [1]})], operation="delete")
    told = run("maintain", "file", str(table.folder), "d.parquet").output
    assert "The current snapshot needs it. A commit must rewrite it, or drop it whole, first" in told
    assert "rows that deletes hide stay in it" not in told
    assert "rows that deletes hide stay in it" in run("maintain", "file", str(table.folder), "a.parquet").output


@pytest.mark.parametrize("kind", ["unnamed", "fork", "gap"])
@pytest.mark.parametrize("question", [("inspect", "file"), ("history", "landed"), ("maintain", "file")])
def test_a_file_of_a_lost_commit_names_the_commit(question: tuple[str, str], kind: str, tmp_path: Path) -> None:
    if kind == "unnamed":
        place = str(raced(tmp_path))
        [commit] = unnamed(Path(place)).commits
        assert commit.added_files
        file, own = commit.added_files[0], str(commit.listed.snapshot_id)
    else:
        place = stale(tmp_path / "t", rows=True, skipped=kind == "gap")
        file, own = str(tmp_path / "t" / "data" / "lost.parquet"), "snapshot 102 (append) added it"
        age(tmp_path / "t")
    told = run(*question, place, file).output
    assert own in told
    assert "a commit that the table does not have" in told
    assert "never committed" not in told
    assert "no commit listed it" not in told
    if question == ("maintain", "file"):
        assert "No snapshot of this table needs it" in told
        assert "Do not run this" in told
        assert "CALL" not in told


# -- nulls beside != and NOT IN (prestodb/presto#22295) ----------------------------------------------------------------
def keyed(folder: Path, key: Any, required: bool = False) -> Table:
    """A table of keys x, null and y, with an equality delete of a key."""
    table = Table(folder, [(1, "id", "long"), (2, "k", "string", required)])
    table.append(table.parquet("a.parquet", {"id": [1, 2, 3], "k": ["x", "z" if required else None, "y"]}))
    table.delta(deletes=[table.equality_delete("d.parquet", {"k": [key]})], operation="delete")
    return table


@pytest.mark.parametrize("where", ["k != 'x'", "k not in ('x', 'w')", "not (k = 'x')", "not (k like 'x%')"])
def test_rows_with_null_are_said_not_to_match(where: str, tmp_path: Path) -> None:
    place = str(keyed(tmp_path / "t", "w").folder)
    told = run("data", "history", place, where).output
    assert "shows 1 row with" in told
    assert "Rows whose k is null are not among them, as in SQL" in told
    assert "its null deletes the rows whose k is null, and no other value of it does" in told
    assert "OR k IS NULL adds them" in told
    assert "shows 2 rows with" in run("data", "history", place, f"{where} OR k IS NULL").output
    plan = run("plan", place, where).output
    assert "rows whose k is null match" in plan
    assert "Spark asks for k IS NOT NULL too" in plan


@pytest.mark.parametrize("where", ["k = 'x'", "k != 'x' or k is null", "k != 'x' and k is not null", "id != 7"])
def test_nulls_that_decide_nothing_are_not_told(where: str, tmp_path: Path) -> None:
    place = str(keyed(tmp_path / "t", "w").folder)
    told = run("data", "history", place, where).output
    assert ("is null are not among them" in told) == where.startswith("id")
    assert "its null deletes" not in told
    assert "is null" not in run("data", "history", str(keyed(tmp_path / "u", "w", True).folder), "k != 'x'").output


def test_pyiceberg_returns_null_for_two_values_alone(tmp_path: Path) -> None:
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(str(newest_metadata(keyed(tmp_path / "t", "w").folder)))
    table.metadata.refs.clear()
    first = table.metadata.snapshots[0].snapshot_id  # before the delete, which pyiceberg does not read

    def ids(where: str) -> list[int]:
        return sorted(table.scan(where, snapshot_id=first).to_arrow()["id"].to_pylist())

    assert (ids("k NOT IN ('x', 'w')"), ids("k NOT IN ('x')"), ids("k != 'x'")) == ([2, 3], [3], [3])
