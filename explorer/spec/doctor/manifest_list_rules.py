"""Rules over manifest lists, each by itself and beside what its manifests hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pyarrow as pa

from explorer.model.manifest import FIELD_IDS, ManifestFile, ManifestHeader
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.doctor.avro_types import Oddity, odd_header, odd_names, odd_schema
from explorer.spec.doctor.facts import COUNTS, LIVE, OWN
from explorer.spec.doctor.findings import LIVE_COUNTS, Finding, Refused, finding
from explorer.spec.doctor.header_rules import header_rules
from explorer.spec.doctor.remedy_cases import (
    DROPPED_COLUMN,
    DROPPED_SOURCE,
    FORGOTTEN_PARTITION,
    LACKS_DELETES,
    LACKS_ROWS,
    LOST_DELETES,
    LOST_FILES,
    NO_LIVE_LEFT,
    OF_DELETE,
    REFUSES_SPEC,
    WRITES_FAIL,
    WRONG_NOW,
)
from explorer.spec.entries.entries import NO_LIVE
from explorer.spec.entries.manifest_headers import field_ids_of
from explorer.spec.entries.numpy_columns import Ints
from explorer.spec.schemas.partition_names import fields_taken_for_metrics, fields_without_source
from explorer.spec.schemas.required_nulls import NOT_WRITTEN
from explorer.spec.snapshots.ancestors import Ancestors
from explorer.spec.snapshots.branches import MAIN, NAMED, branches_at
from explorer.spec.text.names import first_of
from explorer.spec.text.units import count, parse_int64, whole

OTHER_LENGTH = (
    "Spark reads it all the same, and readers that go by the length fail (Trino: 'Incorrect file size', "
    "trinodb/trino#25340)"
)
"""Of a manifest whose length is not that of the list."""
SHOWN_COLUMNS = 5
"""Columns that are named of those that a header lacks."""


@dataclass(frozen=True)
class ManifestFacts:
    """What a manifest holds: a row of spec.doctor.facts.FACTS. `others` are what is made of it by other records in
    other lists."""

    row: pa.Table
    others: tuple[pa.Table, ...] = ()

    @property
    def notes(self) -> list[dict[str, Any]]:
        """What is wrong with its entries by any of the records."""
        notes = [note for row in (self.row, *self.others) for note in row["notes"][0].as_py()]
        return list({(n["rule"], n["what"], n["record"], n["column"]): n for n in notes}.values())

    def one(self, name: str) -> Any:
        """A value."""
        return self.row[name][0].as_py()

    def numbers(self, name: str) -> Ints:
        """A list of numbers."""
        values: Ints = self.row[name].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return values

    @cached_property
    def sums(self) -> dict[str, int]:
        """COUNTS, LIVE and OWN by name."""
        return {
            name: value
            for names, column in ((COUNTS, "counts"), (LIVE, "live"), (OWN, "own"))
            for name, value in zip(names, self.one(column), strict=True)
        }


def _mistold(record: ManifestFile) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in _MISTOLD)


class Lists:
    """The manifest lists of some snapshots, and what their manifests hold, by path; those that could not be read are
    left out."""

    def __init__(
        self, meta: TableMetadata, lists: Mapping[int, Sequence[ManifestFile]], held: Mapping[str, ManifestFacts],
        unread: frozenset[int] = frozenset(),
    ) -> None:  # fmt: skip
        self.meta, self.lists, self.held, self.unread = meta, lists, held, unread
        self.snapshots = [s for s in meta.snapshots if s.snapshot_id in lists]
        self._at = {s.snapshot_id: n for n, s in enumerate(self.snapshots)}
        self._listings: dict[int, tuple[int, ...]] = {}
        self._readers_know: dict[tuple[int, ...], int] = {}
        self.masks: dict[str, int] = {}
        """By manifest: which snapshots list it, as bits."""
        self.records: dict[str, ManifestFile] = {}
        for n, snapshot in enumerate(self.snapshots):
            for manifest in lists[snapshot.snapshot_id]:
                self.masks[manifest.manifest_path] = self.masks.get(manifest.manifest_path, 0) | 1 << n
                self.records.setdefault(manifest.manifest_path, manifest)

    @cached_property
    def has_expired_parents(self) -> bool:
        """Whether the parent of any snapshot has expired, or may have: pyiceberg's expiry forgets it, and then a
        snapshot without a parent is not the first."""
        parents = [(s.parent_snapshot_id, s.sequence_number or 0) for s in self.meta.snapshots]
        return any(number > 1 if parent is None else not self.meta.snapshot(parent) for parent, number in parents)

    def listing(self, mask: int) -> tuple[int, ...]:
        """The snapshots of a mask: one tuple for all that have the same."""
        if mask not in self._listings:
            digits, places = f"{mask:b}"[::-1], []
            at = digits.find("1")
            while at >= 0:
                places.append(at)
                at = digits.find("1", at + 1)
            self._listings[mask] = tuple(self.snapshots[at].snapshot_id for at in places)
        return self._listings[mask]

    @cached_property
    def descendants(self) -> dict[int, int]:
        """Of each snapshot, known or expired: itself and those that come after it, as a mask."""
        masks = {s.snapshot_id: 1 << n for n, s in enumerate(self.snapshots)}
        parents = {s.snapshot_id: s.parent_snapshot_id for s in self.meta.snapshots}
        children = Counter(parents.values())
        ready = [snapshot for snapshot in parents if not children[snapshot]]
        while ready:  # from the youngest; those of a circle never come to it
            snapshot = ready.pop()
            if (parent := parents.get(snapshot)) is not None:
                below = masks.get(snapshot, 0)
                masks[parent] = masks[parent] | below if parent in masks else below  # a chain of others shares one
                children[parent] -= 1
                ready += [] if children[parent] else [parent]
        return masks

    @cached_property
    def ancestors(self) -> Ancestors:
        """Which snapshots of the table descend from which, those that are not among these too."""
        return Ancestors(self.meta.snapshots)

    @cached_property
    def column_ids(self) -> dict[str, int]:
        """The field ids of the current schema's columns, by name."""
        current = self.meta.schema(self.meta.current_schema_id)
        return {field.name: field.id for field in current.by_id.values()} if current else {}

    def readers_know(self, source_ids: tuple[int, ...]) -> int:
        """The snapshots by whose schema a filter can name all of some columns, as bits. Readers take that of the table
        for the current snapshot and for branches (Iceberg Java: SnapshotUtil.schemaFor), and a snapshot's own for time
        travel."""
        if source_ids not in self._readers_know:
            mask, current = 0, self.meta.schema(self.meta.current_schema_id)
            heads = {ref.snapshot_id for ref in self.meta.refs if ref.type == "branch"}
            for n, snapshot in enumerate(self.snapshots):
                own = None if snapshot is self.meta.current_snapshot else self.meta.schema(snapshot.schema_id)
                schemas = [own or current, current] if snapshot.snapshot_id in heads else [own or current]
                known = any(schema is None or all(i in schema.by_id for i in source_ids) for schema in schemas)
                mask |= 1 << n if known else 0
            self._readers_know[source_ids] = mask
        return self._readers_know[source_ids]

    def with_deletes_of(self, spec_id: int) -> int:
        """The snapshots that list delete files of a spec, as bits: deletes apply by partition values, whether or not a
        filter can name the column."""
        mask = 0
        for path, record in self.records.items():
            if record.content == 1 and record.partition_spec_id == spec_id and not record.counts_no_live:
                mask |= self.masks[path]
        return mask

    def bit(self, snapshot_id: int | None) -> int:
        """A snapshot's bit; 0 for one that is not among these."""
        return 1 << self._at[snapshot_id] if snapshot_id in self._at else 0

    @cached_property
    def _told(self) -> dict[str, dict[tuple[Any, ...], int]]:
        """By manifest: what lists say of it by _MISTOLD, and which snapshots' lists say so, as bits."""
        told: dict[str, dict[tuple[Any, ...], int]] = {}
        for n, snapshot in enumerate(self.snapshots):
            for manifest in self.lists[snapshot.snapshot_id]:
                masks, key = told.setdefault(manifest.manifest_path, {}), _mistold(manifest)
                masks[key] = masks.get(key, 0) | 1 << n
        return told

    def telling(self, record: ManifestFile, names: Iterable[str]) -> tuple[int, ...]:
        """The snapshots whose own lists say of a manifest what a record says, by some fields of _MISTOLD."""
        places, own = [_MISTOLD.index(name) for name in names], _mistold(record)
        mask = 0
        for key, some in self._told[record.manifest_path].items():
            mask |= some if all(key[at] == own[at] for at in places) else 0
        return self.listing(mask)

    def of(self, rule: str, what: str, path: str, location: str = "", **more: Any) -> Finding:
        """A finding about a manifest, with the snapshots that list it."""
        more.setdefault("snapshots", self.listing(self.masks.get(path, 0)))
        return finding(rule, what, path, location, **{"node": ("manifest", path), **more})


def list_rules(lists: Lists) -> Iterator[Finding]:
    """Rules 9, 16, 25, 29, 31, 33 and 49 over each list."""
    yield from spec_rules(lists)
    yield from _missing_sources(lists)
    meta = lists.meta
    faults: dict[tuple[str, str], dict[str, Any]] = {}
    snapshots: dict[tuple[str, str], int] = {}
    for snapshot in lists.snapshots:
        listed = lists.lists[snapshot.snapshot_id]
        own, path = (snapshot.snapshot_id,), snapshot.manifest_list or meta.metadata_location
        node = ("manifest_list", snapshot.snapshot_id)
        counted = snapshot.summary.get("total-data-files", "0")
        if not listed and snapshot.snapshot_id not in lists.unread and whole(counted):
            yield finding(
                "manifest-list-empty",
                "the list is empty, and the summary counts data files",
                path,
                found="no manifests",
                expected=f"total-data-files: {counted}",
                snapshots=own,
                node=node,
            )
        for twice, times in Counter(m.manifest_path for m in listed).items():
            if times > 1:
                yield finding(
                    "manifest-twice",
                    f"the list names {twice} {times} times: its rows are read as often",
                    path,
                    found=times,
                    expected=1,
                    snapshots=own,
                    node=node,
                )
        for n, manifest in enumerate(listed):
            for rule, what, value, expected, severity in _record(meta, snapshot, manifest):
                key = (rule + what, manifest.manifest_path)
                snapshots[key] = snapshots.get(key, 0) | lists.bit(snapshot.snapshot_id)
                if key in faults:
                    continue
                faults[key] = more = {
                    "rule": rule,
                    "what": what,
                    "path": manifest.manifest_path,
                    "location": f"record {n} of {path}",
                    "found": value,
                    "expected": expected,
                }
                more |= {"severity": severity} if severity else {}
                if (rule, what) in REFUSED:
                    more["refused"] = REFUSED[rule, what]
    for key, more in faults.items():
        yield lists.of(**more, snapshots=lists.listing(snapshots[key]))


def _missing_sources(lists: Lists) -> Iterator[Finding]:
    """Of rule 63: manifests of an older spec, one of whose columns the current schema has no more (#10234)."""
    meta, current = lists.meta, lists.meta.schema(lists.meta.current_schema_id)
    listed = lists.lists.get(meta.current_snapshot_id or 0, ())
    modes = (meta.properties.get(f"write.{statement}.mode", "") for statement in ("delete", "update", "merge"))
    writes_deletes = meta.format_version >= 2 and "merge-on-read" in (mode.lower() for mode in modes)
    for spec in meta.partition_specs if current else ():
        if spec.spec_id == meta.default_spec_id:
            continue
        gone = [f for f in fields_without_source(meta, spec.spec_id) if f.transform != "void"]
        manifests = [m for m in listed if m.partition_spec_id == spec.spec_id]
        live = [m for m in manifests if (m.added_files_count, m.existing_files_count) != (0, 0)]
        fails = gone and fields_taken_for_metrics(meta, spec.spec_id)
        names = ", ".join(f.name for f in gone)
        about: dict[str, Any] = {
            "found": [i for f in gone for i in f.source_ids],
            "columns": tuple(f.name for f in gone),
        }
        if gone and (live or (manifests and fails)):
            what = "live files are" if live else NO_LIVE_LEFT
            effect = REFUSES_SPEC if fails else DROPPED_SOURCE
            has_deletes = any(m.content for m in live)
            notes = MERGE * has_deletes + f". {WRITES_FAIL}" * writes_deletes
            yield lists.of(
                "readers-differ",
                f"{what} of spec {spec.spec_id}, whose partition field {names} {effect}{notes}",
                (live or manifests)[0].manifest_path,
                severity="warning" if notes else "info",
                **about,
            )
        elif gone and writes_deletes:
            what = f"spec {spec.spec_id} has the partition field {names}, whose column was dropped. {WRITES_FAIL}"
            place = f"/partition-specs ({spec.spec_id})"
            yield finding("readers-differ", what, meta.metadata_location, place, severity="warning", **about)


def _record(
    meta: TableMetadata, snapshot: Snapshot, m: ManifestFile
) -> Iterator[tuple[str, str, Any, Any, str | None]]:
    """(rule, what, found, expected, severity) of one record of a list."""
    spec, adder = meta.spec(m.partition_spec_id), meta.snapshot(m.added_snapshot_id)
    if spec is None:
        spec_ids = [s.spec_id for s in meta.partition_specs]
        yield "spec-unknown", "its partition spec is not in the table's metadata", m.partition_spec_id, spec_ids, None
    elif m.partitions is not None and len(m.partitions) < len(spec.fields):
        yield "partition-summary", TOO_FEW_SUMMARIES, len(m.partitions), len(spec.fields), None
    elif m.partitions is not None and len(m.partitions) > len(spec.fields):
        yield (
            "partition-summary",
            "it has more summaries than its spec has fields",
            len(m.partitions),
            len(spec.fields),
            "warning",
        )
    if m.sequence_number > snapshot.sequence_number:
        yield (
            "sequence-above-last",
            "its sequence number is above that of a snapshot that lists it",
            m.sequence_number,
            f"at most {snapshot.sequence_number}",
            None,
        )
    elif adder and adder.sequence_number != m.sequence_number and meta.format_version > 1:
        yield (
            "sequence-above-last",
            "its sequence number is not that of the snapshot which added it",
            m.sequence_number,
            adder.sequence_number,
            "warning",
        )
    if m.min_sequence_number > m.sequence_number:
        yield (
            "min-sequence",
            "its min_sequence_number is above its sequence_number",
            m.min_sequence_number,
            f"at most {m.sequence_number}",
            None,
        )
    if m.min_sequence_number < 0 or m.sequence_number < 0:
        yield "min-sequence", "a sequence number is below 0", min(m.min_sequence_number, m.sequence_number), None, None
    if m.content and meta.format_version == 1:
        yield "deletes-in-v1", "a manifest of deletes in a table of version 1", m.content, "content 0", None
    if m.added_snapshot_id is None and meta.format_version > 1:
        yield "entry-snapshot", "nobody knows which snapshot added it", None, "added_snapshot_id", None
    is_later = adder is not None and (adder.timestamp_ms or 0) > (snapshot.timestamp_ms or 0) > 0
    if adder and is_later and adder.sequence_number > snapshot.sequence_number > 0:
        yield (
            "entry-snapshot",
            "it was added by a later snapshot than one that lists it",
            m.added_snapshot_id,
            f"{snapshot.snapshot_id} or an ancestor",
            None,
        )
    for name in COUNTS:
        count = getattr(m, f"{name}_count")
        if count is not None and count < 0:
            yield "manifest-counts", f"{name}_count is below 0", count, None, None
    tracked = snapshot.first_row_id is not None and m.content == 0
    if tracked and m.first_row_id is None:
        yield "row-ids-overlap", "it has no first_row_id in a snapshot with row lineage", None, "a number", "warning"
    elif m.first_row_id is not None and (m.first_row_id < 0 or m.content):
        yield (
            "row-ids-overlap",
            "only data manifests have a first_row_id, of 0 or more",
            m.first_row_id,
            None,
            "warning",
        )


TOO_FEW_SUMMARIES = (
    "it has fewer partition summaries than its spec has fields: Iceberg Java fails on a filter on the other fields"
)
REFUSED: Mapping[tuple[str, str], Refused] = {
    ("spec-unknown", "its partition spec is not in the table's metadata"): "scan",
    ("partition-summary", TOO_FEW_SUMMARIES): "part",
}
"""What of a list's records Iceberg Java does not read on from, by rule and words."""
BY_PARTITION = ("partition-summary", "partition-value", "value-suspect")
"""Rules on partition values that matter to readers who filter by the column that these come from, and to deletes of the
spec."""
MERGE = (
    ". A commit that merges manifests writes null for it: then deletes of this spec may apply no more, and rows come "
    "back"
)
"""What threatens a table that has live deletes of such a spec."""
_ALIKE = (
    "manifest_length", "partition_spec_id", "content", "sequence_number", "min_sequence_number", "added_snapshot_id",
    "first_row_id", *(f"{name}_count" for name in COUNTS),
)  # fmt: skip
"""What all lists say of a manifest alike: neither it nor they change."""
_READ_BY = ("content", "partition_spec_id")
"""What a list says of a manifest that is held against the manifest's header."""
_MISTOLD = (*_READ_BY, *(f"{name}_count" for name in COUNTS), "min_sequence_number", "manifest_length")
"""What a list says of a manifest that is held against what the manifest is."""
_KEPT = ("partition_spec_id", "content", "sequence_number", "first_row_id")
"""What a rewrite of a manifest takes from its list, and writes for good."""
COUNTED = (
    "manifest_length",
    "partition_spec_id",
    "content",
    "added_snapshot_id",
    *(f"{name}_count" for name in COUNTS),
)
ENTRY_IDS = frozenset({2, *FIELD_IDS.values(), *range(117, 123), 126, 127, 129, 130, 133, 136, 138, 139})
"""Field ids of manifest entries, beside which Java puts those of a spec's partition fields."""


def spec_rules(lists: Lists) -> Iterator[Finding]:
    """Of rule 9: partition fields whose ids manifest entries have themselves, of specs that some manifest is of."""
    listing: dict[int, int] = {}
    for path, record in lists.records.items():
        listing[record.partition_spec_id] = listing.get(record.partition_spec_id, 0) | lists.masks[path]
    for spec in lists.meta.partition_specs:
        for part in spec.fields if spec.spec_id in listing else ():
            if part.field_id in ENTRY_IDS:
                yield finding(
                    "partition-field-conflict",
                    f"partition field {part.name!r} has the id {part.field_id}, which manifest entries have themselves",
                    lists.meta.metadata_location,
                    f"/partition-specs ({spec.spec_id})",
                    found=part.field_id,
                    expected="1000 or more",
                    snapshots=lists.listing(listing[spec.spec_id]),
                    node=("metadata", lists.meta.metadata_location),
                    refused="scan",
                )


def _told_apart(lists: Lists) -> dict[str, dict[int, ManifestFile]]:
    """What each list says of the manifests of which two lists differ in what a rewrite would keep: by path, and by the
    list's snapshot."""
    apart: dict[str, dict[int, ManifestFile]] = {}
    for listed in lists.lists.values():
        for m in listed:
            first = lists.records[m.manifest_path]
            pairs = [(getattr(m, n), getattr(first, n)) for n in _KEPT] if m is not first else []
            if any(None not in pair and pair[0] != pair[1] for pair in pairs):
                apart[m.manifest_path] = {}
    for own, listed in lists.lists.items() if apart else ():
        for m in listed:
            if m.manifest_path in apart:
                apart[m.manifest_path].setdefault(own, m)
    return apart


def _wrong_lists(meta: TableMetadata, records: Mapping[int, ManifestFile] | None) -> tuple[str, tuple[int, ...]]:
    """Say which lists are wrong about what a rewrite of a manifest would keep.

    Args:
        meta: The table's metadata.
        records: What each list says of the manifest, by the list's snapshot; None where they say one thing of what
            would be kept.

    Returns:
        What is said, and the snapshots whose lists are wrong; none where that is not known, or where a rewrite counts
        anew.
    """
    words = "another list says otherwise of it"
    if records is None:
        return f"{words}: one of the lists is wrong", ()
    adders = {m.added_snapshot_id for m in records.values()}
    adder = meta.snapshot(adders.pop()) if len(adders) == 1 else None
    if adder is None or adder.snapshot_id not in records:
        return f"{words}: one of the lists is wrong, nobody can say which, and a rewrite {WRONG_NOW}", ()
    right = {name: getattr(records[adder.snapshot_id], name) for name in _KEPT}
    if adder.sequence_number:
        right["sequence_number"] = adder.sequence_number
    wrong = tuple(
        own
        for own, m in records.items()
        if any(None not in (value, getattr(m, name)) and getattr(m, name) != value for name, value in right.items())
    )
    if meta.current_snapshot_id in wrong:
        return f"{words}: the current one is wrong, and a rewrite {WRONG_NOW}", wrong
    return f"{words}: that of snapshot {first_of([str(own) for own in wrong], 3)} is wrong", wrong


def record_rules(lists: Lists) -> Iterator[Finding]:
    """Rule 62, and 36 over the snapshot that first lists a manifest."""
    reported: set[str] = set()
    apart = _told_apart(lists)
    for snapshot in lists.snapshots:
        parent = lists.lists.get(snapshot.parent_snapshot_id or 0)
        before = {m.manifest_path for m in parent or ()}
        has_parent_list = parent is not None and snapshot.parent_snapshot_id not in lists.unread
        for m in lists.lists[snapshot.snapshot_id]:
            first, path = lists.records[m.manifest_path], m.manifest_path
            pairs = {n: (getattr(m, n), getattr(first, n)) for n in _ALIKE} if m is not first else {}
            differ = {n: pair for n, pair in pairs.items() if None not in pair and pair[0] != pair[1]}
            if differ and path not in reported:
                reported.add(path)
                what, wrong = _wrong_lists(lists.meta, apart.get(path))
                yield lists.of(
                    "records-differ",
                    what,
                    path,
                    f"in {snapshot.manifest_list}",
                    found={n: p[0] for n, p in differ.items()},
                    expected={n: p[1] for n, p in differ.items()},
                    **({"snapshots": wrong} if wrong else {}),
                )
            if has_parent_list and path not in before and m.added_snapshot_id not in (None, snapshot.snapshot_id):
                yield lists.of(
                    "entry-snapshot",
                    "its list is the first that names it, and says that another snapshot added it",
                    path,
                    f"in {snapshot.manifest_list}",
                    found=m.added_snapshot_id,
                    expected=snapshot.snapshot_id,
                )


def manifest_rules(lists: Lists, headers: Mapping[str, ManifestHeader], sizes: Mapping[str, int]) -> Iterator[Finding]:
    """What manifests hold against their records in all lists, their headers, their sizes."""
    reported: set[tuple[str, str, Any]] = set()
    meta = lists.meta
    for snapshot in lists.snapshots:
        for n, m in enumerate(lists.lists[snapshot.snapshot_id]):
            place = f"record {n} of {snapshot.manifest_list}"
            held = lists.held.get(m.manifest_path)
            if held is None or (m.manifest_path, "", id(m)) in reported:
                continue
            reported.add((m.manifest_path, "", id(m)))
            if (m.manifest_path, "header", (m.content, m.partition_spec_id)) not in reported:
                reported.add((m.manifest_path, "header", (m.content, m.partition_spec_id)))
                header = headers.get(m.manifest_path)
                agreed = all(note["rule"] != "manifest-content" for note in held.notes)
                for rule, what, place_in, more in header_rules(header.metadata, m, meta, agreed) if header else ():
                    yield lists.of(rule, what, m.manifest_path, place_in, **more, snapshots=lists.telling(m, _READ_BY))
                if header and held.one("expired_columns"):
                    yield from _dropped_columns(lists, m, held, header)
            wrong = {
                f"{name}_count": (recorded, held.sums[name])
                for name in COUNTS
                if (recorded := getattr(m, f"{name}_count")) is not None and recorded != held.sums[name]
            }
            told = (str(wrong), m.added_files_count, m.existing_files_count)
            if wrong and (m.manifest_path, "counts", told) not in reported:
                reported.add((m.manifest_path, "counts", told))
                own = lists.telling(m, {*wrong, *LIVE_COUNTS})
                lost = _uncounted(lists, m, held, own) if m.counts_no_live else {}
                yield lists.of(
                    "manifest-counts",
                    lost.pop("what", "the list counts other than its entries: readers skip by these"),
                    m.manifest_path,
                    place,
                    **lost,
                    snapshots=own,
                    found={k: v[0] for k, v in wrong.items()},
                    expected={k: v[1] for k, v in wrong.items()},
                )
            least = held.one("min_sequence")
            if (
                least is not None
                and m.min_sequence_number > least
                and m.sequence_number
                and (m.manifest_path, "least", m.min_sequence_number) not in reported
            ):
                reported.add((m.manifest_path, "least", m.min_sequence_number))
                yield lists.of(
                    "min-sequence",
                    "a live entry is older: deletes may be taken not to apply to it",
                    m.manifest_path,
                    place,
                    found=m.min_sequence_number,
                    expected=f"at most {least}",
                    snapshots=lists.telling(m, ("min_sequence_number",)),
                )
            size = sizes.get(m.manifest_path)
            if (
                size is not None
                and m.manifest_length not in (None, size)
                and (m.manifest_path, "length", m.manifest_length) not in reported
            ):
                reported.add((m.manifest_path, "length", m.manifest_length))
                yield lists.of(
                    "manifest-length",
                    f"the list says another length than the file has: {OTHER_LENGTH}",
                    m.manifest_path,
                    place,
                    found=m.manifest_length,
                    expected=f"{size} bytes",
                    snapshots=lists.telling(m, ("manifest_length",)),
                )
    for path, held in lists.held.items():
        record = lists.records[path]
        if (header := headers.get(path)) is not None:
            yield from _odd_manifest(lists, record, held, header)
        yield from _notes(lists, path, held)
        yield from _deletes(lists, record, held)
        yield from _adders(lists, path, held)


def _uncounted(lists: Lists, record: ManifestFile, held: ManifestFacts, snapshots: Iterable[int]) -> dict[str, Any]:
    """Of rule 28: fields of a finding on a manifest in which the lists of some snapshots count no live file, though it
    has some."""
    files, rows = (sum(held.sums[f"{status}_{what}"] for status in ("added", "existing")) for what in ("files", "rows"))
    if not files:
        return {}
    paths: list[str] = []
    for row in (held.row, *held.others):
        paths = paths or row["uncounted"][0].as_py()
    kind, what = ("delete file", "delete") if record.content else ("data file", "row")
    how = f"{count(files, kind)} with {count(rows, what)} {'is' if files == 1 else 'are'} live in it"
    words, branches = f"{NO_LIVE}, but {how}", branches_at(lists.meta, snapshots)
    if not branches:
        words = f"{words}: {LACKS_DELETES if record.content else LACKS_ROWS}"
        return {"what": words, "examples": tuple(paths), "severity": "warning"}
    where = "" if MAIN in branches else f" on branch {first_of(branches, NAMED)}"
    words = f"{words}: {(LOST_DELETES if record.content else LOST_FILES).format(where)}"
    return {"what": words, "examples": tuple(paths)}


def _odd_manifest(lists: Lists, record: ManifestFile, held: ManifestFacts, header: ManifestHeader) -> Iterator[Finding]:
    """Rule 64, of one manifest."""
    spec, version = lists.meta.spec(record.partition_spec_id), _version(header, record.sequence_number)
    partitioned = spec is None or bool(spec.fields)
    odd = odd_schema(header.schema, "manifest", version, held.one("filled"), partitioned)
    for oddity in (*odd, *odd_names(header.schema, "manifest"), *odd_header(header.metadata, version)):
        yield _of_oddity(oddity, partial(lists.of, path=record.manifest_path))


def list_schema_rules(lists: Lists, headers: Mapping[str, ManifestHeader]) -> Iterator[Finding]:
    """Rule 64, of manifest lists."""
    for snapshot in lists.snapshots:
        if (header := headers.get(snapshot.manifest_list or "")) is None:
            continue
        filled = [
            name for name in COUNTED if any(getattr(m, name) is not None for m in lists.lists[snapshot.snapshot_id])
        ]
        here = partial(
            finding,
            file=snapshot.manifest_list or "",
            snapshots=(snapshot.snapshot_id,),
            node=("manifest_list", snapshot.snapshot_id),
        )
        odd = odd_schema(header.schema, "manifest list", _version(header, snapshot.sequence_number), filled)
        partitioned = any(m.partitions for m in lists.lists[snapshot.snapshot_id])
        for oddity in (*odd, *odd_names(header.schema, "manifest list", partitioned)):
            yield _of_oddity(oddity, here)


def _version(header: ManifestHeader, sequence_number: int) -> int:
    """The format version that a file was written in: a table may have become one of a later version since."""
    return parse_int64(header.metadata.get("format-version")) or (2 if sequence_number else 1)


def _of_oddity(oddity: Oddity, here: Callable[..., Finding]) -> Finding:
    level = "error" if oddity.refused else "info" if oddity.minor else "warning"
    return here(
        "avro-schema",
        oddity.words,
        location=f"Avro schema, {oddity.place}" if oddity.place != "header" else "header",
        found=oddity.found,
        expected=oddity.expected,
        severity=level,
        refused="scan" if oddity.refused else "",
    )


def _notes(lists: Lists, path: str, held: ManifestFacts) -> Iterator[Finding]:
    spec = lists.meta.spec(lists.records[path].partition_spec_id)
    gone = {field.name: field.source_ids for field in fields_without_source(lists.meta, spec.spec_id)} if spec else {}
    for note in held.notes:
        mask, column = lists.masks.get(path, 0), note["column"]
        if note["rule"] in BY_PARTITION and note["what"] != OF_DELETE and column in gone:
            known = mask & lists.readers_know(gone[column])
            forgotten = mask & ~known & lists.with_deletes_of(lists.records[path].partition_spec_id)
            if forgotten and note["rule"] == "partition-value" and note["found"] == "null":
                yield _of_note(lists, path, {**note, "what": FORGOTTEN_PARTITION}, forgotten)
            mask = known
        elif note["what"] == NOT_WRITTEN:
            mask &= lists.readers_know((lists.column_ids[column],))
        if mask:
            yield _of_note(lists, path, note, mask)


def _of_note(lists: Lists, path: str, note: Mapping[str, Any], mask: int) -> Finding:
    severity = {"severity": note["severity"]} if note["severity"] else {}
    return lists.of(
        note["rule"],
        note["what"],
        path,
        f"record {note['record']}",
        found=note["found"],
        expected=note["expected"],
        count=note["count"],
        examples=tuple(note["examples"]),
        columns=(note["column"],) if note["column"] else (),
        refused=note["refused"] or "",
        snapshots=lists.listing(mask),
        **severity,
    )


def _adders(lists: Lists, path: str, held: ManifestFacts) -> Iterator[Finding]:
    """Rule 36, of a table of which no snapshot has expired."""
    meta = lists.meta
    if lists.has_expired_parents:
        return
    unknown = [i for i in held.numbers("snapshot_ids").tolist() if not meta.snapshot(i)]
    if unknown:
        yield lists.of(
            "entry-snapshot",
            "its entries were added by a snapshot that there never was: none has expired",
            path,
            found=unknown[0],
            count=len(unknown),
        )


def _dropped_columns(
    lists: Lists, record: ManifestFile, held: ManifestFacts, header: ManifestHeader
) -> Iterator[Finding]:
    """Of rule 63: columns of data files that a reader that goes by the header does not know."""
    known = field_ids_of(header.metadata)
    unknown = [own for own in held.one("expired_columns") if known is not None and own not in known]
    if unknown and not record.content:
        names = [field.name if (field := lists.meta.field(own)) else f"field {own}" for own in unknown]
        yield lists.of(
            "readers-differ", DROPPED_COLUMN, record.manifest_path, "entries", found=first_of(names, SHOWN_COLUMNS),
            severity="info",
        )  # fmt: skip


def _deletes(lists: Lists, record: ManifestFile, held: ManifestFacts) -> Iterator[Finding]:
    """Rules 47 and 48."""
    meta, path = lists.meta, record.manifest_path
    current = meta.schema(meta.current_schema_id)
    for own in held.one("equality_ids"):
        if all(own not in s.by_id for s in meta.schemas):
            yield lists.of(
                "equality-id-unknown",
                "its equality deletes go by a field of no schema: readers fail where they apply",
                path,
                "equality_ids",
                found=own,
                refused="part",
            )
        elif current and own not in current.by_id:
            yield lists.of(
                "equality-id-old",
                "its equality deletes go by a column that was dropped",
                path,
                "equality_ids",
                found=own,
            )
    adder = meta.snapshot(record.added_snapshot_id)
    if held.one("new_position_deletes") and adder and adder.first_row_id is not None:
        yield lists.of(
            "position-deletes-v3",
            "version 3 asks for deletion vectors instead",
            path,
            found=held.one("new_position_deletes"),
            expected="deletion vectors",
        )
