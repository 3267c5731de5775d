"""The native decoder gives what polars and fastavro give, or leaves a file to them; it obeys the same limits, stops
when it is told to, and lets other threads run."""

from __future__ import annotations

import io
import os
import random
import shutil
import threading
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest

from explorer import native_module
from explorer.errors import UnreadableFile
from explorer.progress import Cancelled, Watch
from explorer.storage import limits, manifest_reader, manifests, native_decoder
from explorer.storage.formats import avro
from explorer.storage.manifest_reader import ManifestReader
from explorer.storage.storage import Storage
from tests.support.manifest_files import draw_manifest
from tests.support.meanwhile import counted_meanwhile
from tests.support.native_mutations import mutate_and_compare
from tests.support.small_tables import make_table
from tests.support.without_polars import without_polars

needs_module = pytest.mark.skipif(native_module.version() is None, reason="the native module is not built")
WHOLE = 1 << 40


def test_it_is_there_where_cargo_is() -> None:
    """So that no run leaves these tests out that could have run them."""
    assert native_module.version() is not None or shutil.which("cargo") is None


@needs_module
@pytest.mark.parametrize("metrics", [True, False])
def test_all_decoders_agree_on_generated_manifests(metrics: bool) -> None:
    decoded = 0
    for seed in range(int(os.environ.get("ICEDIVE_MANIFESTS", "150"))):
        data = draw_manifest(random.Random(seed))
        container = avro.open_container(data, "m.avro")
        assert not container.problems
        careful = manifests.entries_fastavro(container, metrics=metrics)
        bulk = manifests.entries_of_many([container], metrics)[0]
        native = native_decoder.decode({"m.avro": data}, metrics, WHOLE).tables.get("m.avro")
        assert isinstance(bulk, pa.Table)
        assert bulk.schema == careful.schema
        assert bulk.to_pylist() == careful.to_pylist(), seed
        if native is not None:
            decoded += 1
            assert native.schema == careful.schema, seed
            assert native.to_pylist() == careful.to_pylist(), seed
            native.validate(full=True)
    assert decoded > 100


@needs_module
def test_manifests_of_several_schemas_are_decoded_in_one_call_each_as_alone() -> None:
    packed = {str(n): draw_manifest(random.Random(n)) for n in range(60)}
    for path, table in native_decoder.decode(packed, True, WHOLE).tables.items():
        alone = native_decoder.decode({path: packed[path]}, True, WHOLE).tables[path]
        assert table.equals(alone)


@needs_module
def test_of_many_the_rest_is_left_for_later() -> None:
    packed = dict.fromkeys(map(str, range(5)), _large(blocks=1, records=1))
    decoded = native_decoder.decode(packed, True, 1)
    assert set(decoded.tables) == {"0"}
    assert decoded.later == {"1", "2", "3", "4"}


@needs_module
def test_a_mutated_block_is_decoded_as_fastavro_does_or_left() -> None:
    mutate_and_compare(int(os.environ.get("ICEDIVE_BLOCKS", "3000")), int(os.environ.get("ICEDIVE_SEED", "1")))


@pytest.fixture(params=["native", "without"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ManifestReader:
    """One that has the native module, and one that has not."""
    if request.param == "without":
        monkeypatch.setattr(native_module, "module", None)
    elif native_module.version() is None:
        pytest.skip("the native module is not built")
    return ManifestReader(Storage([]))


def test_a_cut_off_manifest_gives_the_same_entries_and_problem_either_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each cut of a manifest of several blocks, and each byte that is not what it was."""
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path / "cache"))
    data = next(d for d in (draw_manifest(random.Random(n)) for n in range(99)) if d.count(d[-16:]) > 6)
    draw = random.Random(5)
    for n in range(300):
        damaged = bytearray(data[: draw.randrange(len(data))] if n % 2 else data)
        if not n % 2:
            damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        reads = []
        for module in (native_module.module, None):
            monkeypatch.setattr(native_module, "module", module)
            reads.append(ManifestReader(Storage([]))._decode({"m": bytes(damaged)}, True)["m"])
        monkeypatch.undo()
        first, second = reads
        assert first.problems == second.problems
        assert (first.value is None) == (second.value is None)
        if first.value is not None and second.value is not None:
            assert first.value.to_pylist() == second.value.to_pylist()


def test_without_polars_a_manifest_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sound, cut off or changed, alone and with others, in one part or several: fastavro reads it in a child."""
    draw = random.Random(11)
    sound = [draw_manifest(random.Random(seed)) for seed in range(25)]
    cut = [data[: draw.randrange(len(data))] for data in sound[:12]]
    flipped = [bytearray(data) for data in sound[:12]]
    for data in flipped:
        data[draw.randrange(len(data) // 2, len(data))] ^= 1 << draw.randrange(8)
    packed = {str(n): bytes(data) for n, data in enumerate([*sound, *cut, *flipped, sound[0], sound[0]])}
    monkeypatch.setattr(native_module, "module", None)

    def read(metrics: bool) -> list[object]:
        reads = ManifestReader(Storage([]))._decode(packed, metrics)
        tables = {path: read.value for path, read in reads.items()}
        rows = {path: None if table is None else table.to_pylist() for path, table in tables.items()}
        return [rows, {path: read.problems for path, read in reads.items()}]

    expected = [read(metrics) for metrics in (True, False)]
    with without_polars(tmp_path, monkeypatch):
        assert [read(metrics) for metrics in (True, False)] == expected
        monkeypatch.setattr(manifests, "PORTION", 1)
        monkeypatch.setattr(manifests, "RECORDS", 3)
        assert read(True) == expected[0]
        opened = [avro.open_container(data, "m") for data in sound]
        container = next(one for one in opened if one.plain and one.count)
        monkeypatch.setattr(limits, "share", lambda part: 1)
        with pytest.raises(UnreadableFile, match="bytes once decoded; at most 1 are read here"):
            manifests.entries(container)


def test_a_manifest_of_more_entries_than_are_read_is_refused(
    reader: ManifestReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = next(
        d for d in (draw_manifest(random.Random(n)) for n in range(99)) if avro.open_container(d, "").count > 20
    )
    monkeypatch.setattr(limits, "ENTRIES", 20)
    read = reader._decode({"m": data}, True)["m"]
    assert read.value is None
    assert "entries; at most 20 are read here" in read.problems[0].cause


def test_a_block_that_unpacks_to_too_much_is_refused(reader: ManifestReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "UNPACKED_ANYWAY", 1 << 10)
    monkeypatch.setattr(limits, "DENSEST", 0)
    data = _large(blocks=1, records=1, codec="deflate")
    read = reader._decode({"m": data}, True)["m"]
    assert "unpacks to more than 1024 bytes" in read.problems[0].cause


def _large(blocks: int, records: int, codec: str = "null") -> bytes:
    """A manifest of so many blocks of so many records, each of 8 KiB."""
    fields = [
        {"name": "status", "type": "int", "field-id": 0},
        {
            "name": "data_file",
            "type": {"type": "record", "name": "r2", "fields": [{"name": "p", "type": "string", "field-id": 100}]},
            "field-id": 2,
        },
    ]
    packed = io.BytesIO()
    row = {"status": 1, "data_file": {"p": "x" * 8190}}
    schema = {"type": "record", "name": "manifest_entry", "fields": fields}
    fastavro.writer(packed, schema, [row] * records, codec, sync_interval=records * 8192)
    data = packed.getvalue()
    start = avro.read_header(data, "").start
    return data[:start] + data[start:] * blocks


@needs_module
def test_a_decode_of_64_mib_stops_before_its_next_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """The native module is told from another thread, while it works; and begins nothing when it was told before."""
    data = _large(blocks=64, records=128)
    assert len(data) > 64 << 20
    watch = Watch()
    with watch.listening():
        assert native_decoder.decode({"m": data}, True, WHOLE).tables["m"].num_rows == 64 * 128
        module = native_module.module
        told = threading.Event()

        class Cancellation:
            def __new__(cls):  # type: ignore[no-untyped-def]  # the module's own, which is told once a decode began
                cancellation = module.Cancellation()
                threading.Timer(0.001, lambda: (watch.cancel(), told.set())).start()
                return cancellation

        class Module:
            Layout, decode = module.Layout, staticmethod(module.decode)

        Module.Cancellation = Cancellation  # type: ignore[attr-defined]
        monkeypatch.setattr(native_module, "module", Module)
        packed = {str(n): data for n in range(60)}
        with pytest.raises(Cancelled):
            native_decoder.decode(packed, True, WHOLE)  # 4 GiB, of which it decodes what it can until it is told
        assert told.is_set()


@needs_module
def test_other_threads_run_while_it_decodes() -> None:
    """A thread that counts does so during a call: the module holds no lock of Python's."""
    data = _large(blocks=16, records=128)
    during = 0
    while not during:  # a call may be over before the other thread had a turn, so it is called again
        during = counted_meanwhile(lambda: native_decoder.decode({"m": data}, True, WHOLE))


def test_a_table_reads_the_same_either_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.support import direct

    folder = make_table(tmp_path)
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(manifest_reader.cache, "SMALLEST", 1 << 40)
    first = direct.open_table(str(folder)).entries(metrics=True).to_arrow()
    monkeypatch.setattr(native_module, "module", None)
    assert direct.open_table(str(folder)).entries(metrics=True).to_arrow().equals(first)
