"""Decode sound manifests by the native module (native/), where it was built: many in one call, without the GIL.

It takes what Iceberg's writers make. Of a damaged or unusual file it says nothing but that it is one: storage.manifests
finds out what can be read of it, and what is wrong, as it does for all files where there is no native module."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from explorer import native_module
from explorer.errors import UnreadableFile
from explorer.model.manifest import FIELD_IDS, METRIC_FIELDS, NARROW_FIELDS
from explorer.progress import Cancelled, when_cancelled
from explorer.storage import limits
from explorer.storage.formats.avro import PLAIN_BLOCK, Container, cached_schema, read_header
from explorer.storage.manifest_layout import ManifestLayout, has_ids

LATER = -2
"""What stands for the number of entries of a file that was left for another call."""
UNWANTED = -1
"""The column of a field that is not decoded."""
AvroType = str | tuple[str, Any]
"""As the native module takes it: a word, or a word and what it is of."""


@dataclass(frozen=True)
class Decoded:
    """Manifests that were decoded, by path, and about how many bytes each takes; those that were left for another call,
    since these are enough for one; and the bytes that all of them unpacked to."""

    tables: Mapping[str, pa.Table]
    sizes: Mapping[str, int]
    later: frozenset[str]
    unpacked: int


class _File(NamedTuple):
    data: bytes
    start: int
    codec: str
    room: int


class _Limits(NamedTuple):
    entries: int
    items: int
    block: int
    together: int
    growth: int


def decode(packed: Mapping[str, bytes], metrics: bool, together: int) -> Decoded:
    """Decode the entries of those manifests that are sound and of the kind that writers make.

    Args:
        packed: The bytes of manifests, by path.
        metrics: Whether to decode the metric columns.
        together: The bytes that manifests unpack to, after which no other one is begun.

    Returns:
        Their entries as stored, as `storage.manifests.entries` has them.

    Raises:
        Cancelled: Nobody waits for the answer any more.
    """
    tables: dict[str, pa.Table] = {}
    sizes: dict[str, int] = {}
    later: set[str] = set()
    unpacked = 0
    for text, files in _written_alike(packed).items():
        plan = _plan(text, metrics)
        if plan is None:
            continue
        layout, partition_fields = plan
        room = max(0, together - unpacked)
        most = _Limits(limits.entry_limit(partition_fields), limits.ITEMS, PLAIN_BLOCK, room, limits.GROWTH)
        cancellation = native_module.module.Cancellation()
        with when_cancelled(cancellation.cancel), limits.growing() as grow:
            decoded = native_module.module.decode(layout, list(files.values()), most, cancellation, grow)
        if decoded is None:
            raise Cancelled("cancelled")
        batch, counts, size = decoded
        unpacked += size
        table = pa.Table.from_batches([batch])
        each_row = table.nbytes / max(1, table.num_rows)
        at = 0
        for path, count in zip(files, counts, strict=True):
            if count == LATER:
                later.add(path)
            elif count >= 0:
                entries = table.slice(at, count)
                at += count
                if not entries["status"].null_count and not entries["file_path"].null_count:
                    tables[path], sizes[path] = entries, int(count * each_row)
    return Decoded(tables, sizes, frozenset(later), unpacked)


def _written_alike(packed: Mapping[str, bytes]) -> dict[bytes, dict[str, _File]]:
    """The files that may be decoded here, by path, by the text of their schema."""
    alike: dict[bytes, dict[str, _File]] = {}
    if native_module.module is not None:
        for path, data in packed.items():
            try:
                header = read_header(data, path)
            except UnreadableFile:
                continue
            file = _File(data, header.start, header.codec, limits.unpack_limit(len(data)))
            alike.setdefault(header.text, {})[path] = file
    return alike


@functools.lru_cache(64)
def _plan(text: bytes, metrics: bool) -> tuple[Any, int] | None:
    """How manifests of a writer's schema are decoded, and how many fields their partitions have; None where the native
    module does not decode them."""
    schema, shape = cached_schema(text)
    if not shape.plain or not has_ids(schema):
        return None
    try:
        layout = ManifestLayout(Container("", schema, {}, "", ()))
        wanted = [*NARROW_FIELDS, *METRIC_FIELDS] if metrics else NARROW_FIELDS
        partition = pa.struct([pa.field(field_id, kind) for _, field_id, kind in layout.partition])
        columns = pa.schema([*wanted, pa.field("partition", partition)])
        fields = _fields(schema, [field.name for field in wanted])
        return native_module.module.Layout(columns, fields, shape.least), len(layout.partition)
    except (UnreadableFile, ValueError, KeyError, TypeError):
        return None


def _fields(schema: Mapping[str, Any], wanted: list[str]) -> list[tuple[AvroType, int]]:
    """The fields of a writer's schema, in the order of their bytes, with the columns that they are decoded to: those of
    the partition come after all others."""
    names = {field_id: name for name, field_id in FIELD_IDS.items()}
    defined: dict[str, AvroType] = {}
    fields: list[tuple[AvroType, int]] = []
    for top in schema["fields"]:
        for field in top["type"]["fields"] if top.get("field-id") == 2 else [top]:
            name = names.get(field.get("field-id"))
            if name == "partition":
                parts = field["type"]["fields"]  # of one that may be null: a TypeError
                fields += [(_type(part["type"], defined), len(wanted) + n) for n, part in enumerate(parts)]
            else:
                column = wanted.index(name) if name in wanted else UNWANTED
                fields.append((_type(field["type"], defined), column))
    return fields


def _type(node: Any, defined: dict[str, AvroType]) -> AvroType:
    """An Avro type for the native module; `defined` has the fixed types by name, which alone are named again."""
    if isinstance(node, list):
        return "union", [_type(branch, defined) for branch in node]
    if not isinstance(node, Mapping):
        return defined.get(node, node)
    kind = node["type"]
    if kind == "fixed":
        defined[node["name"]] = made = ("fixed", node["size"])
        return made
    if kind == "record":
        return "record", [_type(field["type"], defined) for field in node["fields"]]
    if kind == "array":
        return "array", _type(node["items"], defined)
    if kind == "map":
        return "map", _type(node["values"], defined)
    return _type(kind, defined)
