"""What the doctor and the health say of manifests that are looked at together is what they say of each alone."""

from __future__ import annotations

import dataclasses
import random
import struct
from typing import Any

import pyarrow as pa
import pytest

from explorer.model.manifest import ENTRY_SCHEMA, FieldSummary, ManifestFile
from explorer.spec.doctor.facts import RuleContext, facts, facts_of_run
from explorer.spec.doctor.partition_fields import PartField
from explorer.spec.entries.manifest_run import ManifestRun
from explorer.spec.health import facts as health
from explorer.spec.health.facts import HealthContext

FIELDS = {field.name for field in dataclasses.fields(ManifestFile)}
PART = PartField(1000, "p", "identity", 1, "int", "int")
CONTEXT = RuleContext(
    2, {0: (PART,)}, {1: "int", 2: "string", 3: "double", 4: "timestamp"}, {1: "a", 2: "b", 3: "c", 4: "d"},
    frozenset({1, 2, 3, 4}), {1: "a", 2: "b"}, store="^s3://", snapshots=frozenset({1, 2}), order={1: 0, 2: 1},
)  # fmt: skip
PARTITION = pa.struct([pa.field("1000", pa.int32())])


def _manifest(draw: random.Random, number: int, content: int) -> ManifestFile:
    bound = [struct.pack("<i", draw.choice([1, 2, 3])), None, b"x"]
    summary = FieldSummary(draw.random() < 0.5, None, draw.choice(bound), draw.choice(bound))
    known = {
        "manifest_path": f"m{number}", "partition_spec_id": 0, "content": content, "raw": {},
        "sequence_number": draw.choice([0, 5, 6]), "min_sequence_number": 0,
        "added_snapshot_id": draw.choice([None, 1, 2, 3]), "first_row_id": draw.choice([None, 100]),
        "partitions": draw.choice([None, (summary,)]),
    }  # fmt: skip
    return ManifestFile(**{name: known.get(name) for name in FIELDS})  # type: ignore[arg-type]


def _bounds(draw: random.Random, sound: bool) -> list[tuple[int, bytes | None]]:
    numbers = {
        1: struct.pack("<i", draw.choice([1, 2])), 2: draw.choice([b"a", b"b", b"b\0"]),
        3: struct.pack("<d", draw.choice([1.0, 2.0])), 4: struct.pack("<q", draw.choice([5, 1_600_000_000])),
    }  # fmt: skip
    if not sound:
        numbers[draw.choice([1, 2, 3, 4])] = draw.choice([b"", b"\xff", b"12345", struct.pack("<d", float("nan"))])
    return [(field_id, bytes_) for field_id, bytes_ in numbers.items() if draw.random() < 0.8]


def _counts(draw: random.Random) -> list[tuple[int, int]]:
    return [(field_id, draw.choice([0, 3, 3, 3, 4, -1])) for field_id in (1, 2, 3, 4) if draw.random() < 0.8]


def _entries(draw: random.Random, rows: int, content: int, sound: bool) -> pa.Table:
    def column(*values: Any) -> list[Any]:
        return [draw.choice(values) for _ in range(rows)]

    columns = {field.name: pa.nulls(rows, field.type) for field in ENTRY_SCHEMA}
    columns["status"] = pa.array(column(0, 1, 1, 2, 7), pa.int32())
    columns["content"] = pa.array(column(*((0, 0, 0, 1) if content == 0 else (1, 2, 2, 0, 3))), pa.int32())
    columns["record_count"] = pa.array(column(3, 3, 3, -1, None), pa.int64())
    columns["file_size_in_bytes"] = pa.array(column(50, 0, 9), pa.int64())
    columns["file_path"] = pa.array([f"{draw.choice(['s3', 'gs'])}://{n}.parquet" for n in range(rows)], pa.string())
    columns["file_format"] = pa.array(column("PARQUET", "parquet", "puffin", "odd"), pa.string())
    columns["content_offset"] = pa.array(column(None, 4), pa.int64())
    columns["referenced_data_file"] = pa.array(column(None, "s3://1.parquet"), pa.string())
    columns["equality_ids"] = pa.array(column(None, [1, 2], [2, 1], []), pa.list_(pa.int32()))
    columns["split_offsets"] = pa.array(column(None, [4, 8], [8, 4], [-1]), pa.list_(pa.int64()))
    for name in ("snapshot_id", "sequence_number", "file_sequence_number", "first_row_id"):
        columns[name] = pa.array(column(None, 4, 8, 2), pa.int64())
    for name in ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts"):
        columns[name] = pa.array([_counts(draw) for _ in range(rows)], ENTRY_SCHEMA.field(name).type)
    for name in ("lower_bounds", "upper_bounds"):
        columns[name] = pa.array([_bounds(draw, sound) for _ in range(rows)], ENTRY_SCHEMA.field(name).type)
    columns["partition"] = pa.array([{"1000": n} for n in column(1, 2, None)], PARTITION)
    return pa.table(columns)


def _run(seed: int) -> list[tuple[ManifestFile, pa.Table]]:
    draw = random.Random(seed)
    content = draw.choice([0, 1])
    sound = [draw.random() < 0.95 or seed % 3 == 0 for _ in range(draw.randrange(2, 5))]
    return [
        (_manifest(draw, n, content), _entries(draw, draw.choice([0, 1, 2, 6]), content, is_sound))
        for n, is_sound in enumerate(sound)
    ]


@pytest.mark.parametrize("seed", range(150))
def test_the_doctor(seed: int) -> None:
    read = _run(seed)
    together = facts_of_run(CONTEXT, ManifestRun.of(read), pa.concat_tables([entries for _, entries in read]))
    alone = pa.concat_tables([facts(CONTEXT, manifest, entries) for manifest, entries in read])
    for ours, theirs in zip(together.to_pylist(), alone.to_pylist(), strict=True):
        assert ours == theirs


@pytest.mark.parametrize("seed", range(100))
def test_the_health(seed: int) -> None:
    read = _run(seed)
    unified = pa.struct([pa.field("p", pa.int32(), metadata={"partition-field-id": "1000"})])
    about = HealthContext(frozenset({"m0", "m2"}), frozenset({1, 4}), 40, unified)
    together = health.facts_of_run(about, ManifestRun.of(read), pa.concat_tables([entries for _, entries in read]))
    alone = pa.concat_tables([health.facts(about, manifest, entries) for manifest, entries in read])
    for rows in (ours := together.to_pylist(), theirs := alone.to_pylist()):
        for row in rows:
            row["cells"] = row["cells"] and sorted(row["cells"], key=repr)
    assert ours == theirs
    assert {row["manifest_path"] for row in ours if row["cells"] is not None} <= {"m0", "m2"}
