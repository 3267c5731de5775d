"""Tables of public reports of the twelfth round: tests/unit/test_twelfth_reports.py and tests/spark/
test_twelfth_reports.py ask of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.cases.mini import Table, single


def two_checkpoints(folder: Path, again: bool = True) -> Path:
    """apache/iceberg#11008: two upserts of one key in one commit; or one of two keys."""
    table = Table(folder, [(1, "id", "long"), (2, "v", "string")])
    table.append(table.parquet("old.parquet", {"id": [1, 2], "v": ["old", "x"]}))
    keys = (1, 1 if again else 2)
    data = [table.parquet(f"c{n}.parquet", {"id": [key], "v": [f"checkpoint {n}"]}) for n, key in enumerate(keys, 1)]
    deletes = [table.equality_delete(f"e{n}.parquet", {"id": [key]}) for n, key in enumerate(keys, 1)]
    table.delta(data, deletes)
    return folder


def statistics_of_all_files(folder: Path) -> Path:
    """ClickHouse/ClickHouse#117116: each entry has the counts, sizes and bounds of all files."""
    table = Table(folder, [(1, "id", "long"), (2, "v", "string")])
    whole: dict[str, Any] = {
        "null_value_counts": {1: 0, 2: 1}, "value_counts": {1: 1, 2: 1}, "column_sizes": {1: 900, 2: 900},
        "lower_bounds": {1: single("long", 0), 2: b"x"}, "upper_bounds": {1: single("long", 3), 2: b"x"},
    }  # fmt: skip
    table.append(*(table.parquet(f"{n}.parquet", {"id": [n], "v": ["x" if n else None]}) | whole for n in range(3)))
    return folder


def equality_deletes_as_data(folder: Path) -> Path:
    """JanKaul/iceberg-rust#212: the manifest list says that a manifest of equality deletes has data."""
    table = Table(folder, [(1, "id", "long"), (2, "name", "string")])
    first = table.append(table.parquet("a.parquet", {"id": [1, 2, 3], "name": ["a", "b", "c"]}))
    delete = table.equality_delete("d.parquet", {"id": [2], "name": ["b"]})
    table.snapshot("overwrite", [*table.lists[first], table.manifest("bad.avro", [(1, delete)], content=0)])
    return folder


def column_of_the_partition_alone(folder: Path) -> Path:
    """apache/iceberg#9404: files as Hive has them, without the column that the folder has."""
    table = Table(folder, [(1, "id", "long"), (2, "country", "string")], [(2, 1000, "country", "identity")])
    of = {"USA": [1, 2], "DE": [3]}
    table.append(
        *(
            table.parquet(f"country={name}/part.parquet", {"id": ids}, partition={"country": name})
            for name, ids in of.items()
        )
    )
    return folder


def lost_by_a_coordinator(folder: Path) -> Path:
    """apache/iceberg#17551: a file of which a sink's coordinator never heard, between two commits."""
    table = Table(folder, [(1, "id", "long")])
    for number in (1, 2):
        offsets = {"kafka.connect.offsets.control.cg": json.dumps({"0": 100 * number})}
        before = table.lists.get(table.md["current-snapshot-id"], [])
        manifest = table.manifest(f"m{number}.avro", [(1, table.parquet(f"{number}.parquet", {"id": [number]}))])
        table.snapshot("append", [*before, manifest], {"added-data-files": "1", "added-records": "1", **offsets})
    table.parquet("lost.parquet", {"id": [3]})
    between = table.md["snapshots"][0]["timestamp-ms"] / 1000 + 30
    for path in folder.rglob("*"):
        os.utime(path, (between, between))
    return folder


def moved(folder: Path, bounds: bool = True) -> Path:
    """apache/iceberg#11077: the metadata of a copy was edited, and its position deletes name the old place."""
    table = Table(folder, [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1, 2, 3]}))
    delete = table.position_delete("d.parquet", [("s3://old/db/t/data/a.parquet", 1)])
    if not bounds:
        delete |= {"lower_bounds": {}, "upper_bounds": {}}
    table.delta(deletes=[delete], operation="delete")
    return folder


def expired_with_its_tag(folder: Path, **tag: int) -> Path:
    """seaweedfs/seaweedfs#10774: an expiry took out a snapshot that a tag held, and the tag."""
    table = Table(folder, [(1, "id", "long")])
    first = table.append(table.parquet("a.parquet", {"id": [1]}))
    table.md["refs"]["month"] = {"snapshot-id": first, "type": "tag", **tag}
    table.append(table.parquet("b.parquet", {"id": [2]}))
    table.md["refs"].pop("month")
    table.md["snapshots"].pop(0)
    table.md["snapshot-log"].pop(0)
    table.save()
    return folder


def empty_version(folder: Path) -> Path:
    """ClickHouse/ClickHouse#111726: the newest metadata file of a folder has no bytes."""
    table = Table(folder, [(1, "id", "long")], location=str(folder))
    table.append(table.parquet("a.parquet", {"id": [1, 2]}))
    for path in (folder / "metadata").glob("*.metadata.json"):
        path.unlink()
    (folder / "metadata" / "v1.metadata.json").write_text(json.dumps(table.md | {"metadata-log": []}))
    (folder / "metadata" / "v2.metadata.json").write_text("")
    (folder / "metadata" / "version-hint.text").write_text("2")
    return folder
