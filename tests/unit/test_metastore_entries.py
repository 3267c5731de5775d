"""Entries of tables in Glue and in Hive's metastore, as their clients answer."""

from __future__ import annotations

import datetime
from types import SimpleNamespace
from typing import Any

import pytest
from pyiceberg.exceptions import NoSuchIcebergTableError

from explorer.render.catalog_entry import SHOWN, entry_json, render_entry
from explorer.spec.catalogs.entries import CatalogEntry, CatalogRecord, EntryVersion, KeptVersion
from explorer.storage.catalogs import catalogs, metastore_entries
from explorer.storage.catalogs.metastore_entries import MetastoreEntry, entry_versions, metastore_entry

NOON = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.timezone.utc)


class Glue:
    """A catalog of Glue whose table has so many versions, in pages of so many."""

    def __init__(self, versions: int, page: int = 100, **table: Any) -> None:
        self.glue, self.asked = self, 0
        self.table, self.page = table, page
        self.numbers = list(range(versions, 0, -1))

    def identifier_to_database_and_table(self, identifier: tuple[str, ...], error: type[Exception]) -> tuple[str, str]:
        database, name = identifier
        return database, name

    def _get_glue_table(self, database_name: str, table_name: str) -> dict[str, Any]:
        return self.table

    def get_table_versions(self, NextToken: str = "0", **asked: Any) -> dict[str, Any]:
        self.asked += 1
        start = int(NextToken)
        of = [
            {"VersionId": str(n), "Table": {"UpdateTime": NOON, "Parameters": {"metadata_location": f"s3://b/{n}"}}}
            for n in self.numbers[start : start + self.page]
        ]
        following = {"NextToken": str(start + self.page)} if start + self.page < len(self.numbers) else {}
        return {"TableVersions": of, **following}


def versions(catalog: Any) -> tuple[list[EntryVersion], bool]:
    return entry_versions(catalog, ("db", "t"))


def test_versions_come_in_pages() -> None:
    glue = Glue(250)
    listed, is_cut = versions(glue)
    assert ([int(one.version) for one in listed], is_cut, glue.asked) == (list(range(250, 0, -1)), False, 3)
    assert listed[0] == EntryVersion("250", 1_795_953_600_000, "s3://b/250")


def test_no_more_versions_are_asked_for_than_are_shown() -> None:
    glue = Glue(5_000)
    listed, is_cut = versions(glue)
    assert (len(listed), is_cut) == (metastore_entries.VERSIONS, True)
    assert glue.asked <= metastore_entries.VERSIONS // metastore_entries.PAGE + 1


def test_a_token_that_comes_again_ends_the_pages() -> None:
    glue = Glue(5)
    glue.get_table_versions = lambda **asked: {"TableVersions": [], "NextToken": "1"}  # type: ignore[method-assign]
    assert versions(glue) == ([], False)


def test_the_order_of_versions_is_by_number() -> None:
    glue = Glue(30, page=7)
    glue.numbers.reverse()
    assert [int(one.version) for one in versions(glue)[0]] == list(range(30, 0, -1))


def test_only_what_says_where_the_metadata_is_is_shown() -> None:
    parameters = {"table_type": "ICEBERG", "metadata_location": "s3://k:hush@b/m.json", "password": "hush"}
    entry = metastore_entry(
        Glue(1, Parameters=parameters, VersionId="7", UpdateTime=NOON, Description="hush"),
        ("db", "t"),  # type: ignore[arg-type]
    )
    assert entry is not None
    assert entry.metadata_location == "s3://k:hush@b/m.json"
    assert entry.row() == {
        "metadata_location": "s3://(hidden)@b/m.json", "table_type": "ICEBERG", "VersionId": "7",
        "UpdateTime": "2026-11-29 12:00:00.000 UTC",
    }  # fmt: skip


@pytest.mark.parametrize("parameters", [None, {}, {"table_type": "hudi"}, {"table_type": "ICEBERG"}])
def test_an_entry_of_another_kind_is_no_table(parameters: Any) -> None:
    entry = metastore_entry(Glue(1, Parameters=parameters), ("db", "t"))  # type: ignore[arg-type]
    assert entry is not None
    with pytest.raises(NoSuchIcebergTableError):
        _ = entry.metadata_location


def test_an_entry_of_hive() -> None:
    parameters = {"table_type": "iceberg", "metadata_location": "s3://b/m.json", "transient_lastDdlTime": "1795953600"}
    table = SimpleNamespace(createTime=1_795_953_600, tableType="EXTERNAL_TABLE", sd=None, parameters=parameters)
    entry = metastore_entries._hive_entry(table)
    assert entry.row() == {**parameters, "createTime": "2026-11-29 12:00:00.000 UTC", "tableType": "EXTERNAL_TABLE"} | {
        "createTime": "2026-11-29 12:00:00.000 UTC"
    }


def test_text_shows_some_versions_and_json_all() -> None:
    kept = [KeptVersion(EntryVersion(str(n), None, None), "not known") for n in range(SHOWN + 5)]
    record = CatalogRecord("glue", "the table's entry in Glue", {"metadata_location": "s3://b/m.json"}, is_cut=True)
    entry = CatalogEntry(record, "s3://b/m.json", "there", None, versions=kept)
    text = "\n".join(render_entry(entry))
    assert "and 5 older versions, which --output json lists" in text
    assert "the catalog has more versions than it was asked for" in text
    assert len(entry_json(entry)["versions"]) == SHOWN + 5


def test_who_may_not_list_versions_sees_the_entry() -> None:
    class Refused(Glue):
        properties: dict[str, str] = {"glue.secret-access-key": "hush"}  # noqa: RUF012

        def get_table_versions(self, NextToken: str = "0", **asked: Any) -> dict[str, Any]:
            raise PermissionError("not authorized to perform glue:GetTableVersions with hush")

    entry = MetastoreEntry("glue", {"metadata_location": "s3://b/m.json"}, {})
    record = catalogs._glue_record(Refused(1), ("db", "t"), entry)  # type: ignore[arg-type]
    assert record.row == {"metadata_location": "s3://b/m.json"}
    assert record.unlisted.startswith("PermissionError: not authorized to perform glue:GetTableVersions")
    assert "hush" not in record.unlisted
    text = "\n".join(render_entry(CatalogEntry(record, "s3://b/m.json", "there", None)))
    assert "the versions of the entry cannot be listed: PermissionError" in text
