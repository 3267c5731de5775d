"""Equality deletes that apply to nothing because of the partition they are recorded in: which data file each would
apply to, the same from `deletes`, `maintain` and the doctor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.reports.maintenance import runs
from explorer.spec.doctor.remedies import Situation, remedy
from tests.cases.mini import Table as Written
from tests.support import direct

FIELDS = [(1, "id", "long"), (2, "region", "string")]
BY_REGION = [(2, 1000, "region", "identity")]
Delete = Callable[[Written], Any]


def table(folder: Path, delete: Delete, **more: Any) -> direct.Table:
    """A table partitioned by region: ids 1 and 2 in eu, then id 9 in us with a delete."""
    written = Written(folder / "t", FIELDS, BY_REGION, **more)
    eu = written.parquet("a.parquet", {"id": [1, 2], "region": ["eu"] * 2}, partition={"region": "eu"})
    written.append(eu)
    us = written.parquet("b.parquet", {"id": [9], "region": ["us"]}, partition={"region": "us"})
    written.delta(data=[us], deletes=[delete(written)])
    return direct.open_table(folder / "t")


def by_id(*ids: int, region: str | None = "us") -> Delete:
    return lambda written: written.equality_delete("e.parquet", {"id": list(ids)}, partition={"region": region})


def by_id_and_region(written: Written) -> Any:
    return written.equality_delete("e.parquet", {"id": [1], "region": ["us"]}, partition={"region": "us"})


@pytest.mark.parametrize(
    ("delete", "reason"),
    [
        (by_id(1), "it would apply to a.parquet, but the delete is in partition region=us, the data file in region=eu"),
        (by_id(1, region=None), "a delete for all partitions needs an unpartitioned spec"),
        (by_id(7), ""),
        (by_id_and_region, ""),
    ],
)
def test_all_answers_name_the_same_data_file(delete: Delete, reason: str, tmp_path: Path) -> None:
    opened = table(tmp_path, delete)
    known = opened.row_reader.deletes(opened.metadata.current_snapshot)
    [alone] = known.dangling
    assert known.doubt(alone).endswith(reason)
    assert bool(known.doubt(alone)) == bool(reason)
    assert known.why_alone(alone) == (known.doubt(alone) or "it applies to no data file of this snapshot")
    [row] = runs.preview(opened, "dangling-deletes").tables["deletes"]
    assert row["may_be_needed"] == known.doubt(alone)
    rules = {f.rule for f in direct.doctor(opened).findings}
    assert ("delete-misplaced" in rules, "delete-dangling" in rules) == (bool(reason), not reason)


def test_every_delete_is_looked_for_and_one_finding_tells_of_them(tmp_path: Path) -> None:
    written = Written(tmp_path / "t", FIELDS, BY_REGION)
    written.append(written.parquet("a.parquet", {"id": [1, 2], "region": ["eu"] * 2}, partition={"region": "eu"}))
    names = [f"e{number:03}.parquet" for number in range(150)]
    deletes = [written.equality_delete(name, {"id": [2]}, partition={"region": "us"}) for name in names]
    written.delta(data=[], deletes=deletes)
    opened = direct.open_table(tmp_path / "t")
    known = opened.row_reader.deletes(opened.metadata.current_snapshot)
    assert len(known.misplaced_files) == 150
    findings = [f for f in direct.doctor(opened).findings if f.rule == "delete-misplaced"]
    assert sum(f.count for f in findings) == 150
    assert len(findings) == 1


def test_deletes_that_nobody_needs_stay_where_others_would_go_with_them(tmp_path: Path) -> None:
    def remedies(folder: Path, delete: Delete) -> dict[str, str]:
        written = Written(folder / "t", FIELDS, BY_REGION)
        eu, us = (
            written.parquet(f"{region}.parquet", {"id": [number], "region": [region]}, partition={"region": region})
            for number, region in enumerate(("eu", "us"))
        )
        written.append(eu)
        stray = written.position_delete("p.parquet", [(f"{written.location}/data/gone.parquet", 0)])
        stray["partition"] = {"region": "us"}
        written.delta(data=[us], deletes=[delete(written), stray])
        found = direct.doctor(folder / "t").findings
        return {f.what.split(" ")[1]: f.remedy for f in found if f.rule == "delete-dangling"}

    needed = remedies(tmp_path / "a", by_id(0))
    assert list(needed) == ["position"]
    assert "it would drop 1 other delete too" in needed["position"]
    assert "CALL" not in needed["position"]
    free = remedies(tmp_path / "b", by_id(7))
    assert set(free) == {"position", "equality"}
    assert all("map('remove-dangling-deletes', 'true')" in remedy for remedy in free.values())


def wrong_counts(folder: Path, delete: Delete) -> direct.Table:
    """The table, whose delete manifest counts wrongly and whose first data file has more nulls than values."""
    written = Written(folder / "t", FIELDS, BY_REGION)
    eu = written.parquet("a.parquet", {"id": [1, 2], "region": ["eu"] * 2}, partition={"region": "eu"})
    written.append({**eu, "null_value_counts": {1: 0, 2: 5}})
    us = written.parquet("b.parquet", {"id": [9], "region": ["us"]}, partition={"region": "us"})
    manifests = [
        written.manifest("d.avro", [(1, us)]),
        written.manifest("e.avro", [(1, delete(written))], content=1, added_files_count=7),
    ]
    written.snapshot("overwrite", [*written.lists[101], *manifests])
    return direct.open_table(folder / "t")


@pytest.mark.parametrize("needed", [True, False])
def test_no_other_remedy_drops_deletes_that_may_be_needed(needed: bool, tmp_path: Path) -> None:
    opened = wrong_counts(tmp_path, by_id(1 if needed else 7))
    remedies = {f.rule: f.remedy for f in direct.doctor(opened, deep=True).findings}
    assert ("delete-misplaced" in remedies) == needed
    counts = remedies["manifest-counts"]
    assert ("remove-dangling-deletes" in counts) != needed
    assert ("rewrite_position_delete_files" in counts) != needed
    assert counts.startswith("Do not drop them before you know: 1 of them") == needed
    data = remedies["metrics-wrong"]
    assert "rewrite_data_files" in data
    assert (
        "Look first: a delete that applies to nothing may have been meant for rows that are there" in data
    ) == needed


def test_where_deletes_were_not_looked_at_none_is_offered_to_be_dropped(tmp_path: Path) -> None:
    opened = wrong_counts(tmp_path, by_id(7))
    found = remedy("manifest-counts", Situation(
        "c.db.t", opened.metadata, listed=opened.tree.manifests(opened.metadata.current_snapshot), opened=True
    ), (102,), opened.tree.manifests(opened.metadata.current_snapshot)[-1].manifest_path)  # fmt: skip
    assert found.startswith("First see icedive maintain preview TABLE dangling-deletes")
