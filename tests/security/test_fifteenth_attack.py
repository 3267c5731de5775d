"""What a fifteenth attack found: values, names and work that a bundle should not have."""

from __future__ import annotations

import json
import shutil
import struct
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from IPython.core.interactiveshell import InteractiveShell

import explorer
from explorer.app.hosts import magics
from explorer.cli import main
from explorer.errors import NotPossible, UnreadableFile
from explorer.render.blocks import Statement
from explorer.reports.table_copy import check_copy
from explorer.spec.bundle.replacements import Replacements
from explorer.spec.text.names import is_one_statement
from explorer.storage import limits, manifest_reader, parquet_manifests, processor_time
from explorer.storage.decoder_process import client
from explorer.storage.formats.theta import estimate
from explorer.table import Table as OpenedTable
from explorer.table import open_table
from tests.cases.mini import Table
from tests.support import direct
from tests.support.parquet_manifests import as_version_4, parquet_of, rewrite_lists

UUID = "0e3f0a52-1111-4222-8333-abcdefabcdef"


# -- bundles -----------------------------------------------------------------------------------------------------------
def numbers_in_bundle(folder: Path, kind: str, values: list[Any], *transforms: str) -> list[list[int]]:
    """The bounds of a column of a table that truncates it, as its bundle has them."""
    fields = [(1, 1000 + n, f"part{n}", transform) for n, transform in enumerate(transforms)]
    table = Table(folder / "t", [(1, "salary", kind, True)], fields)
    for n, value in enumerate(values):
        parts = {f"part{i}": value - value % int(name[9:-1]) for i, name in enumerate(transforms)}
        table.append(table.parquet(f"{n}.parquet", {"salary": [value]}, partition=parts))
    table.write()
    explorer.export_bundle(str(folder / "t"), folder / "b.zip", [f"salary = {values[0]}"])
    found = []
    with zipfile.ZipFile(folder / "b.zip") as archive:
        assert str(values[0]) not in archive.read("report.json").decode()
        for name in sorted(archive.namelist()):
            if name.endswith("-m0.avro"):
                for record in fastavro.reader(archive.open(name)):
                    bound = record["data_file"]["lower_bounds"][0]["value"]
                    parts = record["data_file"]["partition"].values()
                    found.append([int.from_bytes(bound, "little", signed=True), *parts])
    return found


def test_a_number_that_is_truncated_is_replaced(tmp_path: Path) -> None:
    """What was below the width stood in the bundle as it was: with a wide one, the number itself."""
    values = [123456, 987654, 5_123_456, -40]
    assert numbers_in_bundle(tmp_path, "long", values, "truncate[1000000]") == [
        [1, 0], [2, 0], [1_000_001, 1_000_000], [-1, -1_000_000],
    ]  # fmt: skip


def test_a_number_that_is_truncated_in_two_ways_is_replaced(tmp_path: Path) -> None:
    values = [123456, 123999, 987654]
    assert numbers_in_bundle(tmp_path, "int", values, "truncate[100000]", "truncate[1000]") == [
        [101001, 100000, 101000], [101002, 100000, 101000], [201001, 200000, 201000],
    ]  # fmt: skip


def test_widths_that_do_not_divide_each_other_keep_no_number(tmp_path: Path) -> None:
    """Their least common multiple is wider than any number."""
    found = numbers_in_bundle(tmp_path, "long", [123456, 987654], "truncate[9999991]", "truncate[9999973]")
    assert [row[0] for row in found] == [1, 2]


@pytest.mark.parametrize("place", [f"warehouse/{UUID}", f"{UUID}/t", f"w/00000-{UUID}"])
def test_a_folder_that_is_called_by_a_uuid_is_replaced(place: str, tmp_path: Path) -> None:
    """Catalogs call a table's folder by its UUID, of which a bundle says that it is replaced."""
    table = Table(tmp_path / place, [(1, "id", "long", True)])
    table.md["table-uuid"] = UUID
    table.append(table.parquet(f"00000-0-{UUID}.parquet", {"id": [1]}))
    table.write()
    explorer.export_bundle(str(tmp_path / place), tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        for name in archive.namelist():
            texts = [name, archive.read(name).decode("latin-1")]
            if name.endswith(".avro"):
                texts += map(str, fastavro.reader(archive.open(name)))
            assert UUID not in "".join(texts), name
        newest = max(name for name in archive.namelist() if name.endswith(".metadata.json"))
        snapshot = json.loads(archive.read(newest))["snapshots"][0]
        assert f"table/metadata/{Path(snapshot['manifest-list']).name}" in archive.namelist()


@pytest.mark.parametrize("ending", [".gz", ".json", ".stats.crc"])
def test_a_name_of_endings_takes_its_own_length(ending: str) -> None:
    class Nothing:
        def replace(self, domain: str, family: str, value: bytes, widths: Any = (1,)) -> bytes:
            return value

    class NoTable:
        schemas, partition_specs, table_uuid = (), (), None

    new = Replacements(NoTable(), Nothing())  # type: ignore[arg-type]
    began = time.process_time()
    new.file_name("a" + ending * (900_000 // len(ending)))
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("where", ["write.data.path", "initial-default", "location"])
def test_a_very_long_text_is_not_replaced_character_by_character(where: str, tmp_path: Path) -> None:
    """Fifteen kilobytes, unpacked, took a gigabyte of memory."""
    table = Table(tmp_path / "t", [(1, "id", "long", True), (2, "v", "string")])
    text = "a" * 1_100_000
    if where == "location":
        table.md[where] += f"/{text}"
    elif where == "initial-default":
        table.md["schemas"][0]["fields"][1][where] = text
    else:
        table.md["properties"][where] = f"s3://bucket/{text}"
    table.write()
    if where == "location":
        with pytest.raises(NotPossible, match="at most 1,000,000"):
            explorer.export_bundle(str(tmp_path / "t"), tmp_path / "b.zip")
        return
    written = explorer.export_bundle(str(tmp_path / "t"), tmp_path / "b.zip")
    assert sum(number for words, number in written.replaced.items() if "not as the spec has them" in words) == 1


# -- statements that are printed ---------------------------------------------------------------------------------------
ENDS = ["x; DROP TABLE db.prod; --", "'it'; DROP TABLE db.prod; --", "'a' -- b", "/* c", "${env:HOME}", "';';", "a\nb"]
"""Names at which Spark's shell, which knows no backticks, ends a statement or begins a comment, or that it replaces."""


@pytest.mark.parametrize("operation", ["drop", "fast-forward", "tag"])
def test_no_statement_is_printed_that_a_name_of_a_branch_ends(operation: str, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long", True)])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.append(table.parquet("b.parquet", {"id": [2]}))
    plain = ["audit", "it`s", "it's", "back\\slash"]
    first = table.md["snapshots"][0]["snapshot-id"]
    refs = {} if operation == "tag" else {
        name: {"snapshot-id": first, "type": "branch"} for name in (*ENDS, *plain)
    }  # fmt: skip
    table.md["refs"] |= refs
    table.write()
    opened = explorer.open_table(str(tmp_path / "t"))
    told = {}
    for name in (*ENDS, *plain):
        parts = opened.refs.preview(operation, name=name, snapshot={"drop": None, "tag": first}.get(operation, "main"))
        told[name] = [part.sql for part in parts.blocks() if isinstance(part, Statement)]
    assert all(told[name] for name in plain)
    assert all(is_one_statement(sql) for own in told.values() for sql in own)
    if operation != "fast-forward":
        assert not any(told[name] for name in ENDS)


@pytest.mark.parametrize("name", ["t; DROP TABLE db.prod; --", "it's", "a -- b"])
def test_no_statement_has_the_name_of_a_folder(name: str, tmp_path: Path) -> None:
    table = Table(tmp_path / name, [(1, "id", "long", True)])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.write()
    parts = explorer.open_table(str(tmp_path / name)).refs.preview("branch", name="audit", snapshot="main").blocks()
    [sql] = [part.sql for part in parts if isinstance(part, Statement)]
    assert sql.startswith("ALTER TABLE your_catalog.your_db.your_table CREATE BRANCH audit")


@pytest.mark.parametrize("place", ["t; DROP TABLE db.prod; --", "${env:HOME}", "plain"])
def test_what_writes_a_copy_can_be_pasted(place: str, tmp_path: Path) -> None:
    table = Table(tmp_path / place, [(1, "id", "long", True)])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.write()
    copy = open_table(str(shutil.copytree(tmp_path / place, tmp_path / "copy" / "t")))
    opened = open_table(str(tmp_path / place))
    opened.reader.location = replace(opened.reader.location, catalog="prod", name="prod.db.my-table")
    statement = check_copy(opened, copy).statement
    assert ("`my-table`" in statement) == (place != "${env:HOME}")
    assert is_one_statement(statement)


# -- metadata that is not as the spec has it ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    "blob",
    [{"fields": [[{}]]}, {"properties": "NaN"}, {"properties": [None]}, {"fields": 5}, {"fields": None}, {"type": {}}],
)
def test_a_blob_of_other_types_leaves_the_rest(blob: dict[str, Any], tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long", True)])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    own = table.md["snapshots"][0]["snapshot-id"]
    sound = {"type": "apache-datasketches-theta-v1", "snapshot-id": own, "sequence-number": 1, "fields": [1],
             "properties": {"ndv": "7"}}  # fmt: skip
    table.md["statistics"] = [{
        "snapshot-id": own, "statistics-path": f"{table.location}/metadata/s.puffin", "file-size-in-bytes": 9,
        "file-footer-size-in-bytes": 5, "blob-metadata": [{**sound, **blob}, sound],
    }]  # fmt: skip
    table.write()
    opened = explorer.open_table(str(tmp_path / "t"))
    assert opened.inspect.profile().to_arrow()["distinct"].to_pylist() == [7]
    assert any("unreadable blob" in problem.cause for problem in open_table(str(tmp_path / "t")).problems)


@pytest.mark.parametrize("theta", [1, 2**20, 2**40])
def test_a_sketch_does_not_stand_for_more_values_than_there_are_numbers(theta: int) -> None:
    hashes = 2**20
    sketch = bytes([3, 3, 3, 0, 0, 0, 0, 0]) + struct.pack("<iiq", hashes, 0, theta) + bytes(8 * hashes)
    if theta == 2**40:
        assert estimate(sketch) == 2**43
    else:
        with pytest.raises(ValueError, match="more values"):
            estimate(sketch)


@pytest.mark.parametrize("log", [5, [{"snapshot-id": {}}], [{"snapshot-id": [1]}, None]])
def test_health_of_a_strange_log_is_told(log: Any, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long", True)])
    for name in "abc":
        table.append(table.parquet(f"{name}.parquet", {"id": [1]}))
    table.md["snapshot-log"] = log
    table.write()
    assert explorer.open_table(str(tmp_path / "t")).health().to_text()


# -- Parquet manifests -------------------------------------------------------------------------------------------------
def parquet_manifest(folder: Path, rows: int, change: Callable[[dict[str, Any]], object]) -> Path:
    """A manifest of version 4 that repeats one entry, in which something is changed."""
    table = Table(folder, [(1, "id", "long", True), (2, "v", "string")])
    table.append(table.parquet("a.parquet", {"id": [1], "v": ["x"]}))
    table.write()
    as_version_4(folder)
    manifest = next((folder / "metadata").glob("*-m0.parquet"))
    stored = pq.read_table(manifest)
    entry = stored.to_pylist()[0]
    change(entry["data_file"])
    many = pa.Table.from_pylist([entry], stored.schema).take(pa.array([0] * rows))
    manifest.write_bytes(parquet_of(many, {"format-version": "4", "content": "data"}))
    rewrite_lists(folder)
    return manifest


@pytest.mark.parametrize(
    "change",
    [lambda file: file.update(file_path="a" * 3_000), lambda file: file.update(lower_bounds=[(2, b"a" * 3_000)]),
     lambda file: file.update(split_offsets=[*range(400)])],
)  # fmt: skip
def test_a_parquet_manifest_unpacks_to_no_more_than_an_avro_one(change: Any, tmp_path: Path) -> None:
    """A dictionary and runs hid half a gigabyte in a hundred kilobytes, with which questions took two."""
    manifest = parquet_manifest(tmp_path / "t", 30_000, change)
    data = manifest.read_bytes()
    assert len(data) < 300_000
    with pytest.raises(UnreadableFile, match=f"at most {limits.unpack_limit(len(data)):,}"):
        parquet_manifests.entries(data, str(manifest), metrics=True)


@pytest.mark.parametrize("held", [1 << 10, 1 << 30])
def test_parquet_manifests_that_are_much_together_are_decoded_one_by_one(
    held: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = parquet_manifest(tmp_path / "t", 100, lambda _: None).read_bytes()
    monkeypatch.setattr(manifest_reader, "TOGETHER_BYTES", held)
    reader = manifest_reader.ManifestReader(open_table(str(tmp_path / "t")).reader.storage)
    reads = reader._decode({f"m{n}": data for n in range(5)}, metrics=False)
    assert len(reads) == (1 if held < len(data) else 5)


@pytest.mark.parametrize("children", [0.8, 1.9])
def test_a_commands_own_time_and_that_of_its_children_count_together(
    children: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each alone stayed below the limit."""
    taken = {"own": 0.0, "children": 0.0}

    def work(*_: Any, **__: Any) -> None:
        taken.update(own=1.5, children=children)
        time.sleep(20)
        pytest.fail("nothing ended it")

    table = Table(tmp_path / "t", [(1, "id", "long", True)])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.write()
    monkeypatch.delenv(processor_time.VARIABLE, raising=False)
    monkeypatch.setattr(processor_time, "SECONDS", 2.0)
    monkeypatch.setattr(processor_time, "CHILDREN_S", 0.05)
    monkeypatch.setattr(client, "processor_seconds", lambda: taken["children"])
    monkeypatch.setattr(processor_time, "_processor_seconds", lambda: sum(taken.values()))
    monkeypatch.setattr(OpenedTable, "lifecycle", work)
    result = CliRunner().invoke(main, ["history", "lifecycle", str(tmp_path / "t")])
    assert (result.exit_code, "refused: the command took" in result.stderr) == (1, True)


# -- notebooks ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "name", ["{open('%s','w')}", "{__import__('pathlib').Path('%s').touch()}", "${open('%s','w')}"]
)
@pytest.mark.parametrize("kind", ["line", "cell"])
def test_no_name_in_a_line_of_a_notebook_is_run(name: str, kind: str, tmp_path: Path) -> None:
    """IPython runs what stands in braces in a magic's line, and Tab offered the names of branches."""
    table = Table(tmp_path / "t", [(1, "id", "long", True)])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    own = name % (tmp_path / "run")
    table.md["refs"][own] = {"snapshot-id": table.md["snapshots"][0]["snapshot-id"], "type": "tag"}
    table.md["refs"]["plain"] = table.md["refs"][own]
    table.write()
    begun = f"%iceberg plan {tmp_path / 't'} --snapshot "
    assert [*magics.complete(begun, {})] == ["main", "plain", "snapshot-1"]
    shell = InteractiveShell.instance()
    try:
        magics.register(shell)
        shell.run_cell(f"{begun}{own} 'id = 1'" if kind == "line" else f"%{begun}{own}\nid = 1")
    finally:
        InteractiveShell.clear_instance()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("number", [2**31, -(2**63), 2**63 - 1])
def test_a_field_id_beyond_32_bits_leaves_the_profile(number: int, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long", True)])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.md["schemas"][0]["fields"][0]["id"] = number
    table.write()
    assert explorer.open_table(str(tmp_path / "t")).inspect.profile().to_arrow()["column"].to_pylist() == ["id"]


def test_many_dense_manifests_are_within_the_limit_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each manifest is within its own limit; together they would decode to gigabytes."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    file = table.parquet("a.parquet", {"id": [1]})
    for number in range(4):
        before = table.lists.get(table.md["current-snapshot-id"], [])
        table.snapshot("append", [*before, table.manifest(f"m{number}.avro", [(1, file)] * 2000)])
    opened = direct.open_table(str(tmp_path / "t"))
    assert len(opened.files()) == 8000
    assert not opened.problems
    monkeypatch.setattr(manifest_reader, "DENSE", 2)
    monkeypatch.setattr(manifest_reader, "DENSE_BYTES", 1_000_000)
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path / "cache"))
    dense = direct.open_table(str(tmp_path / "t"))
    assert 0 < len(dense.files()) < 8000
    assert {"decode to more than 2 times their bytes" in problem.cause for problem in dense.problems} == {True}
