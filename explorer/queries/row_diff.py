"""The rows that differ between two snapshots: only data files that differ are read, here or by Spark's workers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import NotPossible
from explorer.model.metadata import Schema, Snapshot
from explorer.progress import steps
from explorer.queries.row_reader import RowReader, SelectedFiles, pairing_keys
from explorer.spark_engine.engine_choice import Engine, beyond_limit, choose_engine_for_rows
from explorer.spark_engine.file_rows import MakeTable, WantedFiles, compare_rows
from explorer.spark_engine.spark import shared_engine
from explorer.spec.deletes.deletes import Applicability
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.entries.numpy_columns import ints
from explorer.spec.rows.row_diff import (
    RepeatedKeys,
    RowDiff,
    describe_duplicates,
    duplicate_keys,
    key_counts,
    row_changes,
    tally,
)
from explorer.spec.snapshots.diff import only
from explorer.spec.snapshots.lineage import newer
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.spec.text.units import human_bytes
from explorer.spec.values.equality import group_places, is_among, join_rows, number_rows
from explorer.spec.values.values import no_rows
from explorer.storage import limits
from explorer.storage import rows as contents
from explorer.storage.file_rows import rows_of_file
from explorer.storage.projection import arrow_type


def row_diff(
    reader: RowReader,
    before: Snapshot | None,
    after: Snapshot | None,
    keys: Sequence[str] = (),
    engine: Engine = "auto",
) -> RowDiff:
    """Compare the rows of two snapshots (None: the table before its first), reading only data files that one side
    lacks or that other deletes apply to. Rows pair to updates by `keys`, else by the schema's identifier fields, else
    in v3 by row id. Raises UnreadableFile, NotFoundInTable, EngineError, StatementFailed."""
    meta = reader.tree.metadata
    last = newer(meta, before, after)  # types are never narrowed
    schema = contents.read_schema(meta, last.schema_id if last else None)
    columns = tuple(f.name for f in schema.fields)
    lineage = meta.format_version >= 3
    paired_by = pairing_keys(schema, keys, lineage)
    without_ids = [side for side in (before, after) if side is not None and side.first_row_id is None]
    if paired_by == ("_row_id",) and without_ids:  # of before the upgrade to version 3
        paired_by = ()
    sides = _differing(reader, before, after)
    make, empty = partial(rows_of_file, schema, lineage), _empty(schema, lineage)
    file_facts = [side.differ.facts for side in sides]
    size = sum(pc.sum(side["file_size_in_bytes"]).as_py() or 0 for side in file_facts)

    def master() -> str:
        return shared_engine().master

    choice = choose_engine_for_rows(engine, size, master, reader.tree.in_folder)
    rows = None
    if choice.engine == "local":
        rows = _rows_in_memory(reader, sides, make, empty)
        if rows is None and engine != "local" and not choice.large:  # they are more than was thought
            choice = beyond_limit(f"{human_bytes(size)} of data files", master, reader.tree.in_folder)
        if rows is None and choice.engine == "local":
            limit = human_bytes(limits.limit())
            raise NotPossible(
                f"the rows that may differ take more than the memory limit of {limit}: let Spark compare them "
                f"(engine spark; {choice.why})"
            )
    if rows is None:
        wanted = [WantedFiles(side.deletes(), side.differ.places) for side in sides]
        spark, name = shared_engine().session(), f"row diff of {reader.tree.reader.location.name}"
        changes, counted, repeated = compare_rows(
            spark, reader, wanted, file_facts, make, empty, columns, paired_by, name
        )
    else:
        changes = row_changes(rows[0], rows[1], columns, paired_by)
        counted = tally(changes)
        repeated = RepeatedKeys()
        if paired_by:
            sums = [key_counts(some, paired_by, side == 1) for side, some in enumerate(rows)]
            repeats = duplicate_keys(pa.concat_tables(sums))
            repeated = describe_duplicates(repeats, paired_by, repeats.num_rows)
    counts = dict.fromkeys(("inserted", "deleted", "updated"), 0)
    partitions: dict[str, dict[str, int]] = {}
    paths: tuple[set[str], set[str]] = (set(), set())
    for word, path in counted:
        paths[word != "deleted"].add(path)
    where_of = [_partitions(*side) for side in zip(file_facts, paths, strict=True)]
    for (word, path), number in counted.items():
        where = where_of[word != "deleted"][path]
        partitions.setdefault(where, dict.fromkeys(counts, 0))[word] += number
        counts[word] += number
    read = pc.count_distinct(
        pa.chunked_array([c for t in file_facts for c in t["file_path"].chunks], pa.string())
    ).as_py()
    files = sides[0].gone + len(sides[1].files.data)
    notes = []
    if before is not None and after is not None and before.schema_id != after.schema_id:
        note = f"both sides are read under schema {schema.schema_id}, the newer snapshot's; dropped columns are not "
        notes.append(f"{note}compared")
    if contents.table_mapping(meta):
        notes.append(
            "values of files without field ids come through the table's name mapping (see icedive data history, and "
            "icedive inspect file --show rows)"
        )
    if lineage and without_ids and not paired_by:
        name = snapshot_name(without_ids[0].snapshot_id, snapshot_ordinals(meta))
        notes.append(f"rows of {name} have no row ids, by which updates would be told: name a key")
    note = "; ".join(notes)
    ids = (before.snapshot_id if before else None, after.snapshot_id if after else None)
    repeated = replace(repeated, at_least=read < files)
    return RowDiff(*ids, columns, paired_by, changes, counts, read, files, partitions, note, choice.why, repeated)


def _partitions(file_facts: pa.Table, paths: Collection[str]) -> dict[str, str]:
    """The partition of each file with one of these paths."""
    some = file_facts.filter(pc.is_in(file_facts["file_path"], pa.array(sorted(paths), pa.string())))
    return dict(zip(*(some[name].to_pylist() for name in ("file_path", "partition")), strict=True))


def _rows_in_memory(
    reader: RowReader, sides: Sequence[_Side], make: MakeTable, empty: pa.Table
) -> list[pa.Table] | None:
    """The rows of the files of both sides; None where they are beyond the memory limit. Raises UnreadableFile."""
    parts, size = [[empty], [empty]], 0
    with reader.storage.reading_ahead(_files_to_read(reader, sides)):
        for n, side in enumerate(sides):
            for data in steps(side.differ.files, "data files"):
                parts[n].append(make(reader, data, reader.verdicts(side.files, data)).select(empty.column_names))
                size += parts[n][-1].nbytes
                if size > limits.limit():
                    return None
    return [pa.concat_tables(some) for some in parts]


def _files_to_read(reader: RowReader, sides: Sequence[_Side]) -> Iterator[tuple[str, int]]:
    """The paths and sizes of the data files of both sides that are not in memory, each after the delete files that
    apply to it."""
    in_memory = reader.files_in_memory()
    for side in sides:
        for data in side.differ.files:
            deletes = (v.delete for v in side.files.of(data) if v.applies)
            needed = [*(d for d in deletes if d.kind != "deletion_vector"), data]
            yield from ((file.path, file.size) for file in needed if file.path not in in_memory)


@dataclass(frozen=True)
class _Side:
    """One snapshot of a row diff: its data files that the other has not, or has with other deletes; `gone` of them the
    other has not."""

    files: Applicability
    differ: SelectedFiles
    gone: int

    def deletes(self) -> list[LiveFile]:
        """Those that could matter to the files that differ."""
        return self.files.concerning(frozenset(self.differ.files.paths()), self.differ.where)


def _differing(reader: RowReader, before: Snapshot | None, after: Snapshot | None) -> list[_Side]:
    """Both sides. What applies to a file of both is decided alike in both, so that only deletes of one side can make it
    differ; but for one that was removed and added again, with another sequence number or partition."""
    both = (before, after)
    files = [reader.applicability(s) for s in both]
    deletes = [{(d.key, d.sequence_number, d.place) for d in side.deletes} for side in files]
    changed: set[str] = set()
    for n, snapshot in enumerate(both):
        own = [d for d in files[n].deletes if (d.key, d.sequence_number, d.place) not in deletes[1 - n]]
        if own and both[1 - n] is not None:  # else no file is of both
            held = reader.match_deletes(Applicability(reader.tree.metadata, files[n].data, own), snapshot)
            changed |= set(held.counts_by_file["file_path"].to_pylist())
    listed = [[m for m in reader.tree.manifests(s) if m.content == 0] for s in both]
    own_manifests = only(listed[0], listed[1]), only(listed[1], listed[0])
    places: dict[str, int] = {}
    delete_facts = [
        reader.delete_facts(some, snapshot, places) for some, snapshot in zip(own_manifests, both, strict=True)
    ]
    numbers = number_rows(*([facts["path"]] for facts in delete_facts))
    again = [facts.take(pa.array(rows)) for facts, rows in zip(delete_facts, join_rows(*numbers), strict=True)]
    old, new = number_rows(*([facts["sequence_number"], facts["place"]] for facts in again))
    changed.update(again[0]["path"].filter(pa.array(old != new)).to_pylist())
    sides = []
    for n in (0, 1):
        alone = np.flatnonzero(~is_among(numbers[n], numbers[1 - n]))
        manifest, at = (ints(delete_facts[n][name], 0)[alone] for name in ("manifest", "at"))
        by_manifest = {own_manifests[n][number].manifest_path: at[some] for number, some in group_places(manifest)}
        gone = np.count_nonzero(np.bincount(numbers[n][alone]))
        sides.append(_Side(files[n], reader.pick_files(both[n], by_manifest, changed), int(gone)))
    return sides


def _empty(schema: Schema, lineage: bool) -> pa.Table:
    fields = [*schema.raw["fields"], *(contents.LINEAGE if lineage else ())]
    columns = [pa.field(f["name"], arrow_type(f["type"])) for f in fields]
    return no_rows(pa.schema([*columns, pa.field("_pos", pa.int64()), pa.field("_file", pa.string())]))
