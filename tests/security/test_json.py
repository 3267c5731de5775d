"""What a small JSON file may cost: its encoding is checked, its memory is bounded before it is parsed, and its problems
are counted, not kept."""

from __future__ import annotations

import gc
import gzip
import json
import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from explorer.errors import UnreadableFile
from explorer.model.problem import LISTED, Problems
from explorer.storage import limits
from explorer.storage.formats.avro import open_container
from explorer.storage.formats.json_text import Uncollected, load_json, memory_size
from explorer.storage.manifests import manifest_files
from explorer.storage.metadata import parse_metadata
from tests.security.build import avro_file, text

SLACK = 600_000
"""Bytes that any call takes."""
N = 20_000
SHAPES: dict[str, bytes] = {
    "numbers": b"[" + b"1000," * N + b"1]",
    "floats": b"[" + b"1e9," * N + b"1]",
    "texts": b"[" + b'"",' * N + b"1]",
    "texts of one character each": json.dumps([chr(0x4E00 + i % N) for i in range(N)], ensure_ascii=False).encode(),
    "lists": b"[" + b"[]," * N + b"1]",
    "lists of one": b"[" + b"[0]," * N + b"1]",
    "objects": b"[" + b"{}," * N + b"1]",
    "objects of one": b"[" + b'{"a":0},' * N + b"1]",
    "objects of objects": b"[" + b'{"a":{"a":{}}},' * N + b"1]",
    "other keys": json.dumps([{str(i): i} for i in range(N)]).encode(),
    "one object": json.dumps({str(i): i for i in range(N)}).encode(),
    "one key again and again": b"{" + b'"a":0,' * N + b'"a":0}',
    "one long text": b'"' + b"a" * 30 * N + b'"',
    "one long text that Python keeps in two bytes": '"é\N{EURO SIGN}"'.encode()[:-1] + b"a" * 30 * N + b'"',
    "one long text that Python keeps in four": '"\N{GRINNING FACE}"'.encode()[:-1] + b"a" * 30 * N + b'"',
    "brackets in texts": b"[" + b'"[{",' * N + b"1]",
    "a lone surrogate": b'["\\ud800",' + b'{"a":["x"]},' * N + b"1]",
    "lone surrogates": b"[" + b'"\\udfff",' * N + b"1]",
    "lone surrogates as keys": b"[" + b'{"\\udfff":0},' * N + b"1]",
    "pairs of surrogates": b"[" + b'"\\ud83d\\ude00",' * N + b"1]",
    "NaN": b"[" + b"NaN," * N + b"1]",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_memory_is_known_before_a_text_is_parsed(shape: str) -> None:
    """The law behind the limit: whatever a text holds, parsing it takes no more than was said."""
    data = SHAPES[shape]
    tracemalloc.start()
    load_json(data, "m", Problems("m"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < memory_size(data) + SLACK


@pytest.mark.parametrize(
    "data",
    [b'[{"a":{}},' * 3_000_000, b"[" + b'{"a":0,"b":{}},' * 2_000_000, b"[" + b'""' * 40_000_000],
    ids=["objects in lists", "objects of two", "texts without commas"],
)
def test_a_text_that_takes_too_much_is_refused_at_once(data: bytes) -> None:
    tracemalloc.start()
    with pytest.raises(UnreadableFile, match=f"bytes as objects in memory; .* set {limits.VARIABLE} to more"):
        load_json(data, "m", Problems("m"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < SLACK


def metadata(**more: Any) -> dict[str, Any]:
    return {"format-version": 2, "location": "/t", "schemas": [{"type": "struct", "schema-id": 0, "fields": []}],
            "current-schema-id": 0, **more}  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "latin-1"])
@pytest.mark.parametrize("zipped", [False, True])
def test_only_utf_8_is_json(encoding: str, zipped: bool) -> None:
    """In other encodings brackets hide from the check of depth, and half characters from that of texts."""
    deep = "[" * 99_000 + "]" * 99_000
    for said in (f'{{"format-version": 2, "é": {deep}}}', json.dumps(metadata(é="é"), ensure_ascii=False)):
        data = said.encode(encoding)
        with pytest.raises(UnreadableFile, match=r"m\.json: not (UTF-8|JSON)"):
            parse_metadata(gzip.compress(data) if zipped else data, "m.json")


def test_a_byte_order_mark_and_pairs_of_surrogates_are_harmless() -> None:
    said = json.dumps(metadata(comment="\N{GRINNING FACE}"))
    assert "\\ud83d" in said
    table, problems = parse_metadata(b"\xef\xbb\xbf " + said.encode() + b"\n", "m.json")
    assert not problems
    assert table.raw["comment"] == "\N{GRINNING FACE}"


@pytest.mark.parametrize("half", [b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\xa0\xbd\xed\xb8\x80"])
def test_half_characters_in_bytes_are_refused(half: bytes) -> None:
    """They passed as text, which nothing could print."""
    with pytest.raises(UnreadableFile, match=r"m\.json: not UTF-8"):
        parse_metadata(json.dumps(metadata(location="/t/HALF")).encode().replace(b"HALF", half), "m.json")
    schema = json.dumps({"type": "record", "name": "r", "fields": [{"name": "HALF", "type": "int"}]}).encode()
    with pytest.raises(UnreadableFile, match="not JSON"):
        open_container(avro_file(schema.replace(b"HALF", half), (1, b"\0")), "m.avro")


MANY: dict[str, Callable[[int], dict[str, Any]]] = {
    "snapshots that are numbers": lambda n: {"snapshots": [1] * n},
    "snapshots without an id": lambda n: {"snapshots": [{}] * n},
    "refs that are numbers": lambda n: {"refs": {f"r{i}": 1 for i in range(n)}},
    "refs that lead nowhere": lambda n: {"refs": {f"r{i}": {"snapshot-id": i, "type": "tag"} for i in range(n)}},
    "log entries that are null": lambda n: {"snapshot-log": [None] * n, "metadata-log": [None] * n},
    "times that are texts": lambda n: {"snapshots": [{"snapshot-id": i, "timestamp-ms": "x"} for i in range(n)]},
    "parents in circles": lambda n: {"snapshots": [{"snapshot-id": i, "parent-snapshot-id": i} for i in range(n)]},
    "statistics that are lists": lambda n: {"statistics": [[]] * n, "partition-statistics": [[]] * n},
    "NaN": lambda n: {"x": [float("nan")] * n},
    "objects with a key twice": lambda n: {"x": ["TWICE"] * n},
}


@pytest.mark.parametrize("kind", MANY)
def test_problems_are_counted_not_kept(kind: str) -> None:
    def problems_of(n: int) -> list[Any]:
        said = json.dumps(metadata(**MANY[kind](n))).replace('"TWICE"', '{"a": 1, "a": 2}')
        return parse_metadata(said.encode(), "m.json")[1]

    few, many = problems_of(50), problems_of(1000)
    each = len(few) / 50
    assert each in (1, 2)
    assert len(few) == LISTED or f"{round(1000 * each) - LISTED:,} more problems" in many[-1].cause
    assert len(many) == LISTED + 1
    assert many[-1].severity == "error"


def test_records_that_are_no_manifests_are_counted_not_kept() -> None:
    schema = {"type": "record", "name": "m", "fields": [
        {"name": "manifest_path", "type": ["null", "string"], "field-id": 500}]}  # fmt: skip
    listed, problems = manifest_files(open_container(avro_file(schema, (500, b"\0" * 500)), "l.avro"), {})  # type: ignore[arg-type]
    assert not listed
    assert len(problems) == LISTED + 1
    assert "400 more problems" in problems[-1].cause


def test_a_manifest_is_not_listed_again_and_again() -> None:
    schema = {"type": "record", "name": "m", "fields": [{"name": "manifest_path", "type": "string", "field-id": 500}]}
    block = text(b"/t/a.avro") * 3000 + text(b"/t/b.avro") * 2
    container = open_container(avro_file(schema, (3002, block)), "l.avro")
    listed, problems = manifest_files(container, {})  # type: ignore[arg-type]
    assert len(listed) == limits.REPEATS + 2
    assert [p.cause for p in problems] == ["names /t/a.avro 3,000 times; at most 10 of one manifest are read here"]


def test_the_collector_does_not_look_through_what_is_read() -> None:
    """It stopped all threads of a server, for up to half a second at a time."""
    text = json.dumps(metadata(snapshots=[{"snapshot-id": n, "summary": {"a": "b"}} for n in range(20_000)])).encode()
    rounds = list[int]()

    def noted(phase: str, info: dict[str, int]) -> None:
        rounds.append(info["generation"])

    gc.collect()
    gc.callbacks.append(noted)
    try:
        parse_metadata(text, "m.json")
    finally:
        gc.callbacks.remove(noted)
    assert len(rounds) < 20, Counter(rounds)  # each begins and ends; it was a hundred times
    assert gc.isenabled()


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_is_left_as_it_was(on: bool) -> None:
    gc.enable() if on else gc.disable()
    try:
        with Uncollected():
            with Uncollected():
                assert not gc.isenabled()
            assert not gc.isenabled()
        assert gc.isenabled() is on
        with pytest.raises(UnreadableFile):
            load_json(b"[", "m.json", Problems("m.json"))
        assert gc.isenabled() is on
    finally:
        gc.enable()


def test_another_spelling_is_not_another_manifest() -> None:
    schema = {"type": "record", "name": "m", "fields": [{"name": "manifest_path", "type": "string", "field-id": 500}]}
    spellings = ["/t/a.avro", "//t/a.avro", "/t//a.avro", "/t/./a.avro", "file:/t/a.avro", "file:///t/a.avro"]
    block = b"".join(text(each.encode()) for each in spellings * 10)
    listed, problems = manifest_files(open_container(avro_file(schema, (60, block)), "l.avro"), {})  # type: ignore[arg-type]
    assert len(listed) == limits.REPEATS
    assert [p.cause for p in problems] == ["names /t/a.avro 60 times; at most 10 of one manifest are read here"]
