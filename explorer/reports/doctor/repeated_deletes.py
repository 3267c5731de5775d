"""Rule 75: equality deletes of one commit that hold the same values, or those of rows of another task. A writer that
upserts deletes each key once in a commit, so two tries, or two writers, were committed together; and no equality
delete applies to rows of its own commit (spec: "Scan Planning")."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import NotNow, UnreadableFile
from explorer.model.metadata import Snapshot
from explorer.spec.doctor.findings import Finding, finding
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.remedy_cases import CROSSED
from explorer.spec.entries.entries import live_entries
from explorer.spec.entries.live_files import LiveFile, live_files
from explorer.spec.text.names import base_name
from explorer.spec.text.units import count
from explorer.spec.values.values import row_dicts
from explorer.storage.rows import equality_schema
from explorer.table import Table

ROWS = 5_000_000
"""Rows of the deletes of one commit that are compared, and of its data files."""
TASK = re.compile(r"(\d{5})-\d+-", re.ASCII)
WHAT = "of one commit hold {} in common, each of which has several rows that the commit added: all are visible"


def repeated_delete_rules(table: Table, lists: Lists, deletes: Iterable[tuple[LiveFile, int]]) -> Iterator[Finding]:
    """Compare the equality deletes of each commit, partition and set of columns. `deletes` are live delete files, each
    with the snapshots that read it, as a mask."""
    groups: defaultdict[Hashable, list[tuple[LiveFile, int]]] = defaultdict(list)
    for file, mask in deletes:
        if file.kind == "equality_deletes":
            groups[file.file_sequence_number, file.place, file.equality_ids].append((file, mask))
    for group in groups.values():
        if sum(file.record_count for file, _ in group) <= ROWS:
            repeated = list(_common(table, lists, group)) if len(group) > 1 else []
            yield from repeated or _crossed(table, lists, group)


def _common(table: Table, lists: Lists, group: Sequence[tuple[LiveFile, int]]) -> Iterator[Finding]:
    deletes, masks = [file for file, _ in group], [mask for _, mask in group]
    readers = lists.listing(masks[-1])
    try:
        ahead = table.reader.storage.read_ahead(deletes, lambda file: (file.path, file.size))
        held = [table.row_reader.equality_rows(file) for file in ahead]
        keys = _counted(held, distinct=True)
        common = keys.filter(pc.greater(keys["times"], 1))
        snapshot = table.metadata.snapshot(readers[-1]) if readers else None
        if not common.num_rows or snapshot is None:
            return
        visible = _counted(
            [common.select(common.column_names[:-1]), *(r for _, r in _rows(table, lists, snapshot, deletes[0]))]
        )
        several = visible.filter(pc.greater(visible["times"], 2))  # `common` has each key once too
        several = several.join(common, common.column_names[:-1], join_type="left semi")
    except (NotNow, UnreadableFile, pa.ArrowException):  # another rule tells of it, or Arrow does not group by the type
        return
    if several.num_rows:
        what = f"{count(len(group), 'equality delete file')} {WHAT.format(count(several.num_rows, 'key'))}"
        yield _of_keys(table, what, several, deletes[-1], readers, deletes[:3])


def _crossed(table: Table, lists: Lists, group: Sequence[tuple[LiveFile, int]]) -> Iterator[Finding]:
    """Equality deletes whose keys are those of visible rows that another task wrote in the same commit: no equality
    delete applies to rows of its own commit, and a stream that is distributed by its key has each key in one task."""
    for file, mask in group:
        readers, task = lists.listing(mask), _task(file.path)
        snapshot = table.metadata.snapshot(readers[-1]) if readers else None
        if task is None or snapshot is None:
            continue
        try:
            rows = [rows for path, rows in _rows(table, lists, snapshot, file) if _task(path) not in (None, task)]
            if not rows:
                continue
            keys = _counted([table.row_reader.equality_rows(file)])
            common = keys.join(_counted(rows), keys.column_names[:-1], join_type="left semi")
        except (NotNow, UnreadableFile, pa.ArrowException):
            continue
        if common.num_rows:
            what = f"an equality delete of task {task} holds {count(common.num_rows, 'key')} of {CROSSED}"
            yield _of_keys(table, what, common, file, readers, [file])


def _of_keys(
    table: Table, what: str, keys: pa.Table, file: LiveFile, readers: tuple[int, ...], examples: Sequence[LiveFile]
) -> Finding:
    """The finding of some keys, which an equality delete file holds."""
    schema = table.metadata.schema(table.metadata.current_schema_id)
    first = row_dicts(keys.slice(0, 1).drop_columns("times"))[0]
    return finding(
        "delete-repeated",
        what,
        file.path,
        f"named in {file.manifest_path}",
        found=", ".join(map(str, first.values())),
        count=keys.num_rows,
        examples=tuple(each.path for each in examples),
        snapshots=readers,
        node=("file", file.path),
        columns=tuple(schema.by_id[i].name for i in file.equality_ids if schema and i in schema.by_id),
    )


def _task(path: str) -> str | None:
    """The task that wrote a file, by its name: Flink begins it with the number of the subtask."""
    match = TASK.match(base_name(path))
    return match[1] if match else None


def _counted(tables: Sequence[pa.Table], distinct: bool = False) -> pa.Table:
    """The rows of tables with the same columns, each once, with how many `times` it is there; in how many of the
    tables, if only `distinct` ones count."""
    names = [f"column {at}" for at in range(tables[0].num_columns)]
    parts = [
        table.rename_columns(names).replace_schema_metadata(None).append_column("of", pa.repeat(at, table.num_rows))
        for at, table in enumerate(tables)
    ]
    grouped = pa.concat_tables(parts).group_by(names)
    how = "count_distinct" if distinct else "count"
    return grouped.aggregate([("of", how)]).select([*names, f"of_{how}"]).rename_columns([*names, "times"])


def _rows(table: Table, lists: Lists, snapshot: Snapshot, delete: LiveFile) -> Iterator[tuple[str, pa.Table]]:
    """The columns of an equality delete of the visible rows that its own commit added, by each file's path."""
    reader, schema = table.row_reader, equality_schema(table.metadata, delete.equality_ids)
    files, left = reader.applicability(snapshot), ROWS
    for manifest, stored in table.tree.stored_entries([m for m in lists.lists[snapshot.snapshot_id] if not m.content]):
        entries = live_entries(stored, manifest)
        for data in live_files(entries, manifest.partition_spec_id, manifest.manifest_path):
            if data.file_sequence_number == delete.file_sequence_number and (left := left - data.record_count) >= 0:
                hidden = [hit.positions for hit in reader.hits(reader.verdicts(files, data))]
                rows = reader.rows(data, schema)
                gone = pa.chunked_array(hidden or [pa.array([], pa.int64())]).unique()
                visible = pc.invert(pc.is_in(rows["_pos"].cast(gone.type), gone))
                yield data.path, rows.filter(visible).drop_columns("_pos")
