"""Tables damaged at random, where meaning sits: a JSON value, a field of an Avro record, a manifest's own schema. Every
question about them ends in an answer, a Problem or an error of ours, and never in another exception.

`make fuzz` sets ICEDIVE_MUTATIONS to thousands, and ICEDIVE_SEED to another seed."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest

import explorer
from explorer.errors import ExplorerError
from explorer.lab.scenarios import NAMESPACE
from explorer.model.problem import Problems
from explorer.reports.inspector import inspect
from explorer.reports.maintenance import runs
from explorer.reports.maintenance.procedure_calls import LOOKS, PROCEDURES
from explorer.storage import cache
from explorer.storage.formats import avro
from explorer.storage.formats.json_text import load_json
from explorer.storage.paths import local_path
from tests.robustness.editing import edit_avro
from tests.security.build import avro_file
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table

TABLES = (
    "manifest_lifecycle", "partition_evolution", "schema_evolution", "branches_and_tags", "upgraded_v1",
    "copy_on_write_update", "position_deletes", "equality_deletes", "deletion_vectors",
)  # fmt: skip
MUTATIONS = int(os.environ.get("ICEDIVE_MUTATIONS", "144"))
SEED = int(os.environ.get("ICEDIVE_SEED", "21"))
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 7, 2**31, -(2**63), 2**63 - 1, 2**64, 10**30, 0.5, float("nan"), float("inf"),
    "", "x", "\0", "\ud800", "main", "1", "-1", "../../..", "/etc/hostname", "file:///", "s3://", "[16]",
    "decimal(99,99)", "\N{RIGHT-TO-LEFT OVERRIDE}", "a" * 5000, [], [None], [[]], {}, {"": None}, {"type": "struct"},
)  # fmt: skip
"""What a value may become."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside a JSON-like value."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def changed(value: Any, draw: random.Random) -> Any:
    """The value with one thing in it replaced, removed, doubled, or put in the place of another."""
    value = json.loads(json.dumps(value))
    known = list(places(value))
    if not known:
        return draw.choice(ODD)
    *way, last = draw.choice(known)
    holder = value
    for key in way:
        holder = holder[key]
    match draw.randrange(6):
        case 0:
            del holder[last]
        case 1 if isinstance(holder, list):
            holder.append(holder[last])
        case 2:
            *other, end = draw.choice(known)
            source = value
            for key in other:
                source = source[key]
            holder[last] = json.loads(json.dumps(source[end]))
        case _:
            holder[last] = draw.choice(ODD)
    return value


def json_damage(data: bytes, draw: random.Random) -> bytes:
    packed = data.startswith(b"\x1f\x8b")
    value = changed(json.loads(gzip.decompress(data) if packed else data), draw)
    text = json.dumps(value).encode()
    return gzip.compress(text) if packed else text


def schema_damage(data: bytes, draw: random.Random) -> bytes:
    """An Avro file whose schema was changed, over the records as they were."""
    container = avro.open_container(data, "")
    blocks = [(block.count, block.data) for block in container.blocks]
    schema = json.dumps(changed(container.schema, draw)).encode()
    return avro_file(schema, *blocks)


def record_damage(data: bytes, draw: random.Random) -> bytes:
    """An Avro file with one value of one record changed to another that its schema allows."""
    reader = fastavro.reader(io.BytesIO(data))
    schema, records = reader.writer_schema, list(reader)
    for _ in range(200):
        record = draw.choice(records)
        *way, last = draw.choice(list(places(record)))
        holder = record
        for key in way:
            holder = holder[key]
        old = holder[last]
        holder[last] = draw.choice((*ODD, b"", b"\xff" * 3, b"\0" * 40))
        try:
            out = io.BytesIO()
            fastavro.writer(out, schema, records, codec="null", metadata=_kept(reader.metadata))
            return out.getvalue()
        except Exception:  # the schema does not allow it
            holder[last] = old
    raise AssertionError("nothing could be changed")


def _kept(header: dict[str, Any]) -> dict[str, str]:
    return {k: v for k, v in header.items() if not k.startswith("avro.")}


def questions(table: direct.Table) -> Iterator[Callable[[], Any]]:
    """All that the command line asks of a table without Spark."""
    yield lambda: repr(table)
    yield lambda: [inspect(table, node).to_json() for node in table.graph().nodes]
    for collection in ("snapshots", "refs", "metadata_log"):
        yield lambda name=collection: getattr(table, name).to_json()  # type: ignore[misc]
    yield lambda: table.manifests().to_json()
    yield lambda: table.entries(view="all", metrics=True).to_json()
    yield lambda: table.files().to_json()
    yield lambda: table.partitions().to_json()
    yield table.lifecycle
    yield table.lineage
    yield table.current_log
    yield table.commits
    yield lambda: table.diff(None, "main")
    yield lambda: table.diff("snapshot-1", "main")
    yield table.deletes
    for asked in (table.lifecycle, table.lineage, lambda: table.diff(None, "main"), table.deletes):
        yield lambda asked=asked: explorer.show(asked())._repr_html_()  # type: ignore[misc]
    yield lambda: [table.file_life(f["file_path"]) for f in list(table.files())[:1]]
    for operation in (*PROCEDURES, *LOOKS):
        if operation != "remove-orphans":
            yield lambda operation=operation: runs.preview(table, operation).files  # type: ignore[misc]
    yield lambda: table.row_diff("snapshot-1", "main")
    yield table.row_history
    yield lambda: direct.doctor(table, deep=True).to_json()
    yield lambda: direct.live_rows(table)


def ask_all(folder: Path) -> int:
    """Ask everything; how often something was said to be wrong. Raises what is no error of ours."""
    told = 0
    try:
        table = direct.open_table(str(folder))
    except ExplorerError:
        return 1
    for question in questions(table):
        try:
            question()
        except ExplorerError:
            told += 1
    return told + len(table.problems)


@pytest.mark.parametrize("name", TABLES)
def test_a_damaged_table_raises_nothing_of_python(name: str, sandbox: Path, tmp_path: Path) -> None:
    source = direct.open_table(f"{NAMESPACE}.{name}")
    folder = tmp_path / name
    shutil.copytree(str(local_path(str(source.metadata.location))), folder)
    metadata = folder / "metadata"
    current = metadata / source.metadata.metadata_location.rsplit("/", 1)[-1]
    for other in metadata.glob("*.metadata.json"):  # so that none but the current one is opened
        if other != current:
            other.unlink()
    whole = ask_all(folder)
    draw = random.Random(f"{SEED}/{name}")
    avros = sorted(metadata.glob("*.avro"), key=lambda path: path.stat().st_mtime_ns)  # as written: names are random
    told = 0
    for i in range(MUTATIONS // len(TABLES)):
        kind, path = draw.choice(
            ((json_damage, current), (record_damage, draw.choice(avros)), (schema_damage, draw.choice(avros)))
        )
        before = path.read_bytes()
        damaged = kind(before, draw)
        path.write_bytes(damaged)
        try:
            told += ask_all(folder) > whole
        except BaseException as error:  # a panic in Rust is no Exception
            kept = tmp_path.parent / f"{name}-{i}-{path.name}"
            kept.write_bytes(damaged)
            raise AssertionError(f"{kind.__name__} {i} of {path.name}, kept at {kept}") from error
        finally:
            path.write_bytes(before)
    assert told > MUTATIONS // len(TABLES) // 5


@pytest.mark.parametrize("text", ["²", "9" * 400, "9" * 5000, "--1", "-", ""])
def test_a_text_where_a_number_belongs_is_a_text(text: str, tmp_path: Path) -> None:
    folder = make_table(tmp_path)

    def change(metadata: dict[str, Any]) -> None:
        metadata["schemas"][0]["fields"].append({"id": 9, "name": text, "type": f"fixed[{text}]", "required": False})
        for snapshot in metadata["snapshots"]:
            told = {name: text for name in snapshot["summary"] if name != "operation"}
            snapshot["summary"] |= {**told, "source-snapshot-id": text}

    current = edit_metadata(folder, change)
    for path in (folder / "metadata").glob("*-m*.avro"):
        edit_avro(path, lambda records: records, lambda header: header.update(dict.fromkeys(header, text)))
    ask_all(folder)
    for version in (text, f"snapshot-{text}"):
        with pytest.raises(ExplorerError):
            direct.open_table(str(folder)).files(version or "-")
    if 0 < len(text) < 100:
        ask_all(current.rename(current.with_name(f"v{text}.metadata.json")))


@pytest.mark.parametrize("schema", ["[" * 100_000, '{"fields": 5}', '{"fields": [7, {"id": [1], "type": {}}]}'])
def test_a_manifests_header_may_hold_any_json(schema: str, tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    for path in (folder / "metadata").glob("*-m*.avro"):
        edit_avro(path, lambda records: records, lambda header: header.update(schema=schema))
    ask_all(folder)
    assert len(direct.open_table(str(folder)).files()) == 3


def test_what_nests_deep_and_lists_much_is_shown_in_part(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    deep: Any = [0] * 500_000
    for _ in range(80):
        deep = [deep]
    edit_metadata(folder, lambda metadata: metadata["snapshots"][-1].update(odd=deep))
    table = direct.open_table(str(folder))
    snapshots = [node for node in table.graph().nodes if node.kind == "snapshot"]
    assert snapshots
    assert all(len(json.dumps(inspect(table, node).to_json())) < 3_000_000 for node in snapshots)


def test_json_that_is_not_closed_is_refused_in_linear_time() -> None:
    for text in (b'"' + rb"\"" * 100_000, b'"' + rb"\"" * 100_000 + b"\\"):
        began = time.process_time()
        with pytest.raises(ExplorerError):
            load_json(text, "t.metadata.json", Problems("t.metadata.json"))
        assert time.process_time() - began < 5


def test_a_damaged_file_of_the_cache_is_none_or_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path))
    table = pa.table({"n": range(9), "of": pa.array(["a", "b", "c"] * 3).dictionary_encode()})
    cache.put({"key": table}, "whole")
    [file] = tmp_path.rglob("*.arrow")
    whole, draw, read = file.read_bytes(), random.Random(1), 0
    for _ in range(700):
        damaged = bytearray(whole)
        damaged[draw.randrange(len(whole))] = draw.randrange(256)
        file.unlink()  # it may be mapped still
        file.write_bytes(damaged)
        found = cache.get(["key"], "whole").get("key")
        assert found is None or found.schema.names == ["n", "of"]
        read += found is not None
    assert 0 < read < 700
