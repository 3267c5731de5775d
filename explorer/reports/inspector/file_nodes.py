"""Data and delete files: the entry in its three states, metrics, footers, rows, life."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from explorer.errors import ExplorerError, NotFoundInTable, NotSupported, UnreadableFile
from explorer.model.manifest import FILE_CONTENT, STATUS, ManifestFile
from explorer.render.row_views import CHUNK_COLUMNS, FOOTER_COLUMNS, chunk_rows, footer_words
from explorer.reports.inspector.sections import Fields, InspectorSection, order_words, raw_section, source_name
from explorer.spec.deletes.deletes import KIND_WORDS
from explorer.spec.entries import entries as core
from explorer.spec.text.names import base_name, first_named, runs, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, human_bytes
from explorer.spec.values.values import decode_metrics, partition_path, row_dicts
from explorer.table import Table


def _entry(table: Table, facts: Mapping[str, Any]) -> tuple[dict[str, Any], ManifestFile, str, int]:
    manifest, snapshot = table.tree.find_manifest(facts["manifest_path"], facts.get("snapshot_id"))
    entries = table.tree.logical_entries(manifest, snapshot, metrics=True)
    if entries is not None:
        for ordinal, row in enumerate(entries.select(["file_path", "content_offset"]).to_pylist()):
            if row["file_path"] == facts["path"] and row["content_offset"] == facts.get("content_offset"):
                return (
                    row_dicts(entries.slice(ordinal, 1))[0],
                    manifest,
                    snapshot_name(snapshot.snapshot_id, snapshot_ordinals(table.metadata)),
                    ordinal,
                )
    raise NotFoundInTable(f"{facts['path']} is not in {facts['manifest_path']}")


def inspect_file(table: Table, facts: Mapping[str, Any]) -> list[InspectorSection]:
    """A data or delete file: its entry in the three states, metrics decoded, raw record, footer. Raises
    NotFoundInTable, UnreadableFile."""
    row, manifest, seen_from, ordinal = _entry(table, facts)
    spec = table.metadata.spec(manifest.partition_spec_id)
    states = [("status", STATUS.get(row["status"], row["status"]), core.read_as(row["logical_status"]), row["reason"])]
    states += [(n, row[n], row[f"inherited_{n}"], row[f"{n}_origin"]) for n in core.INHERITED]
    sections = [
        InspectorSection(
            "entry: stored and logical", columns=("field", "stored", f"as of {seen_from}", "why"), rows=states
        )
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
    hints = {
        "equality_ids": first_named(row["equality_ids"] or (), partial(source_name, table.metadata)),
        "sort_order_id": order_words(table.metadata, table.metadata.sort_order(row["sort_order_id"])),
    }
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
    sections.append(InspectorSection("file", fields))
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
            InspectorSection(
                "column metrics", columns=columns, rows=[[m[c] for c in columns] for m in metrics], note=note
            )
        )
    sections.append(raw_section("raw record", table.reader.read_records(manifest.manifest_path, ordinal, 1)[0]))
    return [*sections, *_footer(table, row)]


def _footer(table: Table, row: Mapping[str, Any]) -> list[InspectorSection]:
    kind = row["file_format"] or "unnamed"
    try:
        footer = table.reader.footer(row["file_path"], kind)
    except NotSupported as error:
        return [InspectorSection("footer", note=str(error), open=False)]
    except UnreadableFile as error:
        return [InspectorSection("footer", note=str(error))]
    raw = raw_section(f"{kind.capitalize()} footer", footer)
    if "row_groups" not in footer:
        return [raw]
    shown = [[column[c] for c in FOOTER_COLUMNS] for column in footer["columns"]]
    return [InspectorSection("columns by the file", columns=FOOTER_COLUMNS, rows=shown, note=footer_words(footer)), raw]


def inspect_row_group(table: Table, facts: Mapping[str, Any]) -> list[InspectorSection]:
    """A row group of a Parquet file, by its column chunks. Raises UnreadableFile."""
    footer = table.reader.parquet_footer(facts["path"])
    group = footer["row_groups"][facts["ordinal"]]
    fields: Fields = [
        ("rows", group["num_rows"], ""),
        ("total_byte_size", group["total_byte_size"], human_bytes(group["total_byte_size"])),
    ]
    listed = [list(row.values()) for row in chunk_rows(footer, group)]
    return [
        InspectorSection("row group", fields),
        InspectorSection("column chunks", columns=CHUNK_COLUMNS, rows=listed),
    ]


def life(table: Table, path: str) -> InspectorSection:
    """The life of one file, snapshot by snapshot. It looks through every manifest of the table."""
    try:
        life = table.file_life(path)
    except ExplorerError as error:
        return InspectorSection("its life", note=str(error))
    rows = [
        (runs(e.snapshot for e in c), c[0].manifest, c[0].status, core.read_as(c[0].logical_status))
        for c in life.chapters()
    ]
    end = f"deleted by {life.deleted_by}" if life.deleted_by else "not deleted"
    summary = (
        f"Added by {life.added_by or 'an expired snapshot'}, {end}. Refs that read it: "
        f"{', '.join(life.refs) or 'none'}."
    )
    note = f"{summary} To let it go: {life.goes_when}."
    return InspectorSection("its life", columns=("snapshots", "manifest", "stored", "reads as"), rows=rows, note=note)


ROWS_SHOWN = 200


def row_sections(table: Table, facts: Mapping[str, Any], is_data: bool) -> list[InspectorSection]:
    """The rows of a data file as of a snapshot, deleted ones struck through, and each delete that could matter to it
    with its clauses; or what a delete file holds. It reads the file, and the snapshot's manifests."""
    path, snapshot = facts["path"], facts["snapshot_id"]
    try:
        if not is_data:
            held = table.delete_contents(path, snapshot, facts.get("content_offset"))
            return [_rows_section("what it holds", held.columns, list(held[:ROWS_SHOWN]), len(held))]
        stored = table.file_rows(path, snapshot)
        verdicts = table.file_verdicts(path, snapshot)
    except ExplorerError as error:
        return [InspectorSection("rows", note=str(error))]
    shown = list(stored[:ROWS_SHOWN])
    sections = [_rows_section("rows", stored.columns, shown, len(stored))]
    rows = [
        (
            base_name(v.delete.path),
            KIND_WORDS[v.delete.kind],
            "yes" if v.applies else "no",
            "; ".join(r.words for r in v.reasons),
        )
        for v in verdicts
    ]
    if rows:
        sections.append(
            InspectorSection("deletes that could matter", columns=("delete", "kind", "applies", "why"), rows=rows)
        )
    return sections


def _rows_section(
    title: str, columns: Sequence[str], shown: Sequence[Mapping[str, Any]], total: int
) -> InspectorSection:
    struck = [i for i, row in enumerate(shown) if row.get("_deleted_by")]
    note = f"{count(total, 'row')}, the first {len(shown)} shown" if total > len(shown) else count(total, "row")
    note += f", {len(struck)} deleted" if struck else ""
    return InspectorSection(
        title, columns=columns, rows=[[row[c] for c in columns] for row in shown], note=note, struck=struck
    )
