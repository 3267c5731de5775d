"""Nodes above the manifests: the catalog's pointer, metadata files, refs, snapshots, statistics."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from explorer.errors import ExplorerError
from explorer.render import rows
from explorer.reports.catalog_entry import pointer
from explorer.reports.inspector.sections import (
    RAW,
    Fields,
    InspectorSection,
    order_words,
    raw_section,
    schema_section,
    source_name,
)
from explorer.spec.overview.summary_totals import totals
from explorer.spec.secrets.redaction import beginning, metadata_without_secrets, without_secrets
from explorer.spec.snapshots.log_gaps import became_current_words
from explorer.spec.text.names import base_name, first_named, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import human_bytes, instant, whole
from explorer.table import Table


def inspect_catalog(table: Table, facts: Mapping[str, Any]) -> list[InspectorSection]:
    """The catalog's pointer, and the problems found so far."""
    location = table.reader.location
    fields: Fields = [
        ("catalog", location.catalog or "none: opened by path", ""),
        ("identifier", location.identifier, ""),
        ("metadata location", table.metadata.metadata_location, location.reason),
        ("table-uuid", table.metadata.table_uuid, ""),
    ]
    title = f"{'the first ' * table.tree.more_problems}problems found so far"
    noted = [(p.severity, base_name(p.file), p.location, p.cause) for p in table.problems]
    problems = [InspectorSection(title, columns=("severity", "file", "where", "cause"), rows=noted)] if noted else []
    return [
        InspectorSection(
            "pointer", fields, note="A commit swaps this pointer, atomically, from one metadata file to the next."
        ),
        *problems,
    ]


def catalog_pointer(table: Table) -> InspectorSection:
    """What the catalog stores now, by its own names: it is asked, which may take as long as its server does."""
    try:
        stored = pointer(table)
    except ExplorerError as error:
        return InspectorSection("as the catalog stores it", note=str(error))
    fields: Fields = [(name, value, "") for name, value in stored.stored.row.items()]
    return InspectorSection("as the catalog stores it", fields, note=stored.stored.where)


def inspect_metadata(table: Table, facts: Mapping[str, Any]) -> list[InspectorSection]:
    """A metadata file: fields, schema, specs, properties. Raises UnreadableFile."""
    path = facts["path"]
    meta = table.metadata if path == table.metadata.metadata_location else table.reader.metadata_file(path)[0]
    order = order_words(meta, meta.sort_order(meta.default_sort_order_id))
    fields: Fields = [
        ("format-version", meta.format_version, ""),
        ("table-uuid", meta.table_uuid, ""),
        ("location", meta.location, ""),
        ("last-sequence-number", meta.last_sequence_number, ""),
        ("last-updated-ms", meta.last_updated_ms, instant(meta.last_updated_ms)),
        ("current-snapshot-id", meta.current_snapshot_id, ""),
        ("current-schema-id", meta.current_schema_id, ""),
        ("default-spec-id", meta.default_spec_id, ""),
        ("default-sort-order-id", meta.default_sort_order_id, order),
        ("last-column-id", meta.last_column_id, ""),
        ("next-row-id", meta.next_row_id, ""),
        ("snapshots", len(meta.snapshots), ""),
        ("file", path, ""),
    ]
    sections = [InspectorSection("table metadata", [f for f in fields if f[1] is not None])]
    schema = meta.schema(meta.current_schema_id)
    if schema:
        sections.append(schema_section(f"current schema ({schema.schema_id})", schema.by_id.values()))
    for spec in meta.partition_specs:
        listed = [
            (f.field_id, f.name, f.transform, first_named(f.source_ids, partial(source_name, meta)))
            for f in spec.fields
        ]
        default = " (default)" if spec.spec_id == meta.default_spec_id else ""
        sections.append(
            InspectorSection(
                f"partition spec {spec.spec_id}{default}",
                columns=("field-id", "name", "transform", "source"),
                rows=listed,
                note="" if listed else "unpartitioned",
            )
        )
    properties = without_secrets(beginning(meta.properties, RAW))
    sections.append(InspectorSection("properties", [(k, v, "") for k, v in sorted(properties.items())], open=False))
    return [*sections, raw_section("raw JSON", {**meta.raw, "metadata-location": meta.metadata_location})]


def inspect_ref(table: Table, facts: Mapping[str, Any]) -> list[InspectorSection]:
    """A branch or tag, with its retention."""
    ref = next(r for r in table.metadata.refs if r.name == facts["name"])
    shown = snapshot_name(ref.snapshot_id, snapshot_ordinals(table.metadata))
    fields: Fields = [(k, v, shown if k == "snapshot-id" else "") for k, v in rows.ref_row(ref).items()]
    return [InspectorSection("snapshot reference", fields)]


def inspect_snapshot(table: Table, facts: Mapping[str, Any]) -> list[InspectorSection]:
    """A snapshot, its summary held against the manifest list, its schema. Raises NotFoundInTable."""
    snapshot = table.reader.require_snapshot(facts["snapshot_id"])
    ordinals = snapshot_ordinals(table.metadata)
    row = rows.snapshot_row(replace(snapshot, summary=beginning(snapshot.summary, RAW)))
    summary = row.pop("summary")
    hints = {
        "timestamp-ms": instant(snapshot.timestamp_ms),
        "parent-snapshot-id": snapshot_name(snapshot.parent_snapshot_id, ordinals)
        if snapshot.parent_snapshot_id
        else "",
    }
    fields: Fields = [(k, v, hints.get(k, "")) for k, v in row.items() if v is not None]
    when = [instant(e.timestamp_ms) for e in table.metadata.snapshot_log if e.snapshot_id == snapshot.snapshot_id]
    current = ", ".join(when) or became_current_words(table.metadata, snapshot.snapshot_id, table.log_gaps)
    fields.append(("became current", current, "from the snapshot log"))
    sections = [InspectorSection("snapshot", fields)]
    sections.append(
        InspectorSection(
            "summary",
            [(k, v, human_bytes(whole(v)) if k.endswith("-size") and whole(v) else "") for k, v in summary.items()],
        )
    )
    verdicts = {True: "agrees", False: "⚠ contradicts", None: "not known"}
    checked = [
        (t.name, t.summary, t.computed, verdicts[t.agrees])
        for t in totals(snapshot.summary, table.tree.manifests(snapshot))
    ]
    sections.append(InspectorSection("totals checked", columns=("total", "summary", "manifest list", ""), rows=checked))
    schema = table.metadata.schema(snapshot.schema_id)
    if schema:
        sections.append(schema_section(f"schema {schema.schema_id} at this snapshot", schema.by_id.values()))
    return [*sections, raw_section("raw JSON", snapshot.raw)]


def inspect_statistics(table: Table, facts: Mapping[str, Any]) -> list[InspectorSection]:
    """A statistics file, its blobs and footer. Raises UnreadableFile."""
    statistics = next(s for s in table.metadata.statistics if s.path == facts["path"])
    fields: Fields = [
        ("path", statistics.path, ""),
        ("kind", statistics.kind, ""),
        ("snapshot-id", statistics.snapshot_id, ""),
        ("size", statistics.file_size_in_bytes, human_bytes(statistics.file_size_in_bytes)),
    ]
    sections = [InspectorSection("statistics file", fields)]
    if statistics.blob_metadata:
        listed = [
            (
                b.get("type"),
                first_named(b.get("fields", ()), partial(source_name, table.metadata)),
                json.dumps(metadata_without_secrets({"properties": b.get("properties", {})})["properties"]),
            )
            for b in statistics.blob_metadata
        ]
        sections.append(InspectorSection("blobs", columns=("type", "fields", "properties"), rows=listed))
        sections.append(raw_section("Puffin footer", table.reader.puffin_footer(statistics.path)))
    return [*sections, raw_section("raw JSON", statistics.raw)]
