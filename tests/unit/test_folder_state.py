"""Which table state a folder opens: as Iceberg's readers have it, and said where they differ."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pyiceberg.table import StaticTable

from explorer.errors import TableNotFound
from explorer.storage.catalogs.sandbox_entries import catalog_entries, forget_entries, other_sandbox, stray_entries
from explorer.storage.folder_state import folder_state, metadata_version
from explorer.storage.locate import locate
from tests.cases import build_case
from tests.cases.mini import Table as MiniTable
from tests.support import direct
from tests.support.small_tables import in_catalog, make_table, newest_metadata

V1, V2, V3, V5 = (f"v{n}.metadata.json" for n in (1, 2, 3, 5))
HEAD = b'{"format-version": 2, "table-uuid": "%s", "last-updated-ms": %d, "metadata-log": [%s]}'
HADOOP = [
    ([V1, V2, V3], "2", V3),
    ([V1, V2, V3], "3", V3),
    ([V1, V2, V3], None, V3),
    ([V1, V2, V3], "2 ", V3),  # no number to Java: the highest version
    ([V1, V2, V5], "1", V2),  # version 3 is missing
    ([V1, V2, V5], None, V5),
    (["v0.metadata.json"], "0", "v0.metadata.json"),
    ([V1, "v01.metadata.json", "v2.gzip.metadata.json"], None, V1),
    ([V1, "v2.gz.metadata.json"], "1", "v2.gz.metadata.json"),
    ([V1, "v2.metadata.json.gz"], "1", "v2.metadata.json.gz"),
    (["v2.metadata.json.gz", "v2.gz.metadata.json"], "2", "v2.gz.metadata.json"),
    (["v2.metadata.json.gz", "v2.gz.metadata.json", V2], "2", V2),
    ([V1, V2, "00007-aaaa.metadata.json"], "1", V2),
]


def head(uuid: str, updated: int, *earlier: str) -> bytes:
    log = ", ".join(f'{{"timestamp-ms": 1, "metadata-file": "file:///t/metadata/{name}"}}' for name in earlier)
    return HEAD % (uuid.encode(), updated, log.encode())


@pytest.mark.parametrize(("names", "hint", "opened"), HADOOP)
def test_hadoop_names_as_iceberg_reads_them(names: list[str], hint: str | None, opened: str) -> None:
    """tests/spark/test_folder_state.py asks Iceberg the same."""
    assert folder_state("/t/metadata", names, hint, lambda name: b"").name == opened


def test_a_version_that_is_missing_is_an_error_in_java_and_said() -> None:
    state = folder_state("/t/metadata", [V1, V2], "4", lambda name: b"")
    assert state.name == V2
    assert [p.severity for p in state.problems] == ["error"]
    assert "Metadata file for version 4 is missing" in state.problems[0].cause


def test_what_iceberg_does_not_reach_is_named() -> None:
    state = folder_state("/t/metadata", [V1, V2, V5], "1", lambda name: b"")
    assert V5 in state.beside
    assert "version 3 is missing" in state.beside


def test_the_table_that_was_updated_last_is_opened() -> None:
    files = {
        "00000-aa.metadata.json": head("old", 10),
        "00004-aa.metadata.json": head("old", 50, "00000-aa.metadata.json"),
        "00000-bb.metadata.json": head("new", 60),
        "00001-bb.metadata.json": head("new", 70, "00000-bb.metadata.json"),
        "backup.metadata.json": head("old", 50),
    }
    state = folder_state("/t/metadata", list(files), None, files.__getitem__)
    assert state.name == "00001-bb.metadata.json"
    assert "00004-aa.metadata.json (UUID old)" in state.beside
    assert [(p.rule, p.severity) for p in state.problems] == [("metadata-choice", "warning")]


def test_names_without_a_version_are_told() -> None:
    names = [f"v0000{n}-34e20dae-5c6f-4d3e-abb6-4710cb2c000{n}.metadata.json" for n in range(3)]
    state = folder_state("/t/metadata", names, None, lambda name: head("t", names.index(name)))
    assert (state.name, "-1" in state.reason) == (names[2], False)
    assert "no name of a metadata file has a version" in state.reason
    assert ["its name has no version that readers know" in p.cause for p in state.problems] == [True]


def test_version_0_is_a_version() -> None:
    files = {"00000-aa.metadata.json": head("t", 10), "backup.metadata.json": head("t", 10)}
    state = folder_state("/t/metadata", list(files), None, files.__getitem__)
    assert state.name == "00000-aa.metadata.json"
    assert "-1" not in state.reason
    assert "highest version, 0" in state.reason
    assert [metadata_version(n) for n in (*files, "v3.gzip.metadata.json", "2024-01-01x.metadata.json")] == [
        0, None, 3, None,
    ]  # fmt: skip


def test_a_lost_commit_is_named_and_a_trimmed_log_is_no_fork() -> None:
    names = [f"0000{n}-aa.metadata.json" for n in range(6)]
    files = {name: head("t", n, *names[max(0, n - 2) : n]) for n, name in enumerate(names)}
    assert folder_state("/t/metadata", names, None, files.__getitem__).beside == ""
    files["00004-ff.metadata.json"] = head("t", 4, names[3])
    state = folder_state("/t/metadata", list(files), None, files.__getitem__)
    assert state.name == names[5]
    assert "00004-ff.metadata.json, outside the history" in state.beside


def test_few_files_are_read_to_choose_one() -> None:
    names = [f"{n:05}-aa.metadata.json" for n in range(1000)]
    reads: list[str] = []

    def read(name: str) -> bytes:
        reads.append(name)
        return head("t", int(name[:5]))

    state = folder_state("/t/metadata", names, None, read)
    assert state.name == names[-1]
    assert len(reads) == 50
    assert "950 metadata files that were not looked into" in state.beside


@pytest.mark.parametrize(
    ("case", "opened", "words"),
    [
        ("37", "v3.gzip.metadata.json", "Metadata file for version 3 is missing"),
        ("38", "v3.metadata.json", "the version hint is stale"),
        ("39", "00001-00000000-0000-0000-0000-000000000001.metadata.json", "2 tables share this folder"),
    ],
)
def test_cases(case: str, opened: str, words: str, tmp_path: Path) -> None:
    table = direct.open_table(str(build_case(case, tmp_path)))
    assert table.metadata.metadata_location.endswith(f"/{opened}")
    assert any(words in p.cause and p.rule == "metadata-choice" for p in table.problems)
    assert [f.rule for f in direct.doctor(table).findings].count("metadata-choice") == 1


def test_pyiceberg_stops_at_the_hint(tmp_path: Path) -> None:
    table = build_case("38", tmp_path)
    (table / "metadata" / "version-hint.text").write_text("2")  # the line break is too much for it
    assert StaticTable.from_metadata(str(table)).metadata_location.endswith("v2.metadata.json")


@pytest.mark.parametrize("hint", ["three", "", "2.0", " 2 "])
def test_a_hint_without_a_number_is_told(hint: str, tmp_path: Path) -> None:
    table = build_case("38", tmp_path)
    (table / "metadata" / "version-hint.text").write_text(hint)
    [finding] = [one for one in direct.doctor(str(table)).findings if one.rule == "metadata-choice"]
    assert finding.severity == "warning"
    assert f"it says {hint!r}. Iceberg opens the highest version, 3" in finding.what
    assert "Any commit that Spark makes in this folder writes the file" in finding.remedy
    with pytest.raises(FileNotFoundError):
        StaticTable.from_metadata(str(table))


def test_metadata_in_the_data_folder(tmp_path: Path) -> None:
    folder = build_case("40", tmp_path)
    by_folder = direct.open_table(str(folder))
    assert (by_folder.name, len(by_folder.files()), by_folder.problems) == (folder.name, 1, [])
    by_file = direct.open_table(by_folder.metadata.metadata_location)
    assert len(by_file.files()) == 1
    assert not [p for p in by_file.problems if p.severity == "error"]


def test_the_metadata_folder_itself_and_a_file_without_a_version(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    opened = direct.open_table(str(table / "metadata"))
    assert (opened.name, len(opened.files()), opened.problems) == ("t", 3, [])
    plain = table / "metadata" / "metadata.json"
    shutil.copy(newest_metadata(table), plain)
    assert len(direct.open_table(str(plain)).files()) == 3


def test_a_catalog_that_is_behind_its_folder(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    names = sorted(path.name for path in (table / "metadata").glob("*.metadata.json"))
    newest = newest_metadata(table)
    kept = newest.read_bytes()
    newest.unlink()
    properties = in_catalog(table)
    newest.write_bytes(kept)
    opened = direct.open_table("db.t", "small", properties)
    assert opened.metadata.metadata_location.endswith(names[-2])
    [problem] = opened.problems
    assert names[-1] in problem.cause
    assert "1 commit further in the same history" in problem.cause
    assert names[-1] in opened.why
    assert names[-1] in direct.pointer(opened).beside


def test_a_catalog_is_behind_whatever_the_newest_file_is(tmp_path: Path) -> None:
    table = make_table(tmp_path, commits=4)
    files = sorted((table / "metadata").glob("*.metadata.json"))
    kept = {path: path.read_bytes() for path in files[2:]}
    for path in files[3:]:
        path.unlink()
    properties = in_catalog(table)  # at the third of five

    def said(**contents: bytes) -> list[tuple[str, str]]:
        for number, path in enumerate(files[3:], 4):
            path.write_bytes(contents.get(f"v{number}", kept[path]))
        report = direct.doctor(direct.open_table("db.t", "small", properties))
        found = [f for f in report.findings if f.rule == "metadata-choice"]
        assert all("take out" not in f.remedy and "un remove_orphan_files" in f.remedy for f in found)
        return [(f.severity, f.what) for f in found]

    [(level, words)] = said()
    assert level == "warning"
    assert f"{files[4].name}, which is 2 commits further in the same history: " in words
    [(level, words)] = said(v5=kept[files[4]][:700])
    assert level == "warning"
    assert f"{files[3].name}, which is 1 commit further in the same history; {files[4].name} cannot be read: " in words
    [(level, words)] = said(v4=b"{", v5=b"{")
    assert level == "warning"
    assert f"{files[4].name}, {files[3].name} of a higher version; {files[3].name}, {files[4].name} cannot be" in words
    other = kept[files[4]].replace(json.loads(kept[files[4]])["table-uuid"].encode(), b"0" * 36)
    other = other.replace(b"metadata-log", b"metadata-gol")
    [(level, words)] = said(v4=other, v5=other)
    assert level == "warning"
    assert "metadata of another table is in this folder" in words
    assert "the catalog is behind" not in words
    cut = kept[files[4]].replace(b"metadata-log", b"metadata-gol")
    [(level, words)] = said(v4=cut, v5=cut)
    assert level == "warning"
    assert f"{files[4].name} of the same table, whose log does not go back to {files[2].name}" in words


def test_a_sandbox_that_was_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, copied = tmp_path / "one", tmp_path / "two"
    table = MiniTable(home / "sandbox" / "warehouse" / "demo" / "three_inserts", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("sandbox", uri=f"sqlite:///{home}/sandbox/catalog.db", warehouse=f"{home}/sandbox/warehouse")
    catalog.create_namespace("demo")
    catalog.register_table("demo.three_inserts", str(newest_metadata(table.folder)))
    catalog.engine.dispose()
    from explorer.lab.scenarios import available_names
    from explorer.spark_engine.spark import SparkEngine

    monkeypatch.setenv("ICEDIVE_HOME", str(home))
    assert available_names() == {"three_inserts"}
    assert locate("demo.three_inserts").metadata_location
    shutil.copytree(home, copied)
    monkeypatch.setenv("ICEDIVE_HOME", str(copied))
    assert available_names() == set()
    with pytest.raises(TableNotFound, match=f"moved or copied: its catalog still points into {home}/sandbox"):
        locate("demo.three_inserts")
    engine = SparkEngine()
    engine._start()  # it refuses before there is a JVM
    assert engine.state.phase == "failed"
    assert "moved or copied" in engine.state.detail
    assert stray_entries(copied / "sandbox") == {"demo.three_inserts": f"{home}/sandbox"}
    forget_entries(copied / "sandbox", ["demo.three_inserts"])
    assert catalog_entries(copied / "sandbox") == {}
    assert catalog_entries(home / "sandbox")
    shutil.rmtree(table.folder)
    monkeypatch.setenv("ICEDIVE_HOME", str(home))
    assert available_names() == set()


def test_another_sandbox_is_told_by_its_path(tmp_path: Path) -> None:
    own = tmp_path / "sandbox"
    assert other_sandbox(own, f"file:{own}/warehouse/demo/t/metadata/v1.metadata.json") is None
    assert other_sandbox(own, "/data/warehouse/demo/t/metadata/v1.metadata.json") is None
    assert other_sandbox(own, "/old/sandbox/warehouse/demo/t/metadata/v1.metadata.json") == "/old/sandbox"
