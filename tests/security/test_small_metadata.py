"""Small manifests that unpack to much take little memory: they are refused, read in part, or decoded one by one."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from explorer import native_module
from explorer.reports.doctor.examination import Examination, diagnose
from explorer.spec.doctor import cross_file_rules
from explorer.storage import limits, manifest_reader, manifests, native_decoder
from explorer.storage.formats import avro
from explorer.storage.manifests import entries_of_many
from tests.cases.mini import Table as Mini
from tests.security.build import avro_file, text
from tests.security.dimensions import base, data_file, make
from tests.support import direct

RECORD = {"type": "record", "name": "m", "fields": [{"name": "manifest_path", "type": "string", "field-id": 500}]}


def several(folder: Path, n: int, entries: int) -> Path:
    """A table of so many manifests that have one entry again and again."""
    table: Mini = base(folder)
    same = [(1, data_file(table, 1))] * entries
    written = [table.manifest(f"m{i}.avro", same) for i in range(n)]
    table.snapshot("append", [*table.lists[table.md["current-snapshot-id"]], *written])
    return folder


def test_a_manifest_has_as_many_entries_as_memory_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path / "t", "entries of one path", 50)
    monkeypatch.setattr(limits, "EACH_PARTITION_VALUE", 0)
    monkeypatch.setattr(limits, "EACH_ENTRY", limits.limit() // 40)
    table = direct.open_table(str(folder))
    assert len(table.files()) == 3
    [problem] = table.problems
    assert "has 50 entries; at most 40 are read here; set ICEDIVE_MEMORY to more" in problem.cause
    monkeypatch.setattr(limits, "EACH_ENTRY", limits.limit() // 50)
    assert len(direct.open_table(str(folder)).files()) == 53


def test_a_manifest_list_unpacks_to_so_many_times_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a denser one its first blocks are there, and it is told where it was cut off."""
    block = text(b"/m") * 1000
    packed = zlib.compress(block)[2:-4]  # deflate alone
    data, unpacked = avro_file(RECORD, *[(1000, packed)] * 50, codec="deflate"), 50 * len(block)
    assert avro.open_container(data, "l.avro").count == 50_000
    monkeypatch.setattr(limits, "UNPACKED_ANYWAY", 0)
    monkeypatch.setattr(limits, "DENSEST", 10)
    room = limits.unpack_limit(len(data))
    assert room < unpacked
    container = avro.open_container(data, "l.avro", room=room)
    assert 0 < container.count < 50_000
    [problem] = container.problems
    assert f"unpacks to more than {room} bytes in all" in problem.cause


@pytest.mark.parametrize("natively", [True, False])
def test_what_is_much_together_is_decoded_one_by_one(
    natively: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = several(tmp_path / "t", 12, 40)
    together: list[int] = []

    def noted(containers: Sequence[avro.Container], metrics: bool = True) -> Any:
        together.append(sum(container.count for container in containers))
        return entries_of_many(containers, metrics)

    def noted_natively(packed: Any, metrics: bool, most: int) -> native_decoder.Decoded:
        decoded = decode(packed, metrics, most)
        together.append(sum(table.num_rows for table in decoded.tables.values()))
        return decoded

    decode = native_decoder.decode
    if not natively:
        monkeypatch.setattr(native_module, "module", None)
    monkeypatch.setattr(native_decoder, "decode", noted_natively)
    monkeypatch.setattr(manifests, "entries_of_many", noted)
    answers = []
    for most in (32 << 20, 1):
        together.clear()
        monkeypatch.setattr(manifest_reader, "TOGETHER_BYTES", most)
        table = direct.open_table(str(folder))
        answers.append(table.files().to_arrow().sort_by("file_path")["file_path"].to_pylist())
        assert not table.problems
        assert (max(together) > 40) is (most > 1), together
    assert answers[0] == answers[1]
    assert len(answers[0]) == 12 * 40 + 3


def test_the_doctor_takes_no_more_entries_than_it_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each of a manifest's entries that are there twice it made an object."""
    folder, taken = several(tmp_path / "t", 2, 300), list[int]()
    once = Examination._entry_rows

    def noted(self: Examination, *asked: Any) -> Any:
        named = once(self, *asked)
        taken.append(len(named))
        return named

    monkeypatch.setattr(Examination, "_entry_rows", noted)
    report = diagnose(direct.open_table(str(folder)))
    assert any(found.rule == "file-twice" for found in report.findings)
    assert taken
    assert max(taken) <= cross_file_rules.SHOWN
