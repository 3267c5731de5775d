"""Tables that come in parts: read as they are asked for, chosen from, printed as they come."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.errors import ExplorerError, NotFoundInTable, UnreadableFile
from explorer.queries.collection import Collection
from explorer.render.row_formats import json_pieces
from explorer.render.rows import JsonRows
from explorer.render.text import json_text, render_stream, render_table
from explorer.spark_engine import engine_choice
from explorer.spark_engine.engine_choice import Choice, choose_engine
from explorer.spec.entries.lazy_table import Batches
from explorer.storage import limits, spill
from tests.support import direct
from tests.support.small_tables import make_table

WORDS = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema([("n", pa.int64()), ("word", WORDS), ("at", pa.struct([("day", pa.int32())]))])


def part(start: int, size: int = 10) -> pa.Table:
    """Rows `start`…, with words that other parts do not have."""
    words = pa.array([f"w{start}"] * size).dictionary_encode().cast(WORDS)
    days = pa.array([{"day": n // 10} for n in range(start, start + size)], SCHEMA.field("at").type)
    return pa.table([pa.array(range(start, start + size)), words, days], schema=SCHEMA)


class Parts:
    """Ten parts of ten rows; knows how many were read."""

    def __init__(self) -> None:
        self.read = 0

    def __call__(self) -> Iterator[pa.Table]:
        for start in range(0, 100, 10):
            self.read += 1
            yield part(start)


def test_rows_are_read_as_they_are_asked_for() -> None:
    parts = Parts()
    rows = Collection(Batches(SCHEMA, parts), "numbers")
    assert (rows.columns, parts.read) == (["n", "word", "at"], 0)
    assert next(iter(rows)) == {"n": 0, "word": "w0", "at": {"day": 0}}
    assert parts.read == 1
    assert [row["n"] for row in rows.select(limit=15)] == list(range(15))
    assert parts.read == 3
    assert (len(rows), rows[-1]["n"], rows[3:5][0]["n"], parts.read) == (100, 99, 3, 13)
    assert rows.to_arrow().num_rows == len(rows.to_pandas()) == len(rows.to_polars()) == len(rows.to_json()) == 100
    assert parts.read == 13, "all of them are read once"


def test_what_is_chosen() -> None:
    rows = Collection(Batches(SCHEMA, Parts()), "numbers")
    chosen = rows.select("at.day >= 3 and word in ('w30', 'w50') and not n = 31", ["word", "n"], 12)
    assert chosen.columns == ["word", "n"]
    assert [row["n"] for row in chosen] == [30, *range(32, 40), 50, 51, 52]
    assert len(rows.select(limit=0)) == 0
    assert rows.select("n < 0").to_json() == []
    assert Collection(part(0), "numbers").select("n = 3").to_json() == [{"n": 3, "word": "w0", "at": {"day": 0}}]
    with pytest.raises(NotFoundInTable, match=r"no column 'x' \(columns: n, word, at\)"):
        rows.select(columns=["n", "x"])
    with pytest.raises(NotFoundInTable, match="day"):
        rows.select("at.dya = 3")


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table of twelve manifests, an entry each."""
    return str(make_table(tmp_path_factory.mktemp("twelve"), commits=12))


def test_many_parts_with_words_of_their_own(twelve: str) -> None:
    rows = direct.open_table(twelve).entries()
    assert len({row["reason"] for row in rows}) == 12
    assert len(rows[:2]) == 2
    assert len(rows[::5]) == 3
    assert "12 rows" in repr(rows)
    assert rows.to_arrow().group_by("reason").aggregate([("ordinal", "count")]).num_rows == 12
    assert pickle.loads(pickle.dumps(rows)).to_json() == rows.to_json()
    with pa.ipc.new_file(pa.BufferOutputStream(), rows.schema) as writer:  # of which all parts must have the same words
        writer.write_table(rows.to_arrow())


def test_many_rows_are_in_a_file_that_goes_with_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "share", lambda _: 400)
    monkeypatch.setattr(spill, "cache_home", lambda: tmp_path / "cache")
    before = pa.total_allocated_bytes()
    table = spill.spool(SCHEMA, Parts()())
    assert table.whole().to_pylist() == pa.concat_tables(Parts()()).to_pylist()
    assert pa.total_allocated_bytes() - before < 400
    assert list((tmp_path / "cache").iterdir()) == []
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(spill, "cache_home", lambda: tmp_path / "file")
    with pytest.raises(ExplorerError, match="many rows need a place on the disk"):
        spill.spool(SCHEMA, Parts()())


def own_and_mapped() -> tuple[int, int]:
    """Bytes of this process's own, and of files that are mapped."""
    told = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    sizes = {name: int(told[name].split()[0]) << 10 for name in ("RssAnon", "RssFile", "RssShmem")}
    return sizes["RssAnon"], sizes["RssFile"] + sizes["RssShmem"]  # where the folder is in memory


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells what is mapped")
def test_of_rows_on_the_disk_a_part_is_in_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "share", lambda _: 1 << 20)
    monkeypatch.setattr(spill, "cache_home", lambda: tmp_path)
    schema = pa.schema([("n", pa.int64()), ("text", pa.string())])
    some = pa.table({"n": range(10_000), "text": ["x" * 1000] * 10_000}, schema)
    rows_of_all = spill.spool(schema, iter([some] * 20))
    before, most = own_and_mapped(), 0
    for rows in rows_of_all.read():
        assert pc.sum(pc.utf8_length(rows["text"])).as_py() == 1000 * len(rows)
        most = max(most, *(now - then for now, then in zip(own_and_mapped(), before, strict=True)))
    assert most < 3 * spill.LARGER < 200_000_000 < rows_of_all.whole().nbytes
    places = np.random.default_rng(1).integers(0, len(rows_of_all), 5_000)
    assert rows_of_all.take(places)["n"].to_pylist() == (places % 10_000).tolist()
    listed = Collection(rows_of_all, "rows")
    assert [listed[at]["n"] for at in (-1, 10_000, 9_999)] == [9_999, 0, 9_999]
    assert [row["n"] for row in listed[19_999:9_997:-10_000]] == [9_999, 9_999]
    assert max(now - then for now, then in zip(own_and_mapped(), before, strict=True)) < 3 * spill.LARGER


def test_a_part_that_fails_leaves_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def read() -> Iterator[pa.Table]:
        yield part(0)
        raise NotFoundInTable("no more")

    monkeypatch.setattr(limits, "share", lambda _: 10)
    monkeypatch.setattr(spill, "cache_home", lambda: tmp_path)
    with pytest.raises(NotFoundInTable, match="no more"):
        spill.spool(SCHEMA, read())
    assert list(tmp_path.iterdir()) == []


def test_an_object_in_pieces_is_the_same_text() -> None:
    rows = [{"a": 1, "b": ["x\u200b", {}]}, "two\nlines", [], None, {"flat\u200b": "a, b\n", "é": None, "n": 1.5}, {}]
    for data in ({}, {"head": {"n": 1}}, {"none": [], "rows": rows, "head": {"deep": rows}, "t": True}):
        pieces = json_pieces({name: iter(v) if isinstance(v, list) else v for name, v in data.items()})
        assert "".join(pieces) == json_text(data)

    tables = [pa.table({"n": [1, None], "text\u200b": ["a", "b\u200b\n"]}), pa.table({"n": [3], "text\u200b": [None]})]
    empty = tables[0].schema.empty_table()
    for parts in ([], [empty], tables, [empty, *tables, empty]):
        of_tables = {"before": 1, "rows": JsonRows(empty.schema, iter(parts)), "after": {}}
        same = {"before": 1, "rows": [row for part in parts for row in part.to_pylist()], "after": {}}
        assert "".join(json_pieces(of_tables)) == json_text(same)

    def begun() -> Iterator[int]:
        yield 1
        raise AssertionError("asked for before it is needed")

    first = json_pieces({"rows": begun()})
    assert next(first) + next(first) == '{\n  "rows": [\n    1'


def test_a_text_table_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"name": "ab" * 40, "n": 7, "wide": "日本"}, {"name": "c", "n": 123, "wide": "x"}]
    assert list(render_stream(rows, 60, ["name", "n", "wide"])) == [render_table(rows, 60, ["name", "n", "wide"])]
    assert list(render_stream([], 60, ["name"])) == ["(none)\n"]
    monkeypatch.setattr("explorer.render.text.FIRST", 2)
    more = [*rows, {"name": "d" * 90, "n": 45_678, "wide": None}]
    lines = "".join(render_stream(more, 40, list(rows[0])))
    assert lines.splitlines() == [
        "name                           n  wide",
        "ababababababa…babababababab    7  日本",
        "c                            123  x",
        "ddddddddddddd…ddddddddddddd  45678  null",
    ]


def test_columns_that_have_no_room_are_named(tmp_path: Path) -> None:
    rows = [{"path": "a" * 60, "count": 1, "id": 5_290_650_672_371_308_925, "more": "x", "last": None}]
    told = "".join(render_stream(rows, 60, list(rows[0]), fitting=True))
    assert told.splitlines() == [
        "path                      count                   id  more",
        "aaaaaaaaaaa…aaaaaaaaaaaa      1  5290650672371308925  x",
        "… and 1 more column: last",
    ]
    table = str(make_table(tmp_path / "t"))
    files = CliRunner().invoke(main, ["inspect", "files", table])
    assert files.stdout.splitlines()[0].split()[:2] == ["file_path", "content"]
    assert "more columns: " in files.stdout.splitlines()[-1]
    assert all(len(line) <= 220 for line in files.stdout.splitlines()[:-1])
    two = CliRunner().invoke(main, ["inspect", "files", table, "--columns", "ordinal,spec_id"])
    assert "more columns" not in two.stdout
    assert repr(direct.open_table(table).files()).splitlines()[1].split()[0] == "file_path"


def test_a_table_of_small_manifests_is_one_page(twelve: str) -> None:
    """Not one as wide as its first manifest's row."""
    ask = ["inspect", "entries", twelve, "--columns", "ordinal,sequence_number,reason"]
    told = CliRunner().invoke(main, ask).stdout
    rows = direct.open_table(twelve).entries().select(columns=["ordinal", "sequence_number", "reason"]).to_json()
    assert told == render_table(rows, 220, ["ordinal", "sequence_number", "reason"])


def test_the_command_line_prints_rows_as_they_come(tmp_path: Path) -> None:
    table = str(make_table(tmp_path / "t", commits=3))
    two = ["--output", "jsonl", "--columns", "file_path,record_count"]
    run = CliRunner().invoke(main, ["inspect", "entries", table, *two])
    assert run.exit_code == 0, run.output
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert [list(line) for line in lines] == [["file_path", "record_count"]] * 3
    everything = CliRunner().invoke(main, ["inspect", "entries", table, "--output", "json"])
    assert json.loads(everything.stdout) == direct.open_table(table).entries().to_json()
    one = ["--filter", "record_count = 2 and sequence_number > 1", "--limit", "1", "-o", "json"]
    chosen = json.loads(CliRunner().invoke(main, ["inspect", "entries", table, *one]).stdout)
    assert len(chosen) == 1
    assert chosen[0]["sequence_number"] > 1
    nothing = CliRunner().invoke(main, ["inspect", "files", table, "--filter", "record_count > 5", "-o", "json"])
    assert json.loads(nothing.stdout) == []
    wrong = CliRunner().invoke(main, ["inspect", "files", table, "--filter", "recordcount > 5"])
    assert wrong.exit_code == 1
    assert "record_count" in wrong.output


def test_who_makes_the_rows_is_chosen_by_size_and_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = direct.open_table(str(make_table(tmp_path / "t", commits=3)))
    parts = table.tree.entries(table.metadata.current_snapshot)

    def here() -> str:
        return "local[*]"

    def there() -> str:
        return "spark://elsewhere:7077"

    for spark in (here, there):
        fits = choose_engine("auto", parts, spark)
        assert (fits.engine, fits.large) == ("local", False)
        assert fits.why == "made here: 3 entries, about 768 B once decoded, fit in the memory limit of 1.0 GiB"
    assert choose_engine("spark", parts, there) == Choice("spark", f"made by Spark ({there()}): asked for")
    monkeypatch.setattr(engine_choice, "ENTRY", 1 << 29)
    assert choose_engine("auto", parts, there) == Choice(
        "spark",
        f"made by Spark ({there()}): 3 entries, about 1.5 GiB once decoded, are beyond the memory limit of 1.0 GiB",
        True,
    )
    told = choose_engine("auto", parts, there, folder=True)
    assert (told.engine, told.large) == ("local", True)
    assert "lies in a folder of this machine, which workers of spark://elsewhere:7077 may not have" in told.why
    assert choose_engine("auto", parts, lambda: "spark://127.0.0.1:7077", folder=True).engine == "spark"
    assert choose_engine("spark", parts, there, folder=True).engine == "spark"
    beyond = choose_engine("auto", parts, here)
    assert (beyond.engine, beyond.large) == ("local", True)
    uncounted = replace(parts, manifests=[replace(m, added_files_count=None) for m in parts.manifests])
    assert choose_engine("auto", uncounted, there).engine == "spark"
    assert table.files().select(limit=1).choice == choose_engine("auto", parts, here)
    told = CliRunner().invoke(main, ["inspect", "partitions", table.metadata.metadata_location, "-o", "json"])
    assert (told.exit_code, told.stderr) == (0, f"{beyond.why}\n")
    for command in (["history", "commits"], ["inspect", "deletes"], ["inspect", "file", "0.parquet"]):
        group, name, *more = command
        asked = CliRunner().invoke(main, [group, name, table.metadata.metadata_location, *more])
        assert asked.stderr.startswith(f"{beyond.why}\n"), command


def test_the_memory_limit_is_an_option_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(make_table(tmp_path / "t", commits=1))
    try:
        for text, size in (("", 1 << 30), ("600M", 600 << 20), ("2 GiB", 2 << 30), ("4gb", 4 << 30)):
            monkeypatch.setenv(limits.VARIABLE, text)
            limits.limit.cache_clear()
            assert (limits.limit(), limits.share(16)) == (size, size // 16)
            assert direct.open_table(folder).reader._entries.maxsize == size // 5
        for text in ("511M", "1", "many", "-1G", "1T"):
            monkeypatch.setenv(limits.VARIABLE, text)
            limits.limit.cache_clear()
            told = CliRunner().invoke(main, ["inspect", "entries", folder])
            assert (told.exit_code, told.stdout) == (1, "")
            assert f"ICEDIVE_MEMORY is '{text}': say 600M or 4G, and 512 MiB at least" in told.stderr
        monkeypatch.setenv(limits.VARIABLE, "512M")
        limits.limit.cache_clear()
        with (
            pytest.raises(UnreadableFile, match=r"x: has 536,870,913 bytes to unpack; .*; set ICEDIVE_MEMORY"),
            limits.reading((512 << 20) + 1, "x"),
        ):
            pass
    finally:
        monkeypatch.undo()
        limits.limit.cache_clear()
