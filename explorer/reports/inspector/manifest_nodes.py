"""Manifest lists and manifests: records, entries, headers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.model.manifest import STATUS, ManifestFile, ManifestHeader
from explorer.render import rows
from explorer.reports.inspector.sections import Fields, InspectorSection, pretty, raw_section
from explorer.spec.doctor.avro_types import odd_names, record_names
from explorer.spec.entries import entries as core
from explorer.spec.entries.manifest_headers import check_header
from explorer.spec.text.names import base_name, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import human_bytes
from explorer.spec.values.values import row_dicts
from explorer.table import Table


def inspect_manifest_list(table: Table, facts: Mapping[str, Any]) -> list[InspectorSection]:
    """The manifests of a snapshot. Raises NotFoundInTable."""
    snapshot = table.reader.require_snapshot(facts["snapshot_id"])
    listed = table.tree.manifests(snapshot)
    fields: Fields = [
        ("manifest-list", snapshot.manifest_list or "none: v1 with inline manifests", ""),
        ("manifests", len(listed), ""),
    ]
    if snapshot.manifest_list:
        header = table.reader.header_alone(snapshot.manifest_list)
        fields.append(_records(header, "manifest list"))
    return [
        InspectorSection("manifest list", fields),
        _listed(listed),
        raw_section("raw Avro records", [m.raw for m in listed[:50]]),
    ]


def inspect_group(table: Table, facts: Mapping[str, Any]) -> list[InspectorSection]:
    """The manifests of a group of the graph. Raises NotFoundInTable."""
    snapshot = table.reader.require_snapshot(facts["snapshot_id"])
    paths = set(facts["paths"])
    return [_listed([one for one in table.tree.manifests(snapshot) if one.manifest_path in paths])]


def _listed(manifests: Sequence[ManifestFile]) -> InspectorSection:
    columns = ("manifest", "content", "spec", "sequence", "min sequence", "added", "existing", "deleted")
    shown = [
        (
            base_name(m.manifest_path), "deletes" if m.content else "data", m.partition_spec_id,
            m.sequence_number,
            m.min_sequence_number, m.added_files_count, m.existing_files_count, m.deleted_files_count,
        )
        for m in manifests[:200]
    ]  # fmt: skip
    more = f"the first 200 of {len(manifests):,}" if len(manifests) > 200 else ""
    return InspectorSection("manifests", columns=columns, rows=shown, note=more)


def inspect_manifest(table: Table, facts: Mapping[str, Any]) -> list[InspectorSection]:
    """A manifest: its entries as of the snapshot, its record in the list, its header held against both. Raises
    NotFoundInTable, UnreadableFile."""
    manifest, snapshot = table.tree.find_manifest(facts["path"], facts.get("snapshot_id"))
    row = rows.manifest_row(manifest, table.metadata)
    summaries = row.pop("partitions")
    ordinals = snapshot_ordinals(table.metadata)
    hints = {
        "added_snapshot_id": snapshot_name(manifest.added_snapshot_id, ordinals),
        "manifest_length": human_bytes(manifest.manifest_length),
    }
    sections = []
    entries = table.tree.logical_entries(manifest, snapshot)
    if entries is not None:
        sections.append(_entries_section(entries, snapshot_name(snapshot.snapshot_id, ordinals)))
    sections.append(InspectorSection("in the manifest list", [(k, v, hints.get(k, "")) for k, v in row.items()]))
    if summaries:
        columns = ("name", "contains_null", "contains_nan", "lower_bound", "upper_bound")
        sections.append(
            InspectorSection("partition summaries", columns=columns, rows=[[s[c] for c in columns] for s in summaries])
        )
    sections += _header(table, manifest)
    return [*sections, raw_section("raw Avro record in the list", manifest.raw)]


def _header(table: Table, manifest: ManifestFile) -> list[InspectorSection]:
    """The manifest's own header beside what is said of it elsewhere; contradictions are marked."""
    header = table.manifest_header(manifest.manifest_path)
    checks = check_header(header, manifest, table.metadata)
    verdicts = {True: "agrees", False: "⚠ contradicts", None: "said only once"}
    listed = [(c.name, c.header, c.other, c.source, verdicts[c.agrees]) for c in checks]
    wrong = [c.name for c in checks if c.agrees is False]
    note = f"⚠ contradictions in {', '.join(wrong)}" if wrong else ""
    schema, own = header.pop("schema", None), table.reader.header(manifest.manifest_path)
    sections = [
        InspectorSection(
            "header against list and metadata",
            columns=("field", "header", "elsewhere", "where", ""),
            rows=listed,
            note=note,
        ),
        InspectorSection(
            "its own header",
            [*([_records(own, "manifest")] if own.schema else []), *((k, v, "") for k, v in header.items())],
            open=False,
        ),
    ]
    return (
        [*sections, InspectorSection("table schema in the header", raw=_pretty(schema), open=False)]
        if schema
        else sections
    )


def _records(header: ManifestHeader, kind: str) -> tuple[str, Any, str]:
    """The names of its Avro records, by which older readers go."""
    odd = next(odd_names(header.schema, kind), None)
    warns = f"⚠ {odd.words}: it would want {odd.expected}" if odd else ""
    return "names of Avro records", ", ".join(record_names(header.schema, kind).values()), warns


def _pretty(text: str) -> str:
    try:
        return pretty(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _entries_section(entries: Any, seen_from: str) -> InspectorSection:
    counts = core.status_counts(entries)
    note = f"seen from {seen_from}: " + ", ".join(f"{n:,} {name}" for name, n in counts.items() if n)
    first = row_dicts(entries.slice(0, 100))
    listed = [
        (
            base_name(r["file_path"]), STATUS.get(r["status"], r["status"]),
            core.read_as(r["logical_status"]),
            r["sequence_number"], r["inherited_sequence_number"],
        )
        for r in first
    ]  # fmt: skip
    columns = ("file", "stored status", f"as of {seen_from}", "stored sequence", "inherited")
    return InspectorSection(
        "entries",
        columns=columns,
        rows=listed,
        note=note + (f"; the first 100 of {entries.num_rows:,}" if entries.num_rows > 100 else ""),
    )
