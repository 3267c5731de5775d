"""What each manifest adds to a check of a table: its sums, the keys of its files, and what of its entries is wrong by
itself. Made of whole columns where manifests are decoded, here or by Spark's workers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import NARROW_FIELDS, ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.deletes.deletes import PATH_ID
from explorer.spec.deletes.target_files import target_files
from explorer.spec.doctor.absent_columns import LateColumn, late_column_notes, late_columns
from explorer.spec.doctor.finding_helpers import NOTE, Notes
from explorer.spec.doctor.metrics_rules import metric_notes
from explorer.spec.doctor.partition_fields import PartField
from explorer.spec.doctor.partition_rules import partition_notes
from explorer.spec.doctor.path_schemes import in_same_store
from explorer.spec.doctor.promotions import kinds_then, rebound
from explorer.spec.doctor.remedy_cases import OTHER_SCHEME, UNORDERED_IDS
from explorer.spec.entries.entries import ADDED, DELETED, EXISTING
from explorer.spec.entries.manifest_run import ManifestRun, fill_nulls_of_run
from explorer.spec.entries.numpy_columns import Flags, Ints, flags, ints
from explorer.spec.text.path_segments import is_of_key_store
from explorer.spec.values.hashes import hashes
from explorer.spec.values.values import partition_value, primitive_type, result_type, row_dicts, source_type

COUNTS = ("existing_files", "added_files", "deleted_files", "existing_rows", "added_rows", "deleted_rows")
LIVE = (
    "data_files",
    "delete_files",
    "data_rows",
    "position_deletes",
    "equality_deletes",
    "bytes",
    "data_known",
    "bytes_of_files",
)
OWN = ("added_data_files", "added_data_rows", "added_delete_files", "removed_data_files", "removed_data_rows",
       "removed_delete_files")  # fmt: skip
PLACED = pa.struct(
    [
        ("key", pa.int64()), ("record", pa.int64()), ("spec_id", pa.int32()), ("partition", pa.string()),
        ("sequence", pa.int64()), ("vector", pa.bool_()), ("words", pa.string()),
    ]
)  # fmt: skip
FACTS = pa.schema(
    [
        ("manifest_path", pa.string()), ("counts", pa.list_(pa.int64())), ("live", pa.list_(pa.int64())),
        ("own", pa.list_(pa.int64())), ("min_sequence", pa.int64()), ("notes", pa.list_(NOTE)),
        ("keys", pa.list_(pa.int64())), ("gone", pa.list_(pa.int64())), ("vectors", pa.list_(pa.int64())),
        ("first_row_ids", pa.list_(pa.int64())), ("row_counts", pa.list_(pa.int64())),
        ("equality_ids", pa.list_(pa.int32())), ("named", pa.list_(PLACED)), ("found", pa.list_(PLACED)),
        ("new_position_deletes", pa.int64()), ("snapshot_ids", pa.list_(pa.int64())), ("filled", pa.list_(pa.string())),
        ("expired_columns", pa.list_(pa.int32())), ("uncounted", pa.list_(pa.string())),
        ("empty_segments", pa.int64()), ("empty_segment_path", pa.string()),
    ]
)  # fmt: skip
"""One row a manifest. `keys` are hashes of what tells live files apart, `gone` of DELETED ones; `vectors` of the data
files that live vectors belong to. `first_row_ids` (-1: none) and `row_counts` go with `keys`, or are empty. `named` is
where deletes say that their data files are, `found` where those are; `snapshot_ids` added live entries; `filled` are
the columns that have any value; `expired_columns` the fields, by their metrics, of live data files whose snapshots are
gone; `uncounted` the first live files where the list counts none; `empty_segments` how many live files have an empty
segment in the path, and `empty_segment_path` the first of them."""
MAX_PATH = 300
"""Characters of a path that is an example."""
MAX_UNCOUNTED = 20
"""Live files that are named of a manifest whose counts say that it has none."""
RESERVED = 2_147_483_000
"""Field ids from here on are reserved (spec: "Reserved Field IDs")."""


@dataclass(frozen=True)
class RuleContext:
    """What the rules over entries know of the table. `wanted` are hashes of data files that deletes name, in order."""

    version: int
    specs: Mapping[int, tuple[PartField, ...]]
    kinds: Mapping[int, str]
    names: Mapping[int, str]
    top: frozenset[int]
    required: Mapping[int, str]
    wanted: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    metrics: bool = True
    rebound: frozenset[int] = frozenset()
    keys_tell_slashes: bool = False
    """Whether the table is in a store that takes `a//b` and `a/b` for two keys."""
    store: str | None = None
    """A regular expression for paths of the store that the table's location is in (see schemes.in_same_store)."""
    then: Mapping[int, Mapping[int, str | None]] = field(default_factory=dict)
    """Field ids whose types differ between schemas, and what they were when each snapshot was written."""
    snapshots: frozenset[int] = frozenset()
    order: Mapping[int, int] = field(default_factory=dict)
    """The places of the current schema's columns, by field id."""
    late: Mapping[int, LateColumn] = field(default_factory=dict)
    """Required columns that some snapshots' schemas lack, by field id."""

    def as_of(self, snapshot_id: int | None) -> RuleContext:
        """The same, as a snapshot wrote."""
        if not self.rebound:
            return self
        own = self.then.get(snapshot_id or 0, {})
        kinds = {i: kind for i, kind in self.kinds.items() if i not in self.rebound}
        kinds |= {i: kind for i, kind in own.items() if kind is not None and primitive_type(kind) is not None}
        specs = {i: tuple(self._part(part, own) for part in parts) for i, parts in self.specs.items()}
        return replace(self, kinds=kinds, specs=specs)

    def _part(self, part: PartField, own: Mapping[int, str | None]) -> PartField:
        if part.source_id not in self.rebound:
            return part
        kind = own.get(part.source_id or 0)
        return replace(part, source=kind, result=result_type(part.transform, kind))

    @classmethod
    def of(cls, meta: TableMetadata) -> RuleContext:
        """From the metadata file."""
        current = meta.schema(meta.current_schema_id)
        specs = {}
        for spec in meta.partition_specs:
            fields = []
            for part in spec.fields:
                kind = source_type(meta, part.source_ids)
                one = len(part.source_ids) == 1
                source = part.source_ids[0] if one else None
                known_type = kind if one and isinstance(kind, str) else None
                fields.append(
                    PartField(
                        part.field_id,
                        part.name,
                        part.transform,
                        source,
                        known_type,
                        result_type(part.transform, known_type),
                    )
                )
            specs[spec.spec_id] = tuple(fields)
        ids = {i for s in meta.schemas for i in s.by_id}
        named = {i: f.type for i in ids if (f := meta.field(i)) and isinstance(f.type, str)}
        kinds = {i: kind for i, kind in named.items() if primitive_type(kind) is not None}
        everywhere = [{f.id for f in s.fields} for s in meta.schemas]
        top = frozenset(set.union(*everywhere) & set(kinds)) if everywhere else frozenset()
        required = {f.id: f.name for f in (current.fields if current else ()) if f.required and f.id in top}
        names = {i: field.name for i in kinds if (field := meta.field(i))} | {PATH_ID: "file_path"}
        kinds[PATH_ID] = "string"
        changed = rebound(meta)
        then = kinds_then(meta, changed)
        store = in_same_store(meta.location) if meta.format_version < 4 else None  # later paths may be relative
        snapshots = frozenset(snapshot.snapshot_id for snapshot in meta.snapshots)
        return cls(
            meta.format_version, specs, kinds, names, top, required, rebound=changed, then=then, store=store,
            keys_tell_slashes=is_of_key_store(meta.stored_location),
            snapshots=snapshots, order={f.id: n for n, f in enumerate(current.fields if current else ())},
            late={own: column for own, column in late_columns(meta).items() if own not in changed},
        )  # fmt: skip


def facts(about: RuleContext, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """FACTS of one manifest's stored entries."""
    return facts_of_run(about, ManifestRun([manifest], [stored.num_rows]), stored)


def alike(about: RuleContext, manifest: ManifestFile) -> Hashable:
    """What manifests have in common whose facts may be made together."""
    of_snapshot = manifest.added_snapshot_id if about.rebound else None
    return manifest.content, manifest.partition_spec_id, of_snapshot


def facts_of_run(about: RuleContext, run: ManifestRun, stored: pa.Table) -> pa.Table:
    """FACTS of manifests that are alike, whose stored entries follow each other: those of each manifest by itself."""
    own_context, manifest = about, run.manifests[0]
    about, stored = about.as_of(manifest.added_snapshot_id), stored.combine_chunks()
    table = stored
    for name, filled in fill_nulls_of_run(stored, run).items():
        table = table.append_column(f"inherited_{name}", filled)
    notes = Notes(table, run.starts)
    status = ints(stored["status"], -1)
    content = ints(stored["content"], 0)
    rows, sizes = ints(stored["record_count"], 0), ints(stored["file_size_in_bytes"], 0)
    live = (status == EXISTING) | (status == ADDED)
    vector = (content == 1) & flags(pc.equal(pc.utf8_lower(stored["file_format"]), "puffin"))
    _entry_notes(about, run, table, notes, status, content, vector)
    if about.store is not None:
        own_paths = pc.match_substring_regex(stored["file_path"].cast(pa.string()), about.store)
        elsewhere = live & flags(pc.invert(own_paths))
        notes.add("path-outside", elsewhere, OTHER_SCHEME, lambda record: stored["file_path"][record].as_py()[:300])
    if about.metrics:
        metric_notes(table, about.kinds, about.names, about.top, about.required, content, live, notes)
    notes.add("readers-differ", live & _unordered(stored, about.order), UNORDERED_IDS, severity="info")
    required = about.required.keys() - about.rebound
    spec = about.specs.get(manifest.partition_spec_id)
    partition_notes(table, spec, run, live, about.metrics, required, notes)
    paths = hashes(stored["file_path"])
    keys = _keys(stored, paths)
    data = content == 0
    own_ids = ints(table["inherited_snapshot_id"], -1)
    if about.metrics and about.late:
        given = {part.source_id for part in spec or () if part.transform == "identity" and part.source_id is not None}
        late_column_notes(table, about.late, given, own_ids, live & data & (rows > 0), notes)
    if notes.is_cut_short and len(run.manifests) > 1:
        each = [(m, stored.slice(start, end - start)) for m, start, end in run.ranges()]
        return pa.concat_tables([facts(own_context, m, entries) for m, entries in each])
    own = own_ids == run.numbers([-2 if m.added_snapshot_id is None else m.added_snapshot_id for m in run.manifests])
    tracked = live & data & flags(pc.is_valid(table["inherited_first_row_id"]))
    is_tracked = np.repeat(run.any(tracked), run.counts)
    sequences, first_row_ids = (table[f"inherited_{name}"] for name in ("sequence_number", "first_row_id"))
    target, named = target_files(stored), live & data & _among(paths, about.wanted)
    placing = live & ~data & flags(pc.is_valid(target))
    expired = live & data & ~np.isin(own_ids, _array(about.snapshots))
    bytes_read = np.where(vector, ints(stored["content_size_in_bytes"], 0), sizes)
    sums = [run.count(live & data), run.count(live & ~data), run.sum(rows, live & data),
            run.sum(rows, live & (content == 1)), run.sum(rows, live & (content == 2)),
            run.sum(bytes_read, live), np.ones(len(run.manifests), np.int64), run.sum(sizes, live)]  # fmt: skip
    slashed = live & _have_empty_segments(stored["file_path"], about.keys_tell_slashes)
    own_counts = []
    for which in (ADDED, DELETED):
        of = own & (status == which)
        own_counts += [run.count(of & data), run.sum(rows, of & data), run.count(of & ~data)]
    counts = [run.count(status == s) for s in (EXISTING, ADDED, DELETED)]
    counts += [run.sum(rows, status == s) for s in (EXISTING, ADDED, DELETED)]
    ranges = [slice(start, end) for _, start, end in run.ranges()]
    some = [(m, stored.slice(at.start, at.stop - at.start), at) for m, at in zip(run.manifests, ranges, strict=True)]
    columns = {
        "manifest_path": [m.manifest_path for m in run.manifests],
        "counts": np.transpose(counts).tolist(),
        "live": np.transpose(sums).tolist(),
        "own": np.transpose(own_counts).tolist(),
        "min_sequence": run.least(ints(sequences, 0), live & flags(pc.is_valid(sequences))),
        "notes": [notes.rows(place) for place in notes.places()],
        "keys": _lists(run, keys, live),
        "gone": _lists(run, keys, status == DELETED),
        "vectors": _lists(run, hashes(stored["referenced_data_file"]), live & vector),
        "first_row_ids": _lists(run, np.where(tracked, ints(first_row_ids, 0), -1), live & is_tracked),
        "row_counts": _lists(run, rows, live & is_tracked),
        "equality_ids": [_equality_ids(entries, (live & (content == 2))[at]) for _, entries, at in some],
        "named": [_places_by_path(about, table, m, placing, target, vector, at) for m, _, at in some],
        "found": [_places_by_path(about, table, m, named, stored["file_path"], vector, at) for m, _, at in some],
        "snapshot_ids": [np.unique(own_ids[at][live[at]]) for at in ranges],
        "filled": _nonnull_columns(stored, run),
        "expired_columns": [_columns_of(entries, expired[at]) for _, entries, at in some],
        "uncounted": [entries["file_path"].filter(pa.array(live[at])).slice(0, MAX_UNCOUNTED).to_pylist()
                      if m.counts_no_live else [] for m, entries, at in some],
        "empty_segments": run.count(slashed),
        "empty_segment_path": [_first(stored["file_path"], slashed, at) for at in ranges],
        "new_position_deletes": run.count(own & (status == ADDED) & (content == 1) & ~vector),
    }  # fmt: skip
    arrays = [
        columns[f.name] if isinstance(columns[f.name], pa.Array) else pa.array(columns[f.name], f.type) for f in FACTS
    ]
    return pa.table(arrays, schema=FACTS)


def _have_empty_segments(paths: pa.ChunkedArray, keys_tell_slashes: bool) -> Flags:
    """Which paths have two slashes in a row after those of the scheme, where that matters."""
    if not keys_tell_slashes:
        return np.zeros(len(paths), bool)
    return flags(pc.greater(pc.count_substring(paths.cast(pa.string()), "//"), 1))


def _first(paths: pa.ChunkedArray, chosen: Flags, entries: slice) -> str | None:
    """The first of a manifest's paths that are chosen."""
    at = int(np.argmax(chosen[entries])) if chosen[entries].any() else None
    return None if at is None else str(paths[entries.start + at])[:MAX_PATH]


def _lists(run: ManifestRun, values: Ints, chosen: Flags) -> pa.ListArray:
    """For each manifest the values of those of its entries that are chosen."""
    offsets = np.concatenate([[0], np.cumsum(run.count(chosen))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values[chosen], pa.int64()))


def keys_of(stored: pa.Table) -> Ints:
    """What tells each file from others: its path, of a deletion vector its place in the file too."""
    return _keys(stored, hashes(stored["file_path"]))


def _keys(stored: pa.Table, paths: Ints) -> Ints:
    vector = ints(stored["content"], 0) == 1
    if not vector.any():
        return paths
    vector &= flags(pc.equal(pc.utf8_lower(stored["file_format"]), "puffin"))
    return np.where(vector, paths ^ (ints(stored["content_offset"], 0) * 0x9E3779B1 + 1), paths)


def _among(values: Ints, wanted: Ints) -> Flags:
    if not len(wanted):
        return np.zeros(len(values), bool)
    at = np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)
    among: Flags = wanted[at] == values
    return among


def _nonnull_columns(stored: pa.Table, run: ManifestRun) -> list[list[str]]:
    """For each manifest the columns that have any value; of data manifests nobody reads `content`."""
    columns: list[list[str]] = [[] for _ in run.manifests]
    of_deletes = bool(run.manifests[0].content)
    for name in (f.name for f in NARROW_FIELDS if of_deletes or f.name != "content"):
        if name in stored.column_names and stored[name].null_count < len(stored):
            has_values = run.any(flags(pc.is_valid(stored[name]))) if stored[name].null_count else run.counts > 0
            for place in np.flatnonzero(has_values).tolist():
                columns[place].append(name)
    return columns


def _places_by_path(
    about: RuleContext, table: pa.Table, manifest: ManifestFile, which: Flags, path: pa.ChunkedArray, vector: Flags,
    entries: slice,
) -> list[dict[str, Any]]:  # fmt: skip
    """Where those of a manifest's entries are that are asked for, by the path that goes with each."""
    at = np.flatnonzero(which[entries])
    if not len(at):
        return []
    records = at + entries.start
    some = table.take(pa.array(records))
    keys, vectors = hashes(path.take(pa.array(records))).tolist(), vector[records].tolist()
    spec = about.specs.get(manifest.partition_spec_id, ())
    partitions = [row["partition"] or {} for row in row_dicts(some.select(["partition"]))]
    sequences = some["inherited_sequence_number"].to_pylist()
    columns = zip(keys, at.tolist(), partitions, sequences, vectors, strict=True)
    return [
        {
            "key": k, "record": r, "spec_id": manifest.partition_spec_id, "partition": repr(p), "sequence": s,
            "vector": v, "words": _partition_words(spec, p),
        }
        for k, r, p, s, v in columns
    ]  # fmt: skip


def _partition_words(spec: Sequence[PartField], partition: Mapping[str, Any]) -> str:
    parts = (
        f"{f.name}={partition_value(partition.get(str(f.field_id)), f.transform, f.source)}"
        for f in spec
        if str(f.field_id) in partition
    )
    return "/".join(parts) or "no partition"


def _equality_ids(stored: pa.Table, which: Flags) -> list[int]:
    if not which.any():
        return []
    lists = stored["equality_ids"].filter(pa.array(which))
    return sorted(i for i in pc.unique(pc.list_flatten(lists)).to_pylist() if i is not None)


def _unordered(stored: pa.Table, order: Mapping[int, int]) -> Flags:
    """Which entries have equality ids in another order than the columns have."""
    unordered = np.zeros(len(stored), bool)
    lists = stored["equality_ids"].combine_chunks()
    lists = lists.chunk(0) if isinstance(lists, pa.ChunkedArray) and lists.num_chunks else lists
    if lists.null_count == len(lists):
        return unordered
    entries, ids = pc.list_parent_indices(lists).to_numpy(), ints(pc.list_flatten(lists), 0)
    known, at = np.unique(ids, return_inverse=True)
    places = np.array([order.get(own, own) for own in known.tolist()], np.int64)[at]
    unordered[entries[1:][(entries[1:] == entries[:-1]) & (places[1:] < places[:-1])]] = True
    return unordered


def _array(numbers: Collection[int]) -> Ints:
    return np.fromiter(numbers, np.int64, len(numbers))


def _columns_of(stored: pa.Table, which: Flags) -> list[int]:
    """The fields that entries have sizes or bounds of."""
    if not which.any():
        return []
    some = stored.filter(pa.array(which))
    ids: set[int] = set()
    for name in ("column_sizes", "value_counts", "lower_bounds"):
        for chunk in some[name].chunks if name in some.column_names else ():
            ids.update(pc.unique(chunk.keys).to_pylist())
    return sorted(own for own in ids if 0 < own < RESERVED)


def _entry_notes(
    about: RuleContext,
    run: ManifestRun,
    table: pa.Table,
    notes: Notes,
    status: Ints,
    content: Ints,
    vector: Flags,
) -> None:
    """Rules 16, 30, 34, 36, 41, 47, 49 and 57 over the entries of manifests of one content."""
    deletes, live = content != 0, (status == EXISTING) | (status == ADDED)
    numbers, of_deletes = run.numbers([m.sequence_number for m in run.manifests]), bool(run.manifests[0].content)
    null = ~flags(pc.is_valid(table["inherited_sequence_number"]))
    what = "it is no ADDED entry, and has no sequence number"
    notes.add("null-sequence", null & (status == EXISTING), what, refused="scan")
    notes.add("null-sequence", null & (status == DELETED), f"{what}: readers take no notice", severity="info")
    sequence = ints(table["inherited_sequence_number"], 0)
    written = ints(table["inherited_file_sequence_number"], 1 << 62)
    notes.add(
        "sequence-above-last",
        (numbers != 0) & (sequence > numbers),
        "its data sequence number is above its manifest's",
        sequence,
        lambda record: f"at most {numbers[record]}",
    )
    notes.add(
        "sequence-above-last",
        (numbers != 0) & (written != 1 << 62) & (written > numbers),
        "its file sequence number is above its manifest's",
        written,
        lambda record: f"at most {numbers[record]}",
    )
    notes.add("entry-invalid", sequence < 0, "its sequence number is below 0", sequence)
    notes.add(
        "entry-invalid",
        sequence > written,
        "its data sequence number is above its file sequence number",
        sequence,
        "the file's",
    )
    effect = "Spark reads the rows of the delete file as rows of the table, or fails, and deletes nothing"
    notes.add(
        "manifest-content",
        deletes != of_deletes,
        f"its content is not that of the manifest{'' if of_deletes else f': {effect}'}",
        content,
        f"content {run.manifests[0].content} in the manifest list",
        refused=_scan_or(run, of_deletes & live & ~deletes, "part"),
    )
    invalid, refused = (content < 0) | (content > 2), "scan" if of_deletes else ""
    notes.add("entry-invalid", invalid, "its content is none of the spec's", content, refused=refused)
    notes.add("entry-invalid", (status < 0) | (status > 2), "its status is none of the spec's", status, refused="scan")
    if about.version == 1:
        notes.add("deletes-in-v1", deletes & live, "version 1 has no delete files", content)
    ids = ints(table["snapshot_id"], -1)
    stored_id = flags(pc.is_valid(table["snapshot_id"]))
    added_by = run.numbers([m.added_snapshot_id or 0 for m in run.manifests])
    is_known = run.numbers([m.added_snapshot_id is not None for m in run.manifests]) != 0
    other = stored_id & is_known & (ids != added_by)
    consequence = "whoever reads changes takes it for another snapshot's"
    for way, code in (("DELETED", DELETED), ("ADDED", ADDED)):
        notes.add(
            "entry-snapshot",
            other & (status == code),
            f"it is {way} by another snapshot than the manifest's: {consequence}",
            ids,
            lambda record: f"{added_by[record]}, which added the manifest",
        )
    rows, size = ints(table["record_count"], -1), ints(table["file_size_in_bytes"], -1)
    notes.add("entry-invalid", rows < 0, "its record_count is below 0, or missing", table["record_count"])
    notes.add(
        "entry-invalid",
        size <= 0,
        "its file_size_in_bytes is not above 0: Spark reads none of its rows",
        table["file_size_in_bytes"],
    )
    empty = ~flags(pc.greater(pc.binary_length(table["file_path"]), 0))
    notes.add("entry-invalid", empty & live, "it has no file_path", refused="scan")
    kind = pc.utf8_lower(table["file_format"])
    valid_format = flags(pc.is_in(kind, pa.array(["parquet", "avro", "orc", "puffin", "metadata"])))
    notes.add(
        "entry-invalid", ~valid_format, "its file_format is none of the spec's", table["file_format"], refused="scan"
    )
    path_kind = flags(pc.match_substring_regex(table["file_path"], r"\.(parquet|avro|orc|puffin)$"))
    if path_kind.any():
        ending = pc.struct_field(pc.extract_regex(table["file_path"], r"\.(?P<kind>[a-z]+)$"), "kind")
        notes.add(
            "entry-invalid",
            path_kind & flags(pc.not_equal(ending, kind)),
            "its file_format is not what its name ends with",
            table["file_format"],
            ending,
            severity="warning",
        )
    puffin = flags(pc.equal(kind, "puffin"))
    alien = flags(pc.is_in(kind, pa.array(["puffin", "metadata"]))) & (~puffin | (content != 1)) & live
    notes.add("entry-invalid", alien, "its file_format is none of files with rows", table["file_format"],
              refused=_scan_or(run, alien & ~deletes, "part"))  # fmt: skip
    _vector_notes(about, table, notes, vector & live)
    end = ints(table["content_offset"], 0) + ints(table["content_size_in_bytes"], 0)
    beyond = (end > size) | (ints(table["content_offset"], 0) < 0)
    notes.add("vector-wrong", vector & beyond, "its vector is not inside the file", end, f"{'file_size_in_bytes'}")
    none = ~flags(pc.greater(pc.list_value_length(table["equality_ids"]), 0))
    without = (content == 2) & none & live
    absent = of_deletes & without & ~flags(pc.is_valid(table["equality_ids"]))
    notes.add("equality-id-unknown", without, "an equality delete without equality_ids",
              refused=_scan_or(run, absent, ""))  # fmt: skip
    notes.add("entry-invalid", (content != 2) & ~none, "equality_ids without equality deletes", severity="warning")
    notes.add("entry-invalid", ints(table["first_row_id"], 0) < 0, "its first_row_id is below 0", table["first_row_id"])
    lineage = flags(pc.is_valid(table["first_row_id"])) & deletes
    notes.add("entry-invalid", lineage, "a delete file with a first_row_id", table["first_row_id"], severity="warning")
    _split_notes(table, notes, size, live)


def _scan_or(run: ManifestRun, fails: Flags, other: str) -> Callable[[int], str]:
    """What readers refuse of a manifest: the scan where any such entry makes it fail, or else another thing."""
    return lambda place: "scan" if fails[run.starts[place] : run.starts[place] + run.counts[place]].any() else other


def _vector_notes(about: RuleContext, table: pa.Table, notes: Notes, vector: Flags) -> None:
    """Of rule 57: fields that each deletion vector must have, and the version that it takes."""
    required = ("content_offset", "content_size_in_bytes", "referenced_data_file")
    lacks = {name: ~flags(pc.is_valid(table[name])) for name in required}
    young = "deletion vectors are of version 3 and later"
    for missing in product((True, False), repeat=len(required)):
        those = vector & np.logical_and.reduce([lacks[n] == lack for n, lack in zip(required, missing, strict=True)])
        names = [name for name, lack in zip(required, missing, strict=True) if lack]
        words = f"a deletion vector without {', '.join(names)}"
        if about.version == 2:
            words = f"{words if names else 'a deletion vector'} in a table of version 2: {young}"
        refused = "" if required[2] in names else "scan" if required[1] in names else "part" if names else ""
        if names or about.version == 2:
            notes.add("entry-invalid", those, words, refused=refused)


def _split_notes(table: pa.Table, notes: Notes, size: Ints, live: Flags) -> None:
    """Rule 41: offsets are in order, and inside the file."""
    offsets = table["split_offsets"].combine_chunks()
    lengths = ints(pa.chunked_array([pc.list_value_length(offsets)]), 0)
    if not lengths.any():
        return
    parents = np.repeat(np.arange(len(lengths)), lengths)
    values = offsets.flatten().fill_null(-1).to_numpy(zero_copy_only=False)
    wrong = np.zeros(len(lengths), bool)
    wrong[parents[(values < 0) | (values >= size[parents])]] = True
    falls = (np.diff(values) <= 0) & (np.diff(parents) == 0)
    wrong[parents[1:][falls]] = True
    below = np.zeros(len(lengths), bool)
    below[parents[values < 0]] = True
    notes.add(
        "split-offsets",
        below & live,
        "a split offset is below 0",
        table["split_offsets"],
        severity="error",
        refused="scan",
    )
    notes.add(
        "split-offsets",
        wrong & ~(below & live),
        "its split_offsets are not in order, or not inside the file",
        table["split_offsets"],
        "below file_size_in_bytes",
    )
