"""Bytes of the manifests that a filter leaves, and the readers that read all manifests whatever the filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.scan.plan import Plan
from explorer.spec.text.units import count, human_bytes

READ_ALL = (
    "DuckDB 1.5.5 (tried; its change of July 2026 ends it, duckdb/duckdb-iceberg#995) and ClickHouse before 26.9 "
    "(ClickHouse/ClickHouse#104567)"
)
"""Readers that read all manifests whatever the filter."""
MANY_MANIFESTS = 10
"""So many data manifests are worth a word about readers that read all."""


def manifest_bytes(manifests: Iterable[ManifestFile]) -> int:
    """Bytes of manifests, by the manifest list."""
    return sum(manifest.manifest_length or 0 for manifest in manifests)


def read_manifest_bytes(plan: Plan) -> tuple[int, int]:
    """Bytes of the data manifests that a plan reads, and of all data manifests."""
    read = manifest_bytes(v.manifest for v in plan.manifests if v.keeps)
    return read, manifest_bytes(v.manifest for v in plan.manifests)


def manifest_words(plan: Plan) -> str:
    """Say how much of the data manifests a plan reads, and, where they are many, who reads all.

    Args:
        plan: The plan.

    Returns:
        A sentence or two; empty where the manifest list skips none.
    """
    opened = sum(v.keeps for v in plan.manifests)
    if opened == len(plan.manifests):
        return ""
    read, of_all = read_manifest_bytes(plan)
    words = (
        f"{opened:,} of {count(len(plan.manifests), 'data manifest')} {'is' if opened == 1 else 'are'} read, "
        f"{human_bytes(read)} of {human_bytes(of_all)}"
    )
    if len(plan.manifests) < MANY_MANIFESTS:
        return words
    return f"{words}. Some readers read all of them whatever the filter: {READ_ALL}"


def read_all_note(metadata: TableMetadata, listed: Sequence[ManifestFile]) -> str:
    """Say of a partitioned table with many data manifests which readers read all of them; empty of any other.

    Args:
        metadata: The table's.
        listed: The current snapshot's manifests.
    """
    data = [manifest for manifest in listed if manifest.content == 0]
    specs = {spec.spec_id for spec in metadata.partition_specs if any(f.transform != "void" for f in spec.fields)}
    if len(data) < MANY_MANIFESTS or not any(manifest.partition_spec_id in specs for manifest in data):
        return ""
    return (
        "A filter on partitions lets a reader leave out manifests, by the manifest list. Some readers read all "
        f"{len(data):,} data manifests ({human_bytes(manifest_bytes(data))}) whatever the filter: {READ_ALL}."
    )
