"""Everything about one node, as data for the inspector: fields under the spec's names, decoded values, the raw
record."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from explorer.core import entries as core
from explorer.core.deletes import KIND_WORDS
from explorer.core.headers import check_header
from explorer.core.names import base_name, runs, snapshot_name, snapshot_ordinals
from explorer.core.secrets import metadata_without_secrets, without_secrets
from explorer.core.totals import totals
from explorer.core.units import count, human_bytes, instant
from explorer.core.values import decode_metrics, partition_path
from explorer.errors import ExplorerError, NotFoundInTable, UnreadableFile
from explorer.graphs.graph import Node
from explorer.graphs.vocabulary import KINDS, MARKS
from explorer.model.manifest import FILE_CONTENT, STATUS, ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.table import Table
from explorer.views import rows

Fields = list[tuple[str, Any, str]]


@dataclass(frozen=True)
class Section:
    """Part of an inspection: `fields` as (name, value, hint), or a table of `columns` and `rows` (those `struck` are
    struck through), or `raw` text."""

    title: str
    fields: Fields | None = None
    columns: Sequence[str] | None = None
    rows: Sequence[Sequence[Any]] = ()
    raw: str | None = None
    note: str = ""
    open: bool = True
    struck: Sequence[int] = ()

    def to_json(self) -> dict[str, Any]:
        """As the widget takes it: only what is there."""
        data: dict[str, Any] = {"title": self.title, "note": self.note, "open": self.open}
        if self.fields is not None:
            data["fields"] = [[k, _short(v), hint] for k, v, hint in self.fields]
        if self.columns is not None:
            data |= {
                "columns": list(self.columns),
                "rows": [[_short(v) for v in row] for row in self.rows],
                "struck": list(self.struck),
            }
        if self.raw is not None:
            data["raw"] = self.raw
        return data


@dataclass(frozen=True)
class Inspection:
    """What the inspector shows of one node."""

    title: str
    kind: str
    sections: tuple[Section, ...]
    problems: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """As the widget takes it."""
        return {
            "title": self.title,
            "kind": self.kind,
            "problems": list(self.problems),
            "sections": [s.to_json() for s in self.sections],
        }


def _short(value: Any) -> Any:
    value = rows.plain(value)
    return (
        json.dumps(value, ensure_ascii=False)
        if isinstance(value, (dict, list))
        else value
        if value is None
        else str(value)
    )


def _raw(title: str, value: Any) -> Section:
    shown = metadata_without_secrets(rows.plain(value))
    return Section(title, raw=json.dumps(shown, indent=2, ensure_ascii=False), open=False)


def inspect(table: Table, node: Node) -> Inspection:
    """Everything about a node of this table's graph. What cannot be read is in `problems`; nothing is raised."""
    makers: dict[str, Callable[[Table, Mapping[str, Any]], list[Section]]] = {
        "catalog": _catalog, "metadata": _metadata, "ref": _ref, "snapshot": _snapshot, "manifest_list": _manifest_list,
        "data_manifest": _manifest, "delete_manifest": _manifest, "statistics": _statistics, "row_group": _row_group,
        "data_file": _file, "position_deletes": _file, "equality_deletes": _file, "deletion_vector": _file,
    }  # fmt: skip
    problems = [node.problem] if node.problem else []
    if node.facts.get("loose"):
        about = [("path", node.facts["path"], ""), *((MARKS[node.mark].title, line, "") for line in node.lines)]
        return Inspection(node.label, KINDS[node.kind].title, (Section("file", about),))
    try:
        sections = (
            makers[node.kind](table, node.facts)
            if node.kind in makers
            else [Section("file", [("path", node.facts.get("path"), "")])]
        )
    except ExplorerError as error:
        sections = []
        problems.append(str(error))
    return Inspection(node.label, KINDS[node.kind].title, tuple(sections), tuple(dict.fromkeys(problems)))


def life(table: Table, path: str) -> Section:
    """The life of one file, snapshot by snapshot. It looks through every manifest of the table."""
    try:
        found = table.file(path)
    except ExplorerError as error:
        return Section("its life", note=str(error))
    told = [
        (runs(e.snapshot for e in c), c[0].manifest, c[0].status, c[0].logical_status or "filtered out")
        for c in found.chapters()
    ]
    end = f"deleted by {found.deleted_by}" if found.deleted_by else "not deleted"
    words = (
        f"Added by {found.added_by or 'an expired snapshot'}, {end}. Refs that read it: "
        f"{', '.join(found.refs) or 'none'}."
    )
    note = f"{words} To let it go: {found.goes_when}."
    return Section("its life", columns=("snapshots", "manifest", "stored", "reads as"), rows=told, note=note)


ROWS_SHOWN = 200


def row_sections(table: Table, facts: Mapping[str, Any], is_data: bool) -> list[Section]:
    """The rows of a data file as of a snapshot, deleted ones struck through, and each delete that could matter to it
    with its clauses; or what a delete file holds. It reads the file, and the snapshot's manifests."""
    path, snapshot = facts["path"], facts["snapshot_id"]
    try:
        if not is_data:
            held = table.delete_contents(path, snapshot, facts.get("content_offset"))
            return [_rows_section("what it holds", held.columns, list(held[:ROWS_SHOWN]), len(held))]
        found = table.file_rows(path, snapshot)
        verdicts = table.file_verdicts(path, snapshot)
    except ExplorerError as error:
        return [Section("rows", note=str(error))]
    shown = list(found[:ROWS_SHOWN])
    sections = [_rows_section("rows", found.columns, shown, len(found))]
    told = [
        (
            base_name(v.delete.path),
            KIND_WORDS[v.delete.kind],
            "yes" if v.applies else "no",
            "; ".join(r.words for r in v.reasons),
        )
        for v in verdicts
    ]
    if told:
        sections.append(Section("deletes that could matter", columns=("delete", "kind", "applies", "why"), rows=told))
    return sections


def _rows_section(title: str, columns: Sequence[str], shown: Sequence[Mapping[str, Any]], total: int) -> Section:
    struck = [i for i, row in enumerate(shown) if row.get("_deleted_by")]
    note = f"{count(total, 'row')}, the first {len(shown)} shown" if total > len(shown) else count(total, "row")
    note += f", {len(struck)} deleted" if struck else ""
    return Section(title, columns=columns, rows=[[row[c] for c in columns] for row in shown], note=note, struck=struck)


def _catalog(table: Table, facts: Mapping[str, Any]) -> list[Section]:
    location = table.reader.location
    fields: Fields = [
        ("catalog", location.catalog or "none: opened by path", ""),
        ("identifier", location.identifier, ""),
        ("metadata location", table.metadata.metadata_location, location.reason),
        ("table-uuid", table.metadata.table_uuid, ""),
    ]
    noted = [(p.severity, p.file.rsplit("/", 1)[-1], p.location, p.cause) for p in table.problems]
    found = (
        [Section("problems found so far", columns=("severity", "file", "where", "cause"), rows=noted)] if noted else []
    )
    return [
        Section("pointer", fields, note="A commit swaps this pointer, atomically, from one metadata file to the next."),
        *found,
    ]


def _metadata(table: Table, facts: Mapping[str, Any]) -> list[Section]:
    path = facts["path"]
    meta = table.metadata if path == table.metadata.metadata_location else table.reader.metadata_file(path)[0]
    fields: Fields = [
        ("format-version", meta.format_version, ""),
        ("table-uuid", meta.table_uuid, ""),
        ("location", meta.location, ""),
        ("last-sequence-number", meta.last_sequence_number, ""),
        ("last-updated-ms", meta.last_updated_ms, instant(meta.last_updated_ms)),
        ("current-snapshot-id", meta.current_snapshot_id, ""),
        ("current-schema-id", meta.current_schema_id, ""),
        ("default-spec-id", meta.default_spec_id, ""),
        ("default-sort-order-id", meta.default_sort_order_id, ""),
        ("last-column-id", meta.last_column_id, ""),
        ("next-row-id", meta.next_row_id, ""),
        ("snapshots", len(meta.snapshots), ""),
        ("file", path, ""),
    ]
    sections = [Section("table metadata", [f for f in fields if f[1] is not None])]
    schema = meta.schema(meta.current_schema_id)
    if schema:
        sections.append(_schema_section(f"current schema ({schema.schema_id})", schema.by_id.values()))
    for spec in meta.partition_specs:
        listed = [
            (f.field_id, f.name, f.transform, ", ".join(_source(meta, i) for i in f.source_ids)) for f in spec.fields
        ]
        default = " (default)" if spec.spec_id == meta.default_spec_id else ""
        sections.append(
            Section(
                f"partition spec {spec.spec_id}{default}",
                columns=("field-id", "name", "transform", "source"),
                rows=listed,
                note="" if listed else "unpartitioned",
            )
        )
    properties = without_secrets(meta.properties)
    sections.append(Section("properties", [(k, v, "") for k, v in sorted(properties.items())], open=False))
    return [*sections, _raw("raw JSON", rows.metadata_object(meta))]


def _source(meta: TableMetadata, field_id: int) -> str:
    found = meta.field(field_id)
    return f"{found.name} ({field_id})" if found else f"field {field_id}, dropped"


def _schema_section(title: str, fields: Any) -> Section:
    listed = [
        (f.id, f.name, f.type if isinstance(f.type, str) else f.type.get("type"), "yes" if f.required else "no")
        for f in fields
    ]
    return Section(title, columns=("id", "name", "type", "required"), rows=listed)


def _ref(table: Table, facts: Mapping[str, Any]) -> list[Section]:
    ref = next(r for r in table.metadata.refs if r.name == facts["name"])
    shown = snapshot_name(ref.snapshot_id, snapshot_ordinals(table.metadata))
    fields: Fields = [(k, v, shown if k == "snapshot-id" else "") for k, v in rows.ref_row(ref).items()]
    return [Section("snapshot reference", fields)]


def _snapshot(table: Table, facts: Mapping[str, Any]) -> list[Section]:
    snapshot = table.reader.require_snapshot(facts["snapshot_id"])
    ordinals = snapshot_ordinals(table.metadata)
    row = rows.snapshot_row(snapshot)
    summary = row.pop("summary")
    hints = {
        "timestamp-ms": instant(snapshot.timestamp_ms),
        "parent-snapshot-id": snapshot_name(snapshot.parent_snapshot_id, ordinals)
        if snapshot.parent_snapshot_id
        else "",
    }
    fields: Fields = [(k, v, hints.get(k, "")) for k, v in row.items() if v is not None]
    when = [instant(e.timestamp_ms) for e in table.metadata.snapshot_log if e.snapshot_id == snapshot.snapshot_id]
    fields.append(("became current", ", ".join(when) or "never: staged, or on a branch only", "from the snapshot log"))
    sections = [Section("snapshot", fields)]
    sections.append(
        Section(
            "summary",
            [(k, v, human_bytes(int(v)) if k.endswith("-size") and v.isdigit() else "") for k, v in summary.items()],
        )
    )
    words = {True: "agrees", False: "⚠ contradicts", None: "not known"}
    checked = [
        (t.name, t.summary, t.computed, words[t.agrees])
        for t in totals(snapshot.summary, table.manifest_files(snapshot))
    ]
    sections.append(Section("totals checked", columns=("total", "summary", "manifest list", ""), rows=checked))
    schema = table.metadata.schema(snapshot.schema_id)
    if schema:
        sections.append(_schema_section(f"schema {schema.schema_id} at this snapshot", schema.by_id.values()))
    return [*sections, _raw("raw JSON", snapshot.raw)]


def _manifest_list(table: Table, facts: Mapping[str, Any]) -> list[Section]:
    snapshot = table.reader.require_snapshot(facts["snapshot_id"])
    listed = table.manifest_files(snapshot)
    fields: Fields = [
        ("manifest-list", snapshot.manifest_list or "none: v1 with inline manifests", ""),
        ("manifests", len(listed), ""),
    ]
    columns = ("manifest", "content", "spec", "sequence", "min sequence", "added", "existing", "deleted")
    shown = [
        (
            m.manifest_path.rsplit("/", 1)[-1], "deletes" if m.content else "data", m.partition_spec_id,
            m.sequence_number,
            m.min_sequence_number, m.added_files_count, m.existing_files_count, m.deleted_files_count,
        )
        for m in listed[:200]
    ]  # fmt: skip
    more = f"the first 200 of {len(listed):,}" if len(listed) > 200 else ""
    return [
        Section("manifest list", fields),
        Section("manifests", columns=columns, rows=shown, note=more),
        _raw("raw Avro records", [m.raw for m in listed[:50]]),
    ]


def _manifest(table: Table, facts: Mapping[str, Any]) -> list[Section]:
    manifest, snapshot = table.find_manifest(facts["path"], facts.get("snapshot_id"))
    row = rows.manifest_row(manifest, table.metadata)
    summaries = row.pop("partitions")
    ordinals = snapshot_ordinals(table.metadata)
    hints = {
        "added_snapshot_id": snapshot_name(manifest.added_snapshot_id, ordinals),
        "manifest_length": human_bytes(manifest.manifest_length),
    }
    sections = []
    entries = table.logical_entries(manifest, snapshot.snapshot_id)
    if entries is not None:
        sections.append(_entries_section(entries, snapshot_name(snapshot.snapshot_id, ordinals)))
    sections.append(Section("in the manifest list", [(k, v, hints.get(k, "")) for k, v in row.items()]))
    if summaries:
        columns = ("name", "contains_null", "contains_nan", "lower_bound", "upper_bound")
        sections.append(
            Section("partition summaries", columns=columns, rows=[[s[c] for c in columns] for s in summaries])
        )
    sections += _header(table, manifest)
    return [*sections, _raw("raw Avro record in the list", manifest.raw)]


def _header(table: Table, manifest: ManifestFile) -> list[Section]:
    """The manifest's own header beside what is said of it elsewhere; contradictions are marked."""
    header = table.manifest_header(manifest.manifest_path)
    checks = check_header(header, manifest, table.metadata)
    words = {True: "agrees", False: "⚠ contradicts", None: "said only once"}
    listed = [(c.name, c.header, c.other, c.source, words[c.agrees]) for c in checks]
    wrong = [c.name for c in checks if c.agrees is False]
    note = f"⚠ contradictions in {', '.join(wrong)}" if wrong else ""
    schema = header.pop("schema", None)
    sections = [
        Section(
            "header against list and metadata",
            columns=("field", "header", "elsewhere", "where", ""),
            rows=listed,
            note=note,
        ),
        Section("its own Avro header", [(k, v, "") for k, v in header.items()], open=False),
    ]
    return [*sections, Section("table schema in the header", raw=_pretty(schema), open=False)] if schema else sections


def _pretty(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=2)
    except ValueError:
        return text


def _entries_section(entries: Any, seen_from: str) -> Section:
    counts = core.status_counts(entries)
    note = f"seen from {seen_from}: " + ", ".join(f"{n:,} {name}" for name, n in counts.items() if n)
    first = entries.slice(0, 100).to_pylist()
    listed = [
        (
            r["file_path"].rsplit("/", 1)[-1], STATUS.get(r["status"], r["status"]),
            r["logical_status"] or "filtered out",
            r["sequence_number"], r["inherited_sequence_number"],
        )
        for r in first
    ]  # fmt: skip
    columns = ("file", "stored status", f"as of {seen_from}", "stored sequence", "inherited")
    return Section(
        "entries",
        columns=columns,
        rows=listed,
        note=note + (f"; the first 100 of {entries.num_rows:,}" if entries.num_rows > 100 else ""),
    )


def _entry(table: Table, facts: Mapping[str, Any]) -> tuple[dict[str, Any], ManifestFile, str, int]:
    manifest, snapshot = table.find_manifest(facts["manifest_path"], facts.get("snapshot_id"))
    entries = table.logical_entries(manifest, snapshot.snapshot_id, metrics=True)
    if entries is not None:
        for ordinal, row in enumerate(entries.select(["file_path", "content_offset"]).to_pylist()):
            if row["file_path"] == facts["path"] and row["content_offset"] == facts.get("content_offset"):
                return (
                    entries.slice(ordinal, 1).to_pylist()[0],
                    manifest,
                    snapshot_name(snapshot.snapshot_id, snapshot_ordinals(table.metadata)),
                    ordinal,
                )
    raise NotFoundInTable(f"{facts['path']} is not in {facts['manifest_path']}")


def _file(table: Table, facts: Mapping[str, Any]) -> list[Section]:
    row, manifest, seen_from, ordinal = _entry(table, facts)
    spec = table.metadata.spec(manifest.partition_spec_id)
    states = [
        ("status", STATUS.get(row["status"], row["status"]), row["logical_status"] or "filtered out", row["reason"])
    ]
    states += [(n, row[n], row[f"inherited_{n}"], row[f"{n}_origin"]) for n in core.INHERITED]
    sections = [
        Section("entry: stored and logical", columns=("field", "stored", f"as of {seen_from}", "why"), rows=states)
    ]
    fields: Fields = [
        ("file_path", row["file_path"], ""),
        ("content", FILE_CONTENT.get(row["content"] or 0), ""),
        ("file_format", row["file_format"], ""),
        ("record_count", row["record_count"], count(row["record_count"], "row")),
        ("file_size_in_bytes", row["file_size_in_bytes"], human_bytes(row["file_size_in_bytes"])),
        (
            "partition",
            partition_path(row["partition"], spec, table.metadata) or "unpartitioned",
            f"spec {manifest.partition_spec_id}",
        ),
    ]
    hints = {"equality_ids": ", ".join(_source(table.metadata, i) for i in row["equality_ids"] or ())}
    for name in (
        "equality_ids",
        "referenced_data_file",
        "content_offset",
        "content_size_in_bytes",
        "sort_order_id",
        "split_offsets",
    ):
        if row[name] is not None:
            fields.append((name, row[name], hints.get(name, "")))
    sections.append(Section("file", fields))
    metrics = decode_metrics(row, table.metadata)
    if metrics:
        columns = (
            "name",
            "lower_bound",
            "upper_bound",
            "null_value_count",
            "value_count",
            "nan_value_count",
            "column_size",
            "field_id",
            "type",
        )
        note = "Bounds may be truncated: they promise only <= and >=."
        sections.append(
            Section("column metrics", columns=columns, rows=[[m[c] for c in columns] for m in metrics], note=note)
        )
    sections.append(_raw("raw Avro record", table.reader.stored_records(manifest.manifest_path, ordinal, 1)[0]))
    sections.append(_footer(table, row))
    return sections


def _footer(table: Table, row: Mapping[str, Any]) -> Section:
    try:
        if row["file_format"].lower() == "puffin":
            return _raw("Puffin footer", table.reader.puffin_footer(row["file_path"]))
        if row["file_format"].lower() == "parquet":
            return _raw("Parquet footer", table.reader.parquet_footer(row["file_path"]))
        return Section("footer", note=f"{row['file_format']} files have no footer that is shown here", open=False)
    except UnreadableFile as error:
        return Section("footer", note=str(error))


def _statistics(table: Table, facts: Mapping[str, Any]) -> list[Section]:
    found = next(s for s in table.metadata.statistics if s.path == facts["path"])
    fields: Fields = [
        ("path", found.path, ""),
        ("kind", found.kind, ""),
        ("snapshot-id", found.snapshot_id, ""),
        ("size", found.file_size_in_bytes, human_bytes(found.file_size_in_bytes)),
    ]
    sections = [Section("statistics file", fields)]
    if found.blob_metadata:
        listed = [
            (
                b.get("type"),
                ", ".join(_source(table.metadata, i) for i in b.get("fields", ())),
                json.dumps(metadata_without_secrets({"properties": b.get("properties", {})})["properties"]),
            )
            for b in found.blob_metadata
        ]
        sections.append(Section("blobs", columns=("type", "fields", "properties"), rows=listed))
        sections.append(_raw("Puffin footer", table.reader.puffin_footer(found.path)))
    return [*sections, _raw("raw JSON", found.raw)]


def _row_group(table: Table, facts: Mapping[str, Any]) -> list[Section]:
    footer = table.reader.parquet_footer(facts["path"])
    group = footer["row_groups"][facts["ordinal"]]
    ids = {c["path"]: c["field_id"] for c in footer["columns"]}
    fields: Fields = [
        ("rows", group["num_rows"], ""),
        ("total_byte_size", group["total_byte_size"], human_bytes(group["total_byte_size"])),
    ]
    columns = ("path", "field_id", "min", "max", "null_count", "total_compressed_size", "compression")
    listed = [[ids.get(c["path"]) if n == "field_id" else c[n] for n in columns] for c in group["columns"]]
    return [Section("row group", fields), Section("column chunks", columns=columns, rows=listed)]
