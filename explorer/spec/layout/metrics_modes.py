"""Which statistics of each column writers keep, by which rule, and what the files at hand have.

The rules are Iceberg's (org.apache.iceberg.MetricsConfig; docs: "Configuration", write.metadata.metrics.*)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Schema, TableMetadata
from explorer.spec.entries.entries import stored_live
from explorer.spec.entries.numpy_columns import map_keys
from explorer.spec.scan.stored_bounds import CUT_KINDS, lengths_of
from explorer.spec.text.units import whole
from explorer.spec.values.transforms import parse_transform

PREFIX, DEFAULT = "write.metadata.metrics.column.", "write.metadata.metrics.default"
LIMIT = "write.metadata.metrics.max-inferred-column-defaults"
USUAL, MOST = "truncate(16)", 100
_MODE = re.compile(r"none|counts|full|truncate\(\d+\)", re.IGNORECASE)


@dataclass(frozen=True)
class ColumnMode:
    """The mode of one column, and the rule that set it, in words. `counts`, `nulls`, `lower` and `upper` are how many
    live data files, of `files`, have counts of its values and of its nulls, lower and upper bounds of it. `longest` is
    the length of the longest bound that is stored: characters of a text, bytes of a binary."""

    field_id: int
    name: str
    kind: str
    mode: str
    rule: str
    files: int = 0
    counts: int = 0
    nulls: int = 0
    lower: int = 0
    upper: int = 0
    longest: int = 0

    @property
    def kept(self) -> int | None:
        """Characters of a text, or bytes of a binary, that writers keep in bounds; None where they keep all."""
        is_cut = self.mode.startswith("truncate") and self.kind in CUT_KINDS
        return int(self.mode[9:-1]) if is_cut else None

    @property
    def setting(self) -> str:
        """The property that sets it."""
        return PREFIX + self.name

    @property
    def bounds(self) -> bool:
        """Whether writers keep bounds now."""
        return self.mode not in ("none", "counts")

    @property
    def skips(self) -> str:
        """What a filter on the column can skip with such statistics, and with older ones that files still have."""
        if not self.bounds:
            now = "nothing" if self.mode == "none" else "IS NULL and IS NOT NULL only"
            older = f"{self.lower:,} older {'file has' if self.lower == 1 else 'files have'} bounds"
            return f"{now} in new files; comparisons, where {older}" if self.lower else now
        kept, unit = self.kept, "characters" if self.kind == "string" else "bytes"
        if kept is None:
            return "comparisons"
        longer = f" in new files; stored bounds have up to {self.longest:,}" if self.longest > kept else ""
        return f"comparisons, by the first {kept} {unit}{longer}"

    @property
    def agreement(self) -> str:
        """How the files at hand fit the mode."""
        counted = 0 if self.mode == "none" else self.files
        has_counts = self.counts == self.nulls == counted
        if not self.files or (has_counts and (self.lower == self.files) == self.bounds):
            if not self.files or self.kept is None or self.longest <= self.kept:
                return "all files have what the mode says" if self.files else "there are no files"
            unit = "characters" if self.kind == "string" else "bytes"
            return (
                f"all files have bounds, of up to {self.longest:,} {unit}, more than the mode keeps: those are older "
                "than the mode or by another writer"
            )
        counts = f"{self.counts:,} of {self.files:,} files have counts"
        if self.nulls != self.counts:
            counts = f"{self.counts:,} of {self.files:,} files have counts of values, {self.nulls:,} of nulls"
        parts = [f"{counts}, {self.lower:,} bounds"]
        if self.bounds and self.lower < self.files:
            others = "older than the column or the mode, by another writer, or hold nulls and NaN only"
            parts.append(f"the others are {others}")
        if not self.bounds and self.lower:
            parts.append("those with bounds are older than the mode or by another writer")
        return "; ".join(parts)


def column_modes(metadata: TableMetadata, schema: Schema) -> list[ColumnMode]:
    """The mode of every column and nested field of a schema that can have statistics, by the table's properties and
    its sort order."""
    leaves = primitive_columns(schema)
    modes = dict.fromkeys((i for i, *_ in leaves), (USUAL, f"Iceberg's default (no {DEFAULT} is set)"))
    default = metadata.properties.get(DEFAULT)
    if default is not None:
        mode = _parse(default, USUAL)
        modes = dict.fromkeys(modes, (mode, f"{DEFAULT} = {default}"))
        usual = mode
    else:
        limit = whole(metadata.properties.get(LIMIT))
        limit = MOST if limit is None else limit
        usual = USUAL
        if len(schema.by_id) > limit:
            usual = "none"
            first_ids = set(_first(schema.raw["fields"], limit))
            why = f"the schema has {len(schema.by_id):,} fields, and only the first {limit:,} get statistics ({LIMIT})"
            modes = {
                i: (USUAL, f"among the first {limit:,} columns") if i in first_ids else ("none", why) for i in modes
            }
    if usual in ("none", "counts"):
        modes |= dict.fromkeys(
            _sort_columns(metadata) & set(modes), (USUAL, "the sort order has it, so at least truncate(16)")
        )
    for field_id, name, _ in leaves:
        if (own := metadata.properties.get(PREFIX + name)) is not None:
            modes[field_id] = (_parse(own, usual), f"{PREFIX}{name} = {own}")
    return [ColumnMode(i, name, kind, *modes[i]) for i, name, kind in leaves]


def primitive_columns(schema: Schema) -> list[tuple[int, str, str]]:
    """List the field id, path and type of each primitive field, those of structs, lists and maps too, in order."""
    return list(_leaves(schema.raw["fields"]))


def _leaves(fields: Iterable[Mapping[str, Any]], above: str = "") -> Iterator[tuple[int, str, str]]:
    """(id, path, type) of primitive fields, those of lists and maps too, in order."""
    for field in fields:
        yield from _leaf(int(field["id"]), above + field["name"], field["type"])


def _leaf(field_id: int, path: str, kind: Any) -> Iterator[tuple[int, str, str]]:
    if isinstance(kind, str):
        yield field_id, path, kind
    elif kind["type"] == "struct":
        yield from _leaves(kind["fields"], f"{path}.")
    elif kind["type"] == "list":
        yield from _leaf(int(kind["element-id"]), f"{path}.element", kind["element"])
    elif kind["type"] == "map":
        yield from _leaf(int(kind["key-id"]), f"{path}.key", kind["key"])
        yield from _leaf(int(kind["value-id"]), f"{path}.value", kind["value"])


def _first(fields: Iterable[Mapping[str, Any]], limit: int) -> Iterator[int]:
    """The primitive fields that Iceberg counts up to a limit: of each struct its own before those inside."""
    left = [limit]

    def visit(kind: Any) -> Iterator[int]:
        parts: list[tuple[int, Any]] = []
        if kind["type"] == "struct":
            parts = [(int(f["id"]), f["type"]) for f in kind["fields"]]
        elif kind["type"] == "list":
            parts = [(int(kind["element-id"]), kind["element"])]
        elif kind["type"] == "map":
            parts = [(int(kind["key-id"]), kind["key"]), (int(kind["value-id"]), kind["value"])]
        for field_id, inner in parts:
            if isinstance(inner, str) and left[0] > 0:
                left[0] -= 1
                yield field_id
        for _, inner in parts:
            if not isinstance(inner, str) and left[0] > 0:
                yield from visit(inner)

    return visit({"type": "struct", "fields": list(fields)})


def _sort_columns(metadata: TableMetadata) -> set[int]:
    """Columns of the table's sort order whose transform keeps the order."""
    order = metadata.sort_order(metadata.default_sort_order_id)
    names = set()
    for field in order.fields if order else ():
        try:
            keeps = bool(parse_transform(field.transform).preserves_order)
        except Exception:  # a transform that is not known
            keeps = False
        if keeps and field.source_ids:
            names.add(field.source_ids[0])
    return names


def _parse(text: str, otherwise: str) -> str:
    """A mode as Iceberg reads it; what is none of them counts as not set."""
    return text.lower() if _MODE.fullmatch(text) else otherwise


METRICS_COUNTS = pa.schema([("statistic", pa.string()), ("field_id", pa.int32()), ("files", pa.int64())])
_FILES = "files"
_BYTES, _CHARACTERS = _LENGTHS = ("bytes of the longest bound", "characters of the longest bound")
STATISTICS = ("value_counts", "null_value_counts", "lower_bounds", "upper_bounds")
"""Of a manifest entry, of which is told how many files have them."""
BOUNDS = STATISTICS[2:]


def count_statistics(_: ManifestFile, stored: pa.Table) -> pa.Table:
    """METRICS_COUNTS: how many live data files of manifests have each statistic of each column, how many there are,
    and how long the longest bound is (`files` is then its length)."""
    files = stored_live(stored)
    rows: list[tuple[str, int, int]] = [(_FILES, 0, files.num_rows)]
    for name in BOUNDS:
        rows += _longest(files[name])
    for name in STATISTICS:
        ids, often = np.unique(map_keys(files[name]), return_counts=True)
        rows += [(name, i, number) for i, number in zip(ids.tolist(), often.tolist(), strict=True)]
    return pa.Table.from_pylist([dict(zip(METRICS_COUNTS.names, row, strict=True)) for row in rows], METRICS_COUNTS)


def _longest(column: pa.ChunkedArray) -> Iterator[tuple[str, int, int]]:
    """The length of each field's longest bound, in bytes and in characters, as if it were a text."""
    ids, places = np.unique(map_keys(column), return_inverse=True)
    bounds = pa.chunked_array([_items(chunk) for chunk in column.chunks], column.type.item_type).combine_chunks()
    for name, is_text in ((_BYTES, False), (_CHARACTERS, True)):
        most = np.zeros(len(ids), np.int64)
        np.maximum.at(most, places, lengths_of(bounds, is_text))
        yield from zip([name] * len(ids), ids.tolist(), most.tolist(), strict=True)


def _items(column: pa.Array) -> pa.Array:
    """The values of all maps, in the order of `map_keys`."""
    maps = column.drop_null()
    first, last = (maps.offsets[0].as_py(), maps.offsets[-1].as_py()) if len(maps) else (0, 0)
    return maps.items.slice(first, last - first)


class MetricsCounts:
    """Rows of METRICS_COUNTS added up."""

    def __init__(self, parts: Iterable[pa.Table]) -> None:
        self._counts = Counter[tuple[str, int]]()
        for row in chain.from_iterable(part.to_pylist() for part in parts):
            key, number = (row["statistic"], row["field_id"]), row["files"]
            self._counts[key] = max(self._counts[key], number) if key[0] in _LENGTHS else self._counts[key] + number

    def of(self, mode: ColumnMode) -> ColumnMode:
        """A mode with how many files have what it says."""
        counts, nulls, lower, upper = (self._counts[name, mode.field_id] for name in STATISTICS)
        longest = self._counts[_BYTES if mode.kind == "binary" else _CHARACTERS, mode.field_id]
        return replace(
            mode, files=self._counts[_FILES, 0], counts=counts, nulls=nulls, lower=lower, upper=upper,
            longest=longest if mode.kind in CUT_KINDS else 0,
        )  # fmt: skip
