"""Every attack by a file is inert: it ends in an error or problem that names the file, soon, in bounded memory, in a
process that lives on and opens honest tables."""

from __future__ import annotations

import io
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import psutil
import pyarrow as pa
import pytest
from pyarrow import orc

from explorer.errors import ExplorerError, UnreadableFile
from explorer.model.metadata import Snapshot
from explorer.spec.entries.live_files import LiveFile
from explorer.storage import limits
from explorer.storage import rows as contents
from explorer.storage.decoder_process import client
from explorer.storage.rows import read_schema
from explorer.storage.storage import Storage
from tests.security.build import Victim, avro_file, long, parquet
from tests.security.file_cases import CASES, Case, deflated
from tests.support import direct
from tests.support.paper_tables import on_paper
from tests.support.small_tables import make_table

SECONDS, MEMORY = 15, 3 << 29
"""For one case: CPU seconds, since others may use the machine, and this process's memory, beyond what it had."""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_table(tmp_path_factory.mktemp("honest"))


@pytest.fixture
def victim(honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Victim:
    monkeypatch.setattr(client, "SECONDS", 10)
    return Victim(Path(shutil.copytree(honest, tmp_path / "warehouse" / "victim")))


class Peak:
    """The most memory that this process has while it is entered, beyond what it had before."""

    def __enter__(self) -> Peak:
        self._process, self._done = psutil.Process(), threading.Event()
        self._before, self.bytes = self._process.memory_info().rss, 0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            self.bytes = max(self.bytes, self._process.memory_info().rss - self._before)

    def __exit__(self, *_: Any) -> None:
        self._done.set()
        self._thread.join()


def all_reads(table: direct.Table, snapshot: Snapshot) -> Iterator[Callable[[], Any]]:
    reader, at = table.row_reader, snapshot.snapshot_id
    yield lambda: repr(table)
    yield table.snapshots.to_json
    yield lambda: table.manifests(at)
    yield lambda: table.graph(at)
    yield lambda: table.entries(at, "all", metrics=True).to_json()
    yield lambda: [table.reader.read_records(m.manifest_path, 0, 5) for m in table.tree.manifests(snapshot)]
    yield lambda: list(map(table.reader.storage.check, table.reader.paths_of_snapshot(snapshot)))
    yield lambda: [reader.rows(f, read_schema(table.metadata, None)) for f in reader.applicability(snapshot).data]
    yield lambda: [table.reader.parquet_footer(file["file_path"]) for file in table.files(at)]


def complaints(folder: Path) -> Iterator[str]:
    """Open a table and read all that a person could make it read; what was said about it."""
    try:
        table = direct.open_table(str(folder))
    except ExplorerError as error:
        yield str(error)
        return
    for snapshot in table.metadata.snapshots[-1:]:
        for read in all_reads(table, snapshot):
            try:
                read()
            except ExplorerError as error:
                yield str(error)
    yield from (str(p) for p in table.problems if p.severity != "info")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.name}")
def test_an_attack_is_inert(case: Case, victim: Victim, honest: Path) -> None:
    act = case.build(victim)
    began = time.process_time()
    with Peak() as peak:
        if act is not None:
            with pytest.raises(UnreadableFile) as caught:
                act()
            said = [str(caught.value)]
        else:
            said = list(complaints(victim.folder))
    assert time.process_time() - began < SECONDS
    assert peak.bytes < MEMORY
    assert all(len(line) < 4000 for line in said)
    if case.harmless:
        assert not said
    else:
        assert any(str(victim.folder) in line or "file:" in line or "is no path" in line for line in said), said
    opened = direct.open_table(str(honest))
    assert len(opened.files()) == 3
    assert not opened.problems


def mutants(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    draw = random.Random(seed)
    for _ in range(count):
        damaged = bytearray(data)
        for _ in range(draw.choice((1, 1, 2, 4, 8))):
            at = draw.randrange(len(damaged))
            damaged[at] = draw.choice((draw.randrange(256), damaged[at] ^ 1 << draw.randrange(8), 0, 127, 128, 255))
        if draw.random() < 0.1:
            del damaged[draw.randrange(len(damaged)) :]
        yield bytes(damaged)


def rows_of(folder: Path, data: bytes, file_format: str, kind: str, **field: Any) -> Any:
    """The rows of a data file with one column, the field 1."""

    def change(raw: dict[str, Any]) -> None:
        raw["schemas"][0]["fields"] = [{"id": 1, "name": "a", "type": kind, "required": False} | field]
        raw["properties"] = {"schema.name-mapping.default": '[{"field-id": 1, "names": ["a"]}]'}

    metadata = on_paper([None], change=change)
    path = folder / f"data.{file_format}"
    path.write_bytes(data)
    file = LiveFile(str(path), "data_file", 0, {}, 1, 1, 0, len(data), "m", file_format=file_format)
    return contents.data_rows(Storage([str(folder)]), file, contents.read_schema(metadata, None), metadata)


def avro_rows(kind: Any, *blocks: tuple[int, bytes], **options: Any) -> bytes:
    return avro_file({"type": "record", "name": "t", "fields": [{"name": "a", "type": kind, "field-id": 1}]}, *blocks,
                     **options)  # fmt: skip


def orc_rows(values: pa.Array) -> bytes:
    out = io.BytesIO()
    orc.write_table(pa.table({"a": values}), out, compression="zstd")
    return out.getvalue()


ROWS: dict[str, Callable[[], tuple[bytes, str, str]]] = {
    "25 million rows of Avro": lambda: (avro_rows("int", (25_000_000, b"\0" * 25_000_000)), "AVRO", "int"),
    "an Avro array of 100 million": lambda: (
        avro_rows({"type": "array", "items": "boolean"}, (1, long(100_000_000) + b"\0" * 100_000_001)), "AVRO", "int"),
    "2^60 Avro items": lambda: (
        avro_rows({"type": "array", "items": "int"}, (1, long(1 << 60) + b"\0" * 64)), "AVRO", "int"),
    "an Avro schema in itself": lambda: (
        avro_rows({"type": "record", "name": "r", "fields": [{"name": "r", "type": "r"}]}, (1, b"\0")), "AVRO", "int"),
    "an Avro bomb": lambda: (avro_rows("string", (1, deflated(bytes(600 << 20))), codec="deflate"), "AVRO", "string"),
    "25 million rows of ORC": lambda: (orc_rows(pa.nulls(25_000_000, pa.int32())), "ORC", "int"),
    "150 MB of text in ORC, where 64 are read": lambda: (
        orc_rows(pa.array(["x" * 2500]).take(pa.array(np.zeros(60_000, np.int32)))), "ORC", "string"),
    "an ORC tail alone": lambda: (b"ORC" + orc_rows(pa.array([1]))[-40:], "ORC", "int"),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_other_formats_are_inert(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SECONDS", 3)
    monkeypatch.setattr(limits, "limit", lambda: 64 << 20)
    data, file_format, kind = ROWS[name]()
    with Peak() as peak, pytest.raises(UnreadableFile) as caught:
        rows_of(tmp_path, data, file_format, kind)
    assert str(tmp_path) in str(caught.value)
    assert len(str(caught.value)) < 4000
    assert peak.bytes < MEMORY


def test_defaults_do_not_multiply(tmp_path: Path) -> None:
    """A default of a megabyte, for each of 100,000 rows, at the top and inside a struct."""
    columns = [pa.nulls(100_000, pa.int32()), pa.nulls(100_000, pa.struct([("x", pa.int32())])).fill_null({"x": 1})]
    inner = {"id": 2, "name": "b", "type": "string", "required": False, "initial-default": "x" * (1 << 20)}
    for column, field in (
        (columns[0], {"id": 7, "type": "string", "initial-default": "x" * (1 << 20)}),
        (columns[1], {"type": {"type": "struct", "fields": [inner]}}),
    ):
        data = parquet(pa.table({"a": column}))
        with Peak() as peak, pytest.raises(UnreadableFile, match="would be too large; read it through Spark"):
            rows_of(tmp_path, data, "PARQUET", "int", **field)
        assert peak.bytes < MEMORY


@pytest.mark.parametrize("file_format", ["ORC", "AVRO"])
def test_flipped_bytes_of_other_formats_are_told_or_harmless(file_format: str, tmp_path: Path) -> None:
    values = [f"text {i}" * (i % 5) for i in range(200)]
    out = io.BytesIO()
    schema = {"type": "record", "name": "t", "fields": [{"name": "a", "type": "string", "field-id": 1}]}
    fastavro.writer(out, schema, [{"a": v} for v in values], codec="deflate")
    whole, told = out.getvalue() if file_format == "AVRO" else orc_rows(pa.array(values)), 0
    assert rows_of(tmp_path, whole, file_format, "string").num_rows == 200
    for mutant in mutants(whole, 60, seed=12):
        try:
            rows_of(tmp_path, mutant, file_format, "string").to_pylist()
        except UnreadableFile as error:
            assert str(tmp_path) in str(error)
            told += 1
    assert told > 15


@pytest.mark.parametrize(("which", "count"), [("manifest", 120), ("list", 60), ("metadata", 60), ("data", 60)])
def test_flipped_bytes_are_told_or_harmless(which: str, count: int, victim: Victim) -> None:
    path: Path = getattr(victim, which)
    whole = path.read_bytes()
    told = 0
    for mutant in mutants(whole, count, seed=11):
        path.write_bytes(mutant)
        said = list(complaints(victim.folder))
        told += bool(said)
    assert told > count // 4
