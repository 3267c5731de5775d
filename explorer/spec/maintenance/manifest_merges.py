"""Which manifests the next append would merge, and which rewrite_manifests would write anew (Iceberg:
ManifestMergeManager, RewriteManifestsSparkAction)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.model.manifest import ManifestFile
from explorer.spec.text.units import count, human_bytes, whole

TARGET, MIN_COUNT = "commit.manifest.target-size-bytes", "commit.manifest.min-count-to-merge"
ENABLED = "commit.manifest-merge.enabled"
DEFAULT_TARGET, DEFAULT_COUNT = 8 << 20, 100
NEW_BYTES = 8 << 10
"""Bytes of the manifest of an append, where the table has none to go by."""


@dataclass(frozen=True)
class Bin:
    """Manifests of one kind and spec, in the list's order, that lie together: whether they become one, and why.
    `with_new`: the manifest of the append itself comes before them."""

    content: int
    spec_id: int
    manifests: tuple[ManifestFile, ...]
    merged: bool
    reason: str
    with_new: bool = False

    @property
    def bytes(self) -> int:
        """Of all of them."""
        return sum(_length(m) for m in self.manifests)


def target_bytes(properties: Mapping[str, str]) -> int:
    """The size that manifests should have."""
    return whole(properties.get(TARGET)) or DEFAULT_TARGET


def next_append(
    listed: Sequence[ManifestFile], properties: Mapping[str, str], spec_id: int, new_bytes: int
) -> list[Bin]:
    """What an append (MergeAppend) whose manifest takes `new_bytes` would do with a snapshot's manifests. Left out are
    those that it drops: without live files. Bins are filled from the end of the list, so that the first is the one that
    has room."""
    target = target_bytes(properties)
    least = whole(properties.get(MIN_COUNT))
    least = DEFAULT_COUNT if least is None else least
    enabled = properties.get(ENABLED, "true").lower() == "true"
    bins = []
    for content in (0, 1):
        candidates: list[ManifestFile | None] = [m for m in listed if m.content == content and has_live(m)]
        candidates = [None, *candidates] if content == 0 else candidates
        first = candidates[0] if candidates else None
        by_spec: dict[int, list[ManifestFile | None]] = {}
        for m in candidates:
            by_spec.setdefault(spec_id if m is None else m.partition_spec_id, []).append(m)
        for spec, own_manifests in sorted(by_spec.items(), reverse=True):
            packed = _pack(own_manifests, target, new_bytes) if enabled else [[m] for m in own_manifests]
            for group in packed:
                merged, why = _decide_merge(len(group), len(packed), first in group, least, target, enabled)
                manifests = tuple(m for m in group if m is not None)
                bins.append(Bin(content, spec, manifests, merged, why, None in group))
    return bins


def _decide_merge(number: int, bins: int, first: bool, least: int, target: int, enabled: bool) -> tuple[bool, str]:
    """Whether the manifests of a bin, so many, become one; `first`: the first of all is among them."""
    if not enabled:
        return False, f"{ENABLED} is false"
    if number == 1:
        alone = "with its neighbour it would be larger than" if bins > 1 else "it is the only one of its spec, of up to"
        return False, f"{alone} {human_bytes(target)} ({TARGET})"
    if first and number < least:
        return False, f"{count(number, 'manifest')} with the newest one, and {MIN_COUNT} is {least}"
    rule = f"{MIN_COUNT} of {least} is reached" if first else f"{MIN_COUNT} matters only beside the newest one"
    return True, f"{count(number, 'manifest')} fit into {human_bytes(target)}; {rule}"


def _pack(manifests: Sequence[ManifestFile | None], target: int, new_bytes: int) -> list[list[ManifestFile | None]]:
    """Bins of at most `target` bytes, filled from the end (Iceberg: ListPacker.packEnd with a lookback of 1)."""
    bins: list[list[ManifestFile | None]] = []
    size = 0
    for manifest in reversed(manifests):
        length = new_bytes if manifest is None else _length(manifest)
        if not bins or size + length > target:
            bins.append([])
            size = 0
        bins[-1].append(manifest)
        size += length
    return [group[::-1] for group in reversed(bins)]


def append_bytes(listed: Sequence[ManifestFile]) -> int:
    """The likely length of the next append's manifest: that of the newest one whose files are all ADDED."""
    fresh = [m for m in listed if m.content == 0 and m.added_files_count and not m.existing_files_count]
    newest = max(fresh, key=lambda m: m.sequence_number, default=None)
    return _length(newest) if newest and newest.manifest_length else NEW_BYTES


@dataclass(frozen=True)
class ManifestRewrite:
    """What rewrite_manifests would do with manifests of one kind: those of `manifests` become about `wanted`; or none
    is touched, for the reason that is told."""

    content: int
    manifests: tuple[ManifestFile, ...]
    wanted: int
    rewritten: bool
    reason: str


def rewrite_manifests(
    listed: Sequence[ManifestFile], properties: Mapping[str, str], spec_id: int
) -> list[ManifestRewrite]:
    """What becomes of data manifests, and of delete manifests. Raises ValueError, with Iceberg's reason, for manifests
    that do not count their files."""
    target = target_bytes(properties)
    plans = []
    for content in (0, 1):
        own_manifests = tuple(m for m in listed if m.content == content and m.partition_spec_id == spec_id)
        for manifest in own_manifests:
            counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
            if None in counts:
                raise ValueError(f"the manifest list does not count the files of {manifest.manifest_path}")
        size = sum(map(_length, own_manifests))
        wanted = -(-size // target)
        rewritten = bool(own_manifests) and not (wanted == 1 and len(own_manifests) == 1)
        kind = ("data", "delete")[content]
        if not own_manifests:
            why = f"there is no {kind} manifest of partition spec {spec_id}"
        elif not rewritten:
            why = f"the only {kind} manifest of partition spec {spec_id} is not above {human_bytes(target)} ({TARGET})"
        else:
            why = f"{human_bytes(size)} at {human_bytes(target)} each ({TARGET})"
        plans.append(ManifestRewrite(content, own_manifests, wanted, rewritten, why))
    return plans


def has_live(manifest: ManifestFile) -> bool:
    """Whether it has live files, as far as its counts tell."""
    return not manifest.counts_no_live


def _length(manifest: ManifestFile) -> int:
    return manifest.manifest_length or 0
