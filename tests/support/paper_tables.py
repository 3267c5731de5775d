"""Metadata of tables that exist on paper only: a tree of snapshots with refs and a policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import pyarrow as pa

from explorer.model.manifest import NARROW_FIELDS, ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.deletes.delete_pairs import DeletePairs, TouchedFiles
from explorer.spec.deletes.deletes import Applicability
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.entries.live_files import LiveFile, LiveFiles
from explorer.storage.metadata import parse_metadata

HOUR = 3600 * 1000


def table_metadata(
    parents: Sequence[int | None], refs: Mapping[str, Mapping[str, Any]], properties: Mapping[str, str], now: int
) -> str:
    """A metadata.json: snapshot n (1, 2...) has the parent `parents[n - 1]`; the last one is as old as `now`, each
    earlier one an hour older. What `main` points to is current."""
    snapshots = []
    for n, parent in enumerate(parents, 1):
        snapshots.append(
            {
                "snapshot-id": n,
                **({} if parent is None else {"parent-snapshot-id": parent}),
                "sequence-number": n,
                "timestamp-ms": now - (len(parents) - n) * HOUR,
                "manifest-list": f"/t/metadata/snap-{n}.avro",
                "summary": {"operation": "append"},
                "schema-id": 0,
            }
        )
    return json.dumps(
        {
            "format-version": 2,
            "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
            "location": "/t",
            "last-sequence-number": len(parents),
            "last-updated-ms": now,
            "last-column-id": 1,
            "current-schema-id": 0,
            "schemas": [
                {
                    "type": "struct",
                    "schema-id": 0,
                    "fields": [{"id": 1, "name": "id", "type": "long", "required": False}],
                }
            ],
            "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": []}],
            "last-partition-id": 999,
            "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}],
            "properties": dict(properties),
            "current-snapshot-id": refs["main"]["snapshot-id"] if "main" in refs else -1,
            "snapshots": snapshots,
            "snapshot-log": [{"timestamp-ms": now, "snapshot-id": refs["main"]["snapshot-id"]}]
            if "main" in refs
            else [],
            "refs": {name: dict(ref) for name, ref in refs.items()},
        }
    )


def on_paper(
    parents: Sequence[int | None],
    refs: Mapping[str, Mapping[str, Any]] | None = None,
    properties: Mapping[str, str] | None = None,
    now: int = 1_000 * HOUR,
    change: Callable[[dict[str, Any]], None] = lambda _: None,
) -> TableMetadata:
    """`table_metadata`, read; `main` is at the last snapshot if `refs` are not given. `change` edits the JSON first."""
    main = {"main": {"snapshot-id": len(parents), "type": "branch"}}
    data = json.loads(table_metadata(parents, main if refs is None else refs, properties or {}, now))
    change(data)
    metadata, _ = parse_metadata(json.dumps(data).encode(), "/t/metadata/v1.metadata.json")
    return metadata


def manifest(path: str, added_by: int | None, added: int = 1, existing: int = 0, deleted: int = 0, **more: Any) -> Any:
    """A manifest list's record of a data manifest of ten rows a file."""
    base = ManifestFile(
        path, 100, 0, 0, added_by or 0, 0, added_by, added, existing, deleted, added * 10, existing * 10, deleted * 10,
        None, None, None, {},
    )  # fmt: skip
    return replace(base, **more)


def entries(*rows: Mapping[str, Any]) -> pa.Table:
    """Stored entries: `status` and `file_path` are given, the rest is a Parquet data file of ten rows and 100 bytes."""
    base = {f.name: None for f in NARROW_FIELDS} | {
        "content": 0, "file_format": "PARQUET", "record_count": 10, "file_size_in_bytes": 100,
    }  # fmt: skip
    table = pa.Table.from_pylist([{**base, **row} for row in rows], pa.schema(NARROW_FIELDS))
    return table.append_column("partition", pa.array([{}] * len(rows), pa.struct([])))


# -- live files without manifests -------------------------------------------------------------------------------------
def applicability(metadata: TableMetadata, files: Sequence[LiveFile]) -> Applicability:
    """Data files, those of a partition spec together, and deletes."""
    data = sorted((f for f in files if f.kind == "data_file"), key=lambda f: f.spec_id)
    return Applicability(metadata, LiveFiles.of(data), [f for f in files if f.kind != "data_file"])


def deletes_of(files: Applicability) -> Deletes:
    """The deletes of data files that are a manifest for each partition spec."""
    return Deletes(files, counted_of(files))


def counted_of(files: Applicability) -> list[tuple[str, TouchedFiles]]:
    """What is counted of each of these manifests."""
    pairs, counted = DeletePairs(files), list[tuple[str, TouchedFiles]]()
    for spec_id, some in groupby(files.data, lambda f: f.spec_id):
        mine = list(some)
        types = {name: pa.int32() for f in mine for name in f.partition}
        types |= {name: pa.string() for f in mine for name, v in f.partition.items() if isinstance(v, str)}
        kinds = pa.struct(sorted(types.items()))
        longs, binaries = pa.map_(pa.int32(), pa.int64()), pa.map_(pa.int32(), pa.binary())

        def known(name: str, kind: pa.DataType, mine: list[LiveFile] = mine) -> pa.Array:
            return pa.array([list(getattr(f, name).items()) or None for f in mine], kind)

        table = pa.table({
            "file_path": [f.path for f in mine], "logical_status": ["ADDED"] * len(mine),
            "inherited_sequence_number": pa.array([f.sequence_number for f in mine], pa.int64()),
            "inherited_file_sequence_number": pa.array([f.file_sequence_number for f in mine], pa.int64()),
            "partition": pa.array([dict(f.partition) for f in mine], kinds),
            "lower_bounds": known("lower", binaries), "upper_bounds": known("upper", binaries),
            "null_value_counts": known("nulls", longs), "value_counts": known("values", longs),
            "nan_value_counts": known("nans", longs),
        })  # fmt: skip
        counted.append((f"manifest of {spec_id}", pairs.count(table, spec_id).with_deletes))
    return counted
