"""What one manifest adds to the plan of a rewrite: its files, each with the reasons why the planner takes it. Made
where manifests are decoded, here or by Spark's workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.spec.deletes.delete_pairs import DeletePairs
from explorer.spec.deletes.target_files import target_files
from explorer.spec.entries.entries import WORDS, are_live, live_entries
from explorer.spec.entries.numpy_columns import Ints, amounts, ints
from explorer.spec.maintenance.rewrite_options import RewriteOptions
from explorer.spec.maintenance.rewrites import JUDGED, candidate_reasons
from explorer.spec.scan.scan import READ, Scan, partition_values
from explorer.spec.scan.tasks import SPLITTABLE
from explorer.spec.values.hashes import hashes
from explorer.spec.values.values import distinct_partitions, partition_path

OTHER_SPECS = "(files of other partition specs)"


@dataclass(frozen=True)
class Judge:
    """A rewrite's rule and filter, ready for manifests. `deletes` are held against data files, if there are any."""

    rule: RewriteOptions
    scan: Scan
    deletes: DeletePairs | None = None


def data_files(judge: Judge, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """JUDGED, of the data files of one manifest that the filter leaves. Files of other specs than the table's go
    together, with those of the partition whose values are all null (Iceberg: BinPackRewriteFilePlanner)."""
    judged = judge.scan.files(manifest, stored)
    places = np.flatnonzero(judged.outcome == READ)
    files = judged.entries.take(pa.array(places))
    metadata, spec_id = judge.scan.metadata, manifest.partition_spec_id
    spec = metadata.spec(metadata.default_spec_id)
    ids = [f.field_id for f in spec.fields] if spec else []
    is_current = spec_id == metadata.default_spec_id
    keys = [repr([p.get(i) if is_current else None for i in ids]) for p in judged.partitions]
    names = [_path(judge, spec_id, p) if is_current else OTHER_SPECS if ids else "" for p in judged.partitions]
    deletes = own_rows = np.zeros(files.num_rows, np.int64)
    if judge.deletes is not None:
        entries = live_entries(files, manifest)
        sums = judge.deletes.count(entries, spec_id).sums
        deletes, own_rows = sums["position"] + sums["equality"] + sums["vectors"], sums["own_rows"]
    sizes = amounts(files["file_size_in_bytes"])
    return _table(judge, manifest, files, judged.codes[places], (keys, names), sizes, deletes, own_rows)


def position_deletes(judge: Judge, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """JUDGED, of the position deletes and vectors of one manifest in partitions that the filter leaves; of a vector the
    size is that of its blob. Files of equal partitions go together whatever their specs (Iceberg:
    BinPackRewritePositionDeletePlanner)."""
    files = stored.filter(pc.and_(are_live(stored), pc.equal(pc.fill_null(stored["content"], 0), 1)))
    codes, first = distinct_partitions(files["partition"])
    partitions = partition_values(files["partition"], first)
    spec_id = manifest.partition_spec_id
    keeps = np.array([judge.scan.keeps(spec_id, p) for p in partitions], bool)
    places = np.flatnonzero(keeps[codes]) if len(codes) else codes
    files = files.take(pa.array(places))
    ids = sorted({f.field_id for spec in judge.scan.metadata.partition_specs for f in spec.fields})
    keys = [repr([p.get(i) for i in ids]) for p in partitions]
    names = [_path(judge, spec_id, p) for p in partitions]
    sizes = amounts(pc.coalesce(files["content_size_in_bytes"], files["file_size_in_bytes"]))
    none = np.zeros(files.num_rows, np.int64)
    return _table(judge, manifest, files, codes[places], (keys, names), sizes, none, none)


def _path(judge: Judge, spec_id: int, partition: Mapping[int, Any]) -> str:
    metadata = judge.scan.metadata
    return partition_path({str(k): v for k, v in partition.items()}, metadata.spec(spec_id), metadata)


def _table(
    judge: Judge, manifest: ManifestFile, files: pa.Table, codes: Ints, words: tuple[Sequence[str], Sequence[str]],
    sizes: Ints, deletes: Ints, own_rows: Ints,
) -> pa.Table:  # fmt: skip
    records = amounts(files["record_count"])
    index = pa.array(codes, pa.int32())
    place, partition = (pa.DictionaryArray.from_arrays(index, pa.array(w, pa.string())) for w in words)
    path = pa.array([manifest.manifest_path], pa.string())
    columns = {
        "file_path": files["file_path"],
        "place": place,
        "partition": partition,
        "spec_id": pa.repeat(pa.scalar(manifest.partition_spec_id, pa.int32()), files.num_rows),
        "record_count": records,
        "size": sizes,
        "deletes": deletes,
        "deleted_rows": own_rows,
        "reasons": candidate_reasons(judge.rule, sizes, records, deletes, own_rows),
        "vector": pc.and_(
            pc.equal(pc.fill_null(files["content"], 0), 1), pc.equal(pc.utf8_lower(files["file_format"]), "puffin")
        ),
        "parts": _parts(files),
        "manifest_path": pa.DictionaryArray.from_arrays(pa.array(np.zeros(files.num_rows, np.int32)), path).cast(WORDS),
        "written_at": pc.fill_null(files["file_sequence_number"], manifest.sequence_number or 0),
        "target": _targets(files) if manifest.content else np.zeros(files.num_rows, np.int64),
    }
    return pa.table(columns, schema=JUDGED)


def _targets(files: pa.Table) -> Ints:
    """The hash of the one data file that each delete is for; 0 where there is none."""
    targets = target_files(files)
    return np.where(targets.is_null().to_numpy(), 0, hashes(targets))


def _parts(files: pa.Table) -> Ints:
    """In how many parts each file can be read; 0 where it can be cut anywhere."""
    splittable = pc.is_in(pc.utf8_upper(files["file_format"]), pa.array(SPLITTABLE)).to_numpy()
    return np.where(splittable, ints(pc.list_value_length(files["split_offsets"]), 0), 1)
