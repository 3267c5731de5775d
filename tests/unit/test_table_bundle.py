"""Bundles: every question answers on one as on its table, and nothing of the table's own texts is in it."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyiceberg.transforms import BucketTransform, IdentityTransform, TruncateTransform

import explorer
from explorer.reports.bundle import write_bundle
from explorer.storage.parquet_documents import avro_schema, records, write_parquet
from explorer.storage.projection import FIELD_ID
from explorer.table import Table, open_table
from tests.cases import NAMES, build_case
from tests.support.parquet_manifests import as_version_4
from tests.support.small_tables import make_table, new_table, newest_metadata, partitioned
from tests.unit.test_cli import run

FILTERS = {
    "hidden_partitioning": ("category = 'books' AND born >= '2024-01-02'", "note LIKE 'a%'", "paid > 10"),
    "sorted_files": ("name = 'jack'", "name > 'm' OR name IS NULL"),
    "orders": ("customer_id = 1", "order_date < '2024-02-01'"),
    "position_deletes": ("name = 'tom'",),
    "long_history": ("id > 100",),
}
NUMBERS = ["status", "content", "record_count", "file_size_in_bytes", "snapshot_id", "sequence_number", "first_row_id"]


def bundle(table: Table, folder: Path, *filters: str) -> tuple[Table, dict[str, str]]:
    """The bundle of a table, unpacked and opened, and its filters."""
    written = write_bundle(table.tree, folder / "bundle.zip", filters)
    assert written.left_out == []
    zipfile.ZipFile(folder / "bundle.zip").extractall(folder / "bundle")
    return open_table(str(folder / "bundle" / "table")), dict(written.filters)


def scenarios() -> list[str]:
    from explorer.lab.scenarios import SCENARIOS

    return sorted(scenario.name for scenario in SCENARIOS)


@pytest.mark.parametrize("name", scenarios())
def test_a_teaching_tables_bundle_answers_as_the_table(name: str, sandbox: Path, tmp_path: Path) -> None:
    table = open_table(f"demo.{name}")
    columns = {field.name for field in table.metadata.schema(table.metadata.current_schema_id).by_id.values()}  # type: ignore[union-attr]
    filters = [f for f in FILTERS.get(name, ()) if set(re.findall(r"[a-z_]+(?= )", f)) & columns]
    other, new_filters = bundle(table, tmp_path, *filters)
    assert shape(other) == shape(table)
    for old, new in new_filters.items():
        assert plan(other, new) == plan(table, old), (old, new)
    assert rules(str(tmp_path / "bundle" / "table")) - {"copied-or-edited", "statistics-file"} == rules(f"demo.{name}")


def shape(table: Table) -> dict[str, Any]:
    """What a table's snapshots and entries are, without names."""
    entries = table.entries().to_arrow()
    snapshots = table.snapshots.to_arrow().to_pylist()
    return {
        "entries": entries.select([n for n in NUMBERS if n in entries.column_names]).to_pylist(),
        "same paths": pc.dictionary_encode(entries["file_path"]).combine_chunks().indices.to_pylist(),
        "snapshots": [(s["snapshot-id"], s["operation"], s["sequence-number"]) for s in snapshots],
        "lives": [(c.snapshot_id, c.state, c.added, c.existing, c.deleted) for c in table.lifecycle()]
        if len(snapshots) < 20
        else (),
        "metadata": len(list(table.metadata_log)),
        "partitions": table.partitions().to_arrow().num_rows,
    }


def plan(table: Table, where: str) -> list[str]:
    """What becomes of each file with a filter: read, or skipped by what."""
    return [verdict for part in table.plan(where).files.read() for verdict in part["verdict"].to_pylist()]


@pytest.mark.parametrize("case", NAMES)
def test_the_bundle_of_a_sick_table_is_as_sick(case: str, tmp_path: Path) -> None:
    place = build_case(case, tmp_path)
    written = explorer.export_bundle(str(place), tmp_path / "bundle.zip")
    assert written.metadata_files
    zipfile.ZipFile(tmp_path / "bundle.zip").extractall(tmp_path / "bundle")
    in_a_value = {"33-hive-null": {"value-suspect"}}  # the word itself is replaced
    new_rules = rules(str(tmp_path / "bundle" / "table")) - {"copied-or-edited"}
    assert new_rules == rules(str(place)) - {"copied-or-edited"} - in_a_value.get(case, set())


def rules(table: str) -> set[str]:
    """The rules that the doctor finds broken."""
    return {finding["rule"] for finding in explorer.doctor(table).to_json()["findings"]}


# -- secrets -----------------------------------------------------------------------------------------------------------
def secret_table(folder: Path, **properties: str) -> Path:
    """A table whose every text has `zqxj` in it, which stands nowhere else."""
    place = folder / "zqxjwarehouse" / "zqxjtable"
    person = pa.struct([("zqxjcity", pa.string())])
    schema = pa.schema(
        [
            ("zqxjname", pa.string()),
            ("zqxjid", pa.int64()),
            ("zqxjblob", pa.binary()),
            ("zqxjhome", person),
            ("zqxjdec", pa.decimal128(9, 2)),
        ]
    )
    table = new_table(place, schema, **{
        "zqxjproperty": "zqxjvalue", "write.metadata.metrics.column.zqxjname": "truncate(16)", "comment": "zqxjcomment",
        "write.data.path": f"file://{place}/zqxjdata", "engine.hive.lock": "zqxjlock", **properties,
    })  # fmt: skip
    with table.update_spec() as spec:
        spec.add_field("zqxjname", IdentityTransform(), "zqxjname")
    rows = [
        {
            "zqxjname": f"zqxjperson{i}",
            "zqxjid": i,
            "zqxjblob": b"zqxjbytes%d" % i,
            "zqxjhome": {"zqxjcity": f"zqxjtown{i}"},
            "zqxjdec": i,
        }
        for i in range(5)
    ]
    table.append(pa.Table.from_pylist(rows, schema), snapshot_properties={"zqxjkey": "zqxjtext", "wap.id": "zqxjwap"})
    with table.update_spec() as spec:
        spec.add_field("zqxjid", BucketTransform(4), "zqxjbucket")
        spec.add_field("zqxjname", TruncateTransform(3), "zqxjshort")
    with table.manage_snapshots() as manage:
        manage.create_tag(table.current_snapshot().snapshot_id, "zqxjtag")  # type: ignore[union-attr]
        manage.create_branch(table.current_snapshot().snapshot_id, "zqxjbranch")  # type: ignore[union-attr]
    return place


def edited(place: Path) -> None:
    """Texts where pyiceberg writes none: comments, defaults, unknown keys, statistics, a name mapping."""
    file = Path(newest_metadata(place))
    raw = json.loads(file.read_text())
    raw["zqxjunknown"] = {"zqxja": "zqxjb"}
    raw["schemas"][0]["fields"][0] |= {"doc": "zqxjdoc", "initial-default": "zqxjdefault"}
    raw["properties"]["schema.name-mapping.default"] = json.dumps(
        [{"field-id": 1, "names": ["zqxjname", "zqxjformer"]}]
    )
    raw["statistics"] = [{
        "snapshot-id": raw["current-snapshot-id"], "statistics-path": f"file://{place}/metadata/zqxjstats.puffin",
        "file-size-in-bytes": 9, "file-footer-size-in-bytes": 5,
        "blob-metadata": [{"type": "zqxjblob", "snapshot-id": 1, "sequence-number": 1, "fields": [1],
                           "properties": {"ndv": "5", "zqxjprop": "zqxjval"}}],
    }]  # fmt: skip
    raw["snapshots"][0]["summary"]["partitions.zqxjname=zqxjperson1"] = "zqxjsummary"
    raw["encryption-keys"] = [
        {"key-id": "zqxjkey", "encrypted-key-metadata": "enF4anNlY3JldA==", "properties": {"zqxj": "zqxj"}}
    ]
    file.write_text(json.dumps(raw))


def texts_of(file: Path) -> str:
    """All that a reader of a bundle sees: names, the bytes of its parts, and what the Avro files hold."""
    seen = []
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            seen += [name, data.decode("latin-1")]
            if data.startswith(b"Obj\x01"):
                with archive.open(name) as part:
                    reader = fastavro.reader(part)
                    seen += [str(reader.metadata), *(str(record) for record in reader)]
            elif data.startswith(b"PAR1"):
                part = pq.ParquetFile(pa.BufferReader(data))
                seen += [str(part.schema), str(part.metadata.metadata), str(part.read().to_pylist())]
    return "\n".join(seen)


def test_no_text_of_the_table_is_in_its_bundle(tmp_path: Path) -> None:
    place = secret_table(tmp_path)
    edited(place)
    written = explorer.export_bundle(str(place), tmp_path / "bundle.zip", ["zqxjname = 'zqxjperson3'"])
    assert written.left_out == []
    seen = texts_of(tmp_path / "bundle.zip")
    assert "c1" in seen
    assert "zqxj" not in seen
    assert re.findall("warehouse|person|town|zqxj", seen) == []
    assert re.fullmatch("c1 = '[a-z]{11}'", written.filters["zqxjname = 'zqxjperson3'"])
    zipfile.ZipFile(tmp_path / "bundle.zip").extractall(tmp_path / "bundle")
    other = open_table(str(tmp_path / "bundle" / "table"))
    verdicts = plan(other, written.filters["zqxjname = 'zqxjperson3'"])
    assert len(verdicts) == 5
    assert len(set(verdicts)) > 1


@pytest.mark.parametrize("of", [make_table, partitioned])
def test_parquet_manifests_are_in_a_bundle(of: Callable[[Path], Path], tmp_path: Path) -> None:
    as_version_4(place := of(tmp_path))
    table = open_table(str(place))
    other, _ = bundle(table, tmp_path)
    assert all(path.endswith(".parquet") for path in other.entries().to_arrow()["manifest_path"].to_pylist())
    assert shape(other) == shape(table)
    assert other.metadata.format_version == 4
    assert rules(str(tmp_path / "bundle" / "table")) - {"copied-or-edited"} == rules(str(place))


def test_no_text_of_a_table_is_in_its_parquet_manifests(tmp_path: Path) -> None:
    as_version_4(place := secret_table(tmp_path))
    written = explorer.export_bundle(str(place), tmp_path / "bundle.zip")
    assert written.left_out == []
    assert "zqxj" not in texts_of(tmp_path / "bundle.zip")


def test_records_of_parquet_are_those_of_avro_and_come_back() -> None:
    """Each type that a partition or a metric has."""
    ids = iter(range(1, 100))

    def column(name: str, kind: pa.DataType) -> pa.Field:
        return pa.field(name, kind, metadata={FIELD_ID: str(next(ids))})

    def whole(name: str, kind: pa.DataType) -> pa.Field:
        return column(name, kind).with_nullable(False)

    values: list[tuple[pa.DataType, Any, Any]] = [
        (pa.bool_(), True, True), (pa.int32(), -3, -3), (pa.int64(), 1 << 40, 1 << 40), (pa.float32(), 0.5, 0.5),
        (pa.float64(), 0.25, 0.25), (pa.string(), "a", "a"), (pa.binary(), b"\0", b"\0"),
        (pa.binary(4), b"abcd", b"abcd"),
        (pa.date32(), date(1969, 12, 31), -1), (pa.time64("us"), time(0, 0, 1), 1_000_000),
        (pa.timestamp("us"), datetime(1970, 1, 2), 86_400_000_000),
        (pa.timestamp("ns", "UTC"), 5, 5), (pa.decimal128(9, 2), Decimal("-1.27"), b"\x81"),
        (pa.decimal128(38, 2), Decimal(10**38 - 1).scaleb(-2, Context(38)), (10**38 - 1).to_bytes(16, "big")),
        (pa.list_(whole("element", pa.int64())), [1, 2], [1, 2]),
        (pa.map_(whole("key", pa.int32()), whole("value", pa.binary())), [(1, b"x")], [{"key": 1, "value": b"x"}]),
    ]  # fmt: skip
    inside = [column(f"f{at}", kind) for at, (kind, _, _) in enumerate(values)]
    whole_row = {field.name: value for field, (_, value, _) in zip(inside, values, strict=True)}
    plain_row = {field.name: plain for field, (_, _, plain) in zip(inside, values, strict=True)}
    table = pa.table(
        {"s": pa.array([whole_row, None], pa.struct(inside)), "n": pa.array([1, None], pa.int64())},
        pa.schema([column("s", pa.struct(inside)), column("n", pa.int64())]),
    )
    rows = list(records(table))
    assert rows == [{"s": plain_row, "n": 1}, {"s": None, "n": None}]
    out = io.BytesIO()
    length = write_parquet(out, avro_schema(table.schema), {"content": "data"}, "gzip", rows)
    again = pq.ParquetFile(pa.BufferReader(out.getvalue()))
    assert (length, again.metadata.metadata[b"content"]) == (len(out.getvalue()), b"data")
    assert again.read().to_pylist() == table.to_pylist()
    assert list(records(again.read())) == rows
    with pytest.raises(ValueError, match="which no manifest has"):
        avro_schema(pa.schema([column("d", pa.duration("s"))]))


def test_metadata_outside_the_tables_folder_is_in_its_bundle(tmp_path: Path) -> None:
    elsewhere = tmp_path / "zqxjelsewhere" / "zqxjmetadata"
    secret_table(tmp_path, **{"write.metadata.path": f"file://{elsewhere}"})
    file = max(elsewhere.glob("*.metadata.json"))
    written = explorer.export_bundle(str(file), tmp_path / "bundle.zip")
    assert written.left_out == []
    assert written.manifests == 1
    assert "zqxj" not in texts_of(tmp_path / "bundle.zip")
    zipfile.ZipFile(tmp_path / "bundle.zip").extractall(tmp_path / "bundle")
    assert open_table(str(tmp_path / "bundle" / "table")).entries().to_arrow().num_rows == 5


@pytest.mark.parametrize(
    ("kind", "value"),
    [("boolean", True), ("int", -5), ("long", 5_000_000_000), ("double", 2.5), ("decimal(9, 3)", "-12.345"),
     ("date", "2024-02-29"), ("time", "10:11:12.000013"), ("timestamp", "2024-02-29T10:11:12.000013"),
     ("timestamptz", "2024-02-29T10:11:12+00:00"), ("string", "zqxjdefault"), ("fixed[4]", "7a71786a"),
     ("binary", "7a71786a7a71786a"),
     ("uuid", "7a71786a-0000-0000-0000-000000000001"), ({"type": "struct", "fields": []}, {}), ("zqxjtype", 1)],
)  # fmt: skip
def test_defaults_become_others_of_their_type(kind: Any, value: Any, tmp_path: Path) -> None:
    place = secret_table(tmp_path)
    file = Path(newest_metadata(place))
    raw = json.loads(file.read_text())
    raw["format-version"] = 3
    raw["schemas"][0]["fields"].append(
        {"id": 90, "name": "zqxjnew", "required": False, "type": kind, "initial-default": value}
    )
    file.write_text(json.dumps(raw))
    explorer.export_bundle(str(place), tmp_path / "bundle.zip")
    assert re.findall("zqxj|7a71786a", texts_of(tmp_path / "bundle.zip")) == []
    zipfile.ZipFile(tmp_path / "bundle.zip").extractall(tmp_path / "bundle")
    schema = open_table(str(tmp_path / "bundle" / "table")).metadata.schemas[0]
    new = schema.raw["fields"][-1]
    assert (new["id"], new["name"], "initial-default" in new) == (
        90,
        "c90",
        kind != "zqxjtype" and isinstance(kind, str),
    )
    assert type(new.get("initial-default", value)) is type(value)


def test_files_of_one_name_in_two_folders_stay_two(tmp_path: Path) -> None:
    """And a path with `..` in it, which is not read, names no file outside the folder."""
    place = make_table(tmp_path, 2)
    file = Path(newest_metadata(place))
    raw = json.loads(file.read_text())
    for n, snapshot in enumerate(raw["snapshots"]):
        old = Path(snapshot["manifest-list"].removeprefix("file://"))
        (place / f"zqxj{n}").mkdir()
        old.rename(place / f"zqxj{n}" / "list.avro")
        snapshot["manifest-list"] = f"file://{place}/zqxj{n}/list.avro"
    raw["snapshots"].append(
        {**raw["snapshots"][0], "snapshot-id": 5, "manifest-list": f"file://{place}/../../zqxj.avro"}
    )
    file.write_text(json.dumps(raw))
    written = explorer.export_bundle(str(place), tmp_path / "bundle.zip")
    assert written.manifest_lists == 2
    assert [one["file"] for one in written.left_out if ".." in one["file"]] == [raw["snapshots"][-1]["manifest-list"]]
    with zipfile.ZipFile(tmp_path / "bundle.zip") as archive:
        names = archive.namelist()
        assert len(names) == len(set(names))
        assert all(".." not in name and not name.startswith("/") for name in names)
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_texts_in_avro_headers_and_unknown_fields_are_left_out(tmp_path: Path) -> None:
    place = secret_table(tmp_path)
    manifest = next(path for path in (place / "metadata").glob("*-m0.avro"))
    with manifest.open("rb") as file:
        reader = fastavro.reader(file)
        schema, records = json.loads(reader.metadata["avro.schema"]), list(reader)
    schema["fields"].append({"name": "zqxjextra", "type": "string", "field-id": 9999})
    schema["fields"][0]["doc"] = "zqxjdoc"
    header = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")} | {
        "zqxjkey": "zqxjvalue",
        "content": "zqxjc",
    }
    with manifest.open("wb") as file:
        fastavro.writer(file, schema, [{**r, "zqxjextra": "zqxjtext"} for r in records], metadata=header)
    written = explorer.export_bundle(str(place), tmp_path / "bundle.zip")
    assert written.left_out == []
    assert "zqxj" not in texts_of(tmp_path / "bundle.zip")
    assert written.replaced["fields of Avro files that the spec does not name, left out"] == 1


def test_a_damaged_manifest_is_left_out_and_named(tmp_path: Path) -> None:
    place = secret_table(tmp_path)
    manifest = next(path for path in (place / "metadata").glob("*-m0.avro"))
    manifest.write_bytes(manifest.read_bytes()[:-20])
    written = explorer.export_bundle(str(place), tmp_path / "bundle.zip")
    assert [manifest.name in one["file"] for one in written.left_out] == [True]
    assert written.manifests == 0
    assert "zqxj" not in texts_of(tmp_path / "bundle.zip")


def test_the_command_says_what_it_replaced(tmp_path: Path) -> None:
    place = secret_table(tmp_path)
    done = run("export", "bundle", str(place), str(tmp_path / "b.zip"), "--ask", "zqxjid > 2")
    assert done.exit_code == 0, done.output
    for words in ("zqxjname is c1", "zqxjid > 2 is c2 > 2", "names of columns", "buckets stay as they are"):
        assert words in done.output
    refused = run("export", "bundle", str(place), str(tmp_path / "c.zip"), "--ask", "none > 2")
    assert refused.exit_code != 0
    assert not (tmp_path / "c.zip").exists()
