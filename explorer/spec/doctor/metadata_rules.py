"""Rules over table metadata: identity, schemas, specs, orders, properties, paths. Snapshots and refs are in
spec.doctor.snapshot_rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from explorer.model.metadata import Schema, TableMetadata
from explorer.spec.doctor.findings import Finding, finding
from explorer.spec.doctor.java_metadata import java_rules
from explorer.spec.doctor.java_schema import is_type
from explorer.spec.doctor.promotions import PROMOTED_DATE, PROMOTED_TO, is_promotion
from explorer.spec.doctor.promotions import kind_of as _kind
from explorer.spec.doctor.remedy_cases import (
    NAMES_A_CLASS,
    NEW_UUID,
    NO_SCHEMA_ID,
    NO_SOURCE,
    NO_UUID,
    OF_OTHER_TABLE,
    SWAPPED,
    ZERO,
)
from explorer.spec.schemas.sort_columns import dropped_columns, words_for_writers
from explorer.spec.secrets.redaction import HIDDEN, redact
from explorer.spec.secrets.secret_names import ALONE, WITHIN, holds_secret
from explorer.spec.text.names import base_name

RESERVED = 2147483447
"""Field ids above it are reserved (spec: "Reserved Field IDs")."""
_PLAIN = {
    "boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz", "string", "uuid", "binary",
}  # fmt: skip
_NEWER = {"timestamp_ns", "timestamptz_ns", "variant", "unknown"}
_SHAPED = re.compile(r"(?:fixed\[\d+\]|decimal\(\s*\d+\s*,\s*\d+\s*\))$")
_PLACES = re.compile(r"geo(?:metry|graphy)(?:\(.*\))?$")
_COLUMNS = re.compile(r"[A-Za-z_]{1,40}(?:\s*,\s*[A-Za-z_]{1,40})*")
_CLASS = re.compile(r"(?:^|[.-])(?:io-impl|catalog-impl|impl|class)$")


def table_rules(meta: TableMetadata, previous: TableMetadata | None = None) -> Iterator[Finding]:
    """What is wrong with a metadata file, by itself and beside the one before it."""
    here = partial(finding, file=meta.metadata_location, node=("metadata", meta.metadata_location))
    yield from java_rules(meta)
    if previous and is_of_other_table(meta, previous):
        yield here(
            "uuid-changed",
            OF_OTHER_TABLE,
            location="/metadata-log",
            severity="warning",
            found=previous.table_uuid,
            expected=meta.table_uuid,
        )
        previous = None
    yield from _identity(meta, previous, here)
    yield from _ids(meta, previous, here)
    for schema in meta.schemas:
        yield from _schema(meta, schema, here)
    yield from _old_orders(meta, here)
    yield from _types(meta, here)
    yield from _date_promotions(meta, here)
    yield from _zero_ids(meta, here)
    yield from _snapshot_schema(meta, here)
    yield from _specs(meta, here)
    yield from _properties(meta, here)


def is_of_other_table(meta: TableMetadata, previous: TableMetadata) -> bool:
    """Return whether a file that the metadata log names is another table's now: it has another UUID, no snapshot of
    this table, and another time than the log says of it.

    Args:
        meta: The metadata with the log.
        previous: What was read from a file that its log names.
    """
    if not previous.table_uuid or not meta.table_uuid or previous.table_uuid == meta.table_uuid:
        return False
    if {s.snapshot_id for s in meta.snapshots} & {s.snapshot_id for s in previous.snapshots}:
        return False
    name = base_name(previous.metadata_location)
    times = [e.timestamp_ms for e in meta.metadata_log if base_name(e.metadata_file) == name]
    return bool(times) and previous.last_updated_ms not in times


def current_schema(meta: TableMetadata) -> Iterator[Finding]:
    """Rule 4: without its schema nothing can be read."""
    if meta.schema(meta.current_schema_id) is None:
        yield finding(
            "current-schema-missing",
            f"schema {meta.current_schema_id} is not in `schemas`",
            meta.metadata_location,
            "/current-schema-id",
            found=meta.current_schema_id,
            expected=[s.schema_id for s in meta.schemas],
            node=("metadata", meta.metadata_location),
            refused="table",
        )


def _identity(meta: TableMetadata, previous: TableMetadata | None, here: Any) -> Iterator[Finding]:
    if meta.raw.get("table-uuid") is None:
        cause = NO_UUID if meta.format_version == 1 else "the table has no UUID"
        yield here("uuid-changed", cause, location="/table-uuid", refused="table")
    elif meta.table_uuid is not None and not re.fullmatch(
        r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", meta.table_uuid
    ):
        cause = "the table's UUID is none"
        yield here("uuid-changed", cause, location="/table-uuid", found=meta.table_uuid[:60], refused="table")
    if previous and previous.table_uuid and meta.table_uuid and previous.table_uuid != meta.table_uuid:
        pair: dict[str, Any] = {"found": meta.table_uuid, "expected": previous.table_uuid}
        if {s.snapshot_id for s in meta.snapshots} & {s.snapshot_id for s in previous.snapshots}:
            yield here("uuid-changed", NEW_UUID, location="/table-uuid", severity="warning", **pair)
        else:
            yield here("uuid-changed", f"{SWAPPED} file was swapped", location="/table-uuid", **pair)
    if previous and previous.format_version > meta.format_version:
        cause = "the metadata file before it has a higher format version"
        yield here(
            "metadata-field",
            cause,
            location="/format-version",
            found=meta.format_version,
            expected=previous.format_version,
        )


def _ids(meta: TableMetadata, previous: TableMetadata | None, here: Any) -> Iterator[Finding]:
    """Rules 5, 7, 8 and 10."""
    for what, key, ids, default in (
        ("schema", "schemas", [s.schema_id for s in meta.schemas], None),
        ("partition spec", "partition-specs", [s.spec_id for s in meta.partition_specs], "default-spec-id"),
        ("sort order", "sort-orders", [s.order_id for s in meta.sort_orders], "default-sort-order-id"),
    ):
        for own, times in Counter(ids).items():
            if times > 1:
                yield here("schema-rebound", f"{times} {what}s have the id {own}", location=f"/{key}", found=own,
                           refused="table")  # fmt: skip
        chosen = meta.raw.get(default) if default else None
        if type(chosen) is int and key in meta.raw and chosen not in ids:
            yield here(
                "default-missing",
                f"{what} {chosen} is not in `{key}`",
                location=f"/{default}",
                found=chosen,
                expected=ids,
                refused="table",
            )
    used = max((i for s in meta.schemas for i in s.by_id if i <= RESERVED), default=0)
    if meta.last_column_id is not None and meta.last_column_id < used:
        cause = (
            f"last-column-id is {meta.last_column_id}, but a schema has field {used}: the next column may get its id"
        )
        yield here("last-column-id-low", cause, location="/last-column-id", found=meta.last_column_id, expected=used)
    parts = max((f.field_id for s in meta.partition_specs for f in s.fields), default=0)
    if meta.last_partition_id is not None and meta.last_partition_id < parts:
        cause = f"last-partition-id is {meta.last_partition_id}, but a spec has field {parts}"
        yield here(
            "last-partition-id-low", cause, location="/last-partition-id", found=meta.last_partition_id, expected=parts
        )
    if previous is None:
        return
    for rule, key, current, earlier in (
        ("last-column-id-low", "last-column-id", meta.last_column_id, previous.last_column_id),
        ("last-partition-id-low", "last-partition-id", meta.last_partition_id, previous.last_partition_id),
        ("sequence-above-last", "last-sequence-number", meta.last_sequence_number, previous.last_sequence_number),
        ("next-row-id", "next-row-id", meta.next_row_id, previous.next_row_id),
    ):
        if current is not None and earlier is not None and current < earlier:
            cause = f"{key} is {current}, and was {earlier} in the metadata file before it"
            yield here(rule, cause, location=f"/{key}", found=current, expected=earlier)
    by_id = "schemas" in meta.raw and "schemas" in previous.raw  # else the one schema there is goes by no id
    before = {s.schema_id: _shape(s) for s in previous.schemas if by_id}
    for schema in meta.schemas:
        if before.get(schema.schema_id, _shape(schema)) != _shape(schema):
            cause = f"schema {schema.schema_id} is another one than in the metadata file before it"
            yield here("schema-rebound", cause, location="/schemas", found=schema.schema_id)
    specs = {s.spec_id: s.fields for s in previous.partition_specs}
    for spec in meta.partition_specs:
        if specs.get(spec.spec_id, spec.fields) != spec.fields:
            cause = f"partition spec {spec.spec_id} is another one than in the metadata file before it"
            yield here("schema-rebound", cause, location="/partition-specs", found=spec.spec_id)


def _shape(schema: Schema) -> list[tuple[int, str, str, bool]]:
    """What of a schema may not change under its id."""
    return sorted(
        (f.id, f.name, str(f.type) if isinstance(f.type, str) else "", f.required) for f in schema.by_id.values()
    )


def _schema(meta: TableMetadata, schema: Schema, here: Any) -> Iterator[Finding]:
    place = f"/schemas ({schema.schema_id})"
    for own in schema.by_id:
        if own > RESERVED:
            yield here(
                "field-id-conflict",
                f"schema {schema.schema_id} has field {own}, whose id is reserved",
                location=place,
                found=own,
                expected=f"at most {RESERVED}",
            )
    for field in schema.by_id.values():
        if not isinstance(field.type, str):
            continue
        newer = field.type in _NEWER or _PLACES.match(field.type)
        if is_type(field.type) and not (field.type in _PLAIN or _SHAPED.match(field.type) or newer):
            yield here(
                "metadata-field",
                f"the type of column {field.name!r} is not written as the spec has it",
                location=place,
                found=field.type[:60],
                severity="warning",
            )
        elif newer and meta.format_version < 3:
            yield here(
                "metadata-field",
                f"column {field.name!r} has a type of version 3 in a table of version {meta.format_version}",
                location=place,
                found=field.type[:60],
                severity="warning",
            )


def _types(meta: TableMetadata, here: Any) -> Iterator[Finding]:
    """Rule 6: one id, two types that no promotion leads between, in schemas of one line of snapshots. A table that was
    replaced gives ids anew, in a new line."""
    reported: set[int] = set()
    for line in _lines(meta):
        types: dict[int, tuple[int, Any]] = {}
        for schema in line:
            for own, field in schema.by_id.items():
                if own in types and own not in reported and not is_promotion(types[own][1], field.type):
                    reported.add(own)
                    first, kind = types[own]
                    cause = (
                        f"field {own} has types that no promotion leads between, in schemas {first} and "
                        f"{schema.schema_id}"
                    )
                    yield here(
                        "field-id-conflict", cause, location="/schemas", found=_kind(field.type), expected=_kind(kind)
                    )
                types[own] = (schema.schema_id, field.type)


def _lines(meta: TableMetadata) -> Iterator[list[Schema]]:
    """The schemas of each line of snapshots, in order of their ids; the current one is of the current snapshot's."""
    roots: dict[int, int] = {}
    parents = {s.snapshot_id: s.parent_snapshot_id for s in meta.snapshots}
    for start in parents:
        walk: list[int] = []
        at: int | None = start
        seen: set[int] = set()
        while at in parents and at not in roots and at not in seen:
            seen.add(at)
            walk.append(at)
            at = parents[at]
        root = roots.get(at, walk[-1] if walk else start) if at is not None else (walk[-1] if walk else start)
        roots.update(dict.fromkeys(walk, root))
    lines: dict[int, set[int]] = {}
    for snapshot in meta.snapshots:
        if snapshot.schema_id is not None:
            lines.setdefault(roots.get(snapshot.snapshot_id, 0), set()).add(snapshot.schema_id)
    if meta.current_snapshot_id in roots and meta.current_schema_id is not None:
        lines.setdefault(roots[meta.current_snapshot_id], set()).add(meta.current_schema_id)
    for ids in lines.values():
        yield sorted((s for s in meta.schemas if s.schema_id in ids), key=lambda s: s.schema_id)


def _date_promotions(meta: TableMetadata, here: Any) -> Iterator[Finding]:
    """Of rule 63: dates that became timestamps, in tables that have snapshots of both. Files of snapshots that have
    expired are told by their bounds (spec.doctor.metrics_rules) or footers."""
    current = meta.schema(meta.current_schema_id)
    if current is None:
        return
    written = {s.schema_id for s in meta.snapshots}
    for own, field in current.by_id.items():
        if field.type not in PROMOTED_TO:
            continue
        if any(s.schema_id in written and own in s.by_id and s.by_id[own].type == "date" for s in meta.schemas):
            yield here(
                "readers-differ",
                PROMOTED_DATE,
                location="/schemas",
                found=field.type,
                expected="date",
                refused="part",
                columns=(field.name,),
            )


def _zero_ids(meta: TableMetadata, here: Any) -> Iterator[Finding]:
    """Of rule 63: the spec asks for unique ids below the reserved ones, and 0 is one."""
    schemas = (meta.schema(meta.current_schema_id), *meta.schemas)
    field = next((schema.by_id[0] for schema in schemas if schema and 0 in schema.by_id), None)
    if field is not None:
        yield here(
            "readers-differ",
            f"a column {ZERO}: the spec allows it, and Iceberg Java and pyiceberg read it; Iceberg's own writers begin "
            "with 1, and Snowflake refuses the table (apache/paimon#9012)",
            location="/schemas",
            found=0,
            severity="info",
            columns=(field.name,),
        )


def _old_orders(meta: TableMetadata, here: Any) -> Iterator[Finding]:
    """Of rule 63: an older sort order may go by a column that was dropped (apache/iceberg#16519)."""
    if words := words_for_writers(meta):
        orders = [order for order in meta.sort_orders if order.order_id != meta.default_sort_order_id]
        ids = [order.order_id for order in orders if dropped_columns(order, meta)]
        yield here("readers-differ", words.rstrip("."), location="/sort-orders", found=ids, severity="info")


def _snapshot_schema(meta: TableMetadata, here: Any) -> Iterator[Finding]:
    """Of rule 63: schema-id is optional in a snapshot."""
    current = meta.current_snapshot
    if current is not None and current.schema_id is None:
        where = f"/snapshots ({current.snapshot_id})/schema-id"
        yield here("readers-differ", NO_SCHEMA_ID, location=where, snapshots=(current.snapshot_id,), severity="info")


def _source_words(ids: Sequence[int]) -> str:
    """The ids of columns that a partition field comes from, said as what they are."""
    return f"source-id {ids[0]}" if len(ids) == 1 else f"source-ids {', '.join(map(str, ids))}"


def _specs(meta: TableMetadata, here: Any) -> Iterator[Finding]:
    """Rules 9 and 11."""
    fields_by_id: dict[int, tuple[int, tuple[int, ...], str]] = {}
    current = meta.schema(meta.current_schema_id)
    everywhere = {i for s in meta.schemas for i in s.by_id}
    for spec in meta.partition_specs:
        place = f"/partition-specs ({spec.spec_id})"
        for what, values in (("field id", [f.field_id for f in spec.fields]), ("name", [f.name for f in spec.fields])):
            for own, times in Counter[Any](values).items():
                if times > 1:
                    yield here(
                        "partition-field-conflict",
                        f"spec {spec.spec_id} has {times} fields with the {what} {own!r}",
                        location=place,
                        found=own,
                        refused="table",
                    )
        for field in spec.fields:
            other, sources, transform = fields_by_id.setdefault(
                field.field_id, (spec.spec_id, field.source_ids, field.transform)
            )
            void = "void" in (field.transform, transform)
            if sources != field.source_ids or (transform != field.transform and not void):
                cause = f"partition field {field.field_id} is one thing in spec {other}, another in spec {spec.spec_id}"
                yield here(
                    "partition-field-conflict",
                    cause,
                    location=place,
                    found=f"{field.transform} of {list(field.source_ids)}",
                    expected=f"{transform} of {list(sources)}",
                    refused="table",
                )
            elif void and transform == "void":
                fields_by_id[field.field_id] = (spec.spec_id, field.source_ids, field.transform)
            missing = [i for i in field.source_ids if i not in everywhere]
            default = spec.spec_id == meta.default_spec_id
            if field.transform == "void":
                continue
            if default and current and not set(field.source_ids) <= set(current.by_id):
                cause = f"partition field {field.name!r} of the default spec {NO_SOURCE}"
                yield here(
                    "partition-source-dropped",
                    cause,
                    location=place,
                    found=_source_words(field.source_ids),
                    severity="error",
                    refused="table",
                )
            elif missing:
                cause = (
                    f"partition field {field.name!r} of spec {spec.spec_id} comes from field {missing[0]}, of no schema"
                )
                yield here("partition-source-dropped", cause, location=place, found=_source_words(missing))


def _names_columns(name: str, value: str) -> bool:
    """Whether a property is a key only in the sense of a database: such as `key` = `id, region`."""
    words = re.split(r"[^a-z0-9]+", name.lower())
    is_secret = any(part in "".join(words) for part in WITHIN) or not ALONE.isdisjoint(words)
    return words[-1] in ("key", "keys") and not is_secret and _COLUMNS.fullmatch(value) is not None


def _properties(meta: TableMetadata, here: Any) -> Iterator[Finding]:
    for name, value in meta.properties.items():
        place = f"/properties/{name}"
        if value and ((holds_secret(name, value) and not _names_columns(name, value)) or HIDDEN in redact(value)):
            cause = f"the property {redact(name)!r} holds what looks like a secret, which whoever reads the table has"
            yield here("property-unsafe", cause, location=redact(place), found=HIDDEN)
        elif value and _CLASS.search(name):
            cause = f"the property {name!r} {NAMES_A_CLASS}"
            yield here("property-unsafe", cause, location=place, found=redact(value)[:100])
