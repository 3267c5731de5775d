"""The history of the rows that match a filter: when they appeared, changed, were deleted, by which file and rule, and
came back."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from explorer.model.metadata import Schema, Snapshot, TableMetadata
from explorer.progress import steps
from explorer.queries.filters import filter_columns, filter_for, fold_like_spark, scan_of
from explorer.queries.matching_rows import MatchingFile, MatchingRows
from explorer.queries.row_reader import JudgedDeletes, RowReader, pairing_keys
from explorer.render.rows import plain
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.deletes.deletes import KIND_WORDS, Applicability, DeleteReason, DeleteVerdict, KnownVerdicts
from explorer.spec.deletes.own_commit import cause_words, is_of_own_commit, remedy_words
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.filters.expressions import BoundTerm, predicates
from explorer.spec.rows.row_versions import RowEvent, RowPlace, RowVersion, StoredRow, What, row_versions
from explorer.spec.scan.filter_names import other_names
from explorer.spec.scan.null_rows import compared_with_null, words_of_rows
from explorer.spec.schemas.former_columns import former_columns
from explorer.spec.schemas.stored_types import NANOSECONDS, READERS_OF_INT96
from explorer.spec.snapshots.lineage import current_log
from explorer.spec.text.names import base_name, first_named, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, whole
from explorer.spec.values.stored_values import is_beyond_nanos
from explorer.storage.rows import read_schema

SHOWN_UNREADABLE = 5
"""Files of which it is said why they cannot be read."""
SENTENCES = 1_000
"""Rows that get sentences of their own."""
COMPARED = 200
"""Deletes of a snapshot up to which also those that do not apply are opened, and compared with each visible row."""
READ_THEM = "Read every file to be sure: --every-file, in Python every_file=True."


@dataclass(frozen=True)
class SnapshotRows:
    """What one snapshot shows of the matching rows: those a reader sees and those that are hidden, each with a
    verdict."""

    visible: frozenset[RowPlace]
    hidden: Mapping[RowPlace, DeleteVerdict]
    harmless: Mapping[RowPlace, tuple[DeleteVerdict, ...]]
    """For visible rows, deletes that could have mattered to their file and do not apply."""
    spared: Mapping[RowPlace, tuple[DeleteVerdict, ...]]
    """For visible rows, deletes that apply to their file, but hold neither their position nor their values."""
    kept_off: Mapping[RowPlace, tuple[DeleteVerdict, ...]]
    """For visible rows, deletes that hold their position or values, but that readers do not apply to their file."""
    skipped: Mapping[RowPlace, str]
    """For visible rows that a scan with the filter skips with their file or row group, why it does."""
    other_readers: Mapping[RowPlace, str]
    """For other visible rows, readers that skip their file."""
    misread: Mapping[RowPlace, str]
    """For visible rows that a scan reads, columns that Spark takes for other values than the file has."""
    entries: Mapping[RowPlace, MatchingFile]
    """For visible rows, the live entry of their file."""
    come_back: Mapping[RowPlace, str]
    """For hidden rows that a scan with the filter returns all the same, why it skips the deletes that hide them."""
    compared: bool = True
    """Whether deletes that do not apply were compared with the rows too."""
    unreadable: frozenset[str] = frozenset()
    """Live data files that a scan with the filter reads and that cannot be read: they may have more rows."""

    @cached_property
    def hidden_at_once(self) -> frozenset[RowPlace]:
        """Hidden rows that a commit added together with the delete that hides them."""
        return frozenset(place for place, verdict in self.hidden.items() if is_of_own_commit(verdict))


NOTHING = SnapshotRows(frozenset(), {}, {}, {}, {}, {}, {}, {}, {}, {})


class RowHistory:
    """The history of the rows that match a filter, over all snapshots.

    Args:
        reader: Reads the table's files.
        where: The filter (icedive docs filters).
        keys: Columns that tell a changed row from a new one; else the identifier fields or, in version 3, row ids do.
        engine: Who looks for the rows in data files.
        every_file: Read the data files that the filter excludes by partition values, counts or bounds too, since these
            may be wrong. Where they are few, they are read in any case (see queries.matching_rows.MatchingRows).
        schema: By which the filter is read and rows are shown; None for the table's current one.

    Raises:
        NotFoundInTable: The filter does not fit the schema.
        UnreadableFile: A delete file cannot be read, or a data file cannot be read this time.
        EngineError, StatementFailed: Spark was to look, and cannot.
    """

    def __init__(
        self,
        reader: RowReader,
        where: str,
        keys: Sequence[str] = (),
        engine: Engine = "auto",
        every_file: bool = False,
        schema: Schema | None = None,
    ) -> None:
        self.reader, self.where = reader, where
        meta = self.metadata = reader.tree.metadata
        self.schema = schema or read_schema(meta, None)
        columns = filter_columns(self.schema)
        bound = filter_for(meta, where, columns)
        scan = scan_of(meta, self.schema, columns, bound)
        names = (p.term.column.name for p in predicates(bound) if isinstance(p.term, BoundTerm))
        self.former = former_columns(meta, self.schema, names)
        """Other columns that had the names of those in the filter."""
        as_spark, self.folded = fold_like_spark(bound, self.schema)
        """What Spark makes of the filter, in words; empty where it asks what is written."""
        self.keys = pairing_keys(self.schema, keys, meta.format_version >= 3)
        self._ordinals = snapshot_ordinals(meta)
        self._snapshots = sorted(meta.snapshots, key=lambda s: self._ordinals[s.snapshot_id])
        looked = self._snapshots
        self.matching = MatchingRows(reader, scan, self.schema, self.keys, looked, engine, every_file, as_spark)
        self._judged: dict[tuple[Any, ...], JudgedDeletes] = {}
        """By manifest, since snapshots share most of them."""
        self._known: KnownVerdicts = {}
        with reader.storage.reading_ahead(self.matching.files_to_read()):
            self.by_snapshot = {s.snapshot_id: self._rows_at(s) for s in steps(self._snapshots, "snapshots")}
        self.events = self._events()

    @property
    def rows(self) -> Mapping[StoredRow, Mapping[str, Any]]:
        """The stored rows that match, with their values."""
        return self.matching.rows

    def _rows_at(self, snapshot: Snapshot) -> SnapshotRows:
        listed = self.reader.tree.manifests(snapshot)
        candidates = self.matching.in_manifests(listed, snapshot)
        unreadable = self.matching.unreadable_in(listed)
        if not candidates:
            return replace(NOTHING, unreadable=unreadable)
        skipped_deletes = self.reader.find_skipped_deletes(self.matching.scan, listed, snapshot, self._judged)
        files = self.reader.applicability(snapshot)
        visible: set[RowPlace] = set()
        hidden: dict[RowPlace, DeleteVerdict] = {}
        harmless, spared, kept_off, skipped, other_readers, misread, come_back = {}, {}, {}, {}, {}, {}, {}
        entries: dict[RowPlace, MatchingFile] = {}
        copies = Counter[str]()
        for match in steps(sorted(candidates, key=lambda m: m.data.sequence_number or 0), "data files"):
            data = match.data
            verdicts = self.reader.verdicts(files, data, self._known)
            hits = [(hit.verdict, set(hit.positions.to_pylist())) for hit in self.reader.hits(verdicts)]
            holding = self._holding(files, data, verdicts)
            for position in match.positions:
                place = RowPlace(data.path, position, copies[data.path])
                by = [verdict for verdict, positions in hits if position in positions]
                if by:
                    opened = [verdict for verdict in by if verdict.delete.key not in skipped_deletes]
                    hidden[place] = (opened or by)[0]
                    if not opened and not match.skip_reason(position):
                        come_back[place] = "; ".join(dict.fromkeys(skipped_deletes[v.delete.key].why for v in by))
                    continue
                visible.add(place)
                entries[place] = match
                kept_off[place] = tuple(v for v, held in holding if position in held)
                harmless[place] = tuple(v for v in verdicts if not v.applies and v not in kept_off[place])
                spared[place] = tuple(v for v in verdicts if v.applies)
                if place.row_key in self.matching.folded_away:
                    continue
                if why := match.skip_reason(position):
                    skipped[place] = why
                elif match.other_readers:
                    other_readers[place] = match.other_readers
                if match.misread and place not in skipped:
                    misread[place] = match.misread
            copies[data.path] += 1
        compared = len(files.deletes) <= COMPARED
        shown = (harmless, spared, kept_off, skipped, other_readers, misread, entries, come_back)
        return SnapshotRows(frozenset(visible), hidden, *shown, compared, unreadable)

    def _holding(
        self, files: Applicability, data: LiveFile, verdicts: Sequence[DeleteVerdict]
    ) -> list[tuple[DeleteVerdict, set[int]]]:
        """Deletes that do not apply to a data file because of their bounds, their partition or the file that they
        name (also if that is the data file under another scheme), with the positions that they hold all the same."""
        if len(files.deletes) > COMPARED:
            return []
        by_bounds = [v for v in verdicts if {r.clause for r in v.reasons if not r.holds} in ({"bounds"}, {"sequence"})]
        others = list(files.for_others(data))
        kept_off = [*by_bounds, *files.elsewhere(data), *others]
        holding = [(v, set(self.reader.positions(v).to_pylist())) for v in steps(kept_off, "deletes")]
        for verdict in steps([*(v for v in verdicts if v.delete.kind == "position_deletes"), *others], "deletes"):
            if positions := set(self.reader.positions_under_other_path(verdict).to_pylist()):
                words = "it names the data file by another scheme, authority or place: readers compare paths as texts"
                holding.append((replace(verdict, reasons=(DeleteReason("path", False, words),)), positions))
        return holding

    # -- the timeline -------------------------------------------------------------------------------------------------
    def _values(self, place: RowPlace) -> str:
        return repr([self.rows[place.row_key][f.name] for f in self.schema.fields])

    def _key(self, place: RowPlace) -> str | None:
        values = list(self.matching.keyed.get(place.row_key, {}).values())
        return repr(values) if values and None not in values else None

    def _events(self) -> list[RowEvent]:
        events: list[RowEvent] = []
        for snapshot in steps(self._snapshots, "snapshots"):
            parent = self.by_snapshot.get(snapshot.parent_snapshot_id or -1, NOTHING)
            events += self._step(snapshot, parent, self.by_snapshot[snapshot.snapshot_id])
        return sorted([*events, *self._jumps()], key=lambda e: (e.timestamp_ms or 0, e.what != "was there", e.what))

    def _step(self, snapshot: Snapshot, before: SnapshotRows, after: SnapshotRows) -> list[RowEvent]:
        gone = sorted(before.visible - after.visible)
        come = sorted(after.visible - before.visible)
        copied, changed, unpaired = self._pair_rows(gone, come, after)
        written_again = self._written_again(snapshot, before, after, [place for place in come if place not in copied])
        kept = set(copied.values())
        rewritten = {self._values(place) for place in kept}
        events = []
        for place in gone:
            verdict = after.hidden.get(place)
            if verdict is not None:
                reasons = "; ".join(r.words for r in verdict.reasons)
                kind = KIND_WORDS[verdict.delete.kind]
                reason = f"hidden by the {kind} delete {base_name(verdict.delete.path)}: {reasons}"
                if verdict.delete.kind == "deletion_vector":
                    reason = f"hidden by a deletion vector in {base_name(verdict.delete.path)}: {reasons}"
                events.append(self._event(snapshot, "deleted", place, verdict.delete.path, reason))
            elif place not in kept:
                again = " once more" if self._values(place) in rewritten else ""
                reason = (
                    f"its data file was removed by this {snapshot.operation or 'commit'}, and no file it added "
                    f"{'that could be read ' if after.unreadable - before.unreadable else ''}has the row{again}"
                )
                if snapshot.operation == "delete" and not whole(snapshot.summary.get("added-data-files")):
                    reason += "; a delete that takes all rows of a file writes no delete file"
                events.append(self._event(snapshot, "deleted", place, place.file, reason))
        for place in come:
            if place in copied:
                reason = "the same row, written again into another file"
                events.append(self._event(snapshot, "copied", place, place.file, reason))
            elif place in changed:
                was, now = self.rows[changed[place].row_key], self.rows[place.row_key]
                differ = [n for n in was if not n.startswith("_") and was[n] != now[n]]
                reason = (
                    f"{', '.join(f'{n}: {was[n]!r} → {now[n]!r}' for n in differ)} (told by {', '.join(self.keys)})"
                )
                events.append(self._event(snapshot, "changed", place, place.file, reason))
            elif (hid := before.hidden.get(place)) is not None:
                reason = f"{_delete(hid)} hid it before, and no delete of this {snapshot.operation or 'commit'} does"
                events.append(self._event(snapshot, "came back", place, hid.delete.path, reason))
            else:
                what, reason = self._arrival(snapshot, after.entries[place])
                if lost := before.unreadable - after.unreadable:
                    names = first_named(sorted(lost), base_name, SHOWN_UNREADABLE)
                    reason += f", unless it was there in {names} before, which cannot be read"
                if place in written_again:
                    what, reason = "came back", written_again[place]
                if place.copy:
                    reason += ", although its file was live already: readers see the row once more"
                reason += unpaired.get(place, "")
                events.append(self._event(snapshot, what, place, place.file, reason))
        for place in sorted(after.hidden_at_once - before.hidden.keys() - before.visible):
            verdict = after.hidden[place]
            if verdict.delete.file_sequence_number == snapshot.sequence_number:
                reason = (
                    f"added and hidden at once: {_delete(verdict)} is of the same {snapshot.operation or 'commit'}, so "
                    "that no snapshot shows the row"
                )
                events.append(self._event(snapshot, "deleted", place, verdict.delete.path, reason))
        return events

    @property
    def hidden_at_once(self) -> Iterator[tuple[int, RowPlace]]:
        """The snapshots that added a row and hid it, with the row."""
        for snapshot in self._snapshots:
            standing = self.by_snapshot[snapshot.snapshot_id]
            for place in sorted(standing.hidden_at_once):
                if standing.hidden[place].delete.file_sequence_number == snapshot.sequence_number:
                    yield snapshot.snapshot_id, place

    def _written_again(
        self, snapshot: Snapshot, before: SnapshotRows, after: SnapshotRows, come: Sequence[RowPlace]
    ) -> dict[RowPlace, str]:
        """The rows of added files that a delete hid in files which are no longer read: whoever wrote these files anew
        did not apply the delete. With the reason of each."""
        there = {place.file for place in (*after.visible, *after.hidden)}
        hidden: dict[str, list[RowPlace]] = {}
        for place in sorted(before.hidden if come else ()):
            if place.file not in there:
                hidden.setdefault(self._values(place), []).append(place)
        reasons = {}
        for place in come:
            if same := hidden.get(self._values(place)):
                was = same.pop(0)
                reasons[place] = (
                    f"an equal row of {base_name(was.file)} was hidden by {_delete(before.hidden[was])}; this "
                    f"{snapshot.operation or 'commit'} took that file out and wrote the row again, as if it had not "
                    "been deleted"
                )
        return reasons

    def _arrival(self, snapshot: Snapshot, entry: MatchingFile) -> tuple[What, str]:
        """Say how a row came that the parent of a snapshot does not show, or that was there before it, as far as is
        known: the parent may have expired."""
        commit, adder = _commit_words(snapshot, self.metadata), entry.added_by
        added: tuple[What, str] = "appeared", f"added by this {commit}"
        first, number = snapshot.parent_snapshot_id is None, entry.data.file_sequence_number
        older = (number or 0) < (snapshot.sequence_number or 0)
        is_of_other = adder != snapshot.snapshot_id and (older or adder in self._ordinals)
        if snapshot.parent_snapshot_id in self.by_snapshot or (first and not is_of_other):
            return added
        if adder is None:
            return "appeared", f"whether this {commit} added it, or an expired snapshot, is not known"
        if adder != snapshot.snapshot_id:
            by = "a snapshot that has expired"
            if adder in self._ordinals:
                by = snapshot_name(adder, self._ordinals)
            return "was there", f"it was there already: {by} added its file"
        unknown = "the snapshot before it, which would tell, has expired"
        if snapshot.operation == "replace":
            return "was there", "it was there already, and this replace wrote it into another file"
        if snapshot.operation in ("overwrite", "delete"):
            return "appeared", f"{added[1]}, or written again by it into another file: {unknown}"
        return added

    def _pair_rows(
        self, gone: Sequence[RowPlace], come: Sequence[RowPlace], after: SnapshotRows
    ) -> tuple[dict[RowPlace, RowPlace], dict[RowPlace, RowPlace], dict[RowPlace, str]]:
        """Find for rows that came which of those that are gone each is.

        Args:
            gone: The rows that are not seen any more.
            come: The rows that were not seen before.
            after: What the snapshot shows.

        Returns:
            The rows that came with the same values, with the row that each was; those that came with other values of
            the same key, where both are the only ones with it, as a row diff pairs them; and of others with a key that
            is gone why they are not paired, as a clause.
        """
        equal: dict[str, list[RowPlace]] = {}
        for place in sorted(gone, key=lambda place: place in after.hidden):
            equal.setdefault(self._values(place), []).append(place)
        copied = {place: same.pop(0) for place in come if (same := equal.get(self._values(place)))}
        kept = set(copied.values())
        old, new = dict[str, list[RowPlace]](), dict[str, list[RowPlace]]()
        for keyed, places in (
            (old, (p for p in gone if p not in kept and not p.copy)),
            (new, (p for p in come if p not in copied and not p.copy)),
        ):
            for place in places:
                if (key := self._key(place)) is not None:
                    keyed.setdefault(key, []).append(place)
        changed: dict[RowPlace, RowPlace] = {}
        unpaired: dict[RowPlace, str] = {}
        for key in old.keys() & new.keys():
            if len(old[key]) == len(new[key]) == 1:
                changed[new[key][0]] = old[key][0]
                continue
            went = f"; {count(len(old[key]), 'row')} with this {', '.join(self.keys)} went and {len(new[key]):,} came: "
            unpaired |= dict.fromkeys(new[key], f"{went}nobody can tell which of them changed")
        return copied, changed, unpaired

    def _event(
        self, snapshot: Snapshot, what: What, place: RowPlace, by: str, reason: str, at: int | None = None
    ) -> RowEvent:
        name = snapshot_name(snapshot.snapshot_id, self._ordinals)
        when = at if at is not None else snapshot.timestamp_ms
        return RowEvent(snapshot.snapshot_id, name, when, what, *place, self.rows[place.row_key], by, reason)

    def _jumps(self) -> list[RowEvent]:
        """Rows that came or went because the current snapshot was set, not because one was committed."""
        meta, events = self.metadata, []
        previous: int | None = None
        for entry in current_log(meta):
            snapshot = meta.snapshot(entry.snapshot_id)
            if entry.how in ("rollback", "jump") and snapshot is not None and previous in self.by_snapshot:
                before, after = self.by_snapshot[previous], self.by_snapshot[entry.snapshot_id]
                come = after.visible - before.visible
                if entry.timestamp_ms == snapshot.timestamp_ms:  # its commit told of the rows that it added
                    come &= self.by_snapshot.get(snapshot.parent_snapshot_id or -1, NOTHING).visible
                for place in sorted(come):
                    events.append(self._event(snapshot, "came back", place, "", entry.reason, entry.timestamp_ms))
                for place in sorted(before.visible - after.visible):
                    events.append(self._event(snapshot, "left", place, "", entry.reason, entry.timestamp_ms))
            previous = entry.snapshot_id
        return events

    @property
    def snapshots(self) -> list[tuple[int, str]]:
        """Ids and names of all snapshots, in the order of `versions`."""
        return [(one.snapshot_id, f"snapshot-{self._ordinals[one.snapshot_id]}") for one in self._snapshots]

    @cached_property
    def versions(self) -> list[RowVersion]:
        """Each stored row that matches: in which snapshots it is seen, or hidden and by what, in which file it lies."""
        by_snapshot = [self.by_snapshot[s.snapshot_id] for s in self._snapshots]
        seen = [
            dict.fromkeys(s.visible, "") | {place: _delete(v) for place, v in s.hidden.items()} for s in by_snapshot
        ]
        return row_versions([s.snapshot_id for s in self._snapshots], self.rows, seen, self.events)

    # -- answers ------------------------------------------------------------------------------------------------------
    def explain(self, snapshot: Snapshot, limit: int = SENTENCES) -> list[str]:
        """Say why matching rows are there or not as of a snapshot, with the evidence.

        Args:
            snapshot: The snapshot.
            limit: Rows that get sentences of their own; the last sentence says how many more there are.

        Returns:
            Sentences, the summary first.
        """
        name = snapshot_name(snapshot.snapshot_id, self._ordinals)
        standing, lacks = self.by_snapshot[snapshot.snapshot_id], self.reader.tree.lacks
        rows_shown = f"{'at least ' if standing.unreadable else ''}{count(len(standing.visible), 'row')}"
        lines = [f"{name} shows {rows_shown} with {self.where or 'any values'}."]
        folded = sum(place.row_key in self.matching.folded_away for place in standing.visible)
        if folded:
            lines.append(f"⚠ Spark does not return {folded:,} of them for this filter: it {self.folded}.")
        elif self.folded:
            lines.append(f"Spark {self.folded}.")
        if standing.skipped:
            lines.append(
                f"⚠ Spark does not return {len(standing.skipped):,} of them for this filter: partition values or "
                "statistics exclude their files or row groups."
            )
        is_current = snapshot.snapshot_id == self.metadata.current_snapshot_id
        if is_current and (names := other_names(self.metadata, snapshot, self.schema, self.matching.scan.bound)):
            lines.append(f"⚠ {names}.")
        if standing.come_back:
            number = len(standing.come_back)
            lines.append(
                f"⚠ Spark returns {count(number, 'row')} more for this filter: it does not open the deletes that hide "
                f"{'it' if number == 1 else 'them'}, as their own bounds, counts or partition exclude the filter "
                "(icedive docs readers). A scan without the filter hides "
                f"{'it' if number == 1 else 'them'}."
            )
        absent = self.rows.keys() - {place.row_key for place in (*standing.visible, *standing.hidden)}
        listed = itertools.chain(
            (partial(self._present, standing, place) for place in sorted(standing.visible)),
            (partial(self._hiding_words, standing, place) for place in sorted(standing.hidden)),
            (partial(self._absence, stored, snapshot) for stored in sorted(absent)),
        )
        for tell in itertools.islice(listed, limit):
            lines += tell()
        rows = len(standing.visible) + len(standing.hidden) + len(absent)
        if rows > limit:
            lines.append(f"{rows - limit:,} more matching rows are not listed: narrow the filter or raise the limit.")
        if standing.visible and not standing.compared:
            lines.append(
                f"The snapshot has more than {COMPARED:,} deletes: those that do not apply, by their partition, their "
                "bounds or the file that they name, were not compared with these rows."
            )
        if standing.hidden_at_once:
            lines += [cause_words(self.schema), remedy_words(self.schema)]
        lines += self._absence_words()
        lines += words_of_rows(self.matching.scan.bound, self.schema, self._equality_ids(snapshot))
        lines += [f"⚠ {column}." for column in self.former]
        if lacks:
            lines.append(f"⚠ {lacks}.")
        return lines

    def _equality_ids(self, snapshot: Snapshot) -> set[int]:
        """The fields that equality deletes of a snapshot go by, asked where the filter has to do with null."""
        listed = self.reader.tree.manifests(snapshot)
        if not any(m.content for m in listed) or not compared_with_null(self.matching.scan.bound, self.schema):
            return set()
        return {own for delete in self.reader.applicability(snapshot).deletes for own in delete.equality_ids}

    def _absence_words(self) -> Iterator[str]:
        unread = self.matching.unread
        if not self.rows:
            files = "any snapshot that is left"
            if unread:
                files = "those that a scan with this filter reads"
            if self.reader.tree.lacks or self.matching.unreadable:
                files = "those that could be read"
            yield f"No data file of {files} has such a row."
            yield from (f"{text[0].upper()}{text[1:]}." for text in self._similar_words())
        if unread:
            yield f"⚠ {unread} {'were' if unread.files != 1 else 'was'} not read. {READ_THEM}"
        in_scan_first = sorted(self.matching.unreadable.items(), key=lambda item: not item[1].in_scan)
        for path, file in in_scan_first[:SHOWN_UNREADABLE]:
            does, rest = ("reads", " and may have more such rows") if file.in_scan else ("skips", "")
            yield f"⚠ {base_name(path)}, which a scan with this filter {does}, cannot be read{rest}: {file.why}."
        if (more := len(self.matching.unreadable) - SHOWN_UNREADABLE) > 0:
            yield f"⚠ {count(more, 'more such file')} cannot be read."

    def _similar_words(self) -> Iterator[str]:
        """What is alike a text of the filter; files of several manifests are not told apart, so none is counted."""
        asked = self.matching.scan.asked_texts
        yield from map(str, asked.told(dict.fromkeys(self.matching.similar, 0))[:SHOWN_UNREADABLE])

    def _present(self, standing: SnapshotRows, place: RowPlace) -> list[str]:
        lines = [f"{self._where(place)} is there: {self._row(place.row_key)}.", *self._value_words(place.row_key)]
        if place.row_key in self.matching.folded_away:
            lines.append(f"  Spark does not return it for this filter: it {self.folded}.")
        elif why := standing.skipped.get(place):
            lines.append(f"  A scan with this filter skips it: {why}.")
        elif readers := standing.other_readers.get(place):
            lines.append(f"  {readers} {'skip' if ' and ' in readers else 'skips'} its file (icedive docs readers).")
        if columns := standing.misread.get(place):
            lines.append(f"  Spark may show another value of {columns}.")
        lines += self._int96_words(standing.entries[place], place.row_key)
        for verdict in standing.kept_off[place]:
            holds = "equal values" if verdict.delete.kind == "equality_deletes" else "its position"
            lines.append(f"  {_delete(verdict)} holds {holds}, but does not apply: {verdict.against}.")
        lines += [f"  {_delete(v)} does not apply to its file: {v.against}." for v in standing.harmless[place]]
        lines += [f"  {_delete(v)} applies to its file, but {_miss_words(v)}." for v in standing.spared[place]]
        return lines

    def _int96_words(self, match: MatchingFile, stored: StoredRow) -> Iterator[str]:
        row = self.rows[stored]
        for name in match.int96:
            column = next((own for own in row if name == own or name.startswith(f"{own}.")), "")
            value = row.get(column)  # a text where Python has none for the time
            if is_beyond_nanos(value) or (name == column and isinstance(value, str)):
                yield f"  Another value of {name} is shown by {READERS_OF_INT96}: this one is outside {NANOSECONDS}."

    def _hiding_words(self, standing: SnapshotRows, place: RowPlace) -> list[str]:
        verdict = standing.hidden[place]
        reasons = "; ".join(r.words for r in verdict.reasons)
        lines = [f"{self._where(place)} is hidden by {_delete(verdict)}: {reasons}."]
        if place in standing.hidden_at_once:
            lines.append(
                "  One commit added its data file and that delete: no snapshot shows the row. The data file still has "
                f"it, until a compaction writes the file anew: {self._row(place.row_key)}."
            )
        if why := standing.come_back.get(place):
            lines.append(
                f"  A scan with this filter returns it ({self._row(place.row_key)}): it skips that delete, whose "
                f"manifest entry rules the filter out: {why}."
            )
        return lines

    def _absence(self, stored: StoredRow, snapshot: Snapshot) -> list[str]:
        why = self._absent(stored, snapshot)
        return [
            f"{self._where(RowPlace(*stored))} ({self._row(stored)}) is not there: {why}.",
            *self._value_words(stored),
        ]

    def _value_words(self, stored: StoredRow) -> list[str]:
        """Where the values of a row come from: the table's name mapping, or for Iceberg Java the partition."""
        return [f"  {words[0].upper()}{words[1:]}." for words in self.matching.value_words.get(stored.file, ())]

    def _absent(self, stored: StoredRow, snapshot: Snapshot) -> str:
        ancestors: list[int] = []
        at: Snapshot | None = snapshot
        while at is not None and at.snapshot_id not in ancestors:
            ancestors.append(at.snapshot_id)
            at = self.metadata.snapshot(at.parent_snapshot_id)
        for ancestor, older in itertools.pairwise(ancestors):
            if stored in self._lies_in(older):
                step = self.metadata.snapshot(ancestor)
                return (
                    f"{snapshot_name(ancestor, self._ordinals)} ({step.operation if step else '?'}) removed its "
                    "data file"
                )
        holders = [s for s in self._snapshots if RowPlace(*stored) in self.by_snapshot[s.snapshot_id].visible]
        first = snapshot_name(holders[0].snapshot_id, self._ordinals) if holders else "another snapshot"
        oldest = self.metadata.snapshot(ancestors[-1])
        broken = oldest is not None and oldest.parent_snapshot_id not in (None, *self.by_snapshot)
        if holders and broken and self._ordinals[holders[0].snapshot_id] < self._ordinals[snapshot.snapshot_id]:
            return f"{first} has it; whether this snapshot descends from that is not known: its ancestors have expired"
        if holders and self._adder(holders[0], stored) != holders[0].snapshot_id:
            return f"{first} has it, which this snapshot does not descend from"
        return f"it was added by {first}, which this snapshot does not descend from"

    def _adder(self, snapshot: Snapshot, stored: StoredRow) -> int | None:
        return self.by_snapshot[snapshot.snapshot_id].entries[RowPlace(*stored)].added_by

    def _lies_in(self, snapshot_id: int) -> set[StoredRow]:
        standing = self.by_snapshot[snapshot_id]
        return {place.row_key for place in (*standing.visible, *standing.hidden)}

    def _where(self, place: RowPlace) -> str:
        again = f", whose file has more than one live entry (entry {place.copy + 1})," if place.copy else ""
        return f"The row at position {place.pos} of {base_name(place.file)}{again}"

    def _row(self, stored: StoredRow) -> str:
        return ", ".join(f"{f.name}={plain(self.rows[stored][f.name])!r}" for f in self.schema.fields)


def _delete(verdict: DeleteVerdict) -> str:
    delete = verdict.delete
    if delete.kind == "deletion_vector":
        return f"the deletion vector{delete.at} in {base_name(delete.path)}"
    return f"the {KIND_WORDS[delete.kind]} delete {base_name(delete.path)}"


def _miss_words(verdict: DeleteVerdict) -> str:
    return "holds no equal values" if verdict.delete.kind == "equality_deletes" else "does not hold its position"


def _commit_words(snapshot: Snapshot, metadata: TableMetadata) -> str:
    """A commit by its operation, and, of one that replaces partitions where there are older specs, what it cannot
    replace (spec: ReplacePartitions takes those of the spec that it writes)."""
    operation = snapshot.operation or "commit"
    if snapshot.summary.get("replace-partitions") != "true" or len(metadata.partition_specs) < 2:
        return operation
    return (
        f"{operation}, which replaces partitions of the spec that it writes alone: files of other specs stay until "
        "they are rewritten by it (icedive maintain preview TABLE compact -O rewrite-all=true)"
    )
