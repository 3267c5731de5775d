"""What spec.entries.entries says of the entries of one manifest, of those of many in one call: the rules are there, and
this gives the same columns. A call of Arrow costs as much for one small manifest as for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import STATUS, ManifestFile
from explorer.spec.entries.entries import ADDED, DELETED, INHERITED, WORDS, as_of_snapshot, fill_nulls, origins, reasons
from explorer.spec.entries.numpy_columns import Ints


class ManifestRun:
    """Manifests whose entries follow each other in one table: `counts` says how many each has."""

    def __init__(self, manifests: Sequence[ManifestFile], counts: Sequence[int]) -> None:
        self.manifests = manifests
        self.counts = np.array(counts, np.int64)
        self.starts = np.cumsum(self.counts) - self.counts

    @classmethod
    def of(cls, read: Sequence[tuple[ManifestFile, pa.Table]]) -> ManifestRun:
        """Manifests with their entries."""
        return cls([manifest for manifest, _ in read], [entries.num_rows for _, entries in read])

    def ranges(self) -> list[tuple[ManifestFile, int, int]]:
        """Each manifest, with the places where its entries begin and end."""
        ends = (self.starts + self.counts).tolist()
        return list(zip(self.manifests, self.starts.tolist(), ends, strict=True))

    def each(self, values: Sequence[int | None]) -> pa.Array:
        """A value of each manifest, for each of its entries."""
        return pa.array(values, pa.int64()).take(pa.array(self.places()))

    def places(self) -> Ints:
        """The place of its manifest, for each entry."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def numbers(self, values: Sequence[int]) -> Ints:
        """A number of each manifest, for each of its entries."""
        return np.repeat(np.array(values, np.int64), self.counts)

    def sum(self, values: Ints, chosen: npt.NDArray[np.bool_]) -> Ints:
        """For each manifest the sum over those of its entries that are chosen."""
        before: Ints = np.concatenate([[0], np.cumsum(np.where(chosen, values, 0))])
        sums: Ints = before[self.starts + self.counts] - before[self.starts]
        return sums

    def count(self, chosen: npt.NDArray[np.bool_]) -> Ints:
        """How many entries of each manifest are chosen."""
        return self.sum(np.ones(len(chosen), np.int64), chosen)

    def any(self, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Whether any entry of each manifest is chosen."""
        return self.count(chosen) > 0

    def least(self, values: Ints, chosen: npt.NDArray[np.bool_]) -> list[int | None]:
        """For each manifest the least value of those of its entries that are chosen."""
        some = (values[start:end][chosen[start:end]] for _, start, end in self.ranges())
        return [int(own.min()) if len(own) else None for own in some]

    def are_without_numbers(self) -> npt.NDArray[np.bool_]:
        """Whether its manifest has no sequence number, as those of version 1, for each entry."""
        without: npt.NDArray[np.bool_] = self.numbers([m.sequence_number for m in self.manifests]) == 0
        return without

    def ordinals(self) -> Ints:
        """The place in its manifest, for each entry."""
        return np.arange(int(self.counts.sum())) - np.repeat(self.starts, self.counts)


def as_of_run(stored: pa.Table, run: ManifestRun, snapshot_id: int | None) -> pa.Table:
    """See spec.entries.entries.as_of_snapshot."""
    if _lacks_numbers(stored):
        each = [(stored.slice(start, end - start), manifest) for manifest, start, end in run.ranges()]
        return pa.concat_tables([as_of_snapshot(entries, manifest, snapshot_id) for entries, manifest in each])
    status = stored["status"].to_numpy()
    return _as_of(_inherit(stored, run, status), run, status, snapshot_id)


def fill_nulls_of_run(stored: pa.Table, run: ManifestRun) -> dict[str, pa.ChunkedArray]:
    """See spec.entries.entries.fill_nulls."""
    if len(run.manifests) == 1:
        return fill_nulls(stored, run.manifests[0])
    if _lacks_numbers(stored):
        each = [fill_nulls(stored.slice(start, end - start), manifest) for manifest, start, end in run.ranges()]
        return {name: pa.chunked_array([c for one in each for c in one[name].chunks], each[0][name].type)
                for name in INHERITED}  # fmt: skip
    return _fill_nulls(stored, run, stored["status"].to_numpy())


def _lacks_numbers(stored: pa.Table) -> bool:
    """Whether entries lack what no writer leaves out, and what is said of many in one call goes by."""
    return bool(stored["record_count"].null_count or stored["status"].null_count)


def _inherit(stored: pa.Table, run: ManifestRun, status: npt.NDArray[np.int32]) -> pa.Table:
    filled = _fill_nulls(stored, run, status)
    without_numbers = run.are_without_numbers()
    table = stored
    for name in INHERITED:
        was_null, is_null = _nulls(stored[name]), _nulls(filled[name])
        index = was_null.astype(np.int32)
        index[is_null] = 2
        texts = list(origins(1)[name])
        if name.endswith("sequence_number"):
            index[was_null & without_numbers] = 3
            texts.append(origins(0)[name][1])
        table = table.append_column(f"inherited_{name}", filled[name])
        table = table.append_column(f"{name}_origin", _texts(index, texts))
    return table


def _fill_nulls(stored: pa.Table, run: ManifestRun, status: npt.NDArray[np.int32]) -> dict[str, pa.ChunkedArray]:
    number = run.each([m.sequence_number for m in run.manifests])
    of_added = pc.if_else(pa.array((status == ADDED) | run.are_without_numbers()), number, None)
    return {
        "snapshot_id": pc.coalesce(stored["snapshot_id"], run.each([m.added_snapshot_id for m in run.manifests])),
        "sequence_number": pc.coalesce(stored["sequence_number"], of_added),
        "file_sequence_number": pc.coalesce(stored["file_sequence_number"], of_added),
        "first_row_id": _first_row_ids(stored, run, status),
    }


def _first_row_ids(stored: pa.Table, run: ManifestRun, status: npt.NDArray[np.int32]) -> pa.ChunkedArray:
    first = [m.first_row_id if m.content == 0 else None for m in run.manifests]
    if not any(n is not None for n in first):
        return stored["first_row_id"]
    takes = _nulls(stored["first_row_id"]) & (status != DELETED)
    rows = np.where(takes, stored["record_count"].to_numpy(), 0)
    before = np.cumsum(rows) - rows
    firsts = np.minimum(run.starts, max(0, len(before) - 1))  # a manifest without entries has no first one
    since = before - np.repeat(before[firsts], run.counts) if len(before) else before
    own_ids = pc.if_else(pa.array(takes), pc.add(pa.array(since), run.each(first)), None)
    return pc.coalesce(stored["first_row_id"], own_ids)


def _as_of(table: pa.Table, run: ManifestRun, status: npt.NDArray[np.int32], snapshot_id: int | None) -> pa.Table:
    texts: list[str] = []
    first_text: dict[tuple[bool, int | None], int] = {}
    """Where the texts begin that are said of manifests of a snapshot."""
    logical: list[str | None] = []
    firsts = []
    for manifest in run.manifests:
        own = snapshot_id is not None and manifest.added_snapshot_id == snapshot_id
        key = own, manifest.added_snapshot_id
        if key not in first_text:
            first_text[key] = len(texts)
            pairs = reasons(manifest, snapshot_id)
            texts += [text for _, text in pairs]
            logical += [name for name, _ in pairs]
        firsts.append(first_text[key])
    code = np.where((status >= 0) & (status < len(STATUS)), status, len(STATUS))
    index = (np.repeat(np.array(firsts, np.int64), run.counts) + code).astype(np.int32)
    statuses = pa.array(logical, pa.string()).take(pa.array(index))
    return table.append_column("logical_status", statuses).append_column("reason", _texts(index, texts))


def _nulls(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    if not column.null_count:
        return np.zeros(len(column), bool)
    return np.asarray(column.is_null().to_numpy())


def _texts(index: npt.NDArray[np.int32], texts: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(index), pa.array(texts, pa.string()))], WORDS)
