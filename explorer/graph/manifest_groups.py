"""The manifests of a long manifest list in groups: by the snapshots that added them, or, where one snapshot added most,
by ranges of their first partition field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from explorer.graph.ids import node_id
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.text.names import snapshot_name
from explorer.spec.values.values import partition_bounds

GROUPS = 20
"""About so many groups are made."""
FEW = 3
"""As many manifests of one kind are drawn one by one."""

PartitionBounds: TypeAlias = Mapping[str, Sequence[tuple[str, Any, Any]]]
"""The bounds of the partition fields of each manifest, by its path (values.partition_bounds)."""


@dataclass(frozen=True)
class ManifestGroup:
    """Manifests that are drawn as one card. `label` tells it from others: their range of the partition field `by`, or
    the snapshots that added them. `ranges` are those of their other partition fields. A group of one is the manifest
    itself."""

    id: str
    label: str
    by: str
    manifests: tuple[ManifestFile, ...]
    ranges: tuple[tuple[str, str], ...] = ()


def manifest_groups(
    listed: Sequence[ManifestFile], metadata: TableMetadata, ordinals: dict[int, int]
) -> list[ManifestGroup]:
    """Group manifests: each is in one group. Those of data and of deletes are in groups of their own."""
    size = max(2, -(-len(listed) // GROUPS))
    adding = Counter(manifest.added_snapshot_id for manifest in listed)
    by_snapshot = 2 * max(adding.values(), default=0) <= len(listed)
    bounds = {
        manifest.manifest_path: partition_bounds(
            manifest.partitions, metadata.spec(manifest.partition_spec_id), metadata
        )
        for manifest in listed
    }
    groups = []
    for content in (0, 1):
        mine = [manifest for manifest in listed if bool(manifest.content) == bool(content)]
        if len(mine) <= FEW:
            groups += [_group((manifest,), "", "", bounds) for manifest in mine]
        elif by_snapshot:
            groups += _by_snapshot(mine, size, bounds, ordinals)
        else:
            for spec_id in dict.fromkeys(manifest.partition_spec_id for manifest in mine):
                of_spec = [manifest for manifest in mine if manifest.partition_spec_id == spec_id]
                groups += _by_range(of_spec, size, bounds, metadata)
    return groups


def _by_snapshot(
    manifests: Sequence[ManifestFile], size: int, bounds: PartitionBounds, ordinals: dict[int, int]
) -> list[ManifestGroup]:
    """Runs of neighbouring snapshots, the newest first."""
    newest = sorted(manifests, key=lambda m: -(m.sequence_number or ordinals.get(m.added_snapshot_id or 0, 0)))
    runs: list[list[ManifestFile]] = []
    for _, added in groupby(newest, key=lambda m: m.added_snapshot_id):
        some = list(added)
        if runs and len(runs[-1]) + len(some) <= size:
            runs[-1] += some
        else:
            runs.append(some)
    groups = []
    for run in runs:
        first, last = (snapshot_name(run[at].added_snapshot_id, ordinals) for at in (-1, 0))
        label = first if first == last else f"{first} … {last}"
        groups.append(_group(tuple(run), label, "", bounds))
    return groups


def _by_range(
    manifests: Sequence[ManifestFile], size: int, bounds: PartitionBounds, metadata: TableMetadata
) -> list[ManifestGroup]:
    """Runs of manifests in the order of their first partition field; of those without one, in their own order."""
    spec = metadata.spec(manifests[0].partition_spec_id)
    field = spec.fields[0].name if spec and spec.fields else ""
    ordered = sorted(manifests, key=lambda m: _order(_first_field(m, bounds)[0])) if field else list(manifests)
    parts = -(-len(ordered) // size)
    groups, at = [], 0
    for part in range(parts):
        run = tuple(ordered[len(ordered) * part // parts : len(ordered) * (part + 1) // parts])
        label = _range([_first_field(manifest, bounds) for manifest in run]) if field else ""
        label = label or f"manifests {at + 1:,} to {at + len(run):,}"
        groups.append(_group(run, label, field, bounds))
        at += len(run)
    return groups


def _first_field(manifest: ManifestFile, bounds: PartitionBounds) -> tuple[Any, Any]:
    """The least and the greatest value of a manifest's first partition field."""
    return bounds[manifest.manifest_path][0][1:] if bounds[manifest.manifest_path] else (None, None)


def _group(manifests: tuple[ManifestFile, ...], label: str, by: str, bounds: PartitionBounds) -> ManifestGroup:
    key = "|".join(manifest.manifest_path for manifest in manifests)
    fields: dict[str, list[tuple[Any, Any]]] = {}
    if len({manifest.partition_spec_id for manifest in manifests}) == 1:
        for manifest in manifests:
            for name, first, last in bounds[manifest.manifest_path]:
                fields.setdefault(name, []).append((first, last))
    ranges = tuple((name, told) for name, values in fields.items() if name != by and (told := _range(values)))
    return ManifestGroup(node_id("manifest_group", key), label, by, manifests, ranges)


def _range(bounds: Sequence[tuple[Any, Any]]) -> str:
    """From the least to the greatest value of a partition field; empty where none is told."""
    first = min((low for low, _ in bounds if low is not None), key=_order, default=None)
    last = max((high for _, high in bounds if high is not None), key=_order, default=None)
    if first is None or last is None:
        return ""
    return f"{first}" if first == last else f"{first} … {last}"


def _order(value: Any) -> tuple[int, float, str]:
    """What sorts values of one field: numbers by their size, others as text; what is not told is last."""
    if value is None:
        return 2, 0, ""
    return (0, float(value), "") if isinstance(value, int | float) else (1, 0, str(value))
