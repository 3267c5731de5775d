"""Manifests whose live files are not as many as the manifest list counts, and what commits then lose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot
from explorer.queries.metadata_tree import MetadataTree
from explorer.spec.entries.entries import DELETED
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.text.names import base_name
from explorer.spec.text.units import count

LIVE_FILE_COUNTS = pa.schema([("manifest_path", pa.string()), ("files", pa.int64()), ("content", pa.int32())])
"""A row a manifest: how many live files it has, and of what content the list says that they are."""


def live_file_counts(tree: MetadataTree, manifests: Sequence[ManifestFile]) -> dict[str, int]:
    """Return how many live files manifests have, by their paths.

    Args:
        tree: The table's.
        manifests: The manifests; each is read.
    """
    rows = tree.read(Parts(list(manifests), False, _live, LIVE_FILE_COUNTS)).read() if manifests else ()
    return {row["manifest_path"]: row["files"] for part in rows for row in part.to_pylist()}


def uncounted_manifests(tree: MetadataTree, snapshot: Snapshot | None = None) -> dict[str, int]:
    """Return the manifests in which the list of a snapshot counts no live file though they have some, with how many.

    Args:
        tree: The table's.
        snapshot: The snapshot; None for the current one.
    """
    listed = tree.manifests(tree.metadata.current_snapshot if snapshot is None else snapshot)
    uncounted = live_file_counts(tree, [m for m in listed if m.counts_no_live])
    return {path: files for path, files in uncounted.items() if files}


def lost_words(uncounted: Mapping[str, int]) -> str:
    """Say what the next commit loses, as sentences.

    Args:
        uncounted: Manifests in which the list counts no live file, with how many they have; one at least.
    """
    path, files = next(iter(uncounted)), sum(uncounted.values())
    more = f" and {len(uncounted) - 1:,} more" if len(uncounted) > 1 else ""
    return (
        f"Let nobody commit: the next commit of Iceberg Java loses {count(files, 'live file')}, whatever it is about. "
        f"The manifest list counts no live file in {base_name(path)}{more}, so the commit leaves the manifest out. "
        "icedive doctor TABLE has the remedy."
    )


def _live(manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """LIVE_FILE_COUNTS, of one manifest."""
    number = int(pc.not_equal(stored["status"], DELETED).to_numpy().sum())
    row = {"manifest_path": manifest.manifest_path, "files": number, "content": manifest.content}
    return pa.Table.from_pylist([row], schema=LIVE_FILE_COUNTS)
