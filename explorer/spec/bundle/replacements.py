"""What takes the place of a table's names, paths and values, the same for the same wherever it stands.

Only what is named here is kept: numbers, and words of the spec and of its writers. Anything else is replaced, or left
out and counted."""

from __future__ import annotations

import re
import struct
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from explorer.model.metadata import PartitionField, Schema, TableMetadata
from explorer.spec.bundle.ordered_values import CALENDAR, Family, family_of, pack, unpack, within_longest
from explorer.spec.deletes.deletes import PATH_ID

POSITION_IDS = frozenset({2147483545, 2147483540, 2147483539})
"""Of rows: their position, id and sequence number. These numbers are no secrets."""
SCHEMES = frozenset(
    {"file", "s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "adl", "hdfs", "viewfs", "ofs", "o3fs", "oss",
     "cos", "http", "https", "memory"}
)  # fmt: skip
KEPT_SEGMENTS = frozenset({"", "data", "metadata"})
ENDINGS = (".metadata.json", ".json", ".parquet", ".avro", ".orc", ".puffin", ".stats", ".crc", ".gz")
MOST_ENDINGS = 3
"""Of one name: writers give three at most."""
WRITTEN = re.compile(
    r"(?:v\d{1,9}|(?:(?:snap|optimized|m|m\d+|deletes?|dv|eq|pos|data|stats|partition|\d{1,20})-)*"
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-(?:m\d+|m|deletes?|dv|eq|pos|data|\d{1,20}))*)"
)
"""Names that Iceberg's writers give to files: numbers and a UUID."""
PRIMITIVE = re.compile(
    r"boolean|int|long|float|double|date|time|timestamp(?:tz)?(?:_ns)?|string|uuid|binary|unknown|variant|"
    r"fixed\[\d{1,9}\]|decimal\(\d{1,3}, ?\d{1,3}\)"
)
TRANSFORM = re.compile(r"identity|year|month|day|hour|void|(?:bucket|truncate)\[\d{1,10}\]")
SUFFIXES = {"year": "year", "month": "month", "day": "day", "hour": "hour", "bucket": "bucket", "truncate": "trunc"}
NUMBER = re.compile(r"-?\d{1,19}(?:\.\d{1,9})?")
PARTS = ("element", "key", "value")
LOCATION_LIKE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)?(//[^/]*)?(.*)", re.DOTALL)


class ValueSource(Protocol):
    """Gives the value that takes a packed value's place (see storage.replaced_values)."""

    def replace(self, domain: str, family: Family, value: bytes, widths: Sequence[int] = ...) -> bytes: ...


class Replacements:
    """What takes the place of what in one table.

    Args:
        metadata: The table's metadata file, whose columns and partition fields are replaced by their ids.
        values: What gives values.
    """

    def __init__(self, metadata: TableMetadata, values: ValueSource) -> None:
        self.metadata, self.values = metadata, values
        self.counts = Counter[str]()
        """In words, what was replaced or left out, and how often."""
        self.moved: dict[str, str] = {}
        """Paths of metadata outside the table's folder, and where they are in the bundle."""
        self._labels: dict[tuple[str, str], str] = {}
        self._next = Counter[str]()
        self.columns: dict[str, str] = {}
        """The new path of each column, by its own; of two columns with one path, that of the newest schema."""
        for schema in metadata.schemas:
            self.columns |= _column_names(schema)
        fields = [field for spec in metadata.partition_specs for field in spec.fields]
        self.bucketed = frozenset(f.source_ids[0] for f in fields if f.transform.startswith("bucket") and f.source_ids)
        """The columns that buckets are made of."""
        self.partition_names = {field.name: self.partition_name(field) for field in fields}
        self.widths = _truncate_widths(fields)
        """The widths to which columns are truncated, each a multiple of the next, so that new values hold to them."""
        self.has_loose_widths = any(
            width not in self.widths[field.source_ids[0]] for field in fields if (width := _truncate_width(field))
        )

    # -- names --------------------------------------------------------------------------------------------------------
    def label(self, kind: str, text: str) -> str:
        """Return the words that take the place of a text: its kind and a number."""
        if (kind, text) not in self._labels:
            self._next[kind] += 1
            self._labels[kind, text] = f"{kind}-{self._next[kind]}"
        return self._labels[kind, text]

    def uuid(self, text: str) -> str:
        """Return the UUID that takes the place of a table's."""
        if ("uuid", text) not in self._labels:
            self._labels["uuid", text] = str(uuid.uuid4())
        return self._labels["uuid", text]

    def partition_name(self, field: PartitionField) -> str:
        """Return the new name of a partition field, made of the column's and the transform's as the spec suggests."""
        source = self.metadata.field(field.source_ids[0]) if field.source_ids else None
        name, _, _ = field.transform.partition("[")
        if source is not None and field.transform == "identity" and field.name == source.name:
            return self.columns.get(source.name, column_name(source.id))
        if source is not None and name in SUFFIXES and field.name == f"{source.name}_{SUFFIXES[name]}":
            return f"{column_name(source.id)}_{SUFFIXES[name]}"
        return f"p{field.field_id}"

    # -- paths --------------------------------------------------------------------------------------------------------
    def path(self, path: str) -> str:
        """Return the path that takes the place of one. The scheme, the folders `data` and `metadata`, and names that
        writers make of numbers and a UUID stay. Raises ValueError for one with too long a name."""
        if path in self.moved:
            return self.moved[path]
        self.counts["paths"] += 1
        scheme, authority, rest = LOCATION_LIKE.fullmatch(path).groups()  # type: ignore[union-attr]
        scheme = scheme if not scheme or scheme[:-1].lower() in SCHEMES else "other:"
        bucket = f"//{self.label('bucket', authority)}" if authority and authority != "//" else authority or ""
        return f"{scheme or ''}{bucket}{'/'.join(map(self.file_name, rest.split('/')))}"

    def file_name(self, segment: str) -> str:
        """Return what takes the place of one part of a path: a folder or a file. Only a file has a name that a writer
        made: a folder may be called by the table's own UUID, or a person's."""
        if segment in KEPT_SEGMENTS:
            return segment
        stem = segment
        for _ in range(MOST_ENDINGS):
            ending = next((one for one in ENDINGS if stem.endswith(one) and stem != one), "")
            stem = stem.removesuffix(ending)
        ending = segment[len(stem) :]
        if not (ending and WRITTEN.fullmatch(stem)) or self._names_table(stem):
            name, sign, value = stem.partition("=")
            if sign:
                known = self.partition_names.get(name) or self.columns.get(name)
                stem = f"{known or self._path_text(name)}={self._path_text(value)}"
            else:
                stem = self._path_text(stem)
        return stem + ending

    def _names_table(self, stem: str) -> bool:
        own = self.metadata.table_uuid
        return bool(own) and str(own).lower() in stem

    def _path_text(self, text: str) -> str:
        """Raises ValueError for one that is too long."""
        packed = within_longest(text.encode(errors="replace"))
        return self.values.replace("paths", "text", packed).decode() if text else ""

    # -- values -------------------------------------------------------------------------------------------------------
    def value(self, field_id: int, value: Any, kind: str, transform: str = "identity") -> Any:
        """Return the internal value that takes the place of a column's, or of what a transform makes of it.

        Raises:
            ValueError, TypeError, OverflowError, AttributeError: It is no value of that type.
        """
        family = family_of(kind)
        packed = pack(value, kind, transform) if family else None
        if family is None or packed is None:
            return value
        new = self.values.replace(f"{field_id}:{family}", family, packed, self.widths.get(field_id, (1,)))
        return value if new is packed else unpack(new, kind, transform)

    def bound(self, field_id: int, data: bytes) -> bytes | None:
        """Return the serialized value that takes the place of a column's bound (spec: "Appendix D").

        Returns:
            Bytes of the same length, unless the column's type has no order: then None. Bytes that are no value of the
            type become others that are none, or zeros.
        """
        if field_id == PATH_ID:
            try:
                return self.path(data.decode()).encode()
            except UnicodeDecodeError:
                return b"?"
        if field_id in POSITION_IDS:
            return data if len(data) == 8 else bytes(len(data))
        field = self.metadata.field(field_id)
        return self._serialized(field_id, data, field.type if field else None)

    def _serialized(self, field_id: int, data: bytes, kind: Any, transform: str = "identity") -> bytes | None:
        if kind == "boolean":
            return data if data in (b"\0", b"\1") else bytes(len(data))
        if family_of(kind) is None:
            self.counts["bounds of types without an order, left out"] += 1
            return None
        self.counts["bounds"] += 1
        if transform == "identity" and kind.startswith("timestamp") and len(data) == 4:
            kind = "date"  # as it was written before a promotion
        try:
            value = _read(data, kind, transform)
            new = self.value(field_id, value, kind, transform)
            return data if new is value else _write(new, kind, transform, len(data))
        except (ValueError, TypeError, OverflowError, struct.error):
            self.counts["bounds that are no values of their type"] += 1
            return (b"\xff" if family_of(kind) == "text" else b"\0") * len(data)

    def partition_bound(self, field: PartitionField, data: bytes) -> bytes | None:
        """Return what takes the place of a bound of a partition field, in a manifest list."""
        name, _, _ = field.transform.partition("[")
        source = self.metadata.field(field.source_ids[0]) if len(field.source_ids) == 1 else None
        if name == "bucket":
            return data if len(data) == 4 else bytes(len(data))
        if source is None or name not in ("identity", "truncate", *CALENDAR):
            self.counts["bounds of unknown transforms, left out"] += 1
            return None
        return self._serialized(source.id, data, source.type, name if name in CALENDAR else "identity")

    def partition_value(self, field: PartitionField | None, value: Any) -> Any:
        """Return what takes the place of a partition value, as Avro stores it: a whole number, text or bytes.

        Args:
            field: The partition field; None for one that no spec has.
            value: The value.
        """
        if value is None or isinstance(value, bool):
            return value
        self.counts["partition values"] += 1
        name, _, _ = field.transform.partition("[") if field else ("", "", "")
        source = self.metadata.field(field.source_ids[0]) if field and len(field.source_ids) == 1 else None
        if name == "bucket" and isinstance(value, int):
            return value
        if source is None or family_of(source.type) is None or name not in ("identity", "truncate", *CALENDAR):
            return self._unknown_value(field, value)
        if isinstance(value, bytes):
            return self._serialized(source.id, value, source.type)
        try:
            return self.value(source.id, value, source.type, name if name in CALENDAR else "identity")
        except (ValueError, TypeError, OverflowError, AttributeError):
            return self._unknown_value(field, value)

    def _unknown_value(self, field: PartitionField | None, value: Any) -> Any:
        kinds = {int: "long", str: "string", bytes: "binary", float: "double"}
        return self.value(-(field.field_id if field else 1), value, kinds[type(value)])


def column_name(field_id: int) -> str:
    """Return the new name of a column."""
    return f"c{field_id}"


def _column_names(schema: Schema) -> dict[str, str]:
    """Each column's dotted path, and the new one."""
    names: dict[str, str] = {}
    kinds: dict[str, object] = {}
    for field in sorted(schema.by_id.values(), key=lambda field: len(field.name)):
        dots = [at for at, character in enumerate(field.name) if character == "."]
        above = next((field.name[:at] for at in reversed(dots) if field.name[:at] in names), None)
        last = column_name(field.id)
        if above is not None:
            own, kind = field.name[len(above) + 1 :], kinds[above]
            is_part = isinstance(kind, Mapping) and kind.get("type") in ("list", "map") and own in PARTS
            last = f"{names[above]}.{own if is_part else last}"
        names[field.name], kinds[field.name] = last, field.type
    return names


def _truncate_width(field: PartitionField) -> int | None:
    """Return the width to which a partition field truncates a column; None for another transform."""
    match = re.fullmatch(r"truncate\[(\d{1,10})\]", field.transform)
    return int(match[1]) or 1 if match and field.source_ids else None


def _truncate_widths(fields: list[PartitionField]) -> dict[int, tuple[int, ...]]:
    """Of each column that is truncated, the widths: the largest, and each smaller one that divides the last."""
    found = {(width, field.source_ids[0]) for field in fields if (width := _truncate_width(field))}
    widths: dict[int, tuple[int, ...]] = {}
    for width, source in sorted(found, reverse=True):
        own = widths.get(source, ())
        if not own or own[-1] % width == 0:
            widths[source] = (*own, width)
    return {source: own if own[-1] == 1 else (*own, 1) for source, own in widths.items()}


def _read(data: bytes, kind: str, transform: str) -> Any:
    """The internal value of a serialized one. Raises ValueError and struct.error."""
    if transform in CALENDAR:
        return struct.unpack("<i", data)[0]
    family = family_of(kind)
    if family == "text":
        return data.decode()
    if family == "bytes":
        return data
    if kind.startswith("decimal"):
        if not 0 < len(data) <= 16:
            raise ValueError("no decimal")
        return int.from_bytes(data, "big", signed=True)
    formats = {4: "<f", 8: "<d"} if family == "real" else {4: "<i", 8: "<q"}
    return struct.unpack(formats.get(len(data), "<q"), data)[0]


def _write(value: Any, kind: str, transform: str, length: int) -> bytes:
    family = family_of(kind)
    if family == "text":
        return bytes(value.encode())
    if family == "bytes":
        return bytes(value)
    if kind.startswith("decimal") and transform not in CALENDAR:
        return int(value).to_bytes(length, "big", signed=True)
    formats = {4: "<f", 8: "<d"} if family == "real" else {4: "<i", 8: "<q"}
    return struct.pack(formats[length], value)
