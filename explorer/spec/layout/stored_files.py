"""Where a table's bytes are: each file belongs to one group, the first of those that need it, so that groups add up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.entries.entries import DELETED, WORDS
from explorer.spec.layout.file_origins import CommitTimes
from explorer.spec.maintenance.orphan_rules import OLD_ENOUGH
from explorer.spec.values.values import partition_dicts, partition_path

StorageGroup = Literal["current", "kept", "expired", "metadata", "unused", "young", "hidden", "others", "missing"]
GROUPS: Mapping[StorageGroup, str] = {
    "current": "current snapshot",
    "kept": "older snapshots that stay",
    "expired": "older snapshots that can expire",
    "metadata": "table metadata",
    "unused": "unused files",
    "young": "unused, under three days old",
    "hidden": "hidden files",
    "others": "files of unknown metadata",
    "missing": "missing files",
}
"""The groups, in the order in which an answer has them."""
TABLE, OTHERS, LISTED = -1, 1 << 30, (1 << 31) - 1
"""Ranks of what the metadata file itself names, of what only other metadata names, and of a file in a listing."""
FILES = pa.schema(
    [
        ("place", pa.large_string()), ("rank", pa.int32()), ("kind", WORDS), ("partition", WORDS),
        ("recorded", pa.int64()), ("listed", pa.int64()), ("written_ms", pa.int64()),
    ]
)  # fmt: skip
"""A row for each time that metadata names a file, and one for each file of a listing. `place` is one spelling of its
path. The lower a rank, the sooner a file belongs to it. `recorded` are bytes as metadata has them."""
SUMS = pa.schema(
    [
        ("group", WORDS), ("rank", pa.int32()), ("kind", WORDS), ("elsewhere", pa.bool_()), ("part", WORDS),
        ("origin", WORDS), ("files", pa.int64()), ("bytes", pa.int64()),
    ]
)  # fmt: skip
"""Files added up. `elsewhere`: they are not in a folder that was listed. `part` is a partition or a month, `origin` one
of file_origins.ORIGINS, of files that nothing names."""
KEY = SUMS.names[:6]
KINDS = ("data files", "position deletes", "equality deletes", "deletion vectors")
OLDER_METADATA = "older metadata.json"
"""The kind of what the metadata log names."""
UNNAMED = (
    (r"(?i)metadata\.json(?:\.gz)?$", "metadata.json that the log does not have"),
    (r"/snap-[^/]*\.avro$", "manifest lists"),
    (r"/metadata/[^/]*\.avro$", "manifests"),
    (r"/metadata/[^/]*\.(?:stats|puffin)$", "statistics"),
    (r"-deletes\.(?:parquet|orc|avro)$|\.puffin$", "delete files"),
    (r"\.(?:parquet|orc|avro)$", "data files"),
)
"""What a file is that nothing names, by its path below the table's folder: the first that fits."""
UNKNOWN = "other files"
HINT = "/metadata/version-hint.text"


@dataclass(frozen=True)
class Ranks:
    """In which order the snapshots of a table claim files.

    Args:
        snapshots: The current snapshot, those that an expiry keeps, then those that it removes.
        kept: How many of them an expiry keeps.
        has_current: Whether the first one is the current one.
    """

    snapshots: tuple[Snapshot, ...]
    kept: int
    has_current: bool

    @classmethod
    def of(cls, metadata: TableMetadata, kept_ids: Collection[int]) -> Ranks:
        """Rank the snapshots of a table: heads of branches and tags before others, newer before older."""
        current, heads = metadata.current_snapshot_id, {ref.snapshot_id for ref in metadata.refs}

        def order(snapshot: Snapshot) -> tuple[bool, bool, bool, int]:
            own = snapshot.snapshot_id
            return own != current, own not in kept_ids, own not in heads, -(snapshot.timestamp_ms or 0)

        ranked = tuple(sorted(metadata.snapshots, key=order))
        has_current = bool(ranked) and ranked[0].snapshot_id == current
        kept = sum(s.snapshot_id in kept_ids or s.snapshot_id == current for s in ranked)
        return cls(ranked, kept, has_current)

    def group(self, rank: int) -> StorageGroup:
        """The group of what a rank claims, and is there."""
        if rank < 0:
            return "metadata"
        if rank == OTHERS:
            return "others"
        return "current" if rank == 0 and self.has_current else "kept" if rank < self.kept else "expired"


@dataclass(frozen=True)
class NamedFiles:
    """Makes FILES of the entries of manifests. `ranks` are those of manifests, by path. With `partitions` of these
    metadata, each file has its partition."""

    ranks: Mapping[str, int]
    partitions: TableMetadata | None = None

    def alike(self, manifest: ManifestFile) -> tuple[int, int]:
        """What is the same for manifests whose entries may be one part."""
        return self.ranks[manifest.manifest_path], manifest.partition_spec_id

    def part(self, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
        """The files of entries that are not DELETED. `place` is the path as the entry spells it."""
        entries = stored.filter(pc.fill_null(pc.not_equal(stored["status"], DELETED), True))
        content = pc.fill_null(entries["content"].cast(pa.int32()), 0)
        is_vector = pc.equal(pc.utf8_lower(entries["file_format"].cast(pa.string())), "puffin")
        code = pc.if_else(pc.and_(pc.equal(content, 1), pc.fill_null(is_vector, False)), 3, content)
        code = pc.if_else(pc.and_(pc.greater_equal(code, 0), pc.less(code, len(KINDS))), code, 0)
        return file_rows(
            entries["file_path"],
            self.ranks[manifest.manifest_path],
            pa.DictionaryArray.from_arrays(code.combine_chunks().cast(pa.int32()), pa.array(KINDS)),
            recorded=entries["file_size_in_bytes"],
            partition=self._partition(manifest, entries) if self.partitions else None,
        )

    def _partition(self, manifest: ManifestFile, entries: pa.Table) -> pa.DictionaryArray:
        codes, partitions = partition_dicts(entries)
        assert self.partitions is not None
        spec = self.partitions.spec(manifest.partition_spec_id)
        names = [partition_path(partition, spec, self.partitions) for partition in partitions]
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(names, pa.string()))


def file_rows(
    place: pa.ChunkedArray | pa.Array,
    rank: int,
    kind: pa.DictionaryArray | str | None = None,
    recorded: pa.ChunkedArray | pa.Array | None = None,
    listed: pa.Array | None = None,
    written_ms: pa.Array | None = None,
    partition: pa.DictionaryArray | None = None,
) -> pa.Table:
    """Return FILES of some files of one rank; what is left out is null."""
    number = len(place)
    words = pa.repeat(pa.scalar(kind), number) if isinstance(kind, str) else kind
    given = {"kind": words, "partition": partition, "recorded": recorded, "listed": listed, "written_ms": written_ms}
    columns = {name: pa.nulls(number, FILES.field(name).type) if c is None else c for name, c in given.items()}
    rows = {"place": place, "rank": pa.repeat(pa.scalar(rank, pa.int32()), number), **columns}
    return pa.table(rows).select(FILES.names).cast(FILES)


def sum_files(
    files: pa.Table,
    ranks: Ranks,
    tops: Sequence[str],
    hidden: Collection[str],
    by: str,
    now_ms: int,
    commits: CommitTimes,
) -> pa.Table:
    """Add up files, each once.

    Args:
        files: FILES; all rows of each place that any row has.
        ranks: Of the table's snapshots.
        tops: The folders that were listed, without a slash at their ends.
        hidden: Beginnings of names that count though hidden names begin so.
        by: `partition`, `month` (in which a file was written), or nothing.
        now_ms: Files that nothing names are young if they were written three days before, or later.
        commits: Of the table.

    Returns:
        SUMS.
    """
    one = _one_each(files)
    rank = one["rank"].to_numpy()
    listed, recorded, written = (one[name].to_numpy() for name in ("listed", "recorded", "written_ms"))
    is_listed, is_named = listed >= 0, rank < LISTED
    is_below = _is_below(one["place"], tops)
    rest = _below(one["place"], tops)
    is_hidden = _is_hidden(rest, hidden)
    is_hint = pc.equal(rest, HINT).to_numpy(zero_copy_only=False)
    names = list(GROUPS)
    by_rank = {number: names.index(ranks.group(number)) for number in np.unique(rank[is_named]).tolist()}
    group = _look_up(rank, by_rank)
    group[is_named & ~is_listed & is_below] = names.index("missing")
    unused = np.where(written >= now_ms - OLD_ENOUGH, names.index("young"), names.index("unused"))
    unused = np.where(is_hidden, names.index("hidden"), np.where(is_hint, names.index("metadata"), unused))
    group = np.where(is_named, group, unused)
    kinds = pc.if_else(pa.array(is_named), one["kind"].cast(pa.string()), _kinds(rest, is_hidden, is_hint))
    is_unused = ~is_named & np.isin(group, [names.index("unused"), names.index("young")])
    origin = pc.if_else(pa.array(is_unused), commits.origins(rest, kinds, written).cast(pa.string()), None)
    size = np.where(is_listed, listed, np.maximum(recorded, 0))
    part: pa.Array = pa.nulls(len(one), pa.string())
    if by == "partition":
        part = one["partition"].cast(pa.string())
    elif by == "month":
        months = written.astype("datetime64[ms]").astype("datetime64[M]").astype(str)  # UTC, such as 2026-11
        part = pa.array(months, pa.string(), mask=written < 0)
    table = pa.table(
        {
            "group": pa.DictionaryArray.from_arrays(pa.array(group, pa.int32()), pa.array(names)).cast(pa.string()),
            "rank": pa.array(np.where(is_named, rank, LISTED), pa.int32()), "kind": kinds,
            "elsewhere": pa.array(~is_below), "part": part, "origin": origin, "files": pa.repeat(1, len(one)),
            "bytes": pa.array(size, pa.int64()),
        }
    )  # fmt: skip
    return add_up(table)


def add_up(sums: pa.Table) -> pa.Table:
    """Add up rows of SUMS that are alike."""
    plain = pa.table(
        {n: sums[n].cast(pa.string()) if pa.types.is_dictionary(sums[n].type) else sums[n] for n in sums.column_names}
    )
    grouped = plain.group_by(KEY).aggregate([("files", "sum"), ("bytes", "sum")])
    renamed = grouped.rename_columns([name.removesuffix("_sum") for name in grouped.column_names])
    return renamed.select(SUMS.names).cast(SUMS)


def _look_up(rank: npt.NDArray[np.int32], by_rank: Mapping[int, int]) -> npt.NDArray[np.int64]:
    numbers, places = np.unique(rank, return_inverse=True)
    return np.array([by_rank.get(number, 0) for number in numbers.tolist()], np.int64)[places]


def _one_each(files: pa.Table) -> pa.Table:
    """A row for each place: that of the lowest rank, with the bytes and the time of a listing; -1 is unknown."""
    codes = files["place"].combine_chunks().dictionary_encode().indices.to_numpy()
    ranks = files["rank"].to_numpy()
    order = np.lexsort((ranks, codes))
    ordered = codes[order]
    starts = np.flatnonzero(np.concatenate([np.ones(min(1, len(ordered)), bool), ordered[1:] != ordered[:-1]]))
    first = files.take(pa.array(order[starts])).unify_dictionaries().combine_chunks()
    for name in ("recorded", "listed", "written_ms"):
        values = pc.fill_null(files[name], -1).to_numpy()[order]
        highest = np.maximum.reduceat(values, starts) if len(starts) else values
        first = first.set_column(first.column_names.index(name), name, pa.array(highest, pa.int64()))
    return first


def _is_below(places: pa.ChunkedArray, tops: Sequence[str]) -> npt.NDArray[np.bool_]:
    below = np.zeros(len(places), bool)
    for top in tops:
        below |= pc.starts_with(places, f"{top}/").to_numpy()
    return below


def _below(places: pa.ChunkedArray, tops: Sequence[str]) -> pa.ChunkedArray:
    """What follows the folder that was listed; of a file elsewhere its whole place."""
    rest = places
    for top in tops:
        rest = pc.if_else(pc.starts_with(rest, f"{top}/"), pc.utf8_slice_codeunits(rest, len(top)), rest)
    return rest


def _is_hidden(rest: pa.ChunkedArray, prefixes: Collection[str]) -> npt.NDArray[np.bool_]:
    """Whether remove_orphan_files passes over a file: its name, or a folder's, begins with `_` or `.`."""
    shown = rest
    for prefix in sorted(prefixes):
        shown = pc.replace_substring(shown, f"/{prefix}", "/=")  # whatever its value begins with
    hidden: npt.NDArray[np.bool_] = pc.match_substring_regex(shown, "/[_.]").to_numpy()
    return hidden


def _kinds(rest: pa.ChunkedArray, is_hidden: npt.NDArray[np.bool_], is_hint: npt.NDArray[np.bool_]) -> pa.Array:
    kinds: pa.Array = pa.repeat(pa.scalar(UNKNOWN), len(rest))
    for pattern, kind in reversed(UNNAMED):
        kinds = pc.if_else(pc.match_substring_regex(rest, pattern), kind, kinds)
    checksums = pc.if_else(pc.ends_with(rest, ".crc"), "checksums of Hadoop", "hidden files")
    kinds = pc.if_else(pa.array(is_hidden), checksums, kinds)
    return pc.if_else(pa.array(is_hint), "version hint", kinds)
