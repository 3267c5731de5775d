"""Tables of the thirty-second public reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cases.mini import Table

COLUMNS = [(1, "id", "int"), (2, "name", "string"), (3, "v", "int")]


def with_nulled_partition(folder: Path, id_is_first: bool = True, live: bool = True) -> Table:
    """Write a table as Iceberg Java 1.12 leaves it: a partition field of the old spec comes from a column that was
    dropped, and the merge of its manifests wrote null for it.

    Args:
        folder: Where.
        id_is_first: Whether the field that stays has the lower field id: Java's metadata tables then fail.
        live: Whether the files of the old spec are still live.

    Returns:
        The table, written.
    """
    kept, dropped = (1000, 1001) if id_is_first else (1001, 1000)
    fields = sorted([(1, kept, "id", "identity"), (2, dropped, "name_part", "truncate[5]")], key=lambda one: one[1])
    table = Table(str(folder), COLUMNS, spec=fields)
    old = [
        table.parquet(f"{number}.parquet", {"id": [number], "name": [name], "v": [number]},
                      partition={"id": number, "name_part": name[:5]})
        for number, name in ((1, "Aachen"), (2, "Berlin"))
    ]  # fmt: skip
    table.append(*old)
    table.set_spec([(1, kept, "id", "identity")])
    table.set_schema([COLUMNS[0], COLUMNS[2]])
    status, then = (0 if live else 2), {"sequence_number": 1, "snapshot_id": 101}
    entries: list[Any] = [
        (status, {**file, "partition": {"id": file["partition"]["id"], "name_part": None}}, then) for file in old
    ]
    merged = table.manifest("merged-m0.avro", entries, spec_id=0)
    for summary in merged["partitions"]:
        summary["contains_null"] = False
    own = [table.parquet(f"{n}.parquet", {"id": [n], "v": [n]}, partition={"id": n}) for n in (3, 4)]
    manifests = [table.manifest(f"own{n}-m0.avro", [(1, file)]) for n, file in enumerate(own)]
    table.snapshot("append", [merged, *manifests])
    table.write()
    return table
