"""Tables of public reports (tests/spark/test_fourteenth_reports.py has more, and runs what is printed)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyiceberg.table import StaticTable

import explorer
from tests.cases.mini import Table
from tests.support import direct
from tests.support.report_tables import found
from tests.support.small_tables import newest_metadata

PEOPLE = [(1, "id", "long"), (2, "first", "string"), (3, "last", "string")]


def mapped(folder: Path, names: dict[int, list[str]]) -> Path:
    """A file without field ids, of a table in which another column has the name `first` now."""
    table = Table(folder, PEOPLE, location=str(folder))
    mapping = [{"field-id": own, "names": some} for own, some in names.items()]
    table.md["properties"]["schema.name-mapping.default"] = json.dumps(mapping)
    rows = {"id": [11], "first": ["Lisa"], "last": ["Truman"]}
    file = table.parquet("a.parquet", rows, ids=False)
    for bounds in ("lower_bounds", "upper_bounds", "null_value_counts", "value_counts"):
        file.pop(bounds)
    table.append(file)
    table.set_schema([(1, "id", "long"), (3, "last", "string"), (4, "first", "string")])
    table.save()
    return newest_metadata(folder)


@pytest.mark.parametrize("owner", [2, 4])
def test_whose_name_the_mapping_says_it_is(owner: int, tmp_path: Path) -> None:
    """apache/iceberg#4930: pyiceberg reads by the mapping too."""
    names = {1: ["id"], 3: ["last"], owner: ["first"]}
    place = mapped(tmp_path / "t", names)
    rows = StaticTable.from_metadata(str(place)).scan().to_arrow().to_pylist()
    assert rows == [{"id": 11, "last": "Truman", "first": "Lisa" if owner == 4 else None}]
    [finding] = found(str(place), "readers-differ", deep=True)
    assert finding.severity == ("warning" if owner == 4 else "info")
    changes = [c.means for one in explorer.open_table(place).history.schemas().value for c in one.changes]
    assert any("by the name mapping field 4 has" in means for means in changes) is (owner == 4)


@pytest.mark.parametrize("mapping", ["[1, {}]", "{", '[{"field-id": "4", "names": ["first"]}]', '{"a": 1}',
                                     '[{"field-id": 4, "names": [1, null]}]', "[" * 5000])  # fmt: skip
def test_mappings_that_are_none(mapping: str, tmp_path: Path) -> None:
    place = mapped(tmp_path / "t", {1: ["id"]})
    text = json.loads(place.read_text())
    text["properties"]["schema.name-mapping.default"] = mapping
    place.write_text(json.dumps(text))
    assert explorer.open_table(place).history.schemas().value
    assert direct.doctor(str(place), deep=True).findings


def test_a_summary_without_totals(tmp_path: Path) -> None:
    """duckdb/duckdb-iceberg#633: pyiceberg reads it, and Redshift refuses it."""
    table = Table(tmp_path / "t", [(1, "id", "long")], location=str(tmp_path / "t"))
    table.append(table.parquet("a.parquet", {"id": [1, 2]}))
    place = newest_metadata(tmp_path / "t")
    assert direct.doctor(str(place)).findings == ()
    table.md["snapshots"][-1]["summary"] = {"operation": "append"}
    table.write()
    assert StaticTable.from_metadata(str(place)).scan().to_arrow().num_rows == 2
    [finding] = direct.doctor(str(place)).findings
    assert (finding.rule, finding.severity) == ("readers-differ", "info")
    assert "Redshift refuses the table" in finding.what


def test_lost_manifests_of_a_table_that_lacks_a_data_file_too(tmp_path: Path) -> None:
    """apache/iceberg#10560: it begins anew only with all of its files."""
    table = Table(tmp_path / "t", [(1, "id", "long")], location=str(tmp_path / "t"))
    for number in range(3):
        table.append(table.parquet(f"{number}.parquet", {"id": [number]}), name=f"{number}.avro")
    (tmp_path / "t" / "metadata" / "0.avro").unlink()
    remedies = [f.remedy for f in found(str(tmp_path / "t"), "manifest-missing")]
    assert ["WHERE false; CALL" in remedy for remedy in remedies] == [True]
    (tmp_path / "t" / "data" / "2.parquet").unlink()
    remedies = [f.remedy for f in found(str(tmp_path / "t"), "manifest-missing")]
    assert ["WHERE false" in remedy for remedy in remedies] == [False]
    assert "What is lost is older than all that is left" in remedies[0]
    assert "1 data file of the table's folder may be of it" in remedies[0]


@pytest.mark.parametrize("again", [True, False])
def test_a_file_that_one_commit_removed_and_added(again: bool, tmp_path: Path) -> None:
    """apache/iceberg#2131."""
    table = Table(tmp_path / "t", [(1, "id", "long")], location=str(tmp_path / "t"))
    file = table.parquet("a.parquet", {"id": [1, 2]})
    table.append(file)
    other = file if again else table.parquet("b.parquet", {"id": [1, 2]})
    gone = {"sequence_number": 1, "snapshot_id": 102}
    manifests = [table.manifest("gone.avro", [(2, file, gone)]), table.manifest("new.avro", [(1, other)])]
    table.snapshot("overwrite", manifests)
    table.append(table.parquet("c.parquet", {"id": [3]}))
    some = found(str(tmp_path / "t"), "deleted-file-live")
    assert [(f.severity, f.snapshots) for f in some] == ([("warning", (103,))] if again else [])
