"""What an Avro schema amounts to, before any decoder sees it (Avro spec 1.11, "Schema Declaration", "Names").

Iceberg's writers use a small grammar: records, each named once, of primitives, optional values, fixed, arrays, maps and
a few logical types. A schema in it is `plain`: its records can be decoded in this process, in memory that grows with
the bytes. Anything else that is valid goes to a child process (storage.decoder_process.client), and what no decoder
survives is refused: types that contain themselves or that grow when names are resolved, arrays of nothing, absurd
sizes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from explorer.errors import UnreadableFile
from explorer.storage.formats.json_text import without_surrogates

MAX_SCHEMA_BYTES = 4 << 20
MAX_DEPTH, PLAIN_DEPTH = 40, 16
MAX_TYPES = 20_000
"""Types in a schema once every name stands for its definition; an Iceberg manifest has about 40."""
MAX_FIXED, PLAIN_FIXED = 1 << 20, 1 << 10
MAX_SYMBOLS = 10_000
LEAST = {"null": 0, "boolean": 1, "int": 1, "long": 1, "float": 4, "double": 8, "bytes": 1, "string": 1}
"""The fewest bytes that a value of each primitive type takes."""
PLAIN_LOGICAL = {
    ("int", "date"), ("long", "time-micros"), ("long", "timestamp-micros"), ("long", "timestamp-nanos"),
    ("long", "timestamp-millis"), ("array", "map"), ("fixed", "decimal"), ("fixed", "uuid"), ("string", "uuid"),
}  # fmt: skip
RECORDS = ("record", "error", "request")
"""fastavro reads all three as records."""


@dataclass(frozen=True)
class Shape:
    """The fewest bytes a record takes, and whether the schema is one of the kind that Iceberg's writers make."""

    least: int
    plain: bool


class _Size(NamedTuple):
    least: int
    types: int
    fixed: bool = False


def load_schema(text: bytes, path: str) -> Any:
    """The schema's JSON. Raises UnreadableFile."""
    if len(text) > MAX_SCHEMA_BYTES:
        raise UnreadableFile(path, f"the Avro schema has {len(text)} bytes; at most {MAX_SCHEMA_BYTES} are read")

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    try:
        return without_surrogates(json.loads(text.decode(), parse_constant=refuse))[0]
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(path, f"damaged Avro header: the schema is not JSON: {error}") from error


def check_schema(schema: Any, path: str) -> Shape:
    """Resolve and measure a schema. Raises UnreadableFile for what is no record or what no decoder survives."""
    check = _Check(path)
    size = check.walk(schema, "", 0, False)
    if not isinstance(schema, Mapping) or schema.get("type") not in RECORDS or not size.least:
        raise UnreadableFile(path, "the Avro schema is not a record with fields")
    return Shape(size.least, check.plain)


class _Check:
    def __init__(self, path: str) -> None:
        self.path, self.plain = path, True
        self.sizes: dict[str, _Size] = {}
        self.open: set[str] = set()

    def refuse(self, cause: str) -> UnreadableFile:
        return UnreadableFile(self.path, f"the Avro schema {cause}")

    def walk(self, node: Any, namespace: str, depth: int, in_list: bool) -> _Size:
        """`in_list`: inside an array or a map, where a byte may stand for each item."""
        if depth > MAX_DEPTH:
            raise self.refuse(f"nests deeper than {MAX_DEPTH} levels")
        self.plain = self.plain and depth <= PLAIN_DEPTH
        if isinstance(node, str):
            size = _Size(LEAST[node], 1) if node in LEAST else self.reference(node, namespace)
        elif isinstance(node, list):
            size = self.union(node, namespace, depth, in_list)
        elif isinstance(node, Mapping):
            size = self.definition(node, namespace, depth, in_list)
        else:
            raise self.refuse(f"has an element that is no type: {_cut(node)}")
        if size.types > MAX_TYPES:
            raise self.refuse(f"has more than {MAX_TYPES} types once its names are resolved")
        return size

    def reference(self, name: str, namespace: str) -> _Size:
        """A reference: by full name, or in the namespace around it, or in none (decoders differ)."""
        meant = {name, f"{namespace}.{name}"} if "." not in name else {name}
        if meant & self.open:
            raise self.refuse(f"refers to itself: {_cut(name)}")
        sizes = [self.sizes[n] for n in meant if n in self.sizes]
        if not sizes:
            raise self.refuse(f"names a type that it does not define: {_cut(name)}")
        # two decimal or uuid partition fields share one fixed type; no Iceberg writer names a record twice
        self.plain = self.plain and len(sizes) == 1 and sizes[0].fixed
        return _Size(min(s.least for s in sizes), max(s.types for s in sizes))

    def union(self, branches: list[Any], namespace: str, depth: int, in_list: bool) -> _Size:
        if not branches:
            raise self.refuse("has a union of nothing")
        if any(isinstance(branch, list) for branch in branches):
            raise self.refuse("has a union in a union")
        self.plain = self.plain and len(branches) == 2 and branches.count("null") == 1
        sizes = [self.walk(branch, namespace, depth + 1, in_list) for branch in branches]
        return _Size(1 + min(s.least for s in sizes), _total(sizes))

    def definition(self, node: Mapping[str, Any], namespace: str, depth: int, in_list: bool) -> _Size:
        kind, logical = node.get("type"), node.get("logicalType")
        if not isinstance(kind, str):
            self.plain = False
            return self.walk(kind, namespace, depth + 1, in_list)
        if logical is not None:
            self.plain = self.plain and isinstance(logical, str) and (kind, logical) in PLAIN_LOGICAL
            if logical == "decimal":
                self.decimal(node)
        if kind in RECORDS:
            return self.record(node, namespace, depth, in_list)
        if kind == "fixed":
            size = node.get("size")
            if type(size) is not int or not 0 <= size <= MAX_FIXED:
                raise self.refuse(f"has a fixed type of size {_cut(size)}; 0 to {MAX_FIXED} are read")
            self.plain = self.plain and size <= (16 if in_list else PLAIN_FIXED)
            return self.define(node, namespace, _Size(size, 1, fixed=True))
        if kind == "enum":
            symbols = node.get("symbols")
            if not isinstance(symbols, list) or len(symbols) > MAX_SYMBOLS or not all(_text(s) for s in symbols):
                raise self.refuse(f"has an enum whose symbols are not a list of at most {MAX_SYMBOLS} names")
            self.plain = False
            return self.define(node, namespace, _Size(1, 1))
        if kind in ("array", "map"):
            self.plain = self.plain and not in_list
            inner = self.walk(node.get("items" if kind == "array" else "values"), namespace, depth + 1, True)
            if not inner.least:
                raise self.refuse(f"has {'an array' if kind == 'array' else 'a map'} of empty items")
            return _Size(1, 1 + inner.types)
        return self.walk(kind, namespace, depth + 1, in_list)

    def record(self, node: Mapping[str, Any], namespace: str, depth: int, in_list: bool) -> _Size:
        name, inside = self.full_name(node, namespace)
        fields = node.get("fields")
        if not isinstance(fields, list):
            raise self.refuse(f"has a record without a list of fields: {_cut(name)}")
        self.plain = self.plain and node["type"] == "record"
        if len(fields) > MAX_TYPES:
            raise self.refuse(f"has a record of {len(fields):,} fields; at most {MAX_TYPES:,} types are read")
        self.open.add(name)
        sizes, names, ids = [], set(), set()
        for field in fields:
            if not isinstance(field, Mapping) or not _text(field.get("name")) or "type" not in field:
                raise self.refuse(f"has a field without a name or a type in {_cut(name)}")
            field_id = field.get("field-id", 0)
            if type(field_id) is not int or not -(1 << 31) <= field_id < 1 << 31:
                raise self.refuse(f"gives the field {_cut(field['name'])} the id {_cut(field_id)}, no 32-bit number")
            if "field-id" in field and field_id in ids:  # readers differ in which of the two they take
                raise self.refuse(f"gives two fields of {_cut(name)} the id {field_id}")
            ids.add(field_id)
            names.add(field["name"])
            self.plain = self.plain and isinstance(field.get("default"), (str, int, float, type(None)))
            sizes.append(self.walk(field["type"], inside, depth + 1, in_list))
            self.plain = self.plain and field["type"] != "null"
        self.open.discard(name)
        if len(names) < len(sizes):
            raise self.refuse(f"gives two fields of {_cut(name)} the same name")
        return self.define(node, namespace, _Size(sum(s.least for s in sizes), _total(sizes)))

    def define(self, node: Mapping[str, Any], namespace: str, size: _Size) -> _Size:
        name, inside = self.full_name(node, namespace)
        self.plain = self.plain and not inside and name not in self.sizes
        self.sizes[name] = size
        return size

    def full_name(self, node: Mapping[str, Any], namespace: str) -> tuple[str, str]:
        """(full name, the namespace inside it)."""
        name, own = node.get("name"), node.get("namespace", namespace)
        if not _text(name) or not isinstance(own, str):
            raise self.refuse(f"has a {node['type']} without a name")
        inside = str(name).rpartition(".")[0] if "." in str(name) else own
        return str(name) if "." in str(name) or not inside else f"{inside}.{name}", inside

    def decimal(self, node: Mapping[str, Any]) -> None:
        precision, scale = node.get("precision"), node.get("scale", 0)
        sound = type(precision) is int and 1 <= precision <= 38 and type(scale) is int and 0 <= scale <= precision
        if not sound:
            raise self.refuse(f"has a decimal of precision {_cut(precision)} and scale {_cut(scale)}; 38 is the most")
        self.plain = self.plain and node["type"] == "fixed" and type(node.get("size")) is int and node["size"] <= 16


def _total(sizes: list[_Size]) -> int:
    return 1 + sum(size.types for size in sizes)


def _text(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name) <= 1024


def _cut(value: Any) -> str:
    return repr(value)[:60]
