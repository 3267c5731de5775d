"""Position deletes that readers open although their data files are gone: apache/iceberg#8743 and #4127."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.reports.maintenance.file_stay import file_stay
from explorer.reports.maintenance.previews import preview
from explorer.reports.maintenance_plan import plan_all
from tests.cases.mini import Table
from tests.statements.printed import statements
from tests.support import direct
from tests.support.report_tables import found

REWRITE = "rewrite_position_delete_files(table => 'your_db.your_table', options => map('rewrite-all', 'true'))"


def compacted(folder: Path, kept: bool = False, knows: bool = True, own: bool = False, named: bool = False) -> Path:
    """A compaction that keeps the sequence number of its start, as Spark's does, and leaves the delete of a whole
    partition. `kept`: one of the deleted-from files stays. `knows`: entries have file sequence numbers. `own`: the
    delete names a file that its own commit added. `named`: the deletes are of one file each, and a compaction with a
    new sequence number left them."""
    table = Table(folder, [(1, "id", "long")], location=str(folder))
    files = [table.parquet(f"{at}.parquet", {"id": [at, at + 10]}) for at in range(3)]
    table.append(*files)
    first = table.lists[table.md["current-snapshot-id"]]
    rows = [(file["file_path"], 0) for file in files]
    if named:
        deletes = [table.position_delete(f"d{at}.parquet", [row]) for at, row in enumerate(rows)]
    else:
        deletes = [table.position_delete("d.parquet", rows)]
    beside = [table.manifest("own.avro", [(1, table.parquet("own.parquet", {"id": [99]}))])] if own else []
    gone = table.manifest("deletes.avro", [(1, delete) for delete in deletes], content=1)
    table.snapshot("delete", [*first, *beside, gone])
    numbers = {"sequence_number": 1, "file_sequence_number": 1 if knows else None}
    old = [(0 if kept and at == 2 else 2, file, numbers) for at, file in enumerate(files)]
    new = table.parquet("new.parquet", {"id": [10, 11] if kept else [10, 11, 12]})
    written = {} if named else {"sequence_number": 2, "file_sequence_number": 3 if knows else None}
    if not knows:  # an EXISTING entry: its own commit's number is not inherited
        new_manifest = table.manifest("new.avro", [(0, new, written)])
    else:
        new_manifest = table.manifest("new.avro", [(1, new, written)])
    table.snapshot("replace", [table.manifest("old.avro", old), *beside, new_manifest, gone])
    return folder


def test_deletes_that_a_compaction_left_are_found(tmp_path: Path) -> None:
    path = str(compacted(tmp_path / "t"))
    for deep in (False, True):
        [finding] = found(path, "delete-names-nothing", deep=deep)
        assert (finding.severity, finding.count) == ("info", 1)
        assert "names only data files that are gone" in finding.what
        assert REWRITE in finding.remedy
        assert not finding.remedy.startswith("First")
    table = direct.open_table(path)
    seen = preview(table, "dangling-deletes")
    [row] = seen.tables["deletes"]
    assert (row["dropped_by"], row["may_be_needed"]) == (
        "rewrite_position_delete_files, if its group is rewritten",
        "",
    )
    assert seen.call.endswith(REWRITE)
    assert "1 position delete file of 1 hides nothing, but readers open them" in " ".join(seen.words)
    compaction = preview(table, "compact", options={"remove-dangling-deletes": "true"})
    assert not compaction.call
    assert "would drop nothing" in compaction.words[-1]
    assert "rewrite_position_delete_files drops those that hide nothing" in compaction.words[-1]
    rewrite = preview(table, "rewrite-position-deletes", options={"rewrite-all": "true"})
    assert rewrite.words[-1].startswith("At least 1 position delete file of the table hides nothing")
    line = next(line for line in plan_all(table).lines if line.operation == "dangling-deletes")
    assert line.statement == seen.call
    assert line.does == "drops 1 delete that hides nothing; its statement writes all position delete files anew"
    stay = " ".join(file_stay(table, "d.parquet").words)
    assert "It is a delete file that hides nothing in the current snapshot" in stay
    assert "dangling-deletes tells what drops it" in stay
    verdict = next(v for v in table.deletes().verdicts if v.data.path.endswith("new.parquet"))
    assert verdict.applies
    assert "commit 3 wrote the data file after the delete's 2" in verdict.reasons[0].words
    measures = {m.id: m.value for m in direct.health(table).measures}
    assert (measures["dangling-deletes"], measures["deleted-share"]) == (1, 0)


@pytest.mark.parametrize("how", [{"kept": True}, {"knows": False}, {"own": True}], ids=lambda how: next(iter(how)))
def test_deletes_that_may_name_a_file_are_left(how: dict[str, bool], tmp_path: Path) -> None:
    """A file of before that is there, a number that is not told, a file of the delete's own commit."""
    path = str(compacted(tmp_path / "t", **how))
    assert not found(path, "delete-names-nothing")
    table = direct.open_table(path)
    seen = preview(table, "dangling-deletes")
    assert not seen.call
    assert not list(seen.tables["deletes"])
    assert any("1 position delete file more is of several data files" in words for words in seen.words)
    assert "A commit must rewrite it, or drop it whole" in " ".join(file_stay(table, "d.parquet").words)
    deep = found(path, "delete-names-nothing", deep=True)
    assert len(deep) == (0 if "kept" in how else 1)
    for finding in deep:
        assert finding.severity == "info"
        assert "the current snapshot has none of the data files that it names any more" in finding.what
        assert statements(finding.remedy)


def test_deletes_of_one_file_each_are_said_to_hide_nothing(tmp_path: Path) -> None:
    path = str(compacted(tmp_path / "t", named=True))
    table = direct.open_table(path)
    assert not found(path, "delete-names-nothing", deep=True)
    assert len(found(path, "delete-dangling")) == 1
    assert "remove-dangling-deletes" in preview(table, "dangling-deletes").call
    stay = " ".join(file_stay(table, "d1.parquet").words)
    assert "hides nothing in the current snapshot: it names" in stay


def test_all_maintenance_tells_of_deletes_that_a_compaction_leaves(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")], location=str(tmp_path / "t"))
    file = table.parquet("a.parquet", {"id": [1, 2, 3, 4]})
    table.append(file)
    data = table.lists[table.md["current-snapshot-id"]]
    delete = table.position_delete("p.parquet", [(file["file_path"], 1)])
    gone = table.manifest("gone.avro", [(1, delete)], content=1)
    table.snapshot("delete", [*data, gone])
    compaction = plan_all(direct.open_table(str(tmp_path / "t"))).lines[0]
    assert (compaction.operation, compaction.does) == ("compact", "nothing to do")
    assert "compact -O delete-file-threshold=1 shows a compaction that applies them too: 1 file" in compaction.why
    applied = preview(direct.open_table(str(tmp_path / "t")), "compact", options={"delete-file-threshold": "1"})
    assert "'delete-file-threshold', '1'" in applied.call
