"""The part of a table's graph below its snapshots: manifest lists, manifests, files and row groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from explorer.graph.drawing import Drawing
from explorer.graph.graph import Card, Node
from explorer.graph.ids import file_node, list_node, manifest_node, node_id, snapshot_node
from explorer.graph.manifest_groups import ManifestGroup, manifest_groups
from explorer.graph.source import GraphSource, GraphView
from explorer.model.manifest import ManifestFile, file_kind
from explorer.model.metadata import Snapshot
from explorer.spec.deletes.deletes import Applicability
from explorer.spec.entries.entries import DELETED
from explorer.spec.entries.live_files import LiveFile, LiveFiles, live_files
from explorer.spec.text.names import base_name, file_label, manifest_names, shorten, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import brief_count, count, human_bytes
from explorer.spec.values.values import partition_ranges, partition_values, row_dicts

FOLDED = "manifests with a match"
"""What a search finds more of than it unfolds."""
LETTERS = 30
"""That a line of a card has room for."""


def _lines(counts: str) -> list[str]:
    """Counts in a line, or each in its own where they are too long for one: no number is ever cut."""
    return [counts] if len(counts) <= LETTERS else counts.split(" · ")


def _by_path(table: pa.Table, text: str) -> pa.ChunkedArray:
    return pc.match_substring(table["file_path"], text, ignore_case=True)


def mentions(table: pa.Table, text: str) -> bool:
    """Whether the path of any file of a manifest contains the text, in any case."""
    return bool(pc.any(_by_path(table, text)).as_py())


class ManifestListDrawing:
    """Draws what a manifest list leads to."""

    def __init__(self, source: GraphSource, view: GraphView, drawing: Drawing) -> None:
        self.source, self.view, self.drawing, self.meta = source, view, drawing, source.metadata
        self.ordinals = snapshot_ordinals(self.meta)
        self.names: dict[str, str] = {}
        """Of manifests, by their paths."""
        self.live: dict[tuple[str, int | None], LiveFile] = {}
        """Live files that are drawn."""
        self.causes, self.unreadable = source.causes(), source.unreadable()
        self.by_sequence = {s.sequence_number: snapshot_node(s.snapshot_id) for s in self.meta.snapshots}

    def is_open(self, node: str) -> bool:
        return node in self.view.open_nodes

    def without_match(self, parent: str, what: str, total: int, matching: int, column: int) -> None:
        """Say how much of a level the search leaves out."""
        if hidden := total - matching:
            label = f"{count(hidden, what.removesuffix('s'))} without a match"
            self.drawing.leave_out("search", parent, what, hidden, total, column, label, "search")

    def matches(self, *texts: str) -> bool:
        wanted = self.view.search.lower()
        return any(wanted in text.lower() for text in texts)

    def manifest_list(self, snapshot: Snapshot) -> None:
        own = node = list_node(snapshot.snapshot_id)
        parent = snapshot_node(snapshot.snapshot_id)
        listed = self.source.manifests.get(snapshot.snapshot_id)
        path = snapshot.manifest_list or ""
        wrong = self.causes.get(path, "") if path else ""
        folded = node in self.view.closed
        if listed is None:
            lines: tuple[str, ...] = ("not read yet",)
        else:
            deletes = sum(m.kind == "delete_manifest" for m in listed)
            lines = (count(len(listed), "manifest") + (f", {deletes} of deletes" if deletes else ""),)
        label = f"manifest list {self.ordinals[snapshot.snapshot_id]}"
        if not path:
            lines = (*lines, "v1: inline in metadata.json")
        facts = {"snapshot_id": snapshot.snapshot_id, "path": path}
        if self.view.has_all_levels:
            fold = "folded" if folded else "open"
            self.drawing.add(Node(node, "manifest_list", label, lines, "", fold, False, wrong, facts))
            self.drawing.edge(parent, node)
        else:
            node = parent
        if wrong:
            self.trouble(node, path, wrong, 3)
        for statistics in self.meta.statistics:
            if statistics.snapshot_id == snapshot.snapshot_id:
                self.statistics_file(parent, statistics)
        if folded or not listed:
            return
        self.names |= manifest_names(((m.manifest_path, m.added_snapshot_id) for m in listed), self.ordinals)
        if self.view.search:
            kept = [
                m for m in listed if self.matches(m.manifest_path, self.names[m.manifest_path]) or self.has_match(m)
            ]
            self.without_match(node, "manifests", len(listed), len(kept), 3)
            listed = kept
            more = sum(not self.is_open(manifest_node(m.manifest_path)) and self.has_match(m) for m in kept)
            if more:
                label = f"{count(more, 'manifest')} with a match {'is' if more == 1 else 'are'} folded"
                self.drawing.leave_out("folded", node, FOLDED, more, len(kept), 3, label)
        if 0 < self.view.groups_above < len(listed):
            for group in manifest_groups(listed, self.meta, self.ordinals):
                self.group(node, group, snapshot)
            return
        for i in self.drawing.page(node, len(listed), "manifests", 3, key=own):
            self.manifest(node, listed[i], snapshot)

    def group(self, parent: str, group: ManifestGroup, snapshot: Snapshot) -> None:
        """Draw a group as a card, and below it its manifests: all where it is unfolded, else those that are."""
        if len(group.manifests) == 1:
            self.manifest(parent, group.manifests[0], snapshot, is_grouped=True)
            return
        opened = self.is_open(group.id)
        card, paths = self.group_card(group), [m.manifest_path for m in group.manifests]
        problem = next((self.causes[path] for path in paths if path in self.causes), "")
        lines = () if opened else (card.measures, card.note, "")
        self.drawing.add(
            Node(
                group.id, "manifest_group", group.label, lines, "", "open" if opened else "folded",
                problem=problem, facts={"snapshot_id": snapshot.snapshot_id, "paths": paths}, card=card,
            )
        )  # fmt: skip
        self.drawing.edge(parent, group.id)
        shown = [m for m in group.manifests if opened or self.is_open(manifest_node(m.manifest_path))]
        for i in self.drawing.page(parent, len(shown), "manifests", 3, key=group.id):
            self.manifest(parent, shown[i], snapshot, is_grouped=True)

    def group_card(self, group: ManifestGroup) -> Card:
        """How many manifests, files and rows it has, who added them, and their partitions."""
        files = [n for m in group.manifests for n in (m.added_files_count, m.existing_files_count)]
        rows = [n for m in group.manifests for n in (m.added_rows_count, m.existing_rows_count)]
        noun = "delete file" if group.manifests[0].content else "file"
        measures = [count(len(group.manifests), "manifest")]
        if None not in files:
            measures.append(brief_count(sum(n or 0 for n in files), noun))
        known = None if None in rows else sum(n or 0 for n in rows)
        added = {m.added_snapshot_id for m in group.manifests}
        by = (
            f"added by {snapshot_name(next(iter(added)), self.ordinals)}"
            if len(added) == 1
            else f"of {count(len(added), 'snapshot')}"
        )
        by = "added here" if added == {self.view.snapshot_id} else by
        note = f"{brief_count(known, 'row')}, {by}" if known is not None and not group.manifests[0].content else by
        chips = (("by", group.by), *group.ranges) if group.by else group.ranges
        return Card(" · ".join(measures), note, chips, known)

    def statistics_file(self, parent: str, statistics: Any) -> None:
        node = node_id("statistics", statistics.path)
        kinds = ", ".join(str(b.get("type", "?")) for b in statistics.blob_metadata) or statistics.kind
        lines = (shorten(kinds, 30), human_bytes(statistics.file_size_in_bytes))
        self.drawing.add(
            Node(
                node,
                "statistics",
                file_label(statistics.path),
                lines,
                facts={"path": statistics.path, "snapshot_id": statistics.snapshot_id},
            )
        )
        self.drawing.edge(parent, node)

    def trouble(self, parent: str, path: str, cause: str, column: int) -> None:
        node = node_id("problem", path)
        self.drawing.add(
            Node(
                node,
                "problem",
                "cannot be read" if path in self.unreadable else "read in spite of a fault",
                (shorten(base_name(path), 30), shorten(cause, 68)),
                "",
                "",
                False,
                cause,
                {"path": path, "column": column},
            )
        )
        self.drawing.edge(parent, node)

    def manifest(self, parent: str, manifest: ManifestFile, snapshot: Snapshot, is_grouped: bool = False) -> None:
        """Draw a manifest, and what it leads to; one of a group stands below it."""
        node = manifest_node(manifest.manifest_path)
        lines = (*self.count_lines(manifest), f"{self.origin(manifest)} · sequence {manifest.sequence_number}")
        opened = self.is_open(node)
        facts = {"path": manifest.manifest_path, "snapshot_id": snapshot.snapshot_id}
        wrong, added = self.causes.get(manifest.manifest_path, ""), manifest.added_snapshot_id
        if node not in self.drawing.nodes:
            self.drawing.add(
                Node(
                    node,
                    manifest.kind,
                    self.names[manifest.manifest_path],
                    lines,
                    "",
                    "open" if opened else "folded",
                    False,
                    wrong,
                    facts,
                    beside="" if is_grouped or added is None else snapshot_node(added),
                    card=self.manifest_card(manifest),
                )
            )
            if opened:
                self.files(node, manifest, snapshot)
            if wrong:
                self.trouble(node, manifest.manifest_path, wrong, 4)
        self.drawing.edge(parent, node)

    def origin(self, manifest: ManifestFile) -> str:
        """Which snapshot added it."""
        if manifest.added_snapshot_id == self.view.snapshot_id:
            return "added here"
        return f"by {snapshot_name(manifest.added_snapshot_id, self.ordinals)}"

    def count_lines(self, manifest: ManifestFile) -> list[str]:
        """Its entries by stored status; of an earlier snapshot's manifest also what they are as of this one, to which
        what was added is existing and what was deleted is gone (spec: "Manifest Entry Fields")."""
        counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
        named = zip(counts, ("added", "existing", "deleted"), strict=True)
        stored = " · ".join(f"{count(n)} {name}" for n, name in named if n != 0) or "no entries"
        added, existing, deleted = counts
        here = manifest.added_snapshot_id == self.view.snapshot_id
        if here or added is None or existing is None or deleted is None or not (added or deleted):
            return _lines(stored)
        now = [f"{count(n)} {name}" for n, name in ((added + existing, "existing"), (deleted, "filtered")) if n]
        return [*_lines(f"stored {stored}"), *_lines(f"here {' · '.join(now)}")]

    def manifest_card(self, manifest: ManifestFile) -> Card:
        """What it has as of the snapshot in view, who added it, and the partitions that its files are in."""
        added, existing, deleted = (
            manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count
        )  # fmt: skip
        noun = "delete file" if manifest.content else "file"
        files = None if added is None or existing is None else added + existing
        counts_of_rows = (manifest.added_rows_count, manifest.existing_rows_count)
        told = files and not manifest.content and None not in counts_of_rows
        rows = sum(n or 0 for n in counts_of_rows) if told else None
        measures = [count(files, noun)] if files or not deleted else []
        if rows is not None:
            measures.append(brief_count(rows, "row"))
        if deleted:
            measures.append(f"{count(deleted)} removed" if measures else f"{count(deleted, noun)} removed")
        if manifest.added_snapshot_id == self.view.snapshot_id:
            counts = ((added, "added"), (existing, "kept"), (deleted, "removed"))
            parts = [f"{count(n)} {word}" for n, word in counts if n]
            note = f"added here: {', '.join(parts)}" if len(parts) > 1 else "added here"
        else:
            now = "existing now" if files != 0 else "gone now"
            note = f"added by {snapshot_name(manifest.added_snapshot_id, self.ordinals)}, {now}"
        spec = self.meta.spec(manifest.partition_spec_id)
        ranges = tuple(partition_ranges(manifest.partitions, spec, self.meta))
        return Card(" · ".join(measures), note, ranges, rows)

    def matching(self, manifest: ManifestFile) -> list[dict[str, Any]]:
        """The entries to draw of a manifest that is read; what is left out is elided."""
        table = self.source.entries.get(manifest.manifest_path)
        if table is None:
            return []
        if not self.view.show_filtered:
            table = table.filter(table["logical_status"].is_valid())
        total = table.num_rows
        if self.view.search and not self.matches(manifest.manifest_path, self.names[manifest.manifest_path]):
            table = table.filter(_by_path(table, self.view.search))
        node = manifest_node(manifest.manifest_path)
        kind = "delete files" if manifest.kind == "delete_manifest" else "data files"
        self.without_match(node, kind, total, table.num_rows, 4)
        rows = self.drawing.page(node, table.num_rows, kind, 4)
        drawn = table.slice(rows.start, len(rows))
        live = live_files(drawn, manifest.partition_spec_id, manifest.manifest_path)
        self.live |= {file.key: file for file in live}
        shown: list[dict[str, Any]] = row_dicts(drawn)
        return shown

    def has_match(self, manifest: ManifestFile) -> bool:
        table = self.source.entries.get(manifest.manifest_path)
        return table is not None and mentions(table, self.view.search)

    def files(self, parent: str, manifest: ManifestFile, snapshot: Snapshot) -> None:
        spec = self.meta.spec(manifest.partition_spec_id)
        rows = self.matching(manifest)
        for row in rows:
            path = row["file_path"]
            kind = file_kind(row["content"] or 0, row["file_format"] or "")
            node = file_node(path, row["content_offset"])
            status = row["logical_status"] or "filtered"
            chips = tuple(partition_values(row["partition"], spec, self.meta))
            where = "/".join(f"{name}={value}" for name, value in chips)
            size = row["content_size_in_bytes"] if kind == "deletion_vector" else row["file_size_in_bytes"]
            noun = "row" if kind == "data_file" else "deleted row" if kind != "equality_deletes" else "key"
            lines = [f"{status} · {count(row['record_count'], noun)} · {human_bytes(size)}"]
            if where:
                lines.append(shorten(where, 34))
            sequence = row["inherited_sequence_number"]
            lines.append(f"data sequence {sequence if sequence is not None else '?'}")
            measures = f"{count(row['record_count'], noun)} · {human_bytes(size)}"
            card = Card(f"{measures} · seq {count(sequence)}", "", chips, row["record_count"], size)
            footer = self.source.footers.get(path)
            parquet = (row["file_format"] or "").lower() == "parquet"
            fold = ("open" if footer and node in self.view.open_files else "folded") if parquet else ""
            facts = {
                "path": path,
                "manifest_path": manifest.manifest_path,
                "snapshot_id": snapshot.snapshot_id,
                "content_offset": row["content_offset"],
                "status": status,
            }
            already = self.drawing.nodes.get(node)
            label = file_label(path)
            wrong, beside = self.causes.get(path, ""), self.adding_snapshot(row)
            new_node = Node(
                node, kind, label, tuple(lines), status, fold, False, wrong, facts, beside=beside, card=card
            )  # fmt: skip
            if already is None or (already.status in ("filtered", "DELETED") and status in ("ADDED", "EXISTING")):
                self.drawing.nodes[node] = new_node  # one node a file: the live entry speaks for it
            self.drawing.edge(parent, node, "contains", status)
            if footer and node in self.view.open_files:
                self.row_groups(node, path, footer)
            if self.causes.get(path):
                self.trouble(node, path, self.causes[path], 5)

    def link_deletes(self) -> None:
        """Draw which of the drawn live deletes apply to which of the drawn live data files (spec: "Scan Planning").
        Where all data files are drawn, a delete that applies to none is dead."""
        data = [file for file in self.live.values() if file.kind == "data_file"]
        deletes = [file for file in self.live.values() if file.kind != "data_file"]
        applicability = Applicability(self.meta, LiveFiles.of(data), deletes)
        applying: set[tuple[str, int | None]] = set()
        for file in data if deletes else ():
            for verdict in applicability.of(file):
                if verdict.applies:
                    applying.add(verdict.delete.key)
                    self.drawing.edge(file_node(*verdict.delete.key), file_node(file.path), "deletes from")
        if not deletes or not self.draws_all(data):
            return
        for delete in deletes:
            node = self.drawing.nodes[file_node(*delete.key)]
            if delete.key not in applying and node.card is not None:
                self.drawing.nodes[node.id] = replace(node, card=replace(node.card, dead=True))

    def draws_all(self, data: Sequence[LiveFile]) -> bool:
        """Whether these are all data files of the snapshot in view."""
        listed = [m for m in self.source.manifests.get(self.view.snapshot_id or 0, ()) if not m.content]
        counts = [n for m in listed for n in (m.added_files_count, m.existing_files_count)]
        paths = {m.manifest_path for m in listed}
        return None not in counts and sum(n or 0 for n in counts) == sum(file.manifest_path in paths for file in data)

    def adding_snapshot(self, row: Mapping[str, Any]) -> str:
        """The node of the snapshot that added an entry's file, by its sequence number; v1 has none, and a DELETED entry
        there tells only who removed it."""
        if number := row["inherited_file_sequence_number"]:
            return self.by_sequence.get(number, "")
        snapshot_id = row["inherited_snapshot_id"] if row["status"] != DELETED else None
        return snapshot_node(snapshot_id) if snapshot_id is not None else ""

    def row_groups(self, parent: str, path: str, footer: Mapping[str, Any]) -> None:
        groups = footer["row_groups"]
        for i in self.drawing.page(parent, len(groups), "row groups", 5):
            group = groups[i]
            bounds = [
                f"{c['path']}: {shorten(str(c['min']), 9)}…{shorten(str(c['max']), 9)}"
                for c in group["columns"]
                if c["min"] is not None
            ]
            lines = (
                f"{count(group['num_rows'], 'row')} · {human_bytes(group['total_byte_size'])}",
                *(shorten(b, 34) for b in bounds[:2]),
            )
            self.drawing.add(
                Node(
                    node_id("row_group", f"{path}|{i}"),
                    "row_group",
                    f"row group {i}",
                    lines,
                    facts={"path": path, "ordinal": i},
                )
            )
            self.drawing.edge(parent, node_id("row_group", f"{path}|{i}"))
