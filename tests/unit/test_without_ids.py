"""Lists, manifests and files without field ids, and paths with a dot, are read as Iceberg Java reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyiceberg.table import StaticTable

from tests.cases import build_case
from tests.cases.mini import Table
from tests.support import direct


def without_ids(node: Any) -> Any:
    """An Avro schema without the ids of its fields."""
    if isinstance(node, dict):
        kept = {key: value for key, value in node.items() if not key.endswith("-id")}
        return {key: without_ids(value) for key, value in kept.items()}
    return [without_ids(item) for item in node] if isinstance(node, list) else node


def nameless(folder: Path, version: int = 2) -> Path:
    """A partitioned table whose list and manifests have no field ids."""
    table = Table(
        folder, [(1, "id", "long"), (2, "p", "string")], spec=[(2, 1005, "part", "identity")], version=version
    )
    files = [table.parquet(f"{p}.parquet", {"id": [n], "p": [p]}, partition={"part": p}) for n, p in enumerate("xy")]
    table.snapshot(
        "append",
        [table.manifest("m.avro", [(1, file) for file in files], edit_schema=without_ids)],
        edit_list=without_ids,
    )
    return folder


def by_name(folder: Path, mapped: bool = True) -> str:
    """Two files without field ids, beside one that has them."""
    mapping = '[{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["v"]}]'
    properties = {"schema.name-mapping.default": mapping} if mapped else {}
    table = Table(folder, [(1, "id", "long"), (2, "v", "string")], properties=properties)
    rows = {"id": [1], "v": ["a"]}
    table.append(*(table.parquet(f"{n}.parquet", rows, ids=n == 2) for n in range(3)))
    return str(folder)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_list_and_a_manifest_without_ids(version: int, tmp_path: Path) -> None:
    table = direct.open_table(str(nameless(tmp_path / "t", version)))
    assert [(e["partition"], e["record_count"]) for e in table.entries()] == [({"part": "x"}, 1), ({"part": "y"}, 1)]
    assert table.entries().schema.field("partition").type.field(0).name in ("part", "1005")
    assert table.plan("p = 'x'").left.files == 1
    assert len(table.row_diff(None, "main").changes.inserted) == 2
    [problem] = table.problems
    assert (problem.rule, problem.severity) == ("avro-schema", "warning")
    if version == 1:  # whose metadata lacks what pyiceberg asks for
        return
    with pytest.raises(ValueError, match="missing field-id"):
        StaticTable.from_metadata(table.metadata.metadata_location).scan().to_arrow()


def test_rows_of_a_file_without_ids(tmp_path: Path) -> None:
    table = direct.open_table(str(build_case("07", tmp_path)))
    [version] = table.row_history("renamed = 'bbb'").versions
    assert version.row == {"first": "aaa", "renamed": "bbb", "third": "ccc"}
    assert [problem.rule for problem in table.problems] == ["field-ids-absent"]
    assert "read by their places, as Iceberg Java does" in table.problems[0].cause


@pytest.mark.parametrize(
    ("location", "relocate"),
    [
        ("file://{tmp}/./t", {}), ("{tmp}/./t", {}), ("./t", {}), ("s3://bucket/./wh/t", {"s3://bucket/./wh": "{tmp}"}),
        ("s3a://bucket/wh/./t", {}), ("file:/data/./wh/t", {"file:///data/wh": "{tmp}"}),
        ("file:/data/wh/t", {"/data/./wh": "{tmp}"}),
    ],
)  # fmt: skip
def test_a_location_with_a_dot(location: str, relocate: dict[str, str], tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")], location=location.replace("{tmp}", str(tmp_path)))
    for n in range(2):
        table.append(table.parquet(f"{n}.parquet", {"id": [n]}))
    moves = {old: new.replace("{tmp}", str(tmp_path)) for old, new in relocate.items()}
    opened = direct.open_table(str(tmp_path / "t"), relocate=moves)
    assert len(opened.row_diff(None, "main").changes.inserted) == 2
    assert {problem.severity for problem in opened.problems} <= {"info"}


@pytest.mark.parametrize("mapped", [True, False])
def test_files_whose_values_come_by_name_are_told(mapped: bool, tmp_path: Path) -> None:
    table = direct.open_table(by_name(tmp_path / "t", mapped))
    assert not direct.doctor(table).findings
    told = [(f.rule, f.severity, f.count) for f in direct.doctor(table, deep=True).findings]
    assert told == ([("readers-differ", "info", 2)] if mapped else [("field-ids-absent", "warning", 2)])
