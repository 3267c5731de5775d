"""The objects of a table as rows under the spec's field names, ready for JSON, Arrow or a text table."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from explorer.graph.graph import Graph
from explorer.model.manifest import MANIFEST_CONTENT, ManifestFile
from explorer.model.metadata import Ref, Schema, Snapshot, TableMetadata
from explorer.spec.schemas.schema_fields import walk_fields
from explorer.spec.secrets.redaction import metadata_without_secrets, without_secrets
from explorer.spec.values.values import row_dicts, source_type, summary_bound


def plain(value: Any) -> Any:
    """Any value as JSON data: bytes as hex text, times in ISO form, NaN and infinities as text."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (bytes, bytearray)):
        return f"0x{bytes(value).hex()}"
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta | decimal.Decimal):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def json_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table as JSON data; see `plain`."""
    rows = row_dicts(table, "lossy")
    for name in [field.name for field in table.schema if not _is_json(field.type)]:
        for row in rows:
            row[name] = plain(row[name])
    return rows


class JsonRows(Iterator[dict[str, Any]]):
    """The rows of a table in parts as JSON data, as they are asked for. `parts` are the same, for who writes them as
    text."""

    def __init__(self, schema: pa.Schema, parts: Iterator[pa.Table]) -> None:
        self.schema, self.parts = schema, parts
        self._rows = (row for part in parts for row in json_rows(part))

    def __next__(self) -> dict[str, Any]:
        return next(self._rows)


def _is_json(kind: pa.DataType) -> bool:
    """Whether Python has values of a type as JSON data."""
    if pa.types.is_dictionary(kind) or pa.types.is_list(kind):
        return _is_json(kind.value_type)
    if pa.types.is_struct(kind):
        return all(_is_json(field.type) for field in kind)
    simple = (pa.types.is_integer, pa.types.is_string, pa.types.is_boolean, pa.types.is_null)
    return any(is_type(kind) for is_type in simple)


def metadata_json(metadata: TableMetadata) -> dict[str, Any]:
    """The metadata file's own JSON, every field, secrets in its properties hidden."""
    return {str(k): plain(v) for k, v in metadata_without_secrets(metadata.raw).items()} | {
        "metadata-location": metadata.metadata_location
    }


def snapshot_row(snapshot: Snapshot) -> dict[str, Any]:
    """One snapshot as the spec names its fields."""
    return {
        "snapshot-id": snapshot.snapshot_id,
        "parent-snapshot-id": snapshot.parent_snapshot_id,
        "sequence-number": snapshot.sequence_number,
        "timestamp-ms": snapshot.timestamp_ms,
        "operation": snapshot.operation,
        "manifest-list": snapshot.manifest_list,
        "schema-id": snapshot.schema_id,
        "first-row-id": snapshot.first_row_id,
        "added-rows": snapshot.added_rows,
        "summary": without_secrets(snapshot.summary),
    }


def field_rows(schema: Schema) -> list[dict[str, Any]]:
    """The fields of a schema, nested ones too: field-id, name (its path), type, required, identifier, doc, defaults."""
    fields = walk_fields(schema.raw["fields"])
    return [
        {
            "field-id": field["id"],
            "name": path,
            "type": field["type"] if isinstance(field["type"], str) else str(field["type"].get("type")),
            "required": field.get("required"),
            "identifier": field["id"] in schema.identifier_field_ids,
            "doc": field.get("doc"),
            "initial-default": plain(field.get("initial-default")),
            "write-default": plain(field.get("write-default")),
        }
        for path, field in fields
    ]


def ref_row(ref: Ref) -> dict[str, Any]:
    """One branch or tag."""
    return {
        "name": ref.name,
        "type": ref.type,
        "snapshot-id": ref.snapshot_id,
        "min-snapshots-to-keep": ref.min_snapshots_to_keep,
        "max-snapshot-age-ms": ref.max_snapshot_age_ms,
        "max-ref-age-ms": ref.max_ref_age_ms,
    }


def metadata_log_rows(metadata: TableMetadata) -> list[dict[str, Any]]:
    """Previous metadata files, oldest first, and the current one last."""
    rows = [
        {"timestamp-ms": e.timestamp_ms, "metadata-file": e.metadata_file, "current": False}
        for e in metadata.metadata_log
    ]
    return [
        *rows,
        {"timestamp-ms": metadata.last_updated_ms, "metadata-file": metadata.metadata_location, "current": True},
    ]


def manifest_row(manifest: ManifestFile, metadata: TableMetadata) -> dict[str, Any]:
    """One manifest list record, partition summaries decoded through the manifest's own spec."""
    spec = metadata.spec(manifest.partition_spec_id)
    fields = spec.fields if spec else ()
    summaries = []
    for i, summary in enumerate(manifest.partitions or ()):
        part = fields[i] if i < len(fields) else None
        kind = source_type(metadata, part.source_ids) if part else None
        transform = part.transform if part else "identity"
        summaries.append(
            {
                "name": part.name if part else f"(field {i})",
                "contains_null": summary.contains_null,
                "contains_nan": summary.contains_nan,
                "lower_bound": summary_bound(summary.lower_bound, transform, kind),
                "upper_bound": summary_bound(summary.upper_bound, transform, kind),
            }
        )
    names = (
        "manifest_path",
        "manifest_length",
        "partition_spec_id",
        "content",
        "sequence_number",
        "min_sequence_number",
        "added_snapshot_id",
    )
    counts = [f"{a}_{b}_count" for b in ("files", "rows") for a in ("added", "existing", "deleted")]
    row = {name: getattr(manifest, name) for name in (*names, *counts)}
    row["content"] = MANIFEST_CONTENT.get(manifest.content, manifest.content)
    return row | {"first_row_id": manifest.first_row_id, "partitions": plain(summaries)}


def manifest_table(manifests: Sequence[ManifestFile], metadata: TableMetadata) -> pa.Table:
    """`manifest_row` of each as Arrow; bounds of partition summaries as text, since their types differ by field."""
    listed = [manifest_row(m, metadata) for m in manifests]
    if not listed:
        return pa.table({})
    bounds = {"lower_bound": pa.string(), "upper_bound": pa.string()}
    for row in listed:
        row["content"] = str(row["content"])
        row["partitions"] = [
            {**p, **{k: None if p[k] is None else str(p[k]) for k in bounds}} for p in row["partitions"]
        ]
    types = [("name", pa.string()), ("contains_null", pa.bool_()), ("contains_nan", pa.bool_()), *bounds.items()]
    summaries = pa.list_(pa.struct(types))
    return pa.table({k: pa.array([r[k] for r in listed], summaries if k == "partitions" else None) for k in listed[0]})


def graph_json(graph: Graph) -> dict[str, Any]:
    """A graph as JSON: nodes, edges, elided."""
    return {
        "title": graph.title,
        "snapshot-id": graph.snapshot_id,
        "nodes": [
            {
                "id": n.id, "kind": n.kind, "label": n.label, "lines": list(n.lines), "status": n.status,
                "fold": n.fold,
                "current": n.current, "problem": n.problem, "facts": plain(n.facts),
                **({"mark": n.mark} if n.mark else {}),
            }
            for n in graph.nodes
        ],
        "edges": [{"source": e.source, "target": e.target, "kind": e.kind, "status": e.status} for e in graph.edges],
        "elided": [
            {
                "id": e.id, "parent": e.parent, "what": e.what, "hidden": e.hidden, "total": e.total, "start": e.start,
                "label": e.label,
            }
            for e in graph.elided
        ],
    }  # fmt: skip


def columns_of(rows: Iterable[Mapping[str, Any]]) -> Sequence[str]:
    """All keys of the rows, in first-seen order."""
    return list(dict.fromkeys(key for row in rows for key in row))
