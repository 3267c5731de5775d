"""Whatever Spark would open is looked at first, as Spark would take it: tricks that make the two differ."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pytest

import explorer
from explorer.errors import OutsideRoots, UnreadableFile
from explorer.queries.versions import another, check_readable, reading
from explorer.storage.paths import canonical
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table, newest_metadata


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return make_table(tmp_path / "mine", commits=2)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Another table, which nobody may read through the first."""
    return make_table(tmp_path / "secret", commits=1)


def check(table: Path) -> str:
    return canonical(check_readable(direct.open_table(str(table)).reader).metadata_location)


def lists(table: Path) -> list[Path]:
    return sorted((table / "metadata").glob("snap-*.avro"))


def rewrite(path: Path, change: Callable[[dict[str, Any], list[Any]], None]) -> None:
    """Change the schema and the records of an Avro file."""
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        schema, records = dict(reader.writer_schema), list(reader)
        metadata = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
    change(schema, records)
    out = io.BytesIO()
    schema.pop("__fastavro_parsed__", None)
    schema.pop("__named_schemas", None)
    fastavro.writer(out, schema, records, metadata=metadata)
    path.write_bytes(out.getvalue())


def test_an_honest_table_is_let_through(table: Path) -> None:
    assert check(table) == canonical(str(newest_metadata(table)))


@pytest.mark.parametrize(
    "spelling",
    [
        "file:{t}/x?/../../../../../secret{rest}",
        "file://{t}/x#/../../../../../secret{rest}",
        "file:{t}/a%2Fb%2Fc%2Fd/../../../../../../secret{rest}",
        "{t}/../../../../secret{rest}",
        "file:{s}",
        "{s}",
        "/{s}",
        "http://127.0.0.1:9/list.avro",
        "s3://bucket/list.avro",
    ],
)
def test_lists_elsewhere(spelling: str, table: Path, secret: Path, tmp_path: Path) -> None:
    foreign = str(lists(secret)[0])
    path = spelling.format(t=table, s=foreign, rest=foreign.removeprefix(str(tmp_path / "secret")))

    def escape(data: dict[str, Any]) -> None:
        data["snapshots"][-1]["manifest-list"] = path

    edit_metadata(table, escape)
    with pytest.raises((OutsideRoots, UnreadableFile)):
        check(table)


def test_a_second_field_with_the_same_id(table: Path, secret: Path) -> None:
    def escape(schema: dict[str, Any], records: list[Any]) -> None:
        schema["fields"].append({"name": "shown", "type": "string", "field-id": 500})
        for record in records:
            record["shown"], record["manifest_path"] = record["manifest_path"], str(lists(secret)[0])

    rewrite(lists(table)[-1], escape)
    rewrite(lists(table)[0], escape)
    with pytest.raises(UnreadableFile, match="the id 500"):
        check(table)


def test_manifests_that_we_drop_and_iceberg_keeps(table: Path, secret: Path) -> None:
    def escape(data: dict[str, Any]) -> None:
        data["snapshots"][-1] |= {"manifests": [1], "manifest-list": str(lists(secret)[0])}

    edit_metadata(table, escape)
    with pytest.raises(UnreadableFile, match="not asked to read"):
        check(table)


def test_a_manifest_that_changes_after_it_was_looked_at(table: Path, secret: Path) -> None:
    opened = direct.open_table(str(table))
    check_readable(opened.reader)
    opened.files()

    def escape(schema: dict[str, Any], records: list[Any]) -> None:
        for record in records:
            record["data_file"]["file_path"] = str(next((secret / "data").glob("*.parquet")))

    for manifest in (table / "metadata").glob("*-m0.avro"):
        rewrite(manifest, escape)
    with pytest.raises(OutsideRoots):
        check_readable(opened.reader)


def test_branches_that_spark_takes_for_something_else(table: Path) -> None:
    first: list[int] = []

    def name(data: dict[str, Any]) -> None:
        ids = [s["snapshot-id"] for s in data["snapshots"]]
        first.append(ids[0])
        branch = {"snapshot-id": ids[0], "type": "branch"}
        data["refs"] |= {str(ids[1]): branch, "+7": dict(branch), "b": dict(branch)}
        data["refs"] |= {" b": {"snapshot-id": ids[1], "type": "branch"}}

    edit_metadata(table, name)
    reader = direct.open_table(str(table)).reader
    assert reading(reader, "+7").version.version == str(first[0])
    for wanted in ("b", " b"):
        assert reading(reader, wanted).version.version == "b"
    number = next(r for r in reader.metadata.refs if r.name.isdigit())
    assert reading(reader, number.name).version.version in {str(s.snapshot_id) for s in reader.metadata.snapshots}


def test_a_copied_table_is_read_where_it_is_or_not_at_all(table: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(table, copy)
    files = check_readable(direct.open_table(str(copy)).reader)
    assert files.moved == ((str(table), str(copy)), (str(copy), str(copy)))
    elsewhere = direct.open_table(str(copy), relocate={str(table / "data"): "s3://bucket/data"})
    with pytest.raises(OutsideRoots, match="follows moves to folders of this machine only"):
        check_readable(elsewhere.reader)


def test_what_was_given_for_one_catalog_is_not_given_to_another(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from explorer.queries import versions as module

    given: list[object] = []

    def locate(name: str, catalog: str | None, properties: object, relocate: object) -> object:
        given.append(properties)
        raise explorer.TableNotFound(name)

    reader = direct.open_table(str(table)).reader
    reader.location = replace(reader.location, catalog="staging", properties={"token": "SECRET"})
    monkeypatch.setattr(module, "locate", locate)
    monkeypatch.setattr("explorer.storage.catalogs.catalogs.catalog_names", lambda: ["sandbox", "staging", "partner"])
    for name in ("partner.db.t", "staging.db.t", "db.t"):
        with pytest.raises(explorer.TableNotFound):
            another(reader, name)
    assert given == [None, {"token": "SECRET"}, None]
