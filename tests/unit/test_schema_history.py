"""The history of schemas, partition specs and sort orders, on tables that pyiceberg evolves."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DoubleType, LongType, NestedField, StringType, StructType

import explorer
from explorer.render.schema_picture import schemas_svg
from explorer.spec.schemas.field_lanes import FIELDS, SCHEMAS, field_lanes
from explorer.spec.schemas.schema_history import SchemaVersion
from tests.cases.mini import Table
from tests.support import direct
from tests.support.small_tables import new_table, writable

SCHEMA = pa.schema([("id", pa.int32()), ("name", pa.string()), ("at", pa.timestamp("us")), ("price", pa.float32())])


def history_of(place: Path) -> dict[tuple[str, int], SchemaVersion]:
    versions = explorer.open_table(place).history.schemas().value
    return {(one.kind, one.number): one for one in versions}


def evolved(place: Path) -> None:
    """A table whose schema and spec change between appends; its last schema was never written by."""
    table = new_table(place, SCHEMA)
    table.append(pa.table({"id": [1], "name": ["a"], "at": [None], "price": [1.0]}, SCHEMA))
    with table.update_schema() as update:
        update.rename_column("name", "fruit")
        update.update_column("id", LongType())
        update.update_column("price", DoubleType())
        update.add_column("place", StructType(NestedField(1, "lat", LongType(), required=False)))
    with table.update_spec() as spec:
        spec.add_field("id", IdentityTransform(), "id_is")
    table.append(table.scan().to_arrow())
    with table.update_schema() as update:
        update.delete_column("price")
        update.move_first("fruit")
    with table.update_spec() as spec:
        spec.remove_field("id_is")
        spec.add_field("fruit", IdentityTransform(), "fruit_is")


def test_changes_are_told_by_field_id(tmp_path: Path) -> None:
    evolved(tmp_path / "t")
    versions = history_of(tmp_path / "t")
    first, second, third = (versions["schema", number] for number in range(3))
    assert (first.changes, first.first, first.snapshots, first.files) == ((), "snapshot-1", 1, 1)
    assert [(change.field_id, change.field, change.what) for change in second.changes] == [
        (1, "id", "type from int to long"),
        (2, "fruit", "renamed from name"),
        (4, "price", "type from float to double"),
        (5, "place", "added as struct of 1 field"),
        (6, "place.lat", "added as long"),
    ]
    assert (second.first, second.files, second.is_current) == ("snapshot-2", 1, False)
    assert [(change.field_id, change.field, change.what) for change in third.changes] == [
        (4, "price", "dropped"),
        (None, "columns", "in another order"),
    ]
    assert (third.first, third.snapshots, third.files, third.is_current) == ("", 0, 0, True)


def test_specs_say_what_they_prune(tmp_path: Path) -> None:
    evolved(tmp_path / "t")
    versions = history_of(tmp_path / "t")
    specs = [versions["partition spec", number] for number in range(3)]
    assert [spec.words for spec in specs] == ["not partitioned", "id", "fruit"]
    assert [spec.files for spec in specs] == [1, 1, 0]
    assert [change.what for change in specs[1].changes] == ["adds id"]
    assert [change.what for change in specs[2].changes] == ["adds fruit", "drops id"]
    assert specs[1].changes[0].means.startswith("it prunes no file that was written before")


def test_files_of_expired_snapshots_belong_to_no_schema(tmp_path: Path) -> None:
    evolved(tmp_path / "t")
    table = writable(tmp_path / "t")
    table.maintenance.expire_snapshots().by_id(table.snapshots()[0].snapshot_id).commit()
    versions = history_of(tmp_path / "t")
    assert (versions["schema", 0].files, versions["schema", 0].first) == (0, "")
    assert versions["schema", 1].files == 1


def test_a_name_that_comes_back_is_another_column(tmp_path: Path) -> None:
    table = new_table(tmp_path / "t", SCHEMA)
    with table.update_schema() as update:
        update.delete_column("name")
    with table.update_schema() as update:
        update.add_column("name", StringType())
    changes = history_of(tmp_path / "t")["schema", 2].changes
    assert [(change.field_id, change.what) for change in changes] == [(5, "added as string")]


def test_fields_are_drawn_over_the_schemas_that_have_them(tmp_path: Path) -> None:
    evolved(tmp_path / "t")
    answer = explorer.open_table(tmp_path / "t").history.schemas()
    lanes = field_lanes(direct.open_table(str(tmp_path / "t")).metadata)
    assert (lanes.schemas, lanes.current, lanes.older, lanes.others) == ((0, 1, 2), 2, 0, 0)
    spans = {lane.field_id: [(one.first, one.last, one.words) for one in lane.spans] for lane in lanes.lanes}
    assert spans[1] == [(0, 0, "id int"), (1, 2, "id long")]
    assert spans[2] == [(0, 0, "name string"), (1, 2, "fruit string")]
    assert spans[4] == [(0, 0, "price float"), (1, 1, "price double")]
    assert spans[5] == [(1, 2, "place struct")]
    picture = answer.to_svg()
    for words in ("6 fields over 3 schemas", "schema 2", "current", ">fruit string<", "field 4: price double"):
        assert words in picture


def test_many_schemas_and_fields_are_drawn_in_part_and_it_is_said(tmp_path: Path) -> None:
    fields = [(own, f"c{own}", "int") for own in range(1, 61)]
    table = Table(tmp_path / "t", fields)
    for number in range(20):
        table.set_schema([*fields[:-1], (60, f"last_{number}", "int")])
    table.append(table.parquet("a.parquet", {"c1": [1]}))
    metadata = direct.open_table(str(tmp_path / "t")).metadata
    lanes = field_lanes(metadata)
    assert (len(lanes.schemas), len(lanes.lanes), lanes.older, lanes.others) == (SCHEMAS, FIELDS, 21 - SCHEMAS, 20)
    assert lanes.lanes[-1].field_id == 60  # the one that changes is drawn
    assert "not drawn: 9 older schemas and 20 more fields" in schemas_svg(lanes)
