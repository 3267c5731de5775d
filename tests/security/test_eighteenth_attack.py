"""What an eighteenth attack found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from explorer.spark_engine.sql_guard import quoting
from explorer.spec.text.names import name_in_sql, path_in_sql
from explorer.storage import manifests
from tests.cases.mini import Table
from tests.security.dimensions import data_file, delete_file
from tests.security.test_growth import Work
from tests.support import direct

FIELDS = [(1, "id", "long"), (2, "v", "string")]
TAKES = "In Spark this does the same: DELETE FROM your_catalog.your_db.your_table WHERE "


def missing_file_remedy(table: Table, *files: dict[str, Any]) -> str:
    """What the doctor says of a table of these files, the first of which is gone."""
    table.append(*files)
    table.write()
    table.local(files[0]["file_path"]).unlink()
    report = direct.doctor(direct.open_table(str(table.folder)), files=True)
    return next(f.remedy for f in report.findings if f.rule == "file-missing")


# -- statements --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["true", "FALSE", "null", "current_date", "User"])
def test_a_name_that_sql_takes_for_a_value_has_backticks(name: str) -> None:
    """`DELETE … WHERE true = 'true'` took all rows of the table."""
    assert name_in_sql(name) == f"`{name}`"
    assert quoting.identifier(["db", name]) == f"db.`{name}`"


def test_a_column_that_is_called_true_is_no_truth(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "true", "string")], [(2, 1000, "true", "identity")])
    files = [
        table.parquet(f"{n}.parquet", {"id": [n], "true": [value]}, partition={"true": value})
        for n, value in enumerate(["true", "x"])
    ]
    assert f"{TAKES}`true` = 'true'." in missing_file_remedy(table, *files)


@pytest.mark.parametrize("spec", [(), ((2, 1000, "v", "identity"),)])
def test_a_delete_is_not_printed_where_it_takes_a_live_file_by_its_number_of_rows(tmp_path: Path, spec: Any) -> None:
    """Iceberg takes a file of fewer than no rows by any filter, whatever its bounds are: it took live files."""
    table = Table(tmp_path / "t", FIELDS, spec)
    gone = table.parquet("a.parquet", {"id": [1, 2], "v": ["a", "a"]}, partition={"v": "a"})
    live = table.parquet("b.parquet", {"id": [8, 9], "v": ["b", "b"]}, partition={"v": "b"}, record_count=-1)
    assert "DELETE FROM" not in missing_file_remedy(table, gone, live)


def test_a_delete_is_not_printed_for_what_it_does_not_take(tmp_path: Path) -> None:
    """A file of no rows stays; so does another entry of the same file that has other bounds."""
    table = Table(tmp_path / "t", FIELDS)
    gone = table.parquet("a.parquet", {"id": [1, 2], "v": ["a", "a"]})
    live = table.parquet("b.parquet", {"id": [8, 9], "v": ["b", "b"]})
    assert "DELETE FROM" not in missing_file_remedy(table, {**gone, "record_count": 0}, live)
    table = Table(tmp_path / "u", FIELDS)
    gone = table.parquet("a.parquet", {"id": [1, 2], "v": ["a", "a"]})
    live = table.parquet("b.parquet", {"id": [8, 9], "v": ["b", "b"]})
    again = {**gone, "lower_bounds": {1: b"\x04" + b"\0" * 7}, "upper_bounds": {1: b"\x05" + b"\0" * 7}}
    assert "DELETE FROM" not in missing_file_remedy(table, gone, live, again)


def test_a_name_with_a_quote_is_in_no_printed_delete(tmp_path: Path) -> None:
    """Spark's shell knows no backticks: it waited for the end of a text, or took two statements for one."""
    table = Table(tmp_path / "t", [(1, "i'd", "long")])
    files = [table.parquet(f"{n}.parquet", {"i'd": [n]}) for n in range(2)]
    assert "DELETE FROM" not in missing_file_remedy(table, *files)


# -- work --------------------------------------------------------------------------------------------------------------
def files_and_deletes(folder: Path, number: int) -> tuple[Table, list[dict[str, Any]], list[dict[str, Any]], int]:
    """A table of so many data files, to each of which so many equality deletes apply."""
    table = Table(folder, FIELDS)
    wide = {"partition": {}, "lower_bounds": {1: bytes(8)}, "upper_bounds": {1: (10**6).to_bytes(8, "little")}}
    data = [{**data_file(table, n), **wide} for n in range(number)]
    table.append(*data)
    sequence = table.md["last-sequence-number"]
    of_rows = {"partition": {}, "content": 2, "equality_ids": [1], "record_count": 1}
    deletes = [{**delete_file(table, n), **of_rows} for n in range(number)]
    table.delta(deletes=deletes)
    return table, data, deletes, sequence


def compaction_of_data(folder: Path, number: int, told: int | None = None) -> Table:
    """The data files are replaced by one of fewer rows; the manifest list may tell another number of them."""
    table, data, _, sequence = files_and_deletes(folder, number)
    listed = [m for m in table.lists[table.md["current-snapshot-id"]] if m["content"]]
    more = {"sequence_number": sequence, "file_sequence_number": sequence}
    gone = table.manifest("gone.avro", [(2, file, more) for file in data])
    gone["deleted_files_count"] = gone["deleted_files_count"] if told is None else told
    new = table.manifest("new.avro", [(1, {**data_file(table, 10**5), "partition": {}, "record_count": 5})])
    table.snapshot("replace", [*listed, gone, new])
    table.write()
    return table


def compaction_of_deletes(folder: Path, number: int) -> Table:
    """The deletes are removed; what is added has the number of the old data files, so it needs them."""
    table, data, deletes, sequence = files_and_deletes(folder, number)
    both = {"file_sequence_number": sequence + 1, "sequence_number": sequence + 1}
    gone = table.manifest("gone.avro", [(2, file, both) for file in deletes], content=1)
    new = [(1, {**file, "file_path": f"{file['file_path']}-2"}, {"sequence_number": sequence}) for file in data]
    old = [(2, file, {"sequence_number": sequence, "file_sequence_number": sequence}) for file in data]
    table.snapshot("replace", [gone, table.manifest("new.avro", [*new, *old])])
    table.write()
    return table


def doctors_work(table: Table) -> tuple[int, set[str]]:
    """Steps that the doctor takes for a table, and the rules that it tells."""
    work = Work()
    with work.counted():
        report = direct.doctor(direct.open_table(str(table.folder)))
    return sum(work.by_function().values()), {f.rule for f in report.findings}


@pytest.mark.parametrize(
    ("make", "rule"), [(compaction_of_data, "delete-dangling"), (compaction_of_deletes, "delete-dropped")]
)
def test_a_compaction_takes_the_doctor_no_work_by_files_times_deletes(tmp_path: Path, make: Any, rule: str) -> None:
    """800 files and 800 deletes, metadata of 30 KB, took 12 s of the processor: it was refused."""
    doctors_work(make(tmp_path / "first", 2))  # what is imported
    (small, _), (middle, _), (large, rules) = (doctors_work(make(tmp_path / str(n), n)) for n in (10, 40, 160))
    assert rule in rules
    assert large - middle <= 8 * (middle - small)


def test_no_row_is_lost_where_a_list_counts_no_removed_file(tmp_path: Path) -> None:
    """The doctor said that the parent's deletes hide none of the rows, and to roll back."""
    for told in (None, 0):
        _, rules = doctors_work(compaction_of_data(tmp_path / str(told), 5, told))
        assert "operation-contradicts" not in rules


# -- files that may be live --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("uuid", ["", "99999999-1111-4111-8111-111111111111"])
def test_the_doctor_advises_no_removal_of_what_other_metadata_of_the_folder_leads_to(tmp_path: Path, uuid: str) -> None:
    """It told of one loose file, and printed remove_orphan_files, which knows the opened metadata alone."""
    table = Table(tmp_path / "t", FIELDS)
    for n in range(5):
        table.append(table.parquet(f"{n}.parquet", {"id": [n], "v": ["x"]}))
    table.write()
    (third,) = table.folder.glob("metadata/00003-*.metadata.json")
    for newer in [*table.folder.glob("metadata/00004-*.json"), *table.folder.glob("metadata/00005-*.json")]:
        md = json.loads(newer.read_text())
        newer.write_text(json.dumps({**md, "table-uuid": uuid or md["table-uuid"]}))
    (table.folder / "data" / "loose.parquet").write_bytes(b"x")
    report = direct.doctor(direct.open_table(str(third)), files=True)
    (orphans,) = [f for f in report.findings if f.rule == "orphan-files"]
    assert orphans.count == 1
    assert "/data/3.parquet (it is live" in orphans.what
    assert "CALL" not in orphans.remedy
    for newer in table.folder.glob("metadata/0000[45]-*.json"):
        newer.unlink()
    for name in ("data/[34].parquet", "metadata/*-m0.avro", "metadata/snap-10[45]*"):
        for path in table.folder.glob(name):
            if name[0] == "d" or path.name.startswith("snap") or path.name.split("-")[-2][-1] in "45":
                path.unlink()
    report = direct.doctor(direct.open_table(str(third)), files=True)
    (orphans,) = [f for f in report.findings if f.rule == "orphan-files"]
    assert "remove_orphan_files(" in orphans.remedy


# -- lines for a shell -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "shown"), [("00003-a.$(touch${IFS}x)", "PATH"), ("00003-ab", "/metadata/00003-ab")])
def test_a_metadata_files_name_is_no_part_of_a_line_for_a_shell(tmp_path: Path, name: str, shown: str) -> None:
    """A file that the log leaves out was told in a command, and its name was a substitution."""
    table = Table(tmp_path / "t", FIELDS)
    for n in range(5):
        table.append(table.parquet(f"{n}.parquet", {"id": [n], "v": ["x"]}))
    table.write()
    (third,) = table.folder.glob("metadata/00003-*.metadata.json")
    (newest,) = table.folder.glob("metadata/00005-*.metadata.json")
    md, other = json.loads(newest.read_text()), json.loads(third.read_text())
    other["schemas"][0]["fields"].append({"id": 77, "name": "lost", "required": False, "type": "long"})
    third.with_name(f"{name}.metadata.json").write_text(json.dumps(other))
    third.unlink()
    md["metadata-log"] = [e for e in md["metadata-log"] if "00003-" not in e["metadata-file"]]
    newest.write_text(json.dumps(md))
    report = direct.doctor(direct.open_table(str(table.folder)))
    (told,) = [f.what for f in report.findings if f.rule == "metadata-log-file-missing"]
    command = told.partition("icedive inspect snapshots ")[2].partition(" and icedive")[0]
    assert command.removesuffix(".metadata.json").endswith(shown)
    assert "$" not in command


# -- going back --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("told", [True, False])
def test_going_back_before_a_replace_that_added_rows_is_said_to_lose_them(tmp_path: Path, told: bool) -> None:
    """An author may call an append a replace, and leave its counts out of the summary: the doctor said that going back
    loses no row."""
    table = Table(tmp_path / "t", FIELDS)
    table.append(table.parquet("a.parquet", {"id": [1], "v": ["a"]}))
    before = table.lists[table.md["current-snapshot-id"]]
    files = [table.parquet(f"{n}.parquet", {"id": [n], "v": ["x"]}) for n in range(3)]
    new = table.manifest("new.avro", [(1, file) for file in files])
    table.snapshot("replace", [*before, new])
    summary = {"operation": "replace", "added-records": "3", "deleted-records": "0"}
    table.md["snapshots"][-1]["summary"] = summary if told else {"operation": "replace"}
    table.write()
    if told:
        table.local(new["manifest_path"]).unlink()
    else:
        table.local(files[0]["file_path"]).unlink()
    report = direct.doctor(direct.open_table(str(table.folder)), files=True)
    remedies = [f.remedy for f in report.findings if "system.rollback_to_snapshot" in f.remedy]
    assert remedies
    for remedy in remedies:
        assert "loses none" not in remedy
        assert "is lost to readers" in remedy


# -- statements that are shown in another way than they are made -------------------------------------------------------
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("password", "sk_live_4242"),  # shown as (hidden), which a live partition may be called
        ("v", "/home/me/tables/t"),  # a page that is exported says t
        ("v", "a" * 190),  # it is shown so
    ],
)
def test_a_delete_is_printed_only_as_it_is_shown(tmp_path: Path, column: str, value: str) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, column, "string")], [(2, 1000, column, "identity")])
    files = [
        table.parquet(f"{n}.parquet", {"id": [n], column: [text]}, partition={column: text})
        for n, text in enumerate([value, "(hidden)", "t"])
    ]
    for file in files:
        file["value_counts"] = file["null_value_counts"] = {}
    remedy = missing_file_remedy(table, *files)
    assert ("DELETE FROM" in remedy) == value.startswith("a")
    assert "(hidden)" not in remedy


def test_a_path_with_a_credential_is_in_no_statement() -> None:
    """What was printed named another file, which may be there: add_files would have doubled its rows."""
    assert path_in_sql("s3://b/t/data/a.parquet") == "s3://b/t/data/a.parquet"
    assert not path_in_sql("s3://b/t/data/a.parquet?X-Amz-Signature=0123456789abcdef")
    assert not path_in_sql("s3://me:secret@b/t/data/a.parquet")


def test_a_long_filter_or_path_is_in_no_statement(tmp_path: Path) -> None:
    names = [f"v{n}" for n in range(3)]
    columns = [(n + 2, name, "string") for n, name in enumerate(names)]
    table = Table(
        tmp_path / "t", [(1, "id", "string"), *columns], [(i, 1000 + i, name, "identity") for i, name, _ in columns]
    )
    files = [
        table.parquet(f"{letter * 200}.parquet", {"id": [letter]}, partition=dict.fromkeys(names, letter * 90))
        for letter in "ab"
    ]
    files[0]["file_path"] = files[0]["file_path"].replace("/data/", f"/data/{'x' * 150}/")
    file = table.local(files[0]["file_path"])
    file.parent.mkdir()
    file.write_bytes(b"x")
    remedy = missing_file_remedy(table, *files)
    assert "DELETE FROM" not in remedy
    assert ".deleteFile(PATH)" in remedy


# -- work --------------------------------------------------------------------------------------------------------------
def test_a_list_that_many_snapshots_name_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """n snapshots of one list of n manifests: each read it anew, and 800 took 15 seconds."""
    table = Table(tmp_path / "t", FIELDS)
    table.append(table.parquet("a.parquet", {"id": [1], "v": ["a"]}))
    first = table.md["snapshots"][-1]
    for own in range(20):
        table.md["snapshots"].append({**first, "snapshot-id": 900 + own, "parent-snapshot-id": first["snapshot-id"]})
    table.write()
    read: list[str] = []
    real = manifests.manifest_files

    def counted(container: Any, known: Any) -> Any:
        read.append(container.path)
        return real(container, known)

    monkeypatch.setattr(manifests, "manifest_files", counted)
    direct.doctor(direct.open_table(str(table.folder)))
    assert len(read) == 1
