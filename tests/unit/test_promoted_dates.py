"""A date that became a timestamp is told as long as a file is there from before, whatever its snapshots became."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path

import pytest

from explorer.reports.maintenance import runs
from explorer.spec.doctor.findings import Finding
from explorer.spec.doctor.promotions import PROMOTED_DATE
from tests.cases.mini import Table
from tests.support import direct


def promoted(folder: Path, expired: bool, rewritten: bool = True, metrics: bool = True, files: bool = True) -> str:
    """A table of a file with dates and one with timestamps, whose manifests were written anew.

    Args:
        folder: Where it is made.
        expired: Whether the snapshots from before have expired.
        rewritten: Whether rewrite_manifests put both files into one manifest.
        metrics: Whether the first file has bounds.
        files: Whether the first file is live at the end.
    """
    table = Table(folder, [(1, "id", "long"), (2, "d", "date")], version=3)
    old = table.parquet("old.parquet", {"id": [1, 2], "d": [date(1969, 12, 30), date(2024, 2, 29)]})
    if not metrics:
        old |= {"lower_bounds": None, "upper_bounds": None}
    table.append(old)
    table.set_schema([(1, "id", "long"), (2, "d", "timestamp")])
    table.save()
    new = table.parquet("new.parquet", {"id": [3, 4], "d": [datetime(2024, 3, 1, 5), datetime(2024, 3, 2)]})
    table.append(new)
    if rewritten:
        entries = [(0, f, {"sequence_number": n, "snapshot_id": 100 + n}) for n, f in ((1, old), (2, new))]
        kept = entries if files else entries[1:]
        table.snapshot("replace", [table.manifest("rewritten.avro", kept)])
    if expired:
        last = table.md["snapshots"][-1]
        last.pop("parent-snapshot-id", None)
        table.md["snapshots"] = [last]
        table.md["snapshot-log"] = table.md["snapshot-log"][-1:]
        table.save()
    return str(folder)


def told(place: str, deep: bool = False) -> list[Finding]:
    return [f for f in direct.doctor(place, deep=deep).findings if f.what == PROMOTED_DATE]


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("expired", [False, True])
def test_one_finding_tells_of_it(expired: bool, deep: bool, tmp_path: Path) -> None:
    [finding] = told(promoted(tmp_path / "t", expired), deep)
    assert (finding.rule, finding.severity, finding.refused) == ("readers-differ", "warning", "part")
    assert finding.columns == ("d",)
    assert finding.node is not None
    assert finding.node[0] == ("manifest" if expired else "metadata")
    assert ("1969-12-30" in str(finding.found)) == expired


def test_a_file_without_bounds_is_told_by_its_footer(tmp_path: Path) -> None:
    place = promoted(tmp_path / "t", expired=True, metrics=False)
    assert not told(place)
    [finding] = told(place, deep=True)
    assert finding.node is not None
    assert str(finding.node[1]).endswith("old.parquet")


def test_without_a_file_from_before_nothing_is_told(tmp_path: Path) -> None:
    assert not told(promoted(tmp_path / "t", expired=True, files=False), deep=True)


@pytest.mark.parametrize("files", [True, False])
def test_a_compaction_is_refused_as_long_as_a_file_is_from_before(files: bool, tmp_path: Path) -> None:
    """Also where the schema from before is gone (clean_expired_metadata)."""
    place = promoted(tmp_path / "t", expired=True, files=files)
    for _ in range(2):
        table = direct.open_table(place)
        seen = runs.preview(table, "compact", options={"rewrite-all": "true"})
        assert (bool(seen.call), "was a date" in seen.refusal) == (not files, files)
        data = json.loads(Path(table.metadata.metadata_location).read_text())
        data["schemas"] = [s for s in data["schemas"] if s["schema-id"] == data["current-schema-id"]]
        Path(table.metadata.metadata_location).write_text(json.dumps(data))
