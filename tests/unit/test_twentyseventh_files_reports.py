"""A data file that was removed, came back and is gone: https://www.ryft.io/blog/ (Iceberg table corruption, part 2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.errors import UnreadableFile
from explorer.spark_engine.failures import explain
from explorer.spec.doctor.findings import Finding
from explorer.spec.doctor.remedies import Situation, remedy
from tests.cases.mini import Table
from tests.support import direct

LOST = "the file does not exist (icedive doctor TABLE --files says what helps)"


def test_who_reads_a_missing_file_is_told_where_its_remedy_is(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")], location=str(tmp_path / "t"))
    for number in range(2):
        table.append(table.parquet(f"{number}.parquet", {"id": [number]}))
    (tmp_path / "t" / "data" / "1.parquet").unlink()
    opened = direct.open_table(str(tmp_path / "t"))
    for read in (lambda: opened.footer("1.parquet"), lambda: opened.file_rows("1.parquet").to_arrow()):
        with pytest.raises(UnreadableFile) as raised:
            read()
        assert str(raised.value).endswith(f"/data/1.parquet: {LOST}")
        assert raised.value.cause == "the file does not exist"
    [finding] = [f for f in direct.doctor(str(tmp_path / "t"), files=True).findings if f.rule == "file-missing"]
    assert "icedive doctor" not in finding.what


def test_who_reads_a_missing_file_in_spark_is_told_so_too() -> None:
    error = RuntimeError("java.io.FileNotFoundException: File file:/w/t/data/1.parquet does not exist")
    assert explain(error, lost=False) == f"file:/w/t/data/1.parquet: {LOST}"


def came_back(folder: Path, gone: tuple[str, ...] = ("f1",), rows: int = 4, later: str = "append") -> str:
    """Two files written anew as one, and added again by a later commit; and a commit after that."""
    table = Table(folder, [(1, "id", "long")], location=str(folder))
    f1, f2 = (table.parquet(f"f{n}.parquet", {"id": [2 * n - 1, 2 * n]}) for n in (1, 2))
    table.append(f1, f2)
    old = [(2, file, {"sequence_number": 1}) for file in (f1, f2)]
    new = table.parquet("c1.parquet", {"id": list(range(1, rows + 1))})
    manifests = [table.manifest("s2-old.avro", old), table.manifest("s2-new.avro", [(1, new)])]
    table.snapshot("replace", manifests)
    c0 = table.parquet("c0.parquet", {"id": [3]})
    kept = [m for m in table.lists[102] if m["added_files_count"]]
    table.snapshot("append", [*kept, table.manifest("s3.avro", [(1, f1), (1, f2), (1, c0)])])
    if later == "append":
        table.append(table.parquet("f3.parquet", {"id": [5]}))
    else:
        table.delta([], [table.position_delete("d.parquet", [(new["file_path"], 0)])], operation="delete")
    for name in gone:
        (folder / "data" / f"{name}.parquet").unlink()
    return str(folder)


def test_one_output_has_one_answer_where_a_file_that_came_back_is_gone(tmp_path: Path) -> None:
    report = direct.doctor(came_back(tmp_path / "t", gone=("f1", "f2")), files=True)
    assert [f.rule for f in report.findings if f.severity != "info"] == ["file-missing"]
    [finding] = [f for f in report.findings if f.rule == "file-missing"]
    assert [f.rule for f in finding.explains] == ["deleted-file-live"]
    assert "rollback_to_snapshot('your_db.your_table', 102)" in finding.remedy
    assert "Do not expire snapshot 102 before: it is the way back." in finding.remedy
    assert not any("expire_snapshots(" in f.remedy for f in report.findings)


def test_a_snapshot_that_is_the_way_back_is_not_sent_away_for_another_file(tmp_path: Path) -> None:
    report = direct.doctor(came_back(tmp_path / "t"), files=True)
    [finding] = [f for f in report.findings if f.rule == "deleted-file-live"]
    assert finding.remedy == (
        "Of what snapshot 102 removed, a file is gone already, and no expiry keeps that: mend it first, as "
        "file-missing says. The way back is snapshot 102: it must not expire before."
    )


@pytest.mark.parametrize("files", [False, True])
def test_whether_the_file_is_there_is_asked_before_a_snapshot_is_sent_away(files: bool, tmp_path: Path) -> None:
    report = direct.doctor(came_back(tmp_path / "t", gone=()), files=files)
    [finding] = [f for f in report.findings if f.rule == "deleted-file-live"]
    assert ("First run icedive doctor TABLE --files: if the file is gone" in finding.remedy) == (not files)
    assert "snapshot_ids => array(102L)) takes it out now" in finding.remedy


@pytest.mark.parametrize(("gone", "back"), [("f3", 103), ("c0", 102)])
def test_no_other_remedy_takes_the_way_back_away(gone: str, back: int, tmp_path: Path) -> None:
    path = came_back(tmp_path / "t", gone=(gone,))
    report = direct.doctor(path, files=True)
    [live] = [f for f in report.findings if f.rule == "deleted-file-live"]
    assert f"rollback_to_snapshot('your_db.your_table', {back})" in missing(path).remedy
    first = (
        "First mend what leads back to snapshot 102: this may take that snapshot away. Until snapshot 102 has expired"
    )
    assert live.remedy.startswith(first) == (back == 102)


@pytest.mark.parametrize("rules", [{"file-missing"}, {"metrics-wrong"}])
def test_an_expiry_by_age_waits_for_who_goes_back(rules: set[str], tmp_path: Path) -> None:
    metadata = direct.open_table(came_back(tmp_path / "t")).metadata
    text = remedy("sequence-regresses", Situation("c.db.t", metadata, 102, frozenset(rules)), (101,))
    waits = text.startswith("First mend what leads back to snapshot 102: this may take that snapshot away.")
    assert waits == (rules == {"file-missing"})
    assert "CALL c.system.expire_snapshots('db.t')" in text


def missing(path: str) -> Finding:
    [finding] = [f for f in direct.doctor(path, files=True).findings if f.rule == "file-missing"]
    return finding


def test_the_cause_that_metadata_shows_is_named_alone(tmp_path: Path) -> None:
    what = missing(came_back(tmp_path / "t")).what
    assert what.startswith("the file does not exist: snapshot 102 had removed this very file before it came back, and")
    assert "remove_orphan_files" not in what


@pytest.mark.parametrize("expired", [False, True])
def test_an_expiry_is_among_the_causes_where_an_earlier_commit_has_expired(expired: bool, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")], location=str(tmp_path / "t"))
    for number in range(3):
        table.append(table.parquet(f"{number}.parquet", {"id": [number]}), name=f"{number}.avro")
    if expired:
        table.md["snapshots"].pop(0)
        table.md["snapshot-log"].pop(0)
        table.save()
    (tmp_path / "t" / "data" / "2.parquet").unlink()
    what = missing(str(tmp_path / "t")).what
    assert (
        "a snapshot that has expired had removed the file before this one added it again (#2131)" in what
    ) == expired
    assert "remove_orphan_files" in what


FAILS = "A DELETE in Spark reads the file and fails, unless metadata proves that all of its rows match: no filter is"


def test_no_delete_is_printed_where_the_bounds_of_another_file_meet_those_of_the_missing_one(tmp_path: Path) -> None:
    remedy = missing(came_back(tmp_path / "t")).remedy
    assert FAILS in remedy
    assert "DELETE FROM" not in remedy
    assert 'in Java: table.newDelete().deleteFile("' in remedy
    assert 'data/f1.parquet").commit(). It does not read the file.' in remedy


def filtered(folder: Path, values: list[list[object]], kind: str = "long", transform: str = "") -> str:
    """A table of a file for each list of values, of which the first is missing; and what is printed of it."""
    spec = [(1, 1000, "part", transform)] if transform else []
    table = Table(folder, [(1, "k", kind), (2, "id", "long")], location=str(folder), spec=spec)
    for number, some in enumerate(values):
        file = table.parquet(f"{number}.parquet", {"k": some, "id": [7] * len(some)})
        if transform:
            file["partition"] = {"part": some[0] if transform == "identity" else 0}
        table.append(file)
    (folder / "data" / "0.parquet").unlink()
    return missing(str(folder)).remedy


@pytest.mark.parametrize(
    ("values", "kind", "transform", "where"),
    [
        ([[1, 3], [4, 9]], "long", "", "k >= 1 AND k <= 3"),
        ([[2, 2], [4, 9]], "long", "", "k = 2"),
        ([[1, 4], [4, 9]], "long", "", ""),
        ([[1, None], [4, 9]], "long", "", ""),
        ([[1, 3], [None, None]], "long", "", ""),
        ([["a", "a"], ["b"]], "string", "identity", "k = 'a'"),
        ([["it's"], ["b"]], "string", "identity", "k = 'it\\'s'"),
        ([["a"], ["a"]], "string", "identity", ""),
        ([["a"], ["b"]], "string", "bucket[4]", ""),
        ([[None], ["b"]], "string", "identity", ""),
    ],
)
def test_a_delete_is_printed_where_metadata_proves_that_it_takes_the_file_alone(
    values: list[list[object]], kind: str, transform: str, where: str, tmp_path: Path
) -> None:
    remedy = filtered(tmp_path / "t", values, kind, transform)
    assert (f"DELETE FROM your_catalog.your_db.your_table WHERE {where}. By metadata" in remedy) == bool(where)
    assert (FAILS in remedy) == (not where)
    assert f"It loses its {len(values[0])} row" in remedy


KEPT = "Nothing is lost: snapshot 102 (replace) had put all of its rows into 1 other data file, which the current"


@pytest.mark.parametrize(("rows", "later", "kept"), [(4, "append", True), (3, "append", False), (4, "delete", False)])
def test_nothing_is_lost_where_a_replace_kept_the_rows(rows: int, later: str, kept: bool, tmp_path: Path) -> None:
    remedy = missing(came_back(tmp_path / "t", rows=rows, later=later)).remedy
    assert (KEPT in remedy) == kept
    assert ("It loses its 2 rows, unless they are in other files, too." in remedy) == (not kept)


def test_it_is_not_said_that_nothing_is_lost_where_what_the_replace_wrote_is_gone(tmp_path: Path) -> None:
    path = came_back(tmp_path / "t", gone=("f1", "c1"))
    assert not any(KEPT in f.remedy for f in direct.doctor(path, files=True).findings)


@pytest.mark.parametrize(("number", "named", "filters"), [(2, 2, 1), (6, 5, 0)])
def test_of_many_missing_files_the_first_are_named(number: int, named: int, filters: int, tmp_path: Path) -> None:
    table = Table(
        tmp_path / "t", [(1, "k", "string")], location=str(tmp_path / "t"), spec=[(1, 1000, "part", "identity")]
    )
    files = [table.parquet(f"{at}.parquet", {"k": ["a" if at < number else "b"]}) for at in range(number + 1)]
    table.append(*({**file, "partition": {"part": "a"}} for file in files[:number]))
    table.append({**files[number], "partition": {"part": "b"}})
    for at in range(number):
        (tmp_path / "t" / "data" / f"{at}.parquet").unlink()
    remedy = missing(str(tmp_path / "t")).remedy
    assert "Or take out these files alone" in remedy
    assert remedy.count(".deleteFile(") == named
    assert ("(and so for the others)" in remedy) == (named < number)
    assert f"It loses their {number} rows" in remedy
    assert remedy.count("DELETE FROM your_catalog.your_db.your_table WHERE k = 'a'") == filters
