"""Iceberg views: what of their metadata the view spec does not allow, versions side by side, and catalogs that have
them."""

from __future__ import annotations

import copy
import gzip
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import explorer
from explorer.app.forms import read_arguments
from explorer.cli import main
from explorer.errors import AccessRefused, NotFoundInTable, NotSupported, TableNotFound, UnreadableFile, WrongUsage
from explorer.questions import QUESTIONS
from explorer.serving import places
from explorer.spec.catalogs.views import COMPARED, check_view, compare_versions, dropped_dialects
from explorer.storage.catalogs.view_metadata import PROBLEMS, list_views, parse_view
from tests.support.small_tables import make_table, newest_metadata
from tests.support.view_files import sound

Change = Callable[[dict[str, Any]], object]


def written(tmp_path: Path, raw: Any, name: str = "00003-a.gz.metadata.json") -> str:
    """A view's metadata file, gzipped if its name says so."""
    text = json.dumps(raw).encode()
    path = tmp_path / "top" / "metadata" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text) if ".gz." in name else text)
    return str(path)


def ask(view: str, *options: str) -> Any:
    result = CliRunner().invoke(main, ["catalog", "views", "--name", view, *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


# -- checks -----------------------------------------------------------------------------------------------------------
def test_a_sound_view_has_no_findings() -> None:
    view = parse_view(sound(), "v.metadata.json")
    assert check_view(view) == []
    assert dropped_dialects(view) == []


def twice(key: str) -> Change:
    return lambda raw: raw[key].append(copy.deepcopy(raw[key][0]))


def add(dialect: str, kind: str = "sql", sql: str = "SELECT 1", at: int = 2) -> Change:
    one = {"type": kind, "dialect": dialect, "sql": sql}
    return lambda raw: raw["versions"][at]["representations"].append(one)


FAULTS: list[tuple[Change, str, str]] = [
    (lambda raw: raw.update({"format-version": 2}), "/format-version", "the format version is 2"),
    (lambda raw: raw.pop("view-uuid"), "/view-uuid", "it has no view-uuid"),
    (lambda raw: raw.pop("location"), "/location", "it has no location"),
    (lambda raw: raw.update({"current-version-id": 9}), "/current-version-id", "the current version, 9, is not among"),
    (twice("versions"), "/versions", "2 versions have the id 1"),
    (twice("schemas"), "/schemas", "2 schemas have the id 1"),
    (lambda raw: raw["versions"][1].pop("version-id"), "/versions/1", "a version has no id"),
    (lambda raw: raw["versions"][1].update({"schema-id": 7}), "/versions/1/schema-id", "the schema 7, which is not"),
    (lambda raw: raw["versions"][0].pop("default-namespace"), "/versions/0/default-namespace", "no default namespace"),
    (lambda raw: raw["versions"][0].pop("timestamp-ms"), "/versions/0/timestamp-ms", "version 1 has no timestamp"),
    (lambda raw: raw["versions"][0].update(representations=[]), "/versions/0/representations", "no representation"),
    (add("SPARK"), "/versions/2/representations", "2 texts in the dialect 'spark': the spec allows one of each"),
    (add("x", "substrait"), "/versions/2/representations/1/type", "of the type 'substrait'"),
    (add("trino", sql=" "), "/versions/2/representations/1", "a representation without SQL"),
    (add(""), "/versions/2/representations/1", "a representation without a dialect"),
    (lambda raw: raw.update({"version-log": []}), "/version-log", "the version log is empty"),
    (lambda raw: raw["version-log"].reverse(), "/version-log/1", "older than the one before"),
    (lambda raw: raw["version-log"].pop(), "/version-log/1", "the last entry of the version log is version 2"),
    (lambda raw: raw["version-log"].insert(0, {"timestamp-ms": 1, "version-id": 0}), "/version-log", "no longer kept"),
    (lambda raw: raw.update({"versions": {}}), "/versions", "`versions` is of another type"),
    (lambda raw: raw["versions"].append(3), "/versions/3", "it is no object"),
    (lambda raw: raw["schemas"].append({"fields": 1}), "/schemas/2", "the schema cannot be read"),
    (lambda raw: raw["versions"][0].update({"version-id": 1 << 63}), "/versions/0/version-id", "another type"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "where", "what"), FAULTS, ids=[what for *_, what in FAULTS])
def test_each_fault_is_found_where_it_is(change: Change, where: str, what: str) -> None:
    raw = sound()
    change(raw)
    found = check_view(parse_view(raw, "v.metadata.json"))
    assert any(one.where == where and what in one.what for one in found), found


def test_a_dialect_that_the_current_version_lost_is_told() -> None:
    raw = sound()
    add("trino", at=1)(raw)
    [lost] = dropped_dialects(parse_view(raw, "v.metadata.json"))
    assert lost.what == "version 2 has SQL in the dialect 'trino', and the current one has none"


def test_mistakes_without_end_are_counted_no_further() -> None:
    raw = sound()
    raw["versions"] = [1] * 10_000
    assert len(parse_view(raw, "v.metadata.json").problems) == PROBLEMS


@pytest.mark.parametrize("raw", [[], 1, None, {"table-uuid": "x"}, {"name": "v"}])
def test_what_is_no_view_is_refused(raw: Any) -> None:
    with pytest.raises(UnreadableFile, match="not of an Iceberg view"):
        parse_view(raw, "v.metadata.json")


# -- versions side by side --------------------------------------------------------------------------------------------
def test_two_versions_differ_in_sql_columns_and_defaults() -> None:
    view = parse_view(sound(), "v.metadata.json")
    diff = compare_versions(view, view.versions[0], view.versions[2])
    assert diff.sql == {
        "spark": [
            "@@ -1 +1,4 @@", "-SELECT id FROM fruits",
            "+SELECT id,", "+  count(*) AS n", "+FROM fruits", "+GROUP BY id",
        ]
    }  # fmt: skip
    assert diff.columns == ["+ n long", "id long → id string"]
    assert diff.defaults == ["default catalog: (none) → prod"]
    same = compare_versions(view, view.versions[0], view.versions[0])
    assert (same.sql, same.columns, same.defaults) == ({}, [], [])


def test_a_new_dialect_is_all_added() -> None:
    raw = sound()
    add("trino", sql="SELECT 1\nFROM t")(raw)
    view = parse_view(raw, "v.metadata.json")
    assert compare_versions(view, view.versions[1], view.versions[2]).sql["trino"] == ["+SELECT 1", "+FROM t"]


def test_long_texts_are_not_compared_line_by_line() -> None:
    raw = sound()
    raw["versions"][0]["representations"][0]["sql"] = "x\n" * (COMPARED + 1)
    view = parse_view(raw, "v.metadata.json")
    [line] = compare_versions(view, view.versions[0], view.versions[1]).sql["spark"]
    assert line == f"they differ, and have {COMPARED + 1} and 3 lines: too many to compare line by line"


# -- files ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["00003-a.metadata.json", "00003-a.gz.metadata.json"])
def test_a_file_is_shown(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, sound(), name)
    text = ask(path)
    assert text.exit_code == 0, text.output
    assert "3 versions, the newest first:" in text.output
    assert "version 3 in spark:\n  SELECT id,\n    count(*) AS n\n  FROM fruits\n  GROUP BY id\n" in text.output
    answer = json.loads(ask(path, "-o", "json").output)
    assert (answer["metadata_location"], answer["findings"]) == (path, [])
    assert [one["version_id"] for one in answer["versions"]] == [1, 2, 3]
    assert answer["versions"][2]["engine"] == "spark 4.1.0"
    assert "hush" not in json.dumps(answer) + text.output
    rows = ask(path, "-o", "csv").output.splitlines()
    assert len(rows) == 4


def test_exit_codes_are_those_of_the_doctor(tmp_path: Path) -> None:
    raw = sound()
    add("trino", at=1)(raw)
    assert ask(written(tmp_path, raw)).exit_code == 5
    raw["current-version-id"] = 9
    assert ask(written(tmp_path, raw)).exit_code == 6


def test_a_difference_is_asked_for_by_two_ids(tmp_path: Path) -> None:
    path = written(tmp_path, sound())
    text = ask(path, "--older", "2")
    assert "from version 2 to version 3:\nSQL in spark:\n" in text.output
    assert "  +GROUP BY id\n" in text.output
    assert "  default catalog: (none) → prod\n" in text.output
    answer = json.loads(ask(path, "--older", "1", "--newer", "2", "-o", "json").output)
    assert (answer["diff"]["before"], answer["diff"]["after"]) == (1, 2)
    catalog = explorer.catalog()
    with pytest.raises(NotFoundInTable, match="no version '7'; it has 1, 2, 3"):
        catalog.views(name=path, older="7")
    with pytest.raises(WrongUsage, match="--newer requires --older"):
        catalog.views(name=path, newer="1")
    with pytest.raises(WrongUsage, match="--older and --newer require --name"):
        catalog.views(older="1")


def test_credentials_in_sql_are_not_shown(tmp_path: Path) -> None:
    raw = sound()
    secret = "SELECT * FROM read('https://key:hush@host/x')"
    raw["versions"][2]["representations"][0]["sql"] = secret
    path = written(tmp_path, raw)
    for options in ((), ("-o", "json"), ("--older", "1"), ("--older", "1", "-o", "json")):
        assert "hush" not in ask(path, *options).output


def test_a_terminal_is_not_commanded(tmp_path: Path) -> None:
    raw = sound()
    raw["versions"][2]["representations"][0] |= {"sql": "SELECT '\x1b[2J'", "dialect": "\x1b]0;x\x07"}
    raw["location"] = "\x1b[31m"
    assert "\x1b" not in ask(written(tmp_path, raw)).output


def test_a_table_is_no_view_and_a_view_no_table(tmp_path: Path) -> None:
    table = ask(str(newest_metadata(make_table(tmp_path))))
    assert table.exit_code == 1
    assert "this is the metadata of a table, not of an Iceberg view" in table.output
    shown = CliRunner().invoke(main, ["show", written(tmp_path, sound())])
    assert "icedive catalog views --name PATH shows it" in shown.output


def test_a_served_page_opens_views_below_its_roots_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, outside = written(tmp_path / "in", sound()), written(tmp_path / "in@out", sound())
    monkeypatch.setenv(places.VARIABLE, json.dumps([str(tmp_path / "in")]))
    question = QUESTIONS["catalog", "views"]
    for path in (inside, outside):  # of which the page checks what is before an @
        assert read_arguments(question, {"name": path}) == {"name": path}
    assert explorer.catalog().views(name=inside).value.current_version_id == 3
    with pytest.raises(AccessRefused, match="is not below any of them"):
        explorer.catalog().views(name=outside)


# -- catalogs ---------------------------------------------------------------------------------------------------------
@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An SQL catalog with a view, as Iceberg's JdbcCatalog stores one."""
    database = tmp_path / "ledger.db"
    with sqlite3.connect(database) as connection:
        connection.execute(
            "CREATE TABLE iceberg_tables (catalog_name TEXT, table_namespace TEXT, table_name TEXT, "
            "metadata_location TEXT, previous_metadata_location TEXT, iceberg_type TEXT)"
        )
        rows = [("top", written(tmp_path, sound()), "VIEW"), ("t", "/nowhere", "TABLE")]
        for name, location, kind in rows:
            values = ("ledger", "db", name, location, None, kind)
            connection.execute("INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, ?, ?)", values)
    connection.close()
    for key, value in {"type": "sql", "uri": f"sqlite:///{database}", "warehouse": str(tmp_path)}.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LEDGER__{key.upper()}", value)
    return database


def test_views_of_an_sql_catalog(ledger: Path) -> None:
    catalog = explorer.catalog("ledger")
    assert catalog.views().to_json() == [{"catalog": "ledger", "identifier": "db.top"}]
    assert len(catalog.views(namespace="other")) == 0
    assert catalog.views(name="db.top").value.current_version_id == 3
    for name in ("db.t", "db.nothing", "top"):
        with pytest.raises(TableNotFound, match="no view"):
            catalog.views(name=name)


def test_an_older_sql_catalog_has_no_views(ledger: Path) -> None:
    with sqlite3.connect(ledger) as connection:
        connection.execute("ALTER TABLE iceberg_tables DROP COLUMN iceberg_type")
    connection.close()
    with pytest.raises(NotSupported, match="neither a REST catalog nor an SQL catalog with views"):
        list(list_views("ledger"))


def test_a_server_opens_no_view_of_this_machine(ledger: Path, tmp_path: Path) -> None:
    """A catalog whose tables are elsewhere does not choose a file here."""
    from explorer.storage.locate import check_is_not_ours

    location = written(tmp_path, sound())
    with pytest.raises(TableNotFound, match="a server may not choose what is opened here"):
        check_is_not_ours("mine", "db.top", location, {"uri": "postgresql://x", "warehouse": "s3://b"})
