"""Iceberg's own planner, asked through the JVM, and tables of metadata alone for it to plan."""

from __future__ import annotations

import json
import random
import string
import struct
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from pyiceberg.conversions import to_bytes
from pyiceberg.transforms import parse_transform

from explorer.spark_engine.planners import iceberg_expression
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.filters.expression_json import value_json
from explorer.spec.filters.expressions import Expression, term_text
from explorer.spec.values.ordering import comparable
from explorer.spec.values.values import primitive_type, result_type

KINDS = {
    "b": "boolean", "i": "int", "l": "long", "f": "float", "d": "double", "day": "date", "t": "time", "ts": "timestamp",
    "tz": "timestamptz", "dec": "decimal(9, 2)", "s": "string", "u": "uuid", "fx": "fixed[3]", "bin": "binary",
}  # fmt: skip
NANOS = {"ns": "timestamp_ns", "nz": "timestamptz_ns"}
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Data:
    """A data file: its rows, and what its entry says of them."""

    path: str
    spec: int
    rows: Sequence[Row]
    json: Mapping[str, Any] = field(repr=False)


class Iceberg:
    """The Iceberg of Spark's JVM."""

    def __init__(self, engine: SparkEngine) -> None:
        session: Any = engine.session()
        self.spark, self.jvm, self.gateway = session, session._jvm, session._sc._gateway
        self.iceberg = self.jvm.org.apache.iceberg
        self.tables = self.iceberg.hadoop.HadoopTables(session._jsc.hadoopConfiguration())

    def create(self, folder: Path, schema: Mapping[str, Any], spec: Sequence[Mapping[str, Any]], version: int) -> Any:
        """An empty table in a folder."""
        known = self.iceberg.SchemaParser.fromJson(json.dumps(schema))
        fields = self.iceberg.PartitionSpecParser.fromJson(known, json.dumps({"spec-id": 0, "fields": list(spec)}))
        return self.tables.create(known, fields, {"format-version": str(version)}, str(folder))

    def append(self, table: Any, files: Sequence[Data]) -> None:
        """Commit data files, which need not exist, as one manifest."""
        append = table.newFastAppend()
        for file in files:
            append = append.appendFile(self.data_file(table, file))
        append.commit()

    def data_file(self, table: Any, file: Data) -> Any:
        """A data file as Iceberg's own object."""
        node = self.iceberg.util.JsonUtil.mapper().readTree(json.dumps(file.json))
        return self.iceberg.ContentFileParser.fromJson(node, table.specs().get(file.spec))

    def expression(self, bound: Expression, table: Any) -> Any:
        """A filter as Iceberg's."""
        return iceberg_expression(self.jvm, table, bound)


@dataclass(frozen=True)
class Made:
    """A table as made: the folder, its columns, and its files."""

    folder: Path
    kinds: Mapping[str, str]
    files: Sequence[Data]
    table: Any
    theirs: Mapping[str, Any]
    """The files as Iceberg's, by path."""


def value(rng: random.Random, kind: str, narrow: bool) -> Any:
    """An internal value; `narrow` draws from a few near each other."""
    number = rng.randint(-3, 3) if narrow else rng.randint(-(10**6), 10**6)
    if kind == "boolean":
        return number > 0
    if kind in ("float", "double"):
        special = rng.choice([0.0, -0.0, float("nan"), float("inf")]) if rng.random() < 0.2 else number / 4
        return struct.unpack("<f", struct.pack("<f", special))[0]
    if kind.startswith("decimal"):
        return Decimal(number).scaleb(-2)
    if kind == "string":
        letters = "ab" if narrow else string.ascii_lowercase + "é\U0001f600"
        return "".join(rng.choice(letters) for _ in range(rng.randint(0, 6)))
    if kind == "uuid":
        return uuid.UUID(int=number % 2**128).bytes
    if kind.startswith("fixed"):
        return bytes(rng.choice(b"\x00\x01\xff") for _ in range(3))
    if kind == "binary":
        return bytes(rng.choice(b"\x00a\xff") for _ in range(rng.randint(0, 5)))
    if kind == "date":
        return number if narrow else number % 20000 - 1000
    if kind == "time":
        return abs(number)
    scale = 86_400_000_000 if narrow else 3_600_000_000
    return number * scale * (1000 if "_ns" in kind else 1) if kind.startswith("timestamp") else number


def _truncated(value: Any, length: int, up: bool) -> Any:
    """A bound cut to a length (Iceberg: UnicodeUtil, BinaryUtil); None where no value above it is as short."""
    if len(value) <= length:
        return value
    cut = value[:length]
    if not up:
        return cut
    for at in range(length - 1, -1, -1):
        if isinstance(cut, bytes) and cut[at] < 255:
            return cut[:at] + bytes([cut[at] + 1])
        if isinstance(cut, str) and ord(cut[at]) < 0x10FFFE and not 0xD7FF <= ord(cut[at]) + 1 <= 0xDFFF:
            return cut[:at] + chr(ord(cut[at]) + 1)
    return None


def metrics(rng: random.Random, kinds: Mapping[str, str], rows: Sequence[Row]) -> dict[str, Any]:
    """What a writer with drawn metrics modes records: nothing, counts, or bounds, truncated or not."""
    names = ("value-counts", "null-value-counts", "nan-value-counts", "lower-bounds", "upper-bounds")
    found: dict[str, dict[int, Any]] = {name: {} for name in names}
    for field_id, (name, kind) in enumerate(kinds.items(), 1):
        field_id += "." in name  # after the struct that it is in
        mode = rng.choice(["none", "counts", "truncate", "full", "full"])
        if mode == "none":
            continue
        all_values = [row[name] for row in rows]
        values = [v for v in all_values if v is not None]
        real = [v for v in values if v == v]
        found["value-counts"][field_id] = len(all_values)
        found["null-value-counts"][field_id] = len(all_values) - len(values)
        if kind in ("float", "double") and rng.random() < 0.9:
            found["nan-value-counts"][field_id] = len(values) - len(real)
        if mode == "counts" or not real or (kind in ("float", "double") and field_id not in found["nan-value-counts"]):
            continue
        low, high = (choose(real, key=lambda v: comparable(v, kind)) for choose in (min, max))
        if kind in ("float", "double"):  # as Parquet's writers: a zero is -0.0 below and 0.0 above
            low, high = (-0.0 if low == 0 else low), (0.0 if high == 0 else high)
        if mode == "truncate" and isinstance(low, (str, bytes)) and not kind.startswith(("fixed", "uuid")):
            low, high = _truncated(low, 2, up=False), _truncated(high, 2, up=True)
        primitive = primitive_type(kind)
        assert primitive is not None
        found["lower-bounds"][field_id] = to_bytes(primitive, low).hex().upper()
        if high is not None:
            found["upper-bounds"][field_id] = to_bytes(primitive, high).hex().upper()
    return {name: {"keys": list(m), "values": list(m.values())} for name, m in found.items()}


TRANSFORMS = {
    "i": ["identity", "bucket[4]", "truncate[10]"], "l": ["bucket[4]", "truncate[10]"],
    "s": ["identity", "truncate[2]"],
    "day": ["year", "month", "day"], "ts": ["year", "month", "day", "hour"], "tz": ["day", "bucket[3]"],
    "dec": ["truncate[10]", "bucket[4]"], "bin": ["truncate[1]"], "b": ["identity"], "f": ["identity"],
    "u": ["identity", "bucket[4]"], "ns": ["day", "hour"], "t": ["identity"],
}  # fmt: skip


def spec_of(rng: random.Random, kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    """A drawn partition spec, of up to three fields."""
    ids = {name: at for at, name in enumerate(kinds, 1)}
    names = rng.sample([n for n in TRANSFORMS if n in kinds], rng.randint(0, 3))
    return [
        {"name": f"p_{n}", "transform": rng.choice(TRANSFORMS[n]), "source-id": ids[n], "field-id": 1000 + at}
        for at, n in enumerate(names)
    ]


def partition(spec: Sequence[Mapping[str, Any]], kinds: Mapping[str, str], row: Row) -> list[Any]:
    """The partition values of a row, as JSON."""
    values = []
    names = list(kinds)
    for part in spec:
        name = names[part["source-id"] - 1]
        primitive = primitive_type(kinds[name])
        assert primitive is not None
        made = parse_transform(part["transform"]).transform(primitive)(row[name])
        result = result_type(part["transform"], kinds[name])
        values.append(None if made is None else value_json(made, str(result)))
    return values


NESTED = ("d", "tz", "s", "bin")
RENAMED, PROMOTED = {"l": "amount", "day": "born"}, {"i": "long", "f": "double", "dec": "decimal(18, 2)"}


def make(iceberg: Iceberg, folder: Path, seed: int, nested: bool = False) -> Made:
    """A table of drawn files in a few manifests, whose spec evolves once; `nested`: some fields in a struct."""
    rng = random.Random(seed)
    version = rng.choice([1, 2, 3])
    inside = NESTED if nested else ()
    kinds = {n: k for n, k in KINDS.items() if n not in inside} | (NANOS if version == 3 else {})
    fields = [{"id": i, "name": n, "required": False, "type": k} for i, (n, k) in enumerate(kinds.items(), 1)]
    if nested:  # numbered as Iceberg numbers them: the struct, then what is in it
        at = len(fields) + 1
        inner = [{"id": at + i, "name": n, "required": False, "type": KINDS[n]} for i, n in enumerate(inside, 1)]
        fields.append({"id": at, "name": "inner", "required": False, "type": {"type": "struct", "fields": inner}})
        kinds |= {f"inner.{n}": KINDS[n] for n in inside}
    spec = spec_of(rng, kinds)
    table = iceberg.create(folder, {"type": "struct", "schema-id": 0, "fields": fields}, spec, version)
    files: list[Data] = []
    for commit in range(4):
        if commit == 2 and spec:
            table.updateSpec().removeField(spec[0]["name"]).commit()
            spec = json.loads(str(iceberg.iceberg.PartitionSpecParser.toJson(table.spec())))["fields"]
        new = [_file(rng, kinds, spec, int(table.spec().specId()), len(files) + n) for n in range(rng.randint(1, 6))]
        iceberg.append(table, new)
        files += new
    return Made(folder, kinds, files, table, {f.path: iceberg.data_file(table, f) for f in files})


def evolved(iceberg: Iceberg, made: Made) -> Made:
    """The same table after columns were renamed and promoted."""
    update = made.table.updateSchema()
    for old, new in RENAMED.items():
        update = update.renameColumn(old, new)
    for name, kind in PROMOTED.items():
        update = update.updateColumn(name, iceberg.iceberg.types.Types.fromPrimitiveString(kind))
    update.commit()
    kinds = {RENAMED.get(n, n): PROMOTED.get(n, k) for n, k in made.kinds.items()}
    files = [replace(f, rows=[{RENAMED.get(n, n): v for n, v in row.items()} for row in f.rows]) for f in made.files]
    return replace(made, kinds=kinds, files=files, theirs={f.path: iceberg.data_file(made.table, f) for f in files})


def drawn_transform(rng: random.Random, made: Made) -> str:
    """A filter that compares a transform of a column, alone or beside another comparison."""
    name = rng.choice([n for n in made.kinds if n in TRANSFORMS and TRANSFORMS[n] != ["identity"]])
    transform = rng.choice([t for t in TRANSFORMS[name] if t != "identity"])
    kind = made.kinds[name]
    primitive = primitive_type(kind)
    assert primitive is not None
    found = [row[name] for file in made.files for row in file.rows if row[name] is not None] or [value(rng, kind, True)]
    result = str(result_type(transform, kind))
    apply = parse_transform(transform).transform(primitive)
    made_of = [value_json(apply(rng.choice(found)), result if result != "date" else "int") for _ in range(2)]
    if transform in ("month", "day", "hour"):  # a small number may be SQL's
        made_of = [parse_transform(transform).to_human_string(primitive, v) for v in made_of]
        result = "string"
    quoted = [f"X'{v}'" if result == "binary" else f"'{v}'" if result == "string" else str(v) for v in made_of]
    op = rng.choice(["=", "!=", "<", "<=", ">", ">=", "IN", "NOT IN"])
    text = f"{term_text(name, transform)} {op} {'(' + ', '.join(quoted) + ')' if 'IN' in op else quoted[0]}"
    return text if rng.random() < 0.5 else f"{text} {rng.choice(['AND', 'OR'])} {_comparison(rng, made)}"


def _file(
    rng: random.Random, kinds: Mapping[str, str], spec: Sequence[Mapping[str, Any]], spec_id: int, n: int
) -> Data:
    narrow = rng.random() < 0.7
    nulls = {name: rng.choice([0.0, 0.0, 0.3, 1.0]) for name in kinds}

    def row() -> dict[str, Any]:
        return {n: None if rng.random() < nulls[n] else value(rng, k, narrow) for n, k in kinds.items()}

    rows = [row() for _ in range(rng.randint(1, 4))]
    for part in spec:  # rows of one partition: the simplest is that they have one value
        name = list(kinds)[part["source-id"] - 1]
        rows = [{**r, name: rows[0][name]} for r in rows]
    size = rng.choice([1000, 5 << 20, 300 << 20])
    offsets = sorted(rng.sample(range(4, size), rng.randint(0, 3))) if rng.random() < 0.7 else []
    path = f"/nowhere/data-{n}.parquet"
    said = {
        "spec-id": spec_id, "content": "DATA", "file-path": path, "file-format": "PARQUET",
        "partition": partition(spec, kinds, rows[0]), "file-size-in-bytes": size, "record-count": len(rows),
        **metrics(rng, kinds, rows), **({"split-offsets": offsets} if offsets else {}),
    }  # fmt: skip
    return Data(path, spec_id, rows, said)


def drawn_filter(rng: random.Random, made: Made) -> str:
    """A filter's text: one to three comparisons of columns with values that are near those of the table."""
    parts = [_comparison(rng, made) for _ in range(rng.choice([1, 1, 2, 3]))]
    text = parts[0]
    for part in parts[1:]:
        text = f"({text}) {rng.choice(['AND', 'OR'])} ({part})"
    return f"NOT ({text})" if rng.random() < 0.2 else text


def _comparison(rng: random.Random, made: Made) -> str:
    name = rng.choice(list(made.kinds))
    kind = made.kinds[name]
    near: Callable[[], Any] = lambda: literal(rng, made, name, kind)  # noqa: E731
    shape = rng.choice(["compare"] * 5 + ["in", "null", "nan", "like", "between"])
    if shape == "null":
        return f"{name} IS {rng.choice(['', 'NOT '])}NULL"
    if shape == "nan" and kind in ("float", "double"):
        return f"{name} IS {rng.choice(['', 'NOT '])}NAN"
    if shape == "like" and kind == "string":
        prefix = str(near())[1:-1].replace("''", "'")[: rng.randint(0, 4)]
        return f"{name} {rng.choice(['', 'NOT '])}LIKE '{prefix}%'"
    if shape == "in":
        return f"{name} {rng.choice(['', 'NOT '])}IN ({', '.join(str(near()) for _ in range(rng.randint(1, 4)))})"
    if shape == "between":
        return f"{name} BETWEEN {near()} AND {near()}"
    return f"{name} {rng.choice(['=', '!=', '<', '<=', '>', '>='])} {near()}"


def literal(rng: random.Random, made: Made, name: str, kind: str) -> str:
    """A value of a column, or one near, as filters write it."""
    while True:
        found = rng.choice(rng.choice(made.files).rows)[name] if rng.random() < 0.7 else value(rng, kind, True)
        if found is not None and found == found and found not in (float("inf"), float("-inf")):
            break
    shown = value_json(found, kind)
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, bytes) and kind != "uuid":
        return f"X'{shown}'"
    quoted = isinstance(shown, str) and not kind.startswith("decimal")
    return f"'{shown}'" if quoted else str(shown)
