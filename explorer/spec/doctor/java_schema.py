"""What Iceberg Java refuses in a schema's JSON (Iceberg: SchemaParser, Schema, Types, SingleValueParser), and what
Spark cannot read of a schema that Java takes."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, NamedTuple

from explorer.spec.doctor.remedy_cases import NAMES_IN_CASE
from explorer.spec.schemas.schema_fields import MOST_PATH

JsonKind = Literal["int", "long", "text", "flag", "list", "object"]
Presence = Literal["required", "if present", "optional"]
"""Of a field that is `if present`, null is refused and absence is not."""
WORDS: Mapping[JsonKind, str] = {
    "int": "a whole number of 32 bits", "long": "a whole number of 64 bits", "text": "a text", "flag": "true or false",
    "list": "a list", "object": "an object",
}  # fmt: skip
_BITS = {"int": 31, "long": 63}
PLAIN = {
    "boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz", "timestamp_ns",
    "timestamptz_ns", "string", "uuid", "binary", "unknown", "variant", "geometry", "geography",
}  # fmt: skip
NOT_IN_SPARK = ("timestamp_ns", "timestamptz_ns", "time")
SPARK_PLACES = {"geometry": ("", "OGC:CRS84", "EPSG:3857"), "geography": ("", "OGC:CRS84")}
"""Reference systems with which Spark 4.1 was seen to open a table."""
SPARK_COLUMNS = {"_file", "_pos", "_deleted", "_spec_id", "_partition"}
"""Names of columns that Iceberg's Spark tables have themselves."""
_FIXED = re.compile(r"fixed\[\s*(\d+)\s*\]")
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_GEOMETRY = re.compile(r"geometry\s*(?:\(\s*([^)]*?)\s*\))?", re.IGNORECASE)
_GEOGRAPHY = re.compile(r"geography\s*(?:\(\s*([^,]*?)\s*(?:,\s*(\w*)\s*)?\))?", re.IGNORECASE)
_ALGORITHMS = {"spherical", "vincenty", "thomas", "andoyer", "karney"}
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})*")
_UTC = re.compile(r"(?:\+00:00|-00:00|Z)\Z")
_TIME = re.compile(r"\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?")


NULL_LITERAL = "'Cannot create expression literal from null'"
"""What Java says of a default that is null (apache/iceberg#15932)."""


class Refusal(NamedTuple):
    """What a parser refuses: a JSON pointer, in words why, what stands there, and the columns that it is about."""

    pointer: str
    words: str
    found: Any = None
    columns: tuple[str, ...] = ()


def lacks(node: Any, name: str, kind: JsonKind, presence: Presence, pointer: str) -> Iterator[Refusal]:
    """Refuse a field that is absent, or of another kind."""
    here = f"{pointer}/{name}"
    value = node.get(name)
    if name not in node and presence != "required":
        return
    if value is None:
        if presence != "optional":
            words = "is missing" if name not in node else f"is null, not {WORDS[kind]}"
            yield Refusal(here, f"`{name}` {words}")
    elif not is_kind(value, kind):
        yield Refusal(here, f"`{name}` is not {WORDS[kind]}", json_text(value))


def is_kind(value: Any, kind: JsonKind) -> bool:
    """Whether a JSON value is of a kind as Java takes it."""
    if kind in _BITS:
        return type(value) is int and -(1 << _BITS[kind]) <= value < 1 << _BITS[kind]
    return isinstance(value, {"text": str, "flag": bool, "list": list, "object": Mapping}[kind])


def json_text(value: Any) -> str:
    """A JSON value as text that is not long."""
    return repr(value)[:60]


@dataclass
class SchemaCheck:
    """The walk through one schema. `fields` has each field by its path, `parents` the path that a path is in."""

    pointer: str
    current: bool
    fields: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    names: dict[str, list[Any]] = field(default_factory=dict)
    """The ids of the fields by their path."""
    ids: Counter[int] = field(default_factory=Counter)

    def refusals(self, raw: Any) -> Iterator[Refusal]:
        """What Java refuses in the schema's JSON."""
        if not isinstance(raw, Mapping):
            yield Refusal(self.pointer, "a schema is not an object", json_text(raw))
            return
        yield from lacks(raw, "schema-id", "int", "optional", self.pointer)
        if raw.get("type") != "struct":
            yield Refusal(f"{self.pointer}/type", "the type of a schema is not `struct`", json_text(raw.get("type")))
        yield from self._struct(raw, self.pointer, "", True)
        for name, ids in self.names.items():
            if len(ids) > 1:
                words = (
                    f"{len(ids)} fields have the name {name[:100]!r}, with the ids {' and '.join(map(json_text, ids))}"
                )
                yield Refusal(self.pointer, words, name[:100])
        for own, times in self.ids.items():
            if times > 1:
                yield Refusal(self.pointer, f"{times} fields have the id {own}", own)
        yield from self._identifiers(raw)

    def _struct(self, raw: Mapping[str, Any], pointer: str, prefix: str, required: bool) -> Iterator[Refusal]:
        fields = raw.get("fields")
        if not isinstance(fields, list):
            yield Refusal(f"{pointer}/fields", "`fields` is missing, or not a list", json_text(fields))
            return
        for at, item in enumerate(fields):
            here = f"{pointer}/fields/{at}"
            if not isinstance(item, Mapping):
                yield Refusal(here, "a field is not an object", json_text(item))
                continue
            yield from lacks(item, "id", "int", "required", here)
            yield from lacks(item, "name", "text", "required", here)
            yield from lacks(item, "required", "flag", "required", here)
            yield from lacks(item, "doc", "text", "optional", here)
            name = prefix + str(item.get("name"))
            if len(name) > MOST_PATH:  # the schema is not read
                return
            self._note(name, item.get("id"), item, required and item.get("required") is True)
            if item.get("type") == "unknown" and item.get("required") is True:
                yield Refusal(f"{here}/required", f"column {name[:100]!r} of type unknown is required")
            yield from self._type(item.get("type"), f"{here}/type", f"{name}.")
            for default in ("initial-default", "write-default"):
                words = f"the {default} of column {name[:100]!r} is "
                if default in item and item[default] is None:
                    yield Refusal(f"{here}/{default}", f"{words}null, not absent ({NULL_LITERAL})", "null")
                elif default in item and not is_default(item[default], item.get("type")):
                    yield Refusal(f"{here}/{default}", f"{words}no value of its type", json_text(item[default]))

    def _note(self, name: str, own: Any, item: Mapping[str, Any], chain: bool) -> None:
        self.names.setdefault(name, []).append(own)
        if type(own) is int:
            self.ids[own] += 1
        self.fields[name] = {**item, "chain": chain}

    def _type(self, raw: Any, pointer: str, prefix: str) -> Iterator[Refusal]:
        if isinstance(raw, str):
            if not is_type(raw):
                yield Refusal(
                    pointer, f"the type of column {prefix[:-1][:100]!r} is none that Java has", json_text(raw)
                )
            return
        kind = raw.get("type") if isinstance(raw, Mapping) else None
        if kind == "struct":
            yield from self._struct(raw, pointer, prefix, self.fields[prefix[:-1]]["chain"])
        elif kind == "list":
            yield from self._members(raw, pointer, prefix, ("element",))
        elif kind == "map":
            yield from self._members(raw, pointer, prefix, ("key", "value"))
        else:
            yield Refusal(pointer, f"the type of column {prefix[:-1][:100]!r} is missing, or none", json_text(raw))

    def _members(self, raw: Any, pointer: str, prefix: str, parts: tuple[str, ...]) -> Iterator[Refusal]:
        for part in parts:
            yield from lacks(raw, f"{part}-id", "int", "required", pointer)
            if part != "key":
                yield from lacks(raw, f"{part}-required", "flag", "required", pointer)
            self._note(prefix + part, raw.get(f"{part}-id"), {"type": raw.get(part)}, False)
            yield from self._type(raw.get(part), f"{pointer}/{part}", f"{prefix}{part}.")

    def _identifiers(self, raw: Mapping[str, Any]) -> Iterator[Refusal]:
        here, own = f"{self.pointer}/identifier-field-ids", raw.get("identifier-field-ids")
        if own is None:
            return
        if not isinstance(own, list) or not all(is_kind(i, "int") for i in own):
            yield Refusal(here, "`identifier-field-ids` is not a list of whole numbers", json_text(own))
            return
        by_id = {item["id"]: item for item in self.fields.values() if type(item.get("id")) is int}
        for i in own:
            item = by_id.get(i)
            cause = ""
            if item is None:
                cause = "is in no field of the schema"
            elif not isinstance(item.get("type"), str):
                cause = "is no column of a primitive type"
            elif not item["chain"]:
                cause = "is not required, or lies in what is not"
            elif item["type"] in ("float", "double"):
                cause = "is a column of floating-point numbers"
            if cause:
                yield Refusal(here, f"identifier field {i} {cause}", i)

    def spark(self) -> Iterator[Refusal]:
        """What Spark cannot read, though the spec allows it, of the current schema."""
        alike: dict[str, list[str]] = {}
        for name in self.names:
            alike.setdefault(name.lower(), []).append(name)
        for names in alike.values():
            if len(names) > 1 and all(len(self.names[name]) == 1 for name in names):
                named = " and ".join(repr(name[:100]) for name in names[:3])
                words = f"the names of columns {named} differ {NAMES_IN_CASE}"
                yield Refusal(self.pointer, words, names[0][:100], tuple(names))
        for name, item in self.fields.items():
            kind, column = item.get("type"), f"column {name[:100]!r}"
            if isinstance(kind, str) and (cause := _not_in_spark(kind)):
                yield Refusal(self.pointer, f"Spark has no type for {column}: {cause}", kind[:60])
            if name in SPARK_COLUMNS:
                yield Refusal(self.pointer, f"Spark has a column of its own with the name of {column}", name)


def _not_in_spark(kind: str) -> str:
    """Why Spark has no such type; empty where it has."""
    if kind in NOT_IN_SPARK:
        return kind
    if (number := _DECIMAL.fullmatch(kind)) and int(number[2]) > int(number[1]):
        return "its scale is above its precision"
    if (place := _GEOMETRY.fullmatch(kind)) and (place[1] or "") not in SPARK_PLACES["geometry"]:
        return "its reference system"
    if place := _GEOGRAPHY.fullmatch(kind):
        if (place[1] or "") not in SPARK_PLACES["geography"]:
            return "its reference system"
        if (place[2] or "spherical").lower() != "spherical":
            return "its edges"
    return ""


def is_type(name: str) -> bool:
    """Whether Java has a type of that name."""
    lower = name.lower()
    if lower in PLAIN or _FIXED.fullmatch(lower):
        return True
    if number := _DECIMAL.fullmatch(lower):
        return int(number[1]) <= 38
    if place := _GEOMETRY.fullmatch(name):
        return place[1] != ""
    if place := _GEOGRAPHY.fullmatch(name):
        return place[1] != "" and (place[2] is None or place[2].lower() in _ALGORITHMS)
    return False


def is_default(value: Any, kind: Any) -> bool:
    """Whether a JSON value is a default of a type (spec: "Default Values"), as Java takes it."""
    if not isinstance(kind, str):
        return False
    if kind in ("int", "long", "boolean", "string"):
        return is_kind(value, {"boolean": "flag", "string": "text"}.get(kind, kind))  # type: ignore[arg-type]
    if kind in ("float", "double"):
        return isinstance(value, float)
    if not isinstance(value, str):
        return False
    if kind == "uuid":
        return re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value) is not None
    if kind == "binary" or (fixed := _FIXED.fullmatch(kind)):
        length = 2 * int(fixed[1]) if kind != "binary" and fixed else len(value)
        return _HEX.fullmatch(value) is not None and len(value) == length
    if number := _DECIMAL.fullmatch(kind):
        try:
            exponent = Decimal(value).as_tuple().exponent
        except InvalidOperation:
            return False
        return exponent == -int(number[2])
    return _is_moment(value, kind)


def _is_moment(value: str, kind: str) -> bool:
    if kind == "time":
        return _is_time(value)
    if kind == "date":
        return _is_date(value)
    if not kind.startswith("timestamp"):
        return False
    day, mark, rest = value.partition("T")
    zone = _UTC.search(rest)
    if not mark or (zone is not None) != kind.startswith("timestamptz"):
        return False
    return _is_date(day) and _is_time(rest[: zone.start()] if zone else rest)


def _is_date(value: str) -> bool:
    """Years of more than four digits have a sign, as in ISO 8601."""
    parts = re.fullmatch(r"([+-]\d{5,9}|-?\d{4})-(\d{2})-(\d{2})", value)
    if not parts:
        return False
    year = int(parts[1]) % 400 + 2000  # whose calendar is the same
    try:
        datetime.date(year, int(parts[2]), int(parts[3]))
    except ValueError:
        return False
    return True


def _is_time(value: str) -> bool:
    if not _TIME.fullmatch(value):
        return False
    limits = zip(value[:8].split(":"), (24, 60, 60), strict=False)
    return all(int(part) < limit for part, limit in limits)
