"""What one manifest adds to a planned scan: its sums, the verdicts on its files, the files that are read. Made where
manifests are decoded, here or by Spark's workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa

from explorer.model.manifest import ManifestFile
from explorer.spec.deletes.delete_pairs import DeleteCounts, DeletePairs
from explorer.spec.entries.entries import live_entries
from explorer.spec.entries.lazy_table import Batches, combine_rows
from explorer.spec.entries.numpy_columns import amounts, possible, total
from explorer.spec.filters.expressions import TRUE
from explorer.spec.scan.scan import BY_PARTITION, OUTCOMES, READ, FileVerdicts, Scan
from explorer.spec.scan.stored_bounds import STORED, StoredBounds, add_up, measure_bounds
from explorer.spec.scan.tasks import CHOSEN, Packing
from explorer.spec.scan.unmeasured import UnmeasuredFiles, count_unmeasured

UNMEASURED = ("field_id", "files", "older", "unbounded", "by_partition")
SUMS = pa.schema(
    [
        ("amounts", pa.list_(pa.int64())), ("wholly", pa.int64()), ("used", pa.list_(pa.int64())),
        ("skipped", pa.list_(pa.int64())), ("refused", pa.int64()), ("delete_weight", pa.int64()),
        ("residuals", pa.list_(pa.struct([("residual", pa.string()), ("files", pa.int64())]))),
        ("unmeasured", pa.list_(pa.struct([(name, pa.int64()) for name in UNMEASURED]))),
        ("bounds", pa.list_(pa.struct([(name, pa.int64()) for name in STORED]))),
        ("similar", pa.list_(pa.struct([("field_id", pa.int64()), ("stored", pa.string()), ("files", pa.int64())]))),
    ]
)  # fmt: skip
FILES = pa.schema(
    [
        ("file_path", pa.string()), ("verdict", pa.dictionary(pa.int8(), pa.string())), ("term", pa.string()),
        ("reason", pa.string()), ("partition", pa.string()), ("wholly", pa.bool_()), ("residual", pa.string()),
        ("record_count", pa.int64()), ("file_size_in_bytes", pa.int64()), ("spec_id", pa.int32()),
        ("manifest_path", pa.string()),
    ]
)  # fmt: skip
PARTITIONS = pa.schema(
    [
        ("values", pa.string()), ("spec_id", pa.int32()), ("partition", pa.string()), ("read", pa.int64()),
        ("by_partition", pa.int64()), ("by_metrics", pa.int64()), ("record_count", pa.int64()),
        ("file_size_in_bytes", pa.int64()),
    ]
)  # fmt: skip


def sums(
    scan: Scan,
    deletes: DeletePairs | None,
    skipped: DeletePairs | None,
    older: Mapping[int, Sequence[int]],
    manifest: ManifestFile,
    stored: pa.Table,
    surely: bool = False,
) -> pa.Table:
    """One row of SUMS: files, rows and bytes for each of OUTCOMES, one after the other; files whose rows all match; the
    places of the deletes that come along, and of those `skipped` by the filter that would; files that Iceberg Java
    refuses to scan because of one; what these add to the weight of the files; what must still be asked of rows, with
    its number of files; files that are read of which nothing is recorded of a column of the filter (see
    spec.scan.unmeasured; `older`); how long the stored bounds of its texts are."""
    verdicts = scan.files(manifest, stored, surely)
    columns = [amounts(verdicts.entries[name]) for name in ("record_count", "file_size_in_bytes")]
    added: list[int] = []
    for outcome in range(len(OUTCOMES)):
        chosen = verdicts.outcome == outcome
        added += [int(chosen.sum()), *(total(column[chosen]) for column in columns)]
    residual_counts = Counter[str]()
    if scan.bound != TRUE:
        codes, counts = np.unique(verdicts.codes[verdicts.outcome == READ], return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            residual_counts[str(verdicts.residuals[code])] += count
    files = _read(verdicts, [] if deletes is skipped is None else stored.column_names)
    counted = None if deletes is None else _count_deletes(deletes, manifest, files)
    kept_off = [] if skipped is None else _count_deletes(skipped, manifest, files).used.tolist()
    used, refused = ([], 0) if counted is None else (counted.used.tolist(), int(counted.sums["refused"].sum()))
    residuals = [{"residual": text, "files": files} for text, files in residual_counts.items()]
    spec, added_by = scan.metadata.spec(manifest.partition_spec_id), manifest.added_snapshot_id or 0
    known = {f.source_ids[0] for f in spec.fields if f.transform == "identity" and f.source_ids} if spec else set()
    undecided = (verdicts.outcome == READ) & ~verdicts.wholly  # bounds would not have a file skipped that matches
    columns_of_files = {field_id: others for field_id, others in older.items() if field_id not in known}
    unmeasured = list(count_unmeasured(columns_of_files, verdicts.entries, undecided, verdicts.unbounded, added_by))
    by_partition = verdicts.outcome == BY_PARTITION
    for field_id in known & older.keys():
        of_partition = int((by_partition & verdicts.unbounded.get(field_id, False)).sum())
        if of_partition:
            none = {"files": 0, "older": 0, "unbounded": 0}
            unmeasured.append({"field_id": field_id, **none, "by_partition": of_partition})
    row = {
        "amounts": added,
        "wholly": int(verdicts.wholly.sum()),
        "used": used,
        "skipped": kept_off,
        "refused": refused,
        "delete_weight": 0 if counted is None else _weight_of_deletes(scan, files, counted),
        "residuals": residuals,
        "unmeasured": unmeasured,
        "bounds": [] if surely else list(measure_bounds(scan.bound, verdicts.entries, undecided)),
        "similar": [
            {"field_id": field_id, "stored": stored, "files": files}
            for (field_id, stored), files in verdicts.similar_texts(spec).items()
        ],
    }
    return pa.Table.from_pylist([row], SUMS)


READERS = pa.schema([("files", pa.int64()), ("more", pa.int64()), ("fewer", pa.int64())])
"""Data files of one manifest that other readers read, and how these differ from the plan's
(spec.scan.plan.OtherReader)."""


def other_reader(scan: Scan, other: Scan, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """Count the data files of one manifest that another reader reads.

    Args:
        scan: The plan's scan.
        other: The other reader's scan of the same filter.
        manifest: The manifest.
        stored: Its entries, with their metrics.

    Returns:
        One row of READERS.
    """
    reads = []
    for each in (scan, other):
        keeps = each.manifests([manifest])[0].keeps
        reads.append((each.files(manifest, stored).outcome == READ) & keeps)
    ours, theirs = reads
    counts = [int(some.sum()) for some in (theirs, theirs & ~ours, ours & ~theirs)]
    return pa.Table.from_pylist([dict(zip(READERS.names, counts, strict=True))], READERS)


class Sums:
    """Rows of SUMS added up. `amounts`: files, rows and bytes, a row for each of OUTCOMES."""

    def __init__(self) -> None:
        self.amounts = np.zeros((len(OUTCOMES), 3), np.int64)
        self.wholly = 0
        self.refused = 0
        self.delete_weight = 0
        self.used: set[int] = set()
        self.skipped: set[int] = set()
        self.residuals = Counter[str]()
        self.unmeasured: dict[int, UnmeasuredFiles] = {}
        self.bounds: dict[int, StoredBounds] = {}
        self.similar = Counter[tuple[int, str]]()

    def add(self, rows: Batches) -> None:
        """All rows of SUMS."""
        for row in chain.from_iterable(part.to_pylist() for part in rows.read()):
            self.amounts += np.array(row["amounts"], np.int64).reshape(self.amounts.shape)
            self.wholly += row["wholly"]
            self.refused += row["refused"]
            self.delete_weight += row["delete_weight"]
            self.used |= set(row["used"])
            self.skipped |= set(row["skipped"])
            self.residuals.update({r["residual"]: r["files"] for r in row["residuals"]})
            self.bounds = add_up(row["bounds"], self.bounds)
            for own in row["similar"]:
                self.similar[own["field_id"], own["stored"]] += own["files"]
            for own in row["unmeasured"]:
                before = self.unmeasured.get(own["field_id"], UnmeasuredFiles())
                self.unmeasured[own["field_id"]] = before.plus(*(own[name] for name in UNMEASURED[1:]))


def verdicts(scan: Scan, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """FILES, a row for each live data file: verdict (one of OUTCOMES), the deciding term and what it met, partition,
    whether all rows match, and what must still be asked of its rows."""
    judged = scan.files(manifest, stored)
    count = len(judged.outcome)
    reasons = [judged.reason(at) for at in range(count)]
    columns = {
        "file_path": judged.entries["file_path"],
        "verdict": pa.DictionaryArray.from_arrays(pa.array(judged.outcome), pa.array(OUTCOMES)),
        "term": [r.term for r in reasons],
        "reason": [r.text for r in reasons],
        "partition": [judged.partition(at) for at in range(count)],
        "wholly": pa.array(judged.wholly),
        "residual": [str(judged.residual(at)) for at in range(count)],
        "record_count": judged.entries["record_count"],
        "file_size_in_bytes": judged.entries["file_size_in_bytes"],
        "spec_id": pa.repeat(pa.scalar(manifest.partition_spec_id, pa.int32()), count),
        "manifest_path": pa.repeat(pa.scalar(manifest.manifest_path), count),
    }
    return pa.table(columns, schema=FILES)


def partitions(scan: Scan, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """PARTITIONS, a row for each partition of one manifest's live data files: files by what becomes of them, and the
    rows and bytes of all. `values` tell partitions apart whose names are the same: null and 'null'."""
    judged = scan.files(manifest, stored)
    first = {code: at for at, code in reversed(list(enumerate(judged.codes.tolist())))}
    number = len(judged.partitions)
    weights = {name: amounts(judged.entries[name]) for name in PARTITIONS.names[6:]}
    outcomes = [np.bincount(judged.codes[judged.outcome == o], minlength=number) for o in range(len(OUTCOMES))]
    columns = {
        "values": [repr(judged.partitions[code]) for code in range(number)],
        "spec_id": pa.repeat(pa.scalar(manifest.partition_spec_id, pa.int32()), number),
        "partition": [judged.partition(first[code]) for code in range(number)],
        **dict(zip(PARTITIONS.names[3:6], outcomes, strict=True)),
        **{n: np.bincount(judged.codes, w, number).astype(np.int64) for n, w in weights.items()},
    }
    return pa.table(columns, schema=PARTITIONS)


def by_partition(rows: Batches) -> pa.Table:
    """Rows of PARTITIONS added up, without their `values`, in the order of their names."""
    keys = PARTITIONS.names[:3]
    sums = [(name, "sum") for name in PARTITIONS.names[3:]]

    def combine(some: pa.Table) -> pa.Table:
        return some.group_by(keys, use_threads=False).aggregate(sums).rename_columns(PARTITIONS.names)

    return combine_rows(rows, combine).drop_columns("values").sort_by([(name, "ascending") for name in keys[1:]])


def files_to_read(scan: Scan, deletes: DeletePairs | None, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """CHOSEN, a row for each file that is read, with the number and bytes of the deletes that come along."""
    files = _read(scan.files(manifest, stored), CHOSEN.names[:4] if deletes is None else stored.column_names)
    number = more = np.zeros(files.num_rows, np.int64)
    if deletes is not None:
        sums = _count_deletes(deletes, manifest, files).sums
        number, more = sums["position"] + sums["equality"] + sums["vectors"], sums["bytes"]
    columns = {name: files[name] for name in CHOSEN.names[:4]}
    return pa.table({**columns, "deletes": number, "delete_bytes": more}, schema=CHOSEN)


def _count_deletes(deletes: DeletePairs, manifest: ManifestFile, files: pa.Table) -> DeleteCounts:
    """The deletes that come along with some of a manifest's files."""
    return deletes.count(live_entries(files, manifest), manifest.partition_spec_id)


def _weight_of_deletes(scan: Scan, files: pa.Table, counts: DeleteCounts) -> int:
    """How much more files weigh in a scan with their deletes: a file and its deletes weigh their bytes, or what opening
    all of them costs if that is more."""
    open_cost, size = Packing.of(scan.metadata.properties).open_cost, amounts(files["file_size_in_bytes"])
    number = counts.sums["position"] + counts.sums["equality"] + counts.sums["vectors"]
    with_deletes = np.maximum(size + counts.sums["bytes"], (1 + number) * float(open_cost))
    return possible(int((with_deletes - np.maximum(size, open_cost)).sum()))


def _read(verdicts: FileVerdicts, columns: Sequence[str]) -> pa.Table:
    """Some columns of the files that are read: of counts and bounds a copy is dear."""
    return verdicts.entries.select(columns).take(pa.array(np.flatnonzero(verdicts.outcome == READ)))
