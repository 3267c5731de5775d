"""Partition statistics held against the live files that they count (spec: "Partition Statistics File")."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from explorer.errors import MISSING, AccessRefused, NotNow, NotReadHere, UnreadableFile
from explorer.model.metadata import StatisticsFile, TableMetadata
from explorer.progress import steps
from explorer.spec.doctor.findings import Finding, finding
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.remedy_cases import WRONG_COUNTS
from explorer.spec.snapshots.lineage import ancestry
from explorer.spec.text.units import count
from explorer.spec.values.values import internal_value, row_dicts
from explorer.storage import limits
from explorer.storage.rows import partition_statistics
from explorer.table import Table

COUNTS: Mapping[str, str] = {
    "data_record_count": "record_count", "data_file_count": "file_count",
} | {
    name: name
    for name in (
        "total_data_file_size_in_bytes", "position_delete_record_count", "position_delete_file_count",
        "equality_delete_record_count", "equality_delete_file_count",
    )
}  # fmt: skip
"""Each count of a statistics file, and what of `Table.partitions` it is; deletion vectors are position deletes here."""
ENTRIES_UNASKED = 100_000
"""Manifest entries of a snapshot up to which its statistics are compared without being asked for."""
EXAMPLES = 3
Key = frozenset[tuple[str, Any]]
"""The values of a partition that are not null, by partition field id."""


def partition_statistics_rules(table: Table, lists: Lists, not_checked: list[str], every: bool) -> Iterator[Finding]:
    """Of rule 61: partition statistics that count other files than their snapshot has. `every`: of all snapshots, not
    only those that the next computation starts from."""
    meta = table.metadata
    files = {s.snapshot_id: s for s in meta.statistics if s.kind != "statistics" and meta.snapshot(s.snapshot_id)}
    newest = [i for i in ancestry(meta, meta.current_snapshot_id) if i in files][:1]
    for own in steps(list(files) if every else newest, "partition statistics"):
        listed = lists.lists.get(own)
        if listed is None or own in lists.unread or any(m.manifest_path not in lists.held for m in listed):
            continue
        entries = sum((m.added_files_count or 0) + (m.existing_files_count or 0) for m in listed)
        if not every and entries > ENTRIES_UNASKED:
            not_checked.append(f"partition statistics: the snapshot has {entries:,} entries; --deep compares them")
            continue
        try:
            yield from _compare(table, meta, files[own])
        except (NotNow, AccessRefused, NotReadHere) as error:
            not_checked.append(str(error))
        except UnreadableFile as error:
            if not error.cause.startswith(MISSING):  # of that another part of rule 61 tells
                not_checked.append(f"partition statistics: {error}")


def _compare(table: Table, meta: TableMetadata, file: StatisticsFile) -> Iterator[Finding]:
    rows = partition_statistics(table.reader.storage, file, meta)
    ids = [str(field.name) for field in rows.schema.field("partition").type]
    values = rows.num_rows * len(ids)
    limits.within(values, limits.PARTITION_VALUES, file.path, "values of partitions", "ask Spark")
    stated: defaultdict[Key, dict[str, int]] = defaultdict(dict)
    times = Counter[tuple[int | None, Key]]()
    vectors = rows["dv_count"].to_pylist()
    for row, more in zip(row_dicts(rows), vectors, strict=True):
        key = _key(row["partition"], ids)
        own, times[row["spec_id"], key] = stated[key], times[row["spec_id"], key] + 1
        for name in COUNTS:
            if (number := row[name]) is not None:
                number += (more or 0) if name == "position_delete_file_count" else 0
                own[name] = own.get(name, 0) + number
    live = _live(table, file.snapshot_id, ids)
    twice = {key: {"lines": (number, 1)} for (_, key), number in times.items() if number > 1}
    wrong = {
        key: differing
        for key in sorted(stated.keys() | live.keys(), key=lambda key: sorted(map(str, key)))
        if (differing := _differences(stated.get(key), live.get(key)) | twice.get(key, {}))
    }
    if not wrong:
        return
    names = {str(f.field_id): f.name for spec in meta.partition_specs for f in spec.fields}
    shown = [
        f"{', '.join(f'{names.get(i, i)}={value}' for i, value in sorted(key, key=str)) or 'all null'}: "
        + ", ".join(f"{name} {says} instead of {has}" for name, (says, has) in differing.items())
        for key, differing in wrong.items()
    ]
    cause = ""
    if len(meta.partition_specs) > 1:
        cause = "; Iceberg Java up to 1.12 merges partitions of several specs wrongly (#17915)"
    yield finding(
        "statistics-file",
        f"{count(len(wrong), 'partition')} {WRONG_COUNTS}{cause}",
        file.path,
        found=shown[0],
        expected="the live files of its snapshot, which inspect partitions adds up",
        count=len(wrong),
        examples=tuple(shown[:EXAMPLES]),
        snapshots=(file.snapshot_id,),
        node=("statistics", file.path),
    )


def _live(table: Table, snapshot_id: int, ids: Sequence[str]) -> dict[Key, dict[str, int]]:
    """The same counts of the live files, by the same fields."""
    live: defaultdict[Key, dict[str, int]] = defaultdict(dict)
    for part in table.partitions(snapshot_id).iter_tables():
        fields = part.schema.field("partition").type
        names = {f.name: (f.metadata or {})[b"partition-field-id"].decode() for f in fields}
        for row in row_dicts(part):
            by_id = {names[name]: value for name, value in row["partition"].items()}
            own = live[_key(by_id, ids)]
            for name, of in COUNTS.items():
                own[name] = own.get(name, 0) + (row[of] or 0)
    return live


def _key(partition: Mapping[str, Any] | None, ids: Sequence[str]) -> Key:
    """Values that are not numbers or texts are compared as they are kept; NaN is one value."""
    values = {i: internal_value(value) for i in ids if (value := (partition or {}).get(i)) is not None}
    return frozenset((i, value if value == value else "NaN") for i, value in values.items())


def _differences(stated: Mapping[str, int] | None, live: Mapping[str, int] | None) -> dict[str, tuple[int, int]]:
    """What is stated and what is there, of counts that differ: a partition that is not listed has nothing."""
    if stated is None:
        return {name: (0, number) for name, number in (live or {}).items() if number}
    return {name: (number, has) for name, number in stated.items() if number != (has := (live or {}).get(name, 0))}
