"""Decode manifest lists and manifests to the model, matching columns by field id, never by the writer's names.

Two decoders give the same Arrow table: polars in bulk, and fastavro, in a child process, for what polars refuses and
where there is none. The stored view always comes from fastavro, which shows every field the writer wrote."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any
from weakref import WeakValueDictionary

import pyarrow as pa

from explorer.errors import NotNow, UnreadableFile
from explorer.model.manifest import (
    ENTRY_SCHEMA,
    FIELD_IDS,
    MANIFEST_CONTENT,
    NARROW_FIELDS,
    FieldSummary,
    ManifestFile,
    ManifestHeader,
)
from explorer.model.problem import Problem, Problems
from explorer.progress import Cancelled, steps
from explorer.spec.doctor.avro_types import WITHOUT_IDS
from explorer.storage import limits, polars_decoder
from explorer.storage.decoder_process import client, panics
from explorer.storage.formats.avro import AvroBlock, Container, Undecodable, records, records_here, repack
from explorer.storage.manifest_layout import LIST_IDS, ManifestLayout, fields_by_id, has_ids, with_ids_by_name
from explorer.storage.paths import LONGEST, normal_path

PORTION = 8 << 20
"""Unpacked bytes that are decoded in one call."""
RECORDS = 10_000
"""Records that are Python objects at once."""


_NUMBERS = tuple(n for n in LIST_IDS if n not in ("manifest_path", "partitions", "key_metadata"))
_ZERO = ("partition_spec_id", "content", "sequence_number", "min_sequence_number")
_WHOLE = {int, type(None)}


Known = WeakValueDictionary[tuple[str, str], ManifestFile]
"""Records of manifest lists that are held, by what their fields are called and the manifest's path. Most records of a
list are in the one before it too."""


def manifest_files(container: Container, cached: Known) -> tuple[list[ManifestFile], list[Problem]]:
    """The records of a manifest list, those that are the same as in `cached` as the same object, and what is wrong with
    those that are left out. Raises UnreadableFile when it is Avro, but not a manifest list."""
    without_ids = not has_ids(container.schema)
    container = with_ids_by_name(container)
    fields = fields_by_id(container.schema)
    if LIST_IDS["manifest_path"] not in fields:
        raise UnreadableFile(container.path, "Avro, but not a manifest list: no field has the id 500 (manifest_path)")
    names = {name: fields[i]["name"] for name, i in LIST_IDS.items() if i in fields}
    limits.within(container.count, limits.LISTED, container.path, "manifests")
    listed: list[ManifestFile] = []
    problems = Problems(container.path)
    if without_ids:
        problems.add(WITHOUT_IDS, "", "all records are shown", "warning", "avro-schema")
    repeats = Repeats(problems)
    written = [names.get(name, "") for name in LIST_IDS]
    summaries, called, path_name = 0, repr(names), names["manifest_path"]
    for n, record in enumerate(steps(records(container), "manifests", container.count)):
        try:
            key = (called, str(record.get(path_name)))
            same = cached.get(key)
            if same is None or same.raw != record:
                same = cached[key] = _manifest_file(record, written)
            if repeats.too_many(same.manifest_path):
                continue
            listed.append(same)
        except (KeyError, TypeError, AttributeError) as error:
            cause = f"it is no manifest: {error}"[:300]
            problems.add(cause, f"record {n}", "the other manifests are shown")
            continue
        summaries += len(listed[-1].partitions or ())
        limits.within(summaries, 8 * limits.LISTED, container.path, "partition summaries")
    repeats.end()
    return listed, problems.as_list()


class Repeats:
    """How often each manifest of a snapshot is named; one that is named again and again becomes a problem."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._times = Counter[str]()

    def too_many(self, path: str) -> bool:
        """Count a manifest. Return whether it is named so often that it must be left out now."""
        one = normal_path(path[:LONGEST])  # `//` and `file:` do not make another of it
        self._times[one] += 1
        return self._times[one] > limits.REPEATS

    def end(self) -> None:
        """Add a problem for each manifest that was left out."""
        for path, times in self._times.items():
            if times > limits.REPEATS:
                cause = f"names {path[:200]} {times:,} times; at most {limits.REPEATS} of one manifest are read here"
                self._problems.add(cause, unaffected="the other manifests are shown")


def _manifest_file(record: Mapping[str, Any], written: Sequence[str]) -> ManifestFile:
    """A record whose fields are called so, in the order of LIST_IDS, "" where the writer has none."""
    values: dict[str, Any] = dict(zip(LIST_IDS, map(record.get, written), strict=True))
    summaries = values["partitions"]
    if type(values["manifest_path"]) is not str or not {type(values[name]) for name in _NUMBERS} <= _WHOLE:
        raise TypeError("a path or a number has another type")
    for name in _ZERO:  # v1 has data manifests only, and no sequence numbers: the spec reads them as 0
        values[name] = values[name] or 0
    if values["content"] not in MANIFEST_CONTENT:
        raise TypeError(f"its content is {values['content']}, which is neither 0 (data) nor 1 (deletes)")
    if not -(2**31) <= values["partition_spec_id"] < 2**31:
        raise TypeError(f"its partition spec id, {values['partition_spec_id']}, has more than 32 bits")
    if summaries is not None:
        values["partitions"] = tuple(
            FieldSummary(bool(s["contains_null"]), s.get("contains_nan"), s.get("lower_bound"), s.get("upper_bound"))
            for s in summaries
        )
    return ManifestFile(**values, raw=record)


def header(container: Container) -> ManifestHeader:
    """The Avro header of a manifest, as it is."""
    return ManifestHeader(container.codec, container.schema, container.metadata)


def inline_manifest(path: str, length: int, container: Container, snapshot_id: int) -> ManifestFile:
    """The list record a v1 snapshot with inline `manifests` lacks; Iceberg takes the snapshot as the adding one."""
    text = container.metadata.get("partition-spec-id", "0")
    spec_id = int(text) if re.fullmatch(r"\d{1,9}", text) else 0
    unknown: dict[str, Any] = dict.fromkeys(name for name in LIST_IDS if name.endswith("_count"))
    return ManifestFile(
        manifest_path=path, manifest_length=length, partition_spec_id=spec_id, content=0, sequence_number=0,
        min_sequence_number=0,
        added_snapshot_id=snapshot_id, partitions=None, key_metadata=None, first_row_id=None, raw={}, **unknown,
    )  # fmt: skip


def entries(container: Container, metrics: bool = True) -> pa.Table:
    """All readable entries as stored: ENTRY_SCHEMA (without the metric columns if not `metrics`) and `partition`, a
    struct whose field names are partition field ids. Raises UnreadableFile when it is no manifest."""
    container = with_ids_by_name(container)
    layout = ManifestLayout(container)
    if container.plain and not panics.are_many():
        try:
            return entries_in_bulk(container, layout, metrics)
        except (UnreadableFile, Cancelled):
            raise
        except Exception:  # polars refuses some valid Avro, and Arrow some of what it gives: errors of many kinds
            pass
    return client.run("entries", container.path, repack(container), metrics=metrics)


def entries_in_bulk(container: Container, layout: ManifestLayout | None = None, metrics: bool = True) -> pa.Table:
    """`entries` of a plain container, some blocks at a time: by polars, or by fastavro in a child where there is no
    polars. Raises what they raise."""
    if polars_decoder.module() is not None or not container.blocks:
        return entries_polars(container, layout, metrics)
    return _decode_portions(container, partial(_decode_in_child, metrics))


def _decode_in_child(metrics: bool, portion: Container) -> pa.Table:
    try:
        return client.run("entries", portion.path, repack(portion), metrics=metrics)
    except NotNow:
        raise
    except UnreadableFile as error:  # of the whole manifest it is told which record is at fault
        raise Undecodable(str(error)) from error


def entries_here(container: Container, metrics: bool) -> pa.Table:
    """`entries` in this process, by whichever decoder can: for the child. Raises what decoders raise."""
    layout = ManifestLayout(container)
    try:
        return entries_polars(container, layout, metrics)
    except (Undecodable, pa.ArrowException, ValueError, TypeError, KeyError, AttributeError):
        return entries_fastavro(container, layout, metrics)


def entries_of_many(containers: Sequence[Container], metrics: bool = True) -> list[pa.Table | UnreadableFile]:
    """`entries` of several manifests; those with the same writer schema are decoded in one call, which is what costs
    with many small ones. A manifest that cannot be decoded gives its error in its place."""
    results: dict[int, pa.Table | UnreadableFile] = {}
    containers = [with_ids_by_name(container) for container in containers]
    alike: dict[str, list[int]] = {}
    for i, container in enumerate(containers):
        alike.setdefault(json.dumps(container.schema) if container.plain else f"alone: {i}", []).append(i)
    for members in alike.values():
        if len(members) > 1 and not panics.are_many():
            blocks = tuple(block for i in members for block in containers[i].blocks)
            try:
                together = entries_in_bulk(replace(containers[members[0]], blocks=blocks), metrics=metrics)
            except Cancelled:
                raise
            except Exception:  # one of them is at fault: each for itself says which
                together = None
            if together is not None:
                start = 0
                for i in members:
                    results[i] = together.slice(start, containers[i].count)
                    start += containers[i].count
                continue
        for i in members:
            try:
                results[i] = entries(containers[i], metrics)
            except UnreadableFile as error:
                results[i] = error
    return [results[i] for i in range(len(containers))]


def _flat_schema(container: Container) -> dict[str, Any]:
    """The writer's schema with `data_file` opened up, so that its fields are columns of their own, under our names.

    Avro writes a record in a record as its fields, one after the other, so the bytes are the same. Polars can then skip
    the metric maps, and decodes the rest almost twice as fast. A partition without fields has no bytes: it is left
    out."""
    names = {field_id: name for name, field_id in FIELD_IDS.items()}
    flat: list[dict[str, Any]] = []
    for top in container.schema["fields"]:
        inside = top["type"]["fields"] if top.get("field-id") == 2 else [top]
        for field in inside:
            if not (
                isinstance(field["type"], Mapping)
                and field["type"].get("type") == "record"
                and not field["type"]["fields"]
            ):
                flat.append({"name": names.get(field.get("field-id"), f"unknown_{len(flat)}"), "type": field["type"]})
    return {"type": "record", "name": "manifest_entry", "fields": flat}


def entries_polars(container: Container, layout: ManifestLayout | None = None, metrics: bool = True) -> pa.Table:
    """`entries` by polars; raises what polars raises."""
    layout = layout or ManifestLayout(container)
    if not container.blocks:
        return entries_fastavro(container, layout, metrics)
    return _decode_portions(container, partial(_by_polars, layout, metrics))


def _decode_portions(container: Container, decode: Callable[[Container], pa.Table]) -> pa.Table:
    """Decode some blocks at a time, as long as there is room for what they become. Raises what `decode` raises."""
    parts, size = [], 0
    with limits.growing() as grow:
        for blocks in _portions(container.blocks):
            parts.append(decode(replace(container, blocks=blocks)))
            size += parts[-1].nbytes
            limits.within(size, limits.share(2), container.path, "bytes once decoded", f"set {limits.VARIABLE} to more")
            if not grow(size):
                raise NotNow(container.path, f"not read: other files are being decoded beside its {size:,} bytes")
    return parts[0] if len(parts) == 1 else pa.concat_tables(parts)


def _portions(blocks: Sequence[AvroBlock]) -> Iterator[tuple[AvroBlock, ...]]:
    """Blocks of together PORTION bytes: what they become is looked at before the next ones are decoded."""
    portion: list[AvroBlock] = []
    size = 0
    for block in blocks:
        portion.append(block)
        size += len(block.data)
        if size >= PORTION:
            yield tuple(portion)
            portion, size = [], 0
    if portion:
        yield tuple(portion)


def _by_polars(layout: ManifestLayout, metrics: bool, container: Container) -> pa.Table:
    schema = _flat_schema(container)
    have = {field["name"] for field in schema["fields"]}
    fields = list(ENTRY_SCHEMA if metrics else NARROW_FIELDS)
    wanted = [f.name for f in fields if f.name in have] + (["partition"] if layout.partition else [])
    frame = polars_decoder.read_columns(container, wanted, schema)
    arrays = [
        _cast(polars_decoder.to_arrow(frame.get_column(f.name), layout.maps.get(f.name)), f.type)
        if f.name in have
        else pa.nulls(len(frame), f.type)
        for f in fields
    ]
    parts: list[pa.Array] = []
    if layout.partition:
        struct = frame.get_column("partition").struct
        parts = [_cast(polars_decoder.to_arrow(struct.field(name)), kind) for name, _, kind in layout.partition]
    return entry_table(layout.path, fields, arrays, _fields_of(layout), parts, len(frame))


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.type == kind:
        return array
    if pa.types.is_map(kind) and not pa.types.is_map(array.type):
        return pa.array(array.to_pylist(), kind)
    return array.cast(kind)


def entries_fastavro(container: Container, layout: ManifestLayout | None = None, metrics: bool = True) -> pa.Table:
    """`entries` by fastavro: slower, and reads everything Avro allows."""
    layout = layout or ManifestLayout(container)
    records, parts, first = records_here(container), list[pa.Table](), 0
    while (rows := list(islice(records, RECORDS))) or not parts:
        parts.append(_from_records(rows, first, layout, metrics))
        first += len(rows)
    return pa.concat_tables(parts)


def _from_records(rows: Sequence[Mapping[str, Any]], first: int, layout: ManifestLayout, metrics: bool) -> pa.Table:
    """Some records as a table; `first` is the place of the first of them among all."""
    files = [row[layout.data_file] for row in rows]
    fields = list(ENTRY_SCHEMA if metrics else NARROW_FIELDS)
    arrays = []
    for field in fields:
        if field.name in layout.top:
            values = [row[layout.top[field.name]] for row in rows]
        elif field.name in layout.file:
            source, entry = layout.file[field.name], layout.maps.get(field.name)
            values = [
                _map_items(file[source], entry) if pa.types.is_map(field.type) else file[source] for file in files
            ]
        else:
            values = [None] * len(rows)
        arrays.append(pa.array(values, field.type))
    parts = [
        pa.array([file[layout.partition_name][name] for file in files], kind) for name, _, kind in layout.partition
    ]
    return entry_table(layout.path, fields, arrays, _fields_of(layout), parts, len(rows), first)


def _map_items(value: Any, entry: tuple[str, str] | None) -> list[tuple[Any, Any]] | None:
    if value is None:
        return None
    if isinstance(value, Mapping):
        return [(int(k), v) for k, v in value.items()]
    key, item = entry or ("key", "value")
    return [(pair[key], pair[item]) for pair in value if pair is not None]


def _fields_of(layout: ManifestLayout) -> list[pa.Field]:
    return [pa.field(field_id, kind) for _, field_id, kind in layout.partition]


def entry_table(
    path: str, fields: Sequence[pa.Field], arrays: Sequence[pa.Array], partition_fields: Sequence[pa.Field],
    parts: Sequence[pa.Array], rows: int, first: int = 0,
) -> pa.Table:  # fmt: skip
    """Return decoded entries of a manifest as `entries` has them.

    Args:
        path: The manifest, for errors.
        fields: The fields of the entries, without `partition`.
        arrays: A column for each of them.
        partition_fields: The fields of the partition, which are called by their field ids.
        parts: A column for each of these.
        rows: How many entries there are.
        first: The place of the first of them in the manifest.

    Raises:
        UnreadableFile: An entry has no status or no path.
    """
    for name in ("status", "file_path"):
        if (column := arrays[[f.name for f in fields].index(name)]).null_count:
            row = column.is_null().to_pylist().index(True)
            raise UnreadableFile(path, f"entry {first + row} has no {name}")
    if partition_fields:
        whole = [part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part for part in parts]
        partition = pa.StructArray.from_arrays(whole, fields=list(partition_fields))
    else:
        partition = pa.array([{}] * rows, pa.struct([]))
    return pa.table([*arrays, partition], schema=pa.schema([*fields, pa.field("partition", partition.type)]))
