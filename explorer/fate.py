"""What became of the rows that match a predicate: when they appeared, changed, were deleted, by which file and rule,
and came back."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pyarrow as pa

from explorer.core.batches import Parts
from explorer.core.deletes import KIND_WORDS, Verdict
from explorer.core.fates import FateEvent, Place, RowVersion, What, row_versions
from explorer.core.lineage import current_log
from explorer.core.live_files import LiveFile, read_alike
from explorer.core.names import base_name, snapshot_name, snapshot_ordinals
from explorer.core.row_diff import column_at
from explorer.core.scan import ManifestVerdict
from explorer.core.units import count
from explorer.core.values import row_dicts
from explorer.engines.choice import Engine
from explorer.filters import MATCHES, bound_filter, files_read, filter_columns, matches_in, matching, scan_of
from explorer.io import budget
from explorer.io.file_rows import from_ipc
from explorer.io.rows import read_schema
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot
from explorer.progress import steps
from explorer.rowlevel import RowReader, pairing_keys
from explorer.views.rows import plain


@dataclass(frozen=True)
class Standing:
    """What one snapshot shows of the matching rows: those a reader sees and those that are hidden, each with a
    verdict."""

    visible: frozenset[Place]
    hidden: Mapping[Place, Verdict]
    harmless: Mapping[Place, tuple[Verdict, ...]]
    """For visible rows, deletes that could have mattered to their file and do not apply."""
    spared: Mapping[Place, tuple[Verdict, ...]]
    """For visible rows, deletes that apply to their file, but hold neither their position nor their values."""


NOTHING = Standing(frozenset(), {}, {}, {})


class Fate:
    """The fate of the rows that match `where`, a filter (docs/filters.md), over all snapshots. `keys` tell a changed
    row from a new one; else the identifier fields or, in v3, row ids do. `engine` is who looks for them in data files.
    Raises NotFoundInTable for a predicate that does not fit the schema, UnreadableFile for a file that cannot be read,
    EngineError and StatementFailed."""

    def __init__(self, reader: RowReader, where: str, keys: Sequence[str] = (), engine: Engine = "auto") -> None:
        self.reader, self.where = reader, where
        meta = self.metadata = reader.tree.metadata
        self.schema = read_schema(meta, None)
        self._lineage = meta.format_version >= 3
        columns = filter_columns(self.schema)
        self._scan = scan_of(meta, self.schema, columns, bound_filter(where, columns))
        self.keys = pairing_keys(self.schema, keys, self._lineage)
        self.rows: dict[Place, dict[str, Any]] = {}
        self._keyed: dict[Place, dict[str, Any]] = {}
        self._matches: dict[str, list[int]] = {}
        self._holding: set[str] | None = None
        """Manifests that list data files with rows that match, where Spark looked through all."""
        self._found: dict[tuple[Any, ...], list[LiveFile]] = {}
        """Of each manifest, the live data files with rows that match."""
        self._ordinals = snapshot_ordinals(meta)
        self._snapshots = sorted(meta.snapshots, key=lambda s: self._ordinals[s.snapshot_id])
        reader.tree.ahead(self._snapshots)
        every: dict[str, ManifestFile] = {}
        for snapshot in steps(self._snapshots, "snapshots"):
            for manifest in reader.tree.manifests(snapshot):
                every.setdefault(manifest.manifest_path, manifest)
        reader.tree.ahead(manifests=every.values())
        self._look([v.manifest for v in self._verdicts(list(every.values())) if v.keeps], engine)
        self.standings = {s.snapshot_id: self._standing(s) for s in steps(self._snapshots, "snapshots")}
        self.events = self._events()

    def _look(self, every: Sequence[ManifestFile], engine: Engine) -> None:
        """Where Spark is to look, have it look through all data files of the history, a manifest at a time."""
        part = partial(matches_in, self.reader, self._scan, self.schema, self._lineage)
        rows, choice = self.reader.tree.by(engine, "fate").made(Parts(every, True, part, MATCHES))
        if choice.engine == "local":  # file by file, as snapshots have them
            return
        self._holding = set()
        for some in rows.read():
            for manifest, path, matches in zip(*(some[name].to_pylist() for name in MATCHES.names), strict=True):
                self._holding.add(manifest)
                if path not in self._matches:
                    self._keep(path, from_ipc(matches))

    def _positions(self, data: LiveFile) -> list[int]:
        """Positions in a data file whose rows match, deleted or not; each file is read once."""
        if data.path not in self._matches and self._holding is None:
            self._keep(data.path, matching(self.reader.rows(data, self.schema, self._lineage), self._scan.bound))
        return self._matches.get(data.path, [])

    def _keep(self, path: str, matches: pa.Table) -> None:
        self._matches[path] = []
        told = len(self.rows) + matches.num_rows
        budget.within(told, budget.TOLD, path, "matching rows with the files before it", "match fewer")
        for row in row_dicts(matches):
            self._matches[path].append(row["_pos"])
            self.rows[(path, row["_pos"])] = {k: v for k, v in row.items() if k != "_pos"}
        if self.keys:
            places = [(path, position) for position in self._matches[path]]
            told_by = pa.table({k: column_at(matches, k) for k in self.keys})
            self._keyed |= zip(places, row_dicts(told_by), strict=True)

    def _verdicts(self, manifests: Sequence[ManifestFile]) -> list[ManifestVerdict]:
        """Which data manifests a scan reads."""
        return self._scan.manifests([m for m in manifests if m.content == 0])

    def _with_matches(self, manifests: Sequence[ManifestFile], snapshot: Snapshot) -> list[LiveFile]:
        new = [m for m in manifests if read_alike(m) not in self._found]
        if self._holding is not None:
            self._found |= {read_alike(m): [] for m in new if m.manifest_path not in self._holding}
            new = [m for m in new if m.manifest_path in self._holding]
        for verdict in self._verdicts(new):
            if not verdict.keeps:
                self._found[read_alike(verdict.manifest)] = []
        new = [m for m in new if read_alike(m) not in self._found]
        for manifest, files in zip(
            new, self.reader.chosen(new, snapshot, partial(files_read, self._scan)), strict=True
        ):
            self._found[read_alike(manifest)] = [f for f in steps(files, "data files") if self._positions(f)]
        return [data for manifest in manifests for data in self._found[read_alike(manifest)]]

    def _standing(self, snapshot: Snapshot) -> Standing:
        listed = [m for m in self.reader.tree.manifests(snapshot) if m.content == 0]
        candidates = self._with_matches(listed, snapshot)
        if not candidates:
            return NOTHING
        files = self.reader.applicability(snapshot)
        visible: set[Place] = set()
        hidden: dict[Place, Verdict] = {}
        harmless, spared = {}, {}
        for data in steps(candidates, "data files"):
            positions = self._positions(data)
            verdicts = self.reader.verdicts(files, data)
            hits = self.reader.hits(verdicts)
            gone = [(hit.verdict, set(hit.positions.to_pylist())) for hit in hits]
            for position in positions:
                place = (data.path, position)
                by = next((verdict for verdict, places in gone if position in places), None)
                if by is not None:
                    hidden[place] = by
                else:
                    visible.add(place)
                    harmless[place] = tuple(v for v in verdicts if not v.applies)
                    spared[place] = tuple(v for v in verdicts if v.applies)
        return Standing(frozenset(visible), hidden, harmless, spared)

    # -- the timeline -------------------------------------------------------------------------------------------------
    def _values(self, place: Place) -> str:
        return repr([self.rows[place][f.name] for f in self.schema.fields])

    def _key(self, place: Place) -> str | None:
        values = list(self._keyed.get(place, {}).values())
        return repr(values) if values and None not in values else None

    def _events(self) -> list[FateEvent]:
        events: list[FateEvent] = []
        for snapshot in steps(self._snapshots, "snapshots"):
            parent = self.standings.get(snapshot.parent_snapshot_id or -1, NOTHING)
            events += self._step(snapshot, parent, self.standings[snapshot.snapshot_id])
        return sorted([*events, *self._jumps()], key=lambda e: (e.timestamp_ms or 0, e.what))

    def _step(self, snapshot: Snapshot, before: Standing, after: Standing) -> list[FateEvent]:
        gone = sorted(before.visible - after.visible)
        come = sorted(after.visible - before.visible)
        old_values = Counter(self._values(p) for p in gone)
        new_values = Counter(self._values(p) for p in come)
        old_keys = {self._key(p): p for p in gone}
        made = []
        for place in gone:
            verdict = after.hidden.get(place)
            if verdict is not None:
                reasons = "; ".join(r.words for r in verdict.reasons)
                kind = KIND_WORDS[verdict.delete.kind]
                reason = f"hidden by the {kind} delete {base_name(verdict.delete.path)}: {reasons}"
                if verdict.delete.kind == "deletion_vector":
                    reason = f"hidden by a deletion vector in {base_name(verdict.delete.path)}: {reasons}"
                made.append(self._event(snapshot, "deleted", place, verdict.delete.path, reason))
            elif not new_values[self._values(place)]:
                reason = (
                    f"its data file was removed by this {snapshot.operation or 'commit'}, and no file it added "
                    "has the row"
                )
                made.append(self._event(snapshot, "deleted", place, place[0], reason))
        for place in come:
            key = self._key(place)
            if old_values[self._values(place)]:
                old_values[self._values(place)] -= 1
                reason = "the same row, written again into another file"
                made.append(self._event(snapshot, "copied", place, place[0], reason))
            elif key is not None and key in old_keys:
                was = self.rows[old_keys[key]]
                changed = [n for n in was if not n.startswith("_") and was[n] != self.rows[place][n]]
                reason = (
                    f"{', '.join(f'{n}: {was[n]!r} → {self.rows[place][n]!r}' for n in changed)} (told by "
                    f"{', '.join(self.keys)})"
                )
                made.append(self._event(snapshot, "changed", place, place[0], reason))
            else:
                made.append(
                    self._event(
                        snapshot, "appeared", place, place[0], f"added by this {snapshot.operation or 'commit'}"
                    )
                )
        return made

    def _event(
        self, snapshot: Snapshot, what: What, place: Place, by: str, reason: str, at: int | None = None
    ) -> FateEvent:
        name = snapshot_name(snapshot.snapshot_id, self._ordinals)
        when = at if at is not None else snapshot.timestamp_ms
        return FateEvent(snapshot.snapshot_id, name, when, what, *place, self.rows[place], by, reason)

    def _jumps(self) -> list[FateEvent]:
        """Rows that came or went because the current snapshot was set, not because one was committed."""
        meta, events = self.metadata, []
        previous: int | None = None
        for entry in current_log(meta):
            snapshot = meta.snapshot(entry.snapshot_id)
            if entry.how in ("rollback", "jump") and snapshot is not None and previous in self.standings:
                before, after = self.standings[previous], self.standings[entry.snapshot_id]
                for place in sorted(after.visible - before.visible):
                    events.append(self._event(snapshot, "came back", place, "", entry.reason, entry.timestamp_ms))
                for place in sorted(before.visible - after.visible):
                    events.append(self._event(snapshot, "left", place, "", entry.reason, entry.timestamp_ms))
            previous = entry.snapshot_id
        return events

    @cached_property
    def versions(self) -> list[RowVersion]:
        """Each stored row that matches: in which snapshots it is seen, or hidden and by what, in which file it lies."""
        standings = [self.standings[s.snapshot_id] for s in self._snapshots]
        seen = [dict.fromkeys(s.visible, "") | {place: _delete(v) for place, v in s.hidden.items()} for s in standings]
        return row_versions([s.snapshot_id for s in self._snapshots], self.rows, seen, self.events)

    # -- answers ------------------------------------------------------------------------------------------------------
    def explain(self, snapshot: Snapshot) -> list[str]:
        """Why matching rows are there or not as of a snapshot, in sentences with the evidence."""
        name = snapshot_name(snapshot.snapshot_id, self._ordinals)
        standing, lacks = self.standings[snapshot.snapshot_id], self.reader.tree.lacks
        lines = [f"{name} shows {count(len(standing.visible), 'row')} with {self.where or 'any values'}."]
        for place in sorted(standing.visible):
            lines.append(f"{self._where(place)} is there: {self._row(place)}.")
            lines += [f"  {_delete(v)} does not apply to its file: {v.against}." for v in standing.harmless[place]]
            lines += [f"  {_delete(v)} applies to its file, but {_missed(v)}." for v in standing.spared[place]]
        for place, verdict in sorted(standing.hidden.items(), key=lambda item: item[0]):
            reasons = "; ".join(r.words for r in verdict.reasons)
            lines.append(f"{self._where(place)} is hidden by {_delete(verdict)}: {reasons}.")
        for place in sorted(self.rows.keys() - standing.visible - standing.hidden.keys()):
            lines.append(f"{self._where(place)} ({self._row(place)}) is not there: {self._absent(place, snapshot)}.")
        if not self.rows:
            files = "those that could be read" if lacks else "any snapshot that is left"
            lines.append(f"No data file of {files} has such a row.")
        if lacks:
            lines.append(f"⚠ {lacks}.")
        return lines

    def _absent(self, place: Place, snapshot: Snapshot) -> str:
        ancestors: list[int] = []
        at: Snapshot | None = snapshot
        while at is not None and at.snapshot_id not in ancestors:
            ancestors.append(at.snapshot_id)
            at = self.metadata.snapshot(at.parent_snapshot_id)
        for ancestor, older in itertools.pairwise(ancestors):
            if place in {*self.standings[older].visible, *self.standings[older].hidden}:
                step = self.metadata.snapshot(ancestor)
                return (
                    f"{snapshot_name(ancestor, self._ordinals)} ({step.operation if step else '?'}) removed its "
                    "data file"
                )
        holders = [s for s in self._snapshots if place in self.standings[s.snapshot_id].visible]
        first = snapshot_name(holders[0].snapshot_id, self._ordinals) if holders else "another snapshot"
        return f"it was added by {first}, which this snapshot does not descend from"

    def _where(self, place: Place) -> str:
        return f"The row at position {place[1]} of {base_name(place[0])}"

    def _row(self, place: Place) -> str:
        return ", ".join(f"{f.name}={plain(self.rows[place][f.name])!r}" for f in self.schema.fields)


def _delete(verdict: Verdict) -> str:
    delete = verdict.delete
    if delete.kind == "deletion_vector":
        return f"the deletion vector at {delete.content_offset} in {base_name(delete.path)}"
    return f"the {KIND_WORDS[delete.kind]} delete {base_name(delete.path)}"


def _missed(verdict: Verdict) -> str:
    return "holds no equal values" if verdict.delete.kind == "equality_deletes" else "does not hold its position"
