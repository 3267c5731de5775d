"""Where a file that nothing names probably comes from, by its name and by when it was written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.metadata import TableMetadata
from explorer.spec.commits.kept_commits import KeptCommits, kept_commits
from explorer.spec.text.names import base_name

Origin = Literal["log", "retry", "first", "oldest", "between", "refused", "unread", "last", "unknown"]
ORIGINS: Mapping[Origin, tuple[str, str]] = {
    "log": ("before the metadata log", "dropped from the log"),
    "retry": ("by a commit that is there", "an earlier attempt of it"),
    "first": ("before the first commit", "failed write, or earlier table"),
    "oldest": ("before the oldest snapshot", "expiry, or failed write"),
    "between": ("between commits", "failed write or task"),
    "refused": ("between commits that are all there", "refused or killed write, or failed task"),
    "unread": ("between commits, not all readable", "a commit that cannot be read, or failed write"),
    "last": ("after the last commit", "failed, lost or running write"),
    "unknown": ("unknown", "unknown"),
}
"""When such a file was written, as far as that is known, and its likely origin."""
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
LIST_UUID = re.compile(f"/snap-[^/]*-({UUID})\\.avro$")
"""The UUID of a commit in the name of its manifest list; its manifests have it at the beginning of their names."""
OF_COMMIT = rf"/metadata/(?:snap-[^/]*-)?(?P<uuid>{UUID})(?:-m[0-9]+)?\.avro$"


@dataclass(frozen=True)
class CommitTimes:
    """What a table's metadata tells of its commits.

    Attributes:
        oldest_ms: When the oldest snapshot that is left was committed; None without snapshots.
        newest_ms: When the newest one was.
        has_expired: Whether snapshots before the oldest one are gone.
        log_ms: When the oldest file of the metadata log was written.
        uuids: The UUIDs in the names of manifest lists.
        kept: The newest commits without a gap, where that is known.
        are_read: Whether all that names their files could be read.
    """

    oldest_ms: int | None
    newest_ms: int | None
    has_expired: bool
    log_ms: int
    uuids: frozenset[str]
    kept: KeptCommits | None = None
    are_read: bool = True

    @classmethod
    def of(cls, metadata: TableMetadata, are_read: bool = True) -> CommitTimes:
        """Return those of a table.

        Args:
            metadata: The table's.
            are_read: Whether its manifest lists and manifests could be read.
        """
        dated = sorted((s for s in metadata.snapshots if s.timestamp_ms is not None), key=lambda s: s.timestamp_ms or 0)
        lists = (LIST_UUID.search(f"/{base_name(snapshot.manifest_list or '')}") for snapshot in metadata.snapshots)
        log = [entry.timestamp_ms for entry in metadata.metadata_log if entry.timestamp_ms is not None]
        return cls(
            dated[0].timestamp_ms if dated else None,
            dated[-1].timestamp_ms if dated else None,
            bool(dated) and (dated[0].parent_snapshot_id is not None or (dated[0].sequence_number or 0) > 1),
            min([*log, metadata.last_updated_ms or 0]),
            frozenset(match[1] for match in lists if match),
            kept_commits(metadata),
            are_read,
        )

    def origins(self, names: pa.ChunkedArray, kinds: pa.Array, written_ms: npt.NDArray[np.int64]) -> pa.DictionaryArray:
        """Return where files probably come from.

        Args:
            names: Their paths below the table's folder.
            kinds: What they are (stored_files.UNNAMED).
            written_ms: When they were written, in ms since 1970; negative where that is unknown.

        Returns:
            An Origin for each.
        """
        origins: list[Origin] = list(ORIGINS)
        code = np.full(len(written_ms), origins.index("between"))
        if self.oldest_ms is None or self.newest_ms is None:
            code[:] = origins.index("first")
        else:
            code[written_ms <= self.oldest_ms] = origins.index("oldest" if self.has_expired else "first")
            if self.kept is not None:
                since = max(self.oldest_ms, self.kept.since_ms or 0)
                code[written_ms > since] = origins.index("refused")
            if not self.are_read:
                code[written_ms > self.oldest_ms] = origins.index("unread")
            code[written_ms > self.newest_ms] = origins.index("last")
        is_old = pc.starts_with(kinds, "metadata.json").to_numpy(zero_copy_only=False) & (written_ms <= self.log_ms)
        code[is_old] = origins.index("log")
        code[written_ms < 0] = origins.index("unknown")
        uuids = pc.struct_field(pc.extract_regex(names, OF_COMMIT), "uuid")
        is_retry = pc.is_in(uuids, pa.array(sorted(self.uuids), uuids.type)).to_numpy()
        code[is_retry] = origins.index("retry")
        return pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), pa.array(origins))
