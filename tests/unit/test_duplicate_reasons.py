"""Why a key has several rows, where the commit wrote under another partition spec or from several writers."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.reports.duplicate_keys import explain_keys
from explorer.spec.rows.duplicate_keys import DuplicateKey
from tests.cases import thirteenth
from tests.cases.mini import Table
from tests.support import direct

FIELDS = [(1, "category", "string"), (2, "region", "string"), (3, "id", "long"), (4, "v", "long")]
BY_CATEGORY, BY_REGION = (1, 1000, "category", "identity"), (2, 1001, "region", "identity")


def why(folder: Path, **key: object) -> str:
    [told] = explain_keys(direct.open_table(str(folder)), [(key, 2)], list(key), None)
    assert isinstance(told, DuplicateKey)
    return told.why


def rows(v: int, region: str | None = "us") -> dict[str, list[object]]:
    return {"category": ["A"], "region": [region], "id": [1], "v": [v]}


def of_older_spec(folder: Path, region: str | None = "us") -> Table:
    """A row in a file of a spec without the region."""
    table = Table(folder, FIELDS, [BY_CATEGORY], location=str(folder))
    table.append(table.parquet("old.parquet", rows(0, region), partition={"category": "A"}))
    table.set_spec([BY_CATEGORY, BY_REGION])
    table.save()
    return table


def test_an_overwrite_of_partitions_leaves_those_of_other_specs(tmp_path: Path) -> None:
    """apache/iceberg-python#3148: it was said that deletes do not reach the row, and there are none."""
    table = of_older_spec(tmp_path / "t")
    new = table.parquet("new.parquet", rows(100), partition={"category": "A", "region": "us"})
    before = table.lists[table.md["current-snapshot-id"]]
    table.snapshot("overwrite", [*before, table.manifest("n.avro", [(1, new)])], {"replace-partitions": "true"})
    told = why(tmp_path / "t", id=1)
    assert told.startswith("this overwrite (dynamic mode) replaced the partitions that it wrote to alone: the older")
    assert "row's file is of partition spec 0, the newer one's of spec 1. It is the newest commit: rollback_to" in told
    assert "takes it back. Write all files by the current spec" in told
    table.set_spec([BY_CATEGORY])
    table.save()
    assert "Write all files" not in why(tmp_path / "t", id=1)  # the overwrite would not be of that spec


def test_an_append_under_another_spec_may_be_the_rest_of_an_overwrite(tmp_path: Path) -> None:
    table = of_older_spec(tmp_path / "t")
    table.append(table.parquet("new.parquet", rows(100), partition={"category": "A", "region": "us"}))
    told = why(tmp_path / "t", id=1)
    assert told.startswith("an append deletes nothing, so that the older row stays")
    assert (
        "the older row's file is of partition spec 0, the newer one's of spec 1. pyiceberg commits a dynamic_" in told
    )


@pytest.mark.parametrize("together", [True, False])
def test_an_append_that_was_committed_with_a_delete(together: bool, tmp_path: Path) -> None:
    """pyiceberg's overwrite is two snapshots of one metadata file; the first writes the rest of a file anew."""
    table = of_older_spec(tmp_path / "t", None)
    rest = table.parquet("rest.parquet", rows(0, None), partition={"category": "A", "region": None})
    table.md["last-updated-ms"] += 1
    saved = table.save
    table.save = lambda *_: None  # type: ignore[method-assign]
    gone = {**table.parquet("gone.parquet", rows(0, None)), "file_path": f"{tmp_path}/t/data/old.parquet"}
    removal = table.manifest(
        "g.avro", [(2, gone | {"partition": {"category": "A"}}, {"sequence_number": 1})], spec_id=0
    )
    table.snapshot("overwrite", [removal, table.manifest("rest.avro", [(1, rest)])])
    table.save = saved  # type: ignore[method-assign]
    if not together:
        table.save()
    table.append(table.parquet("new.parquet", rows(100), partition={"category": "A", "region": "us"}))
    told = why(tmp_path / "t", id=1)
    if together:
        assert told.startswith("snapshot-2 (overwrite) and this append were committed together, as pyiceberg commits")
        assert "the older row is in partition category=A/region=null, the newer one in category=A/region=us" in told
    else:
        assert told.startswith("an append deletes nothing, so that the older row stays")


@pytest.mark.parametrize("equality", [True, False])
def test_a_key_that_parallel_writers_wrote(equality: bool, tmp_path: Path) -> None:
    """apache/iceberg#2632."""
    table = Table(tmp_path / "t", [(3, "id", "long"), (4, "v", "long")], location=str(tmp_path / "t"))
    table.append(table.parquet("old.parquet", {"id": [1], "v": [200]}))
    data = [table.parquet(f"{at}.parquet", {"id": [1], "v": [at]}) for at in (1, 2)]
    deletes = [table.equality_delete(f"e{at}.parquet", {"id": [1]}) for at in (1, 2)] if equality else []
    table.delta(data, deletes)
    table.md["snapshots"][-1]["summary"]["added-equality-deletes"] = str(len(deletes))
    table.write()
    told = why(tmp_path / "t", id=1)
    assert told.startswith("one commit wrote it into 2 files") is equality
    assert ("parallel writers got changes of one key (distribute the stream by the key before the sink)" in told) is (
        equality
    )


def test_an_overwrite_without_deletes_is_not_said_to_have_any(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(3, "id", "long"), (4, "v", "long")], location=str(tmp_path / "t"))
    table.append(table.parquet("old.parquet", {"id": [1], "v": [200]}))
    other = table.parquet("other.parquet", {"id": [7], "v": [7]})
    table.append(other)
    kept = table.lists[table.md["current-snapshot-id"]][0]
    new = [(2, other, {"sequence_number": 2}), (1, table.parquet("new.parquet", {"id": [1], "v": [1]}))]
    table.snapshot("overwrite", [kept, table.manifest("n.avro", new)])
    assert why(tmp_path / "t", id=1).startswith("this overwrite does not delete the older row (")


def test_an_overwrite_that_counts_a_file_as_removed_and_keeps_it(tmp_path: Path) -> None:
    """apache/iceberg-python#3758."""
    folder = thirteenth.upsert_beside(tmp_path / "t")
    told = why(folder, k="b")
    assert told.startswith("this overwrite does not delete the older row (appeared: added by this overwrite). Its summ")
    assert "Its summary counts 1 data file as removed; icedive doctor TABLE tells" in told
