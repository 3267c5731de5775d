"""What an attack on the newest code found: each hole, and others of its kind."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from explorer import native_module
from explorer.spec.values import values
from explorer.storage import cache, limits
from explorer.storage.decoder_process import panics
from explorer.table import open_table
from tests.security.dimensions import base, data_file
from tests.support.meanwhile import counted_meanwhile

MANY: dict[str, Any] = {
    "split_offsets": list(range(limits.ITEMS + 1)),
    "equality_ids": [1] * (limits.ITEMS + 1),
    "value_counts": dict.fromkeys(range(limits.ITEMS + 1), 1),
    "lower_bounds": dict.fromkeys(range(limits.ITEMS + 1), b""),
}


# -- values of an entry -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("is_native", [True, False])
@pytest.mark.parametrize("name", MANY)
def test_a_value_of_too_many_items_is_not_made(
    name: str, is_native: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 44 KB a list showed a cell of ten million numbers: while Python made them, no click was answered."""
    if not is_native:
        monkeypatch.setattr(native_module, "module", None)
    table = base(tmp_path / "t")
    table.append(data_file(table, 1, **{name: MANY[name]}))
    fewer = MANY[name][:-1] if isinstance(MANY[name], list) else dict(list(MANY[name].items())[:-1])
    table.append(data_file(table, 2, **{name: fewer}))
    table.write()
    opened = open_table(str(tmp_path / "t"))
    manifests = opened.reader.manifests(opened.metadata.snapshots[-1]).value
    reads = [opened.reader.entries(manifest, metrics=True) for manifest in manifests]
    [told] = [problem.cause for read in reads for problem in read.problems]
    assert f"{limits.ITEMS + 1:,} items in one value of `{name}`" in told
    files = [path for read in reads if read.value for path in read.value["file_path"].to_pylist()]
    assert any(path.endswith("x000002.parquet") for path in files)
    assert not any(path.endswith("x000001.parquet") for path in files)


@pytest.mark.parametrize("is_native", [True, False])
def test_what_is_decoded_to_much_is_refused_before_it_is_there(
    is_native: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manifest of 1.8 MB was decoded to 976 MiB, of which nobody knew before."""
    if not is_native:
        monkeypatch.setattr(native_module, "module", None)
    table = base(tmp_path / "t")
    table.append(*(data_file(table, n, split_offsets=[1] * limits.ITEMS) for n in range(20)))
    table.write()
    monkeypatch.setattr(panics, "_seen", [])  # after others' a child would decode, whose limits are the usual ones
    monkeypatch.setattr(limits, "share", lambda part: (12 << 20) // (part - 1))
    monkeypatch.setattr(limits, "GROWTH", 1 << 20)
    opened = open_table(str(tmp_path / "t"))
    [manifest] = opened.reader.manifests(opened.metadata.snapshots[-1]).value[-1:]
    read = opened.reader.entries(manifest)
    assert read.value is None
    assert "bytes once decoded; at most 12,582,912 are read here" in read.problems[0].cause


def test_what_is_being_decoded_counts_for_others() -> None:
    with limits.growing() as grow:
        assert grow(limits.share(2))
        assert not grow(limits.share(2) + 1)
        with limits.growing() as other:
            assert other(limits.share(2) - 1)
            with limits.growing() as third:
                assert not third(limits.GROWTH)
    assert limits._under_way == 0


def _nested(draw: random.Random) -> Any:
    def maybe(value: Any) -> Any:
        return None if draw.random() < 0.2 else value

    numbers = maybe([draw.randrange(9) for _ in range(draw.randrange(9))])
    lists = maybe([(f"k{n}", [1] * draw.randrange(4)) for n in range(draw.randrange(6))])
    return maybe({"numbers": numbers, "lists": lists, "text": "x"})


def test_values_of_many_items_are_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "AT_ONCE", 5)
    lists = pa.map_(pa.string(), pa.list_(pa.int32()))
    kind = pa.struct([("numbers", pa.list_(pa.int64())), ("lists", lists), ("text", pa.string())])
    for seed in range(200):
        draw = random.Random(seed)
        rows = [_nested(draw) for _ in range(draw.randrange(8))]
        table = pa.table(
            {"row": pa.array(rows, kind), "lists": pa.array([row and row["lists"] for row in rows], lists)}
        )
        table = table.slice(draw.randrange(3))
        for maps in (None, "lossy"):
            assert values.row_dicts(table, maps) == table.to_pylist(maps_as_pydicts=maps)  # type: ignore[arg-type]
            column = table["row"]
            assert values.column_values(column, maps) == column.to_pylist(maps_as_pydicts=maps)  # type: ignore[arg-type]


def test_others_run_while_a_long_list_becomes_pythons() -> None:
    """One of a row of a data file, of ten million numbers: Arrow makes all of it before another thread runs."""
    table = pa.table({"numbers": pa.array([list(range(300_000))])})
    rows: list[Any] = []
    assert counted_meanwhile(lambda: rows.extend(values.row_dicts(table)))
    assert len(rows[0]["numbers"]) == 300_000


# -- the folder of the cache ------------------------------------------------------------------------------------------
def test_a_cache_that_is_a_link_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where others may write beside it, they made it a link to a folder of the user's, from which old files went."""
    documents, home = tmp_path / "documents", tmp_path / "cache"
    (documents / "a").mkdir(parents=True)
    letter = documents / "a" / "letter.txt"
    letter.write_text("mine")
    home.mkdir()
    monkeypatch.setenv("ICEDIVE_CACHE", str(home))
    (home / f"manifests-{cache.CACHE_VERSION}").symlink_to(documents)
    cache.put({"key": pa.table({"a": [1]})}, "whole")
    assert not cache.put_bytes("key", b"bytes")
    assert not cache.get(["key"], "whole")
    assert cache.get_bytes("key") is None
    cache.trim(0)
    assert [path.name for path in documents.rglob("*.*")] == ["letter.txt"]


def test_only_files_of_the_cache_leave_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path))
    assert cache.put_bytes("key", b"bytes")
    folder = tmp_path / f"manifests-{cache.CACHE_VERSION}"
    other = folder / "ab" / "letter.txt"
    other.parent.mkdir(exist_ok=True)
    other.write_text("mine")
    former = other.with_name(f"{'ab' * 16}.arrow")  # of a version that had more folders
    former.write_text("old")
    cache.trim(0)
    assert not former.exists()
    assert cache.get_bytes("key") is None
    assert other.exists()
