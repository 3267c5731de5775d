"""expire_snapshots: which snapshots go and why, which files nothing would lead to, what else is dropped."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.model.metadata import Snapshot, StatisticsFile, TableMetadata
from explorer.progress import steps
from explorer.queries.metadata_tree import MetadataTree
from explorer.reports.maintenance.refusals import read_through
from explorer.spec.commits.sink_positions import sink_positions
from explorer.spec.maintenance.reachability import Reach, reach
from explorer.spec.snapshots.ancestors import parents_of, reachable_snapshots
from explorer.spec.snapshots.reader_positions import (
    HistoryLeft,
    ReaderOutcome,
    ReaderPosition,
    ReaderUse,
    reader_outcomes,
)
from explorer.spec.snapshots.refs import free_ref_name
from explorer.spec.snapshots.retention import Retention, retention, unused_bytes, unused_metadata
from explorer.spec.text.names import first_of, runs, shorten, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, human_bytes, instant, whole

RULES_SHOWN = 12
"""Of the rules that keep snapshots, in a preview: a table may have hundreds of tags."""
READER_LENGTH = 120
READERS_NAMED = 3
"""Writers that a warning names."""
READER_USES: Mapping[ReaderUse, str] = {
    "time travel": "Time travel to", "incremental read": "An incremental read after",
    "Spark stream": "A Spark stream at",
    "Spark stream, AvailableNow": "Trigger.AvailableNow needs the snapshot at which the stream began, and so",
    "Flink source": "A Flink source of",
}  # fmt: skip
"""How a sentence names each use, before what a person calls the reader."""


@dataclass(frozen=True)
class Expiry:
    """A planned expiry. `schemas` and `specs` are the ids that clean_expired_metadata would drop."""

    metadata: TableMetadata
    decided: Retention
    gone: Reach
    statistics: tuple[StatisticsFile, ...]
    schemas: tuple[int, ...]
    specs: tuple[int, ...]
    cut_off: Reach
    """What only expired snapshots of no branch or tag reach."""
    readers: tuple[ReaderOutcome, ...] = ()
    """What becomes of the readers that were named."""
    manifests: int = 0
    """How many manifests all snapshots have together."""

    @property
    def broken_readers(self) -> list[ReaderOutcome]:
        """The readers that go on now, and could not afterwards."""
        return [reader for reader in self.readers if reader.becomes == "breaks"]

    @property
    def acts(self) -> bool:
        """Whether the table would be another one afterwards."""
        refs_go = any(not ref.kept for ref in self.decided.refs)
        return bool(self.decided.snapshots_to_expire or refs_go or self.schemas or self.specs)

    def words(self, table: str) -> Iterator[str]:
        """What it comes to; `table` is its name in SQL."""
        decided, gone, meta = self.decided, self.gone, self.metadata
        snapshots = count(len(decided.snapshots_to_expire), "snapshot")
        lost = "; time travel to them ends" if decided.snapshots_to_expire else ""
        yield f"{snapshots} of {len(meta.snapshots)} would expire{lost}."
        if decided.snapshots_to_expire:
            yield from self._history_words()
        yield from self._reader_words()
        yield from filter(None, (self.cut_off_warning(table), self.sink_warning()))
        unknown = ", since metadata has no sizes of manifest lists" if gone.manifest_lists and not gone.bytes else ""
        yield (
            f"{count(len(gone.files), 'data or delete file')}, {count(len(gone.manifests), 'manifest')} and "
            f"{count(len(gone.manifest_lists), 'manifest list')} would become unreachable: {human_bytes(gone.bytes)} "
            f"at least{unknown}."
        )
        if decided.snapshots_to_expire:
            yield self._work_words()
        if decided.snapshots_to_expire and not gone.files:
            yield f"No data file goes: snapshots that stay need those of the others.{self._hidden_rows()}"
        if self.statistics:
            none = "" if len(self.statistics) < len(meta.statistics) else ", and the table would have none"
            yield f"{count(len(self.statistics), 'statistics file')} of them would be removed{none}."
        for name, ids in (("schema", self.schemas), ("partition spec", self.specs)):
            if ids:
                some = ", ".join(map(str, ids[:20])) + (", …" if len(ids) > 20 else "")
                size = human_bytes(unused_bytes(meta, *((ids, ()) if name == "schema" else ((), ids))))
                yield (
                    f"clean_expired_metadata would drop {count(len(ids), name)} that no snapshot left uses, {size} of "
                    f"the metadata file: {some}."
                )
        yield from (f"The {r.ref.type} {r.ref.name} would go: {r.reason}." for r in decided.refs if not r.kept)
        yield from _retention_words(meta, decided)

    def _history_words(self) -> Iterator[str]:
        """What ends for snapshots that stay: an expiry drops the lines of the log before that of one that goes, and
        cuts off the ancestors before it."""
        meta, ordinals = self.metadata, snapshot_ordinals(self.metadata)
        now, then = HistoryLeft.all_of(meta), HistoryLeft.after(meta, self.decided)
        logged = {entry.snapshot_id for entry in now.log} - {entry.snapshot_id for entry in then.log}
        linked = {s.snapshot_id for s in now.main} - {s.snapshot_id for s in then.main}
        no_time, cut_off = ([i for i in ordinals if i in some & set(then.snapshot_ids)] for some in (logged, linked))
        if no_time:
            which = f"VERSION AS OF {no_time[0]}" if len(no_time) == 1 else "VERSION AS OF with their ids"
            names = runs(snapshot_name(i, ordinals) for i in no_time)
            yield f"TIMESTAMP AS OF no longer finds {names}, which {_stay(no_time)}: {which} does."
        if cut_off:
            names = runs(snapshot_name(i, ordinals) for i in cut_off)
            yield f"rollback_to_snapshot no longer goes to {names}: set_current_snapshot does."

    def _work_words(self) -> str:
        """What a procedure has to do for it, and what makes that faster (Iceberg Java 1.12:
        ExpireSnapshotsProcedure)."""
        read = f"{count(self.manifests, 'manifest')} of {count(len(self.metadata.snapshots), 'snapshot')}"
        removed = count(len(self.gone.paths), "file")
        return (
            f"To find them, Spark reads {read}; then it removes {removed}. Iceberg's FileIOs remove many at once: "
            "iceberg.hadoop.delete-file-parallelism and s3.delete.num-threads say how many, and max_concurrent_deletes "
            "is ignored for them. Expiry is faster where commits write fewer files and manifests."
        )

    def _hidden_rows(self) -> str:
        """Say that deleted rows keep their files, where the current snapshot has deletes."""
        current = self.metadata.current_snapshot
        if current is None or not whole(current.summary.get("total-delete-files", "")):
            return ""
        return (
            " Rows that deletes hide stay in their files until a compaction rewrites these: icedive maintain preview "
            "TABLE compact -O delete-file-threshold=1 shows it."
        )

    def _reader_words(self) -> Iterator[str]:
        if not self.readers:
            return
        broken = [reader for reader in self.readers if reader.becomes == "is broken already"]
        goes_on = [reader for reader in self.readers if reader.becomes == "goes on"]
        if goes_on and not self.broken_readers:
            yield f"{_number_words(len(goes_on), len(self.readers))} on: what they need stays."
        for reader in self.broken_readers[:RULES_SHOWN]:
            yield f"{reader_name(reader)} breaks: {reader.reason}."
        for reader in broken[:RULES_SHOWN]:
            yield f"{reader_name(reader)} is broken already: {reader.reason}."

    def reader_rows(self) -> list[dict[str, Any]]:
        """A row a reader: how it reads, where it stands, and what becomes of it."""
        return [
            {
                "reader": v.position.reader, "use": v.position.use, "stands_at": v.stands_at, "becomes": v.becomes,
                "reason": v.reason,
            }
            for v in self.readers
        ]  # fmt: skip

    def cut_off_warning(self, table: str) -> str:
        """Warn of snapshots that no branch or tag leads to: a later commit may have cut them off by mistake. Nothing if
        no files would be lost with them; `table` is its name in SQL."""
        if not self.cut_off.files:
            return ""
        ordinals = snapshot_ordinals(self.metadata)
        cut_off = [s.snapshot_id for s in _snapshots_without_ref(self.metadata, self.decided)]
        names = runs(snapshot_name(i, ordinals) for i in cut_off)
        return (
            f"Look before you run this: {names} {'is' if len(cut_off) == 1 else 'are'} of no branch or tag, and "
            f"{count(len(self.cut_off.files), 'data or delete file')} of {'it' if len(cut_off) == 1 else 'them'} would "
            f"be lost. To keep them, create a branch first: ALTER TABLE {table} CREATE BRANCH "
            f"{free_ref_name(self.metadata, 'cut_off')} AS OF VERSION {cut_off[-1]}"
        )

    def sink_warning(self) -> str:
        """Warn of writers that find their last commit in no snapshot that is left; nothing if there are none."""
        kept = {snapshot.snapshot_id for snapshot in self.decided.snapshots_to_keep}
        lost = [one for one in sink_positions(self.metadata.snapshots) if one.snapshot.snapshot_id not in kept]
        if not lost:
            return ""
        named = first_of([one.writer for one in lost], READERS_NAMED)
        oldest = min(one.snapshot.timestamp_ms or 0 for one in lost)
        finds = "finds" if len(lost) == 1 else "find"
        return (
            f"Look before you run this: {named} {finds} the last commit in no snapshot that would be left. A job that "
            "starts again from its state then commits its last files a second time, or fails. If it is to go on, keep "
            f"what it needs: icedive maintain preview TABLE expire --option older_than={oldest} shows that expiry."
        )

    def snapshot_rows(self) -> list[dict[str, Any]]:
        """A row a snapshot: what becomes of it, and why."""
        ordinals = snapshot_ordinals(self.metadata)
        return [
            {
                "snapshot": snapshot_name(v.snapshot.snapshot_id, ordinals),
                "becomes": "kept" if v.is_kept else "expired",
                "reason": "; ".join(k.reason for k in v.keepers) if v.is_kept else "; ".join(v.expired_because),
                "snapshot_id": v.snapshot.snapshot_id,
                "timestamp": instant(v.snapshot.timestamp_ms),
                "operation": v.snapshot.operation,
            }
            for v in self.decided.snapshots
        ]

    def file_rows(self) -> Iterator[dict[str, Any]]:
        """A row a file that would be removed, with its bytes where metadata has them."""
        kinds: list[tuple[str, Mapping[str, int | None]]] = [
            ("data or delete file", dict(self.gone.files)), ("manifest", self.gone.manifests),
            ("manifest list", dict.fromkeys(sorted(self.gone.manifest_lists))),
            ("statistics", {s.path: s.file_size_in_bytes for s in self.statistics}),
        ]  # fmt: skip
        for kind, files in kinds:
            for path, size in sorted(files.items()):
                yield {
                    "file": path,
                    "becomes": "removed",
                    "reason": f"{kind}: no snapshot left leads to it",
                    "bytes": size,
                }


def _stay(snapshots: Sequence[int]) -> str:
    return "stays" if len(snapshots) == 1 else "stay"


def _number_words(goes_on: int, readers: int) -> str:
    """Say how many of the ways to read go."""
    if readers == 1:
        return "The reader goes"
    return f"All {goes_on} ways to read go" if goes_on == readers else f"{goes_on} of {readers} ways to read go"


def reader_name(reader: ReaderOutcome) -> str:
    """Return how a sentence names a reader: how it reads, and where it stands."""
    position = reader.position
    named = shorten(position.reader, READER_LENGTH)
    is_checkpoint = position.reader != reader.stands_at and "/" in position.reader
    return f"{READER_USES[position.use]} {named}{f' ({reader.stands_at})' if is_checkpoint else ''}"


def reader_refusal(expiry: Expiry) -> str:
    """Say which readers an expiry breaks; nothing if it breaks none."""
    broken = expiry.broken_readers
    if not broken:
        return ""
    return f"Do not run this: {count(len(broken), 'way')} to read would no longer work."


def plan_expiry(tree: MetadataTree, values: Mapping[str, Any], readers: Sequence[ReaderPosition] = ()) -> Expiry:
    """What an expiry with these arguments would do, also to readers. Raises ValueError, with Iceberg's reason, where it
    would refuse, and of a complete tree UnreadableFile: Spark reads every manifest, of snapshots that stay too."""
    meta, now = tree.metadata, int(time.time() * 1000)
    older, least, ids = values.get("older_than"), values.get("retain_last"), values.get("snapshot_ids", ())
    decided = retention(meta, now, older, least, ids)
    gone = reach(tree, meta.snapshots, without=decided.snapshots_to_keep)
    if decided.snapshots_to_expire:
        read_through(tree)
    unreferenced = _snapshots_without_ref(meta, decided)
    others = [s for s in meta.snapshots if s not in unreferenced]
    cut_off = reach(tree, unreferenced, without=others)
    removed_ids = {s.snapshot_id for s in meta.snapshots} - {s.snapshot_id for s in decided.snapshots_to_keep}
    staying = {s.path for s in meta.statistics if s.snapshot_id not in removed_ids}  # of snapshots long gone, too
    schemas: list[int] = []
    specs: list[int] = []
    if values.get("clean_expired_metadata"):
        # Iceberg asks what the policy keeps, which may be more than what is left where ids are given
        policy = retention(meta, now, older, least).snapshots_to_keep
        several = len(meta.partition_specs) > 1
        used = (
            {m.partition_spec_id for s in steps(policy, "snapshots") for m in tree.manifests(s)} if several else set()
        )
        schemas, specs = unused_metadata(meta, policy, used)
    statistics = tuple(s for s in meta.statistics if s.path not in staying)
    manifests = len({m.manifest_path for s in steps(meta.snapshots, "snapshots") for m in tree.manifests(s)})
    return Expiry(
        meta, decided, gone, statistics, tuple(schemas), tuple(specs), cut_off,
        tuple(reader_outcomes(meta, readers, decided)), manifests,
    )  # fmt: skip


def _snapshots_without_ref(metadata: TableMetadata, decided: Retention) -> list[Snapshot]:
    """The expired snapshots that no branch or tag leads to, oldest first."""
    led_to = reachable_snapshots(parents_of(metadata.snapshots), (ref.snapshot_id for ref in metadata.refs))
    return [s for s in decided.snapshots_to_expire if s.snapshot_id not in led_to]


def _retention_words(meta: TableMetadata, decided: Retention) -> list[str]:
    """Which rule keeps which snapshots, a rule a sentence."""
    ordinals = snapshot_ordinals(meta)
    kept: dict[str, list[int]] = {}
    for verdict in decided.snapshots:
        for keeper in verdict.keepers:
            kept.setdefault(keeper.reason, []).append(ordinals[verdict.snapshot.snapshot_id])
    sentences = [f"Kept: {runs(f'snapshot-{n}' for n in sorted(ns))}, since {why}." for why, ns in kept.items()]
    more = len(sentences) - RULES_SHOWN
    return sentences if more <= 0 else [*sentences[:RULES_SHOWN], f"{count(more, 'rule')} more keep snapshots."]
