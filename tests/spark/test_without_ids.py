"""Files, manifests and lists without field ids: what Spark reads of them is what we read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from explorer.spark_engine.spark import SparkEngine
from tests.cases.mini import Table
from tests.statements.printed import statements
from tests.support import direct
from tests.unit.test_without_ids import by_name, nameless


def struct(*fields: tuple[int, str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": [{"id": i, "name": n, "required": False, "type": t} for i, n, t in fields]}


def listed(own: int, element: Any) -> dict[str, Any]:
    return {"type": "list", "element-id": own, "element": element, "element-required": False}


def mapped(key: int, value: int, kind: Any) -> dict[str, Any]:
    return {"type": "map", "key-id": key, "key": "string", "value-id": value, "value": kind, "value-required": False}


FIELDS = [
    (1, "id", "long"), (2, "name", "string"),
    (3, "s", struct((10, "a", "int"), (11, "t", struct((12, "b", "string"))))),
    (4, "l", listed(14, struct((15, "x", "int")))), (5, "lp", listed(16, "int")),
    (6, "ll", listed(22, listed(23, "int"))),
    (7, "m", mapped(17, 18, struct((19, "y", "int")))), (8, "mp", mapped(20, 21, "int")), (9, "late", "string"),
]  # fmt: skip
STORED = pa.schema([
    ("id", pa.int64()), ("name", pa.string()),
    ("s", pa.struct([("a", pa.int32()), ("t", pa.struct([("b", pa.string())]))])),
    ("l", pa.list_(pa.struct([("x", pa.int32())]))), ("lp", pa.list_(pa.int32())),
    ("ll", pa.list_(pa.list_(pa.int32()))), ("m", pa.map_(pa.string(), pa.struct([("y", pa.int32())]))),
    ("mp", pa.map_(pa.string(), pa.int32())),
])  # fmt: skip
ROWS: list[dict[str, Any]] = [
    {"id": 1, "name": "one", "s": {"a": 1, "t": {"b": "x"}}, "l": [{"x": 1}, {"x": 2}], "lp": [1, 2], "ll": [[1], []],
     "m": {"k": {"y": 5}}, "mp": {"k": 7}},
    {"id": 2, "name": "two", "s": {"a": 2, "t": {"b": "z"}}, "l": [], "lp": [], "ll": [], "m": {}, "mp": {}},
]  # fmt: skip


def avro_record(record: str, **fields: Any) -> dict[str, Any]:
    named = [{"name": field, "type": ["null", kind]} for field, kind in fields.items()]
    return {"type": "record", "name": record, "fields": named}


def avro_list(item: Any) -> dict[str, Any]:
    return {"type": "array", "items": ["null", item]}


def avro_map(value: Any) -> dict[str, Any]:
    return {"type": "map", "values": ["null", value]}


def avro_bytes() -> bytes:
    inner = avro_record("s_", a="int", t=avro_record("t_", b="string"))
    schema = avro_record(
        "t", id="long", name="string", s=inner,
        l=avro_list(avro_record("l_", x="int")), lp=avro_list("int"), ll=avro_list(avro_list("int")),
        m=avro_map(avro_record("m_", y="int")), mp=avro_map("int"),
    )  # fmt: skip
    out = io.BytesIO()
    fastavro.writer(out, schema, ROWS)
    return out.getvalue()


def table_of(folder: Path, file_format: str) -> Table:
    table = Table(folder, FIELDS)
    path = table.folder / "data" / f"a.{file_format.lower()}"
    rows = pa.Table.from_pylist([{**r, "m": [*r["m"].items()], "mp": [*r["mp"].items()]} for r in ROWS], STORED)
    if file_format == "PARQUET":
        pq.write_table(rows, path)
    elif file_format == "ORC":
        orc.write_table(rows, str(path))
    else:
        path.write_bytes(avro_bytes())
    table.append(
        {
            "content": 0, "file_path": f"file://{path}", "file_format": file_format, "partition": {},
            "record_count": 2, "file_size_in_bytes": path.stat().st_size,
        }
    )  # fmt: skip
    return table


@pytest.fixture
def registered(engine: SparkEngine, sandbox: Path) -> Iterator[Any]:
    """Has Spark know a table by its newest metadata file; returns its name."""
    spark, names = engine.session(), []
    spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.nameless")

    def register(folder: Path) -> str:
        names.append(f"nameless.t{len(names)}")
        newest = max((folder / "metadata").glob("*.metadata.json"))
        spark.sql(f"CALL sandbox.system.register_table('{names[-1]}', '{newest}')")
        return f"sandbox.{names[-1]}"

    yield register
    for name in names:
        spark.sql(f"DROP TABLE sandbox.{name}")


def plain(value: Any) -> Any:
    if hasattr(value, "asDict"):
        return {name: plain(inner) for name, inner in value.asDict().items()}
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("file_format", ["PARQUET", "ORC", "AVRO"])
def test_rows(file_format: str, registered: Any, engine: SparkEngine, tmp_path: Path) -> None:
    table = table_of(tmp_path / "t", file_format)
    sparks = [plain(row) for row in engine.session().table(registered(table.folder)).orderBy("id").collect()]
    opened = direct.open_table(str(table.folder))
    ours = [dict(row) for row in opened.file_rows(f"a.{file_format.lower()}")]
    assert [{name: row[name] for name in sparks[0]} for row in ours] == sparks
    assert (sparks[0]["s"] is None) == (file_format == "PARQUET")
    table.set_schema([(1, "id", "long"), (2, "renamed", "string"), *FIELDS[2:]])
    table.save()
    sparks = [plain(row) for row in engine.session().table(registered(table.folder)).orderBy("id").collect()]
    versions = direct.open_table(str(table.folder)).row_history("id > 0").versions
    assert [version.row["renamed"] for version in versions] == [row["renamed"] for row in sparks]
    assert sparks[0]["renamed"] == ("one" if file_format == "PARQUET" else None)


def test_a_list_and_a_manifest(registered: Any, engine: SparkEngine, tmp_path: Path) -> None:
    folder = nameless(tmp_path / "t")
    spark, name = engine.session(), registered(folder)
    assert [plain(row) for row in spark.sql(f"SELECT * FROM {name} WHERE p = 'y'").collect()] == [{"id": 1, "p": "y"}]
    files = spark.sql(f"SELECT file_path, partition.part FROM {name}.files ORDER BY 1").collect()
    ours = direct.open_table(str(folder)).files()
    assert [tuple(row) for row in files] == sorted((f["file_path"], f["partition"]["part"]) for f in ours)


def test_a_rewrite_gives_files_their_ids(engine: SparkEngine, tmp_path: Path) -> None:
    session, path = engine.session(), by_name(tmp_path / "t")
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.by_name")
    location = direct.open_table(path).metadata.metadata_location
    session.sql(f"CALL sandbox.system.register_table('by_name.t', '{location}')")
    rows = [tuple(row) for row in session.sql("SELECT * FROM sandbox.by_name.t").collect()]
    assert rows == [(1, "a")] * 3
    [told] = [f for f in direct.doctor("sandbox.by_name.t", deep=True).findings if f.rule == "readers-differ"]
    [statement] = statements(told.remedy)
    session.sql(statement)
    assert [tuple(row) for row in session.sql("SELECT * FROM sandbox.by_name.t").collect()] == rows
    left = direct.doctor("sandbox.by_name.t", deep=True, snapshot="main").findings
    assert not [f for f in left if f.rule == "readers-differ"]
    session.sql("DROP TABLE sandbox.by_name.t")
