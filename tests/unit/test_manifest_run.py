"""What is said of the entries of many manifests in one call is what is said of those of each."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pyarrow as pa
import pytest

from explorer.model.manifest import ENTRY_SCHEMA, ManifestFile
from explorer.spec.entries.entries import as_of_snapshot
from explorer.spec.entries.manifest_run import ManifestRun, as_of_run

NAMES = [field.name for field in dataclasses.fields(ManifestFile)]


def _manifest(draw: random.Random, number: int) -> ManifestFile:
    known = {
        "manifest_path": f"m{number}", "partition_spec_id": 0, "content": draw.choice([0, 0, 1]),
        "sequence_number": draw.choice([0, 5, 6]), "min_sequence_number": 0,
        "added_snapshot_id": draw.choice([None, 1, 2, 3]), "first_row_id": draw.choice([None, 100, 2000]), "raw": {},
    }  # fmt: skip
    return ManifestFile(**{name: known.get(name) for name in NAMES})  # type: ignore[arg-type]


def _entries(draw: random.Random, rows: int, unknown: bool) -> pa.Table:
    def column(*values: Any) -> list[Any]:
        return [draw.choice(values) for _ in range(rows)]

    columns = {field.name: pa.nulls(rows, field.type) for field in ENTRY_SCHEMA}
    columns["status"] = pa.array(column(0, 1, 2, 7), pa.int32())
    columns["record_count"] = pa.array(column(*((None, 3) if unknown else (3, 9))), pa.int64())
    for name in ("snapshot_id", "sequence_number", "file_sequence_number", "first_row_id"):
        columns[name] = pa.array(column(None, 4, 8), pa.int64())
    return pa.table(columns, schema=ENTRY_SCHEMA)


@pytest.mark.parametrize("seed", range(200))
def test_many_are_as_each(seed: int) -> None:
    draw = random.Random(seed)
    read = [
        (_manifest(draw, n), _entries(draw, draw.randrange(5), unknown=seed % 10 == 0))
        for n in range(draw.randrange(1, 5))
    ]
    stored = pa.concat_tables([entries for _, entries in read])
    for snapshot_id in (None, 1, 2):
        each = pa.concat_tables([as_of_snapshot(entries, manifest, snapshot_id) for manifest, entries in read])
        together = as_of_run(stored, ManifestRun.of(read), snapshot_id)
        assert together.schema == each.schema
        assert together.to_pylist() == each.to_pylist()
