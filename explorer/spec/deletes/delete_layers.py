"""Data files and deletes as layers by data sequence number: a delete applies to nothing above it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import FileKind
from explorer.spec.deletes.deletes import is_unpartitioned, target_file
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.entries.numpy_columns import Ints
from explorer.spec.values.values import distinct_partitions, partition_path, partition_path_by_name, row_dicts

ALONE, PARTITIONS = 60, 40
"""So many files are a layer each; of so many partitions layers are told apart."""
OTHERS = " other partitions"
"""How the name ends that all others have together."""
ORDER: tuple[FileKind, ...] = ("equality_deletes", "data_file", "position_deletes", "deletion_vector")
"""Kinds with the same sequence number, from below: an equality delete applies to older data only, the others to data
that is as new as they are, too."""
ASKED = (
    "file_path", "content", "partition", "spec_id", "sequence_number", "record_count", "file_size_in_bytes",
    "manifest_path",
)  # fmt: skip
"""The columns of files that layers are made of."""


Beside = Iterable[tuple[pa.Table, Ints]]
"""Parts of files, and how many deletes apply to each."""


@dataclass(frozen=True)
class Layer:
    """Live files of one kind, partition and data sequence number: one, or together where there are many. `data_file` is
    the one data file that it is, or is for, where it stands alone. `applied` counts the data files to which some delete
    applies, or the deletes that apply to some data file. A delete whose partition is None is global."""

    partition: str | None
    kind: FileKind
    sequence_number: int | None
    files: int
    rows: int
    bytes: int
    applied: int
    path: str
    """Of one file: the first."""
    data_file: str | None = None

    @property
    def height(self) -> tuple[int, int]:
        """What is ordered from below."""
        return (-1 if self.sequence_number is None else self.sequence_number), ORDER.index(self.kind)


def delete_layers(files: Iterable[pa.Table], snapshot_deletes: Deletes) -> list[Layer]:
    """The layers of a snapshot, from below. `files` are parts of those that its readers see, in order, with the columns
    ASKED. Where there are very many partitions, those with the fewest deletes are put together."""
    parts = snapshot_deletes.beside(files)
    if len(snapshot_deletes.files.data) + len(snapshot_deletes.files.deletes) <= ALONE:
        layers: Iterable[Layer] = [*_data_files(parts, snapshot_deletes), *_deletes(snapshot_deletes)]
    else:
        deletes = [replace(layer, data_file=None) for layer in _deletes(snapshot_deletes)]
        layers = _together(_few_partitions([*_data_groups(parts, snapshot_deletes), *deletes]))
    return sorted(layers, key=lambda layer: (layer.height, layer.partition or "", layer.path))


def _data_files(parts: Beside, snapshot_deletes: Deletes) -> Iterator[Layer]:
    metadata = snapshot_deletes.files.metadata
    for part, numbers in parts:
        for row, applied in zip(row_dicts(part), numbers.tolist(), strict=True):
            if row["content"]:
                continue
            path, rows, size = row["file_path"], row["record_count"] or 0, row["file_size_in_bytes"] or 0
            where = partition_path_by_name(row["partition"], metadata.spec(row["spec_id"]), metadata)
            yield Layer(where, "data_file", row["sequence_number"], 1, rows, size, int(applied > 0), path, path)


def _data_groups(parts: Beside, snapshot_deletes: Deletes) -> Iterator[Layer]:
    groups: dict[tuple[str, int | None], Layer] = {}
    for part, numbers in parts:
        marked = part.append_column("applied", pa.array((numbers > 0).astype(np.int64)))
        for layer in _group_layers(marked.filter(pc.equal(pc.fill_null(part["content"], 0), 0)), snapshot_deletes):
            key = layer.partition or "", layer.sequence_number
            groups[key] = _one([groups[key], layer]) if key in groups else layer
    yield from groups.values()


def _group_layers(data: pa.Table, snapshot_deletes: Deletes) -> Iterator[Layer]:
    codes, first = distinct_partitions(data["partition"])
    columns = {name: data[name] for name in data.column_names if name not in ("content", "partition", "manifest_path")}
    one = pa.repeat(pa.scalar(1, pa.int64()), data.num_rows)
    keys = ["partition", "spec_id", "sequence_number"]
    sums = ["files", "record_count", "file_size_in_bytes", "applied"]
    grouped = pa.table({**columns, "partition": codes, "files": one}).group_by(keys).aggregate(
        [*((name, "sum") for name in sums), ("file_path", "min")]
    )  # fmt: skip
    values = row_dicts(data.select(["partition"]).take(pa.array(first)))
    metadata = snapshot_deletes.files.metadata
    names: dict[tuple[int, int], str] = {}
    for row in grouped.to_pylist():
        key = row["partition"], row["spec_id"]
        if key not in names:
            names[key] = partition_path_by_name(values[key[0]]["partition"], metadata.spec(key[1]), metadata)
        number, rows, size, applied = (row[f"{name}_sum"] or 0 for name in sums)
        yield Layer(names[key], "data_file", row["sequence_number"], number, rows, size, applied, row["file_path_min"])


def _deletes(snapshot_deletes: Deletes) -> Iterator[Layer]:
    metadata, dangling = snapshot_deletes.files.metadata, {delete.key for delete in snapshot_deletes.dangling}
    for d in snapshot_deletes.files.deletes:
        spec = metadata.spec(d.spec_id)
        everywhere = d.kind == "equality_deletes" and is_unpartitioned(spec)
        where = None if everywhere else partition_path(d.partition, spec, metadata)
        used, named = int(d.key not in dangling), target_file(d)
        yield Layer(where, d.kind, d.sequence_number, 1, d.record_count, d.bytes, used, d.path, named)


def _few_partitions(layers: list[Layer]) -> list[Layer]:
    """The same, of PARTITIONS at most: those with the most deletes, and the others as one."""
    weight: dict[str, tuple[int, int]] = {}
    for layer in layers:
        if layer.partition is not None:
            deletes, files = weight.get(layer.partition, (0, 0))
            weight[layer.partition] = deletes + (layer.kind != "data_file") * layer.files, files + layer.files
    if len(weight) <= PARTITIONS:
        return layers
    kept = set(sorted(weight, key=lambda name: (*(-n for n in weight[name]), name))[: PARTITIONS - 1])
    others = f"{len(weight) - len(kept):,}{OTHERS}"
    return [
        layer if layer.partition is None or layer.partition in kept else replace(layer, partition=others)
        for layer in layers
    ]


def _together(layers: Iterable[Layer]) -> Iterator[Layer]:
    """Layers of the same partition and height as one."""

    def key(layer: Layer) -> tuple[bool, str, tuple[int, int]]:
        return layer.partition is None, layer.partition or "", layer.height

    return (_one(list(alike)) for _, alike in groupby(sorted(layers, key=key), key))


def _one(layers: Sequence[Layer]) -> Layer:
    """What layers are together."""
    numbers = np.array([(x.files, x.rows, x.bytes, x.applied) for x in layers]).sum(axis=0).tolist()
    files, rows, size, applied = numbers
    path = min(layer.path for layer in layers)
    return replace(layers[0], files=files, rows=rows, bytes=size, applied=applied, path=path)
