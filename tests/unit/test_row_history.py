"""What a row history says: that values come through a name mapping, that a row changed, the same by every engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from explorer.errors import NotFoundInTable
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.row_history import RowHistory
from explorer.queries.row_reader import RowReader
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.snapshots.lineage import current_log
from tests.cases.mini import Table
from tests.support import direct
from tests.support.other_types import MISREAD, write_table

COLUMNS = [(1, "id", "long"), (2, "renamed", "string"), (3, "new", "string")]


def mapping(*pairs: tuple[int, list[str]]) -> dict[str, str]:
    return {"schema.name-mapping.default": json.dumps([{"field-id": i, "names": names} for i, names in pairs])}


def without_ids(folder: Path, properties: dict[str, str]) -> Path:
    """A table that got a column's name, and a column, after a file without field ids."""
    table = Table(folder, COLUMNS, properties=properties)
    old = pa.table({"id": [1, 2], "first": ["a", "b"]})
    table.append(table.parquet("old.parquet", old, ids=False))
    table.append(table.parquet("new.parquet", {"id": [3], "renamed": ["c"], "new": ["n"]}))
    return folder


def said(fate: RowHistory) -> list[str]:
    current = fate.metadata.current_snapshot
    assert current is not None
    return fate.explain(current)


@pytest.fixture
def as_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a table made of manifests as Spark's workers make it, in this process, when Spark is asked for."""
    by = MetadataTree.by

    def made(tree: MetadataTree, parts: Parts) -> Any:
        tables = [parts.part(m, stored) for m, stored in tree.stored_entries(parts.manifests, metrics=parts.metrics)]
        return SimpleNamespace(read=lambda: iter(tables)), SimpleNamespace(engine="spark")

    def chosen(tree: MetadataTree, engine: str, what: str) -> Any:
        if engine != "spark":
            return by(tree, engine, what)  # type: ignore[arg-type]
        return SimpleNamespace(build=lambda parts: made(tree, parts))

    monkeypatch.setattr(MetadataTree, "by", chosen)


def test_a_fate_says_that_values_come_through_the_name_mapping(tmp_path: Path) -> None:
    place = without_ids(tmp_path / "t", mapping((1, ["id"]), (2, ["first", "renamed"])))
    fate = direct.open_table(str(place)).row_history("id > 1")
    lines = said(fate)
    row = next(n for n, line in enumerate(lines) if "of old.parquet is there" in line)
    assert "renamed='b', new=None" in lines[row]
    assert lines[row + 1] == (
        "  Its file has no field ids, so its values come through the table's name mapping "
        "(schema.name-mapping.default): renamed from its column 'first'; the mapping finds no column for new."
    )
    assert sum("name mapping" in line for line in lines) == 1
    table = direct.open_table(str(place))
    assert "come through the table's name mapping" in table.row_diff(None, "main").note
    table.file_rows("old.parquet")
    [problem] = table.problems
    assert (problem.severity, problem.cause[:25]) == ("info", "its file has no field ids")


def test_a_row_that_is_gone_tells_of_the_name_mapping_too(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", COLUMNS[:2], properties=mapping((1, ["id"]), (2, ["renamed"])))
    old = table.parquet("old.parquet", pa.table({"id": [1], "renamed": ["a"]}), ids=False)
    table.append(old)
    table.snapshot("delete", [table.manifest("d.avro", [(2, old, {"sequence_number": 1})])])
    assert "name mapping" in said(direct.open_table(str(tmp_path / "t")).row_history("id = 1"))[-1]


def test_the_name_mapping_inside_structs(tmp_path: Path) -> None:
    inner = {"type": "struct", "fields": [{"id": 3, "name": "x", "required": False, "type": "long"}]}
    entry = [{"field-id": 2, "names": ["s"], "fields": [{"field-id": 3, "names": ["y"]}]}]
    named = {"schema.name-mapping.default": json.dumps(entry)}
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "s", inner)], properties=named)
    table.append(table.parquet("a.parquet", pa.table({"s": [{"y": 5}]}), ids=False))
    text = "\n".join(said(direct.open_table(str(tmp_path / "t")).row_history("s.x = 5")))
    assert "s.x from its column 's.y'; the mapping finds no column for id" in text


def rewrite(table: Table, old: dict[str, Any], new: list[dict[str, Any]]) -> None:
    """A commit that replaces a file."""
    gone = [(2, old, {"sequence_number": 1})]
    table.snapshot("overwrite", [table.manifest("r.avro", [*gone, *((1, file) for file in new)])])


@pytest.mark.parametrize("version", [2, 3])
def test_a_row_changes_once_in_a_commit(version: int, tmp_path: Path) -> None:
    """An upsert that writes a key twice leaves two rows, of which neither is known to be the one that was there."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "v", "string")], version=version)
    old = table.parquet("a.parquet", {"id": [1, 2], "v": ["a", "b"]})
    table.append(old)
    rewrite(table, old, [table.parquet("b.parquet", {"id": [1, 1, 2], "v": ["x", "y", "z"]})])
    events = direct.open_table(str(tmp_path / "t")).row_history("", keys=["id"]).events
    told = [(e.what, e.row["v"], "went and 2 came" in e.words) for e in events if e.snapshot == "snapshot-2"]
    assert sorted(told) == [
        ("appeared", "x", True), ("appeared", "y", True), ("changed", "z", False), ("deleted", "a", False),
        ("deleted", "b", False),
    ]  # fmt: skip


def test_a_file_that_is_live_twice_changes_a_row_once(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "v", "string")])
    old, new = (table.parquet(f"{v}.parquet", {"id": [1], "v": [v]}) for v in "ab")
    table.append(old)
    rewrite(table, old, [new, new])
    events = direct.open_table(str(tmp_path / "t")).row_history("", keys=["id"]).events
    assert [e.what for e in events] == ["appeared", "appeared", "changed", "deleted"]
    assert "its file was live already" in events[1].words


def test_of_two_equal_rows_one_is_deleted(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    old = table.parquet("a.parquet", {"id": [1, 1]})
    table.append(old)
    rewrite(table, old, [table.parquet("b.parquet", {"id": [1]})])
    events = direct.open_table(str(tmp_path / "t")).row_history("").events
    assert [e.what for e in events] == ["appeared", "appeared", "copied", "deleted"]
    assert events[-1].words.endswith("no file it added has the row once more")


@pytest.mark.parametrize("where", ["id = 1", "x = '2020-01-01'", ""])
def test_spark_tells_what_this_process_tells_of_misread_columns(where: str, as_spark: None, tmp_path: Path) -> None:
    write_table(tmp_path / "t", MISREAD[0])
    ours, theirs = (
        said(direct.open_table(str(tmp_path / "t")).row_history(where, engine=engine)) for engine in ("local", "spark")
    )
    assert any("Spark may show another value of x" in line or "Spark does not return" in line for line in ours)
    assert theirs == ours


@pytest.mark.parametrize("mapped", [True, False])
def test_spark_tells_what_this_process_tells_of_files_without_ids(mapped: bool, as_spark: None, tmp_path: Path) -> None:
    properties = mapping((1, ["id"]), (2, ["first"])) if mapped else {}
    tables = [direct.open_table(str(without_ids(tmp_path / name, properties))) for name in ("local", "spark")]
    ours, theirs = (said(t.row_history("id < 3", engine=e)) for t, e in zip(tables, ("local", "spark"), strict=True))
    assert ours == theirs
    assert [p.cause for p in tables[0].problems] == [p.cause for p in tables[1].problems]
    assert len(tables[1].problems) == (0 if mapped else 1)


def test_manifests_may_be_read_before_they_are_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is judged of one manifest is not taken for another's, in whatever order they are read."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    for name, ids in (("a", [1, 2]), ("b", [2, 3]), ("c", [5, 6])):
        table.append(table.parquet(f"{name}.parquet", {"id": ids}), table.parquet(f"{name}2.parquet", {"id": ids[:1]}))
    expected = said(direct.open_table(str(tmp_path / "t")).row_history("id = 2"))
    lazily = RowReader.live_entries_of

    def eagerly(self: RowReader, *given: Any) -> Iterator[Any]:
        return iter(list(lazily(self, *given)))

    monkeypatch.setattr(RowReader, "live_entries_of", eagerly)
    assert said(direct.open_table(str(tmp_path / "t")).row_history("id = 2")) == expected


def expire(table: Table, *gone: int) -> None:
    """Take snapshots out of the metadata, as an expiry does that keeps all files."""
    for name in ("snapshots", "snapshot-log"):
        table.md[name] = [s for s in table.md[name] if s["snapshot-id"] not in gone]
    table.save()


def told_of(table: Table, where: str = "") -> list[tuple[str, str, str]]:
    return [(e.snapshot, e.what, e.words) for e in direct.open_table(str(table.folder)).row_history(where).events]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_rows_of_expired_snapshots_were_there_already(version: int, tmp_path: Path) -> None:
    """Three appends, of which the first two have expired: the third added its own row alone."""
    table = Table(tmp_path / "t", [(1, "id", "long")], version=version)
    for n in range(3):
        table.append(table.parquet(f"{n}.parquet", {"id": [n]}))
    expire(table, 101, 102)
    already = "it was there already: a snapshot that has expired added its file"
    assert told_of(table, "id = 0") == [("snapshot-1", "was there", already)]
    assert told_of(table, "id < 3")[1:] == [
        ("snapshot-1", "was there", already), ("snapshot-1", "appeared", "added by this append"),
    ]  # fmt: skip


def test_rows_of_an_older_snapshot_that_is_left_were_there_already(tmp_path: Path) -> None:
    """The snapshot between two has expired. What it, or the one after it, took away may not be told of either."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    files = [table.parquet(f"{n}.parquet", {"id": [n]}) for n in range(4)]
    table.append(files[0], files[1])
    table.append(files[2])
    table.snapshot(
        "overwrite",
        [
            table.manifest("d.avro", [(0, files[0], {"sequence_number": 1, "snapshot_id": 101}), (1, files[3])]),
            table.manifest("e.avro", [(0, files[2], {"sequence_number": 2, "snapshot_id": 102})]),
        ],
    )
    expire(table, 102)
    unknown = "added by this overwrite, or written again by it into another file: the snapshot before it, which would "
    assert told_of(table, "id != 1")[1:] == [
        ("snapshot-2", "was there", "it was there already: snapshot-1 added its file"),
        ("snapshot-2", "was there", "it was there already: a snapshot that has expired added its file"),
        ("snapshot-2", "appeared", f"{unknown}tell, has expired"),
    ]
    with pytest.raises(NotFoundInTable, match="not known: an ancestor, 102, has expired"):
        direct.open_table(str(table.folder)).commits("snapshot-1", "snapshot-2")
    assert current_log(direct.open_table(str(table.folder)).metadata)[-1].reason == (
        "whether snapshot-2 descends from snapshot-1 is not known: an ancestor has expired"
    )
    fate = direct.open_table(str(tmp_path / "t")).row_history("id = 1")
    assert said(fate)[1].endswith(
        "is not there: snapshot-1 has it; whether this snapshot descends from that is not known: its ancestors have "
        "expired."
    )


def test_a_row_that_a_replace_wrote_was_there_already(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    old = table.parquet("a.parquet", {"id": [1]})
    table.append(old)
    new = table.parquet("b.parquet", {"id": [1]})
    table.snapshot("replace", [table.manifest("r.avro", [(2, old, {"sequence_number": 1}), (1, new)])])
    expire(table, 101)
    already = "it was there already, and this replace wrote it into another file"
    assert told_of(table) == [("snapshot-1", "was there", already)]


def test_a_first_snapshot_without_a_parent_adds_its_rows(tmp_path: Path) -> None:
    """Also where the entry names another snapshot; but not where the file is older than the snapshot."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    file = table.parquet("a.parquet", {"id": [1]})
    table.snapshot("append", [table.manifest("m.avro", [(1, file)], snapshot=7)])
    assert told_of(table) == [("snapshot-1", "appeared", "added by this append")]
    table.md["snapshots"][0]["sequence-number"] = 5
    table.save()
    assert [what for _, what, _ in told_of(table)] == ["was there"]


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_spark_does_not_look_for_nulls_in_a_required_column(engine: Any, as_spark: None, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "b", "string", True)])
    table.append(table.parquet("a.parquet", {"id": [1, 2, 3], "b": ["x", None, "y"]}))
    opened = direct.open_table(str(tmp_path / "t"))
    why = "takes b IS NULL for false, since b is required"
    assert said(opened.row_history("b is null", engine=engine)) == [
        "snapshot-1 shows 1 row with b is null.",
        f"⚠ Spark does not return 1 of them for this filter: it {why}.",
        "The row at position 1 of a.parquet is there: id=2, b=None.",
        f"  Spark does not return it for this filter: it {why}.",
    ]
    either = said(opened.row_history("b is null or id > 1", engine=engine))
    assert either[0].startswith("snapshot-1 shows 2 rows")
    assert either[1] == f"Spark {why}."
    assert not any("not return" in line for line in either)
    assert said(opened.row_history("not (b is null)", engine=engine))[1] == (
        "Spark takes b IS NOT NULL for true, since b is required, also where a file has a null in it."
    )
    assert len(said(opened.row_history("id is null or b = 'x'", engine=engine))) == 2


def test_a_row_whose_delete_is_gone_comes_back(tmp_path: Path) -> None:
    """A commit that lists the data file without the delete did not add the row."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    file = table.parquet("a.parquet", {"id": [1, 2]})
    table.append(file)
    table.delta(deletes=[table.position_delete("d.parquet", [(file["file_path"], 0)])])
    table.snapshot("replace", [m for m in table.lists[102] if m["content"] == 0])
    told = [(what, words) for _, what, words in told_of(table, "id = 1")]
    assert [what for what, _ in told] == ["appeared", "deleted", "came back"]
    assert told[-1][1].endswith("hid it before, and no delete of this replace does")


@pytest.mark.usefixtures("as_spark")
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_lost_data_file_takes_no_other_answer_away(tmp_path: Path, engine: Any) -> None:
    """What the other files have is told, and that the lost one may have more."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "name", "string")])
    table.append(table.parquet("lost.parquet", {"id": [1, 2], "name": ["x", "y"]}))
    table.append(table.parquet("here.parquet", {"id": [3, 4], "name": ["x", "z"]}))
    next((tmp_path / "t").rglob("lost.parquet")).unlink()
    opened = direct.open_table(str(tmp_path / "t"))
    history = opened.row_history("name = 'x'", engine=engine)
    told = said(history)
    assert told[0] == "snapshot-2 shows at least 1 row with name = 'x'."
    assert [event.what for event in history.events] == ["appeared"]
    assert "unless it was there in lost.parquet before" not in history.events[0].words
    lost = "⚠ lost.parquet, which a scan with this filter reads, cannot be read and may have more such rows: "
    assert any(line.startswith(lost) for line in told)
    first = history.metadata.snapshots[0]
    assert history.explain(first)[0] == "snapshot-1 shows at least 0 rows with name = 'x'."


@pytest.mark.usefixtures("as_spark")
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_row_of_a_rewritten_lost_file_may_have_been_there(tmp_path: Path, engine: Any) -> None:
    """Whether the row is new is not known, since the file that it may come from cannot be read."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "name", "string")])
    old = table.parquet("lost.parquet", {"id": [1], "name": ["x"]})
    table.append(old)
    new = table.parquet("new.parquet", {"id": [1], "name": ["x"]})
    rewrite(table, old, [new])
    next((tmp_path / "t").rglob("lost.parquet")).unlink()
    opened = direct.open_table(str(tmp_path / "t"))
    [event] = opened.row_history("name = 'x'", engine=engine).events
    assert event.words.endswith("unless it was there in lost.parquet before, which cannot be read")
