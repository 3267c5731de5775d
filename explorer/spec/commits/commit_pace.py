"""How often others commit, and how long a try of a commit takes: what each try does anew (Iceberg Java's
SnapshotProducer, ManifestFilterManager and ManifestMergeManager)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.commits.commit_writers import ENOUGH, UNKNOWN, commit_writer
from explorer.spec.commits.operations import OperationTraits
from explorer.spec.maintenance.manifest_merges import append_bytes, next_append, rewrite_manifests
from explorer.spec.schemas.partition_names import refusal_of_entries
from explorer.spec.text.units import count, human_bytes, interval

REMOVES = ("newRewrite", "newOverwrite", "newDelete", "newReplacePartitions")
"""Methods whose commits look for the files that they remove."""
LONGEST_PACE_MS = 10 * 60_000
"""A pace is told up to so many ms: no try takes longer."""


@dataclass(frozen=True)
class CommitPace:
    """The commits that came after a base: how many, usually how many ms apart, and who made more than half of
    them; empty where nobody did, or that is not known."""

    commits: int
    usual_ms: int
    writer: str


def pace_of(later: Sequence[Snapshot]) -> CommitPace | None:
    """Return how often others commit; None where too few commits came after the base to tell, or so
    seldom that no try takes as long.

    Args:
        later: The snapshots since the base.
    """
    times = sorted(snapshot.timestamp_ms for snapshot in later if snapshot.timestamp_ms)
    if len(times) < ENOUGH:
        return None
    usual = int(median(after - before for before, after in pairwise(times)))
    if not 0 < usual <= LONGEST_PACE_MS:
        return None
    [(writer, commits)] = Counter(commit_writer(snapshot, "").writer for snapshot in later).most_common(1)
    is_told = writer != UNKNOWN and commits * 2 > len(later)
    return CommitPace(len(later), usual, writer if is_told else "")


def pace_words(pace: CommitPace) -> str:
    """Say what the pace of others means for a commit that has to come between two of them."""
    who = f", most of them by {pace.writer}" if pace.writer else ""
    every = interval(pace.usual_ms)
    return (
        f"Since its base others made {count(pace.commits, 'commit')}, usually one every {every}{who}. A try that takes "
        f"longer than {every} loses to the next of them, and begins anew. More tries and longer waits "
        "(commit.retry.*) do not make a try shorter: they help only a try that takes less."
    )


def try_words(
    kind: OperationTraits, metadata: TableMetadata, listed: Sequence[ManifestFile], metadata_bytes: int | None
) -> str:
    """Say what a try of a commit reads and writes here, and what makes it shorter.

    Args:
        kind: The operation.
        metadata: The table's.
        listed: The manifests of the current snapshot.
        metadata_bytes: The length of the metadata file; None where that is not known.
    """
    size = f" ({human_bytes(metadata_bytes)})" if metadata_bytes else ""
    live = [m for m in listed if not m.counts_no_live]
    data = [m for m in live if m.content == 0]
    does, shorter = [f"reads metadata.json{size} and the manifests of the commits since its base that it checks"], []
    if kind.api in REMOVES:
        does.append(
            f"looks for the files that it removes: the first try in up to {_manifests(data)}, a later one in new ones"
        )
    bins = next_append(listed, metadata.properties, metadata.default_spec_id or 0, append_bytes(listed))
    if merged := [m for group in bins if group.merged for m in group.manifests]:
        does.append(f"merges {_manifests(merged)} with its own, anew where a commit came between")
    does.append(f"writes a list of about {count(len(live) + 1, 'manifest')}, and metadata.json")
    if (kind.api in REMOVES or merged) and _has_fewer_after_rewrite(metadata, listed):
        shorter.append("merge manifests first (icedive maintain preview TABLE rewrite-manifests has the statement)")
    if kind.api == "newRewrite":
        shorter.append(
            "compact less at a time (a filter in where), or commit in parts: options => map("
            "'partial-progress.enabled', 'true') commits each part by itself, with fewer files to look for and tries "
            "of its own, and a part that fails leaves the others"
        )
    shorter.append("let the others commit less often, or pause them for that commit")
    return f"A try {'; '.join(does)}. To come first: {'; '.join(shorter)}."


def _has_fewer_after_rewrite(metadata: TableMetadata, listed: Sequence[ManifestFile]) -> bool:
    """Whether rewrite_manifests by its defaults would leave fewer manifests."""
    live = [m for m in listed if not m.is_only_deleted]
    try:
        plans = rewrite_manifests(live, metadata.properties, metadata.default_spec_id or 0)
    except ValueError:  # it would refuse
        return False
    rewritten = [plan for plan in plans if plan.rewritten]
    left = sum(plan.wanted for plan in rewritten)
    specs = {m.partition_spec_id for m in listed}
    return left < sum(len(plan.manifests) for plan in rewritten) and not refusal_of_entries(metadata, specs)


def _manifests(manifests: Sequence[ManifestFile]) -> str:
    size = sum(m.manifest_length or 0 for m in manifests)
    return f"{count(len(manifests), 'manifest')} ({human_bytes(size)})"
