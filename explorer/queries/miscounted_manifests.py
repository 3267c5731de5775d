"""Manifests whose live files are not as many as the manifest list counts, and what commits then lose."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot
from explorer.queries.metadata_tree import MetadataTree
from explorer.spec.doctor.remedy_cases import LOSES
from explorer.spec.entries.entries import DELETED
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.text.names import base_name, shorten
from explorer.spec.text.units import count

PATH_WIDTH = 200
"""Characters of a path in a sentence."""
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
    uncounted = live_file_counts(tree, [m for m in _listed(tree, snapshot) if m.counts_no_live])
    return {path: files for path, files in uncounted.items() if files}


def lost_words(uncounted: Mapping[str, int]) -> str:
    """Say what commits of files lose, as sentences.

    Args:
        uncounted: Manifests in which the list counts no live file, with how many they have; one at least.
    """
    path, files = next(iter(uncounted)), sum(uncounted.values())
    more = f" and {len(uncounted) - 1:,} more" if len(uncounted) > 1 else ""
    return (
        f"Let nobody commit: {LOSES} by Iceberg Java loses {count(files, 'live file')}. "
        f"The manifest list counts no live file in {base_name(path)}{more}, so such a commit leaves the manifest out. "
        "icedive doctor TABLE has the remedy."
    )


def kept_words(uncounted: Mapping[str, int]) -> str:
    """Say that a fast append loses nothing, though others do, as sentences.

    Args:
        uncounted: Manifests in which the list counts no live file, with how many they have; one at least.
    """
    return f"A fast append keeps each manifest, so nothing is lost by it. {lost_words(uncounted)}"


def explain_miscounted(tree: MetadataTree, paths: Collection[str], snapshot: Snapshot | None = None) -> str:
    """Return why rewrite_manifests fails on manifests whose live files are not as many as their list counts; empty
    where they are.

    Args:
        tree: A complete one, which raises UnreadableFile for what cannot be read.
        paths: Those of the snapshot that would be written anew.
        snapshot: The snapshot; None for the current one.
    """
    some = [m for m in _listed(tree, snapshot) if m.manifest_path in paths]
    live = live_file_counts(tree, some)
    counted = {m.manifest_path: (m.added_files_count or 0) + (m.existing_files_count or 0) for m in some}
    wrong = [path for path, number in live.items() if number != counted[path]]
    if not wrong or sum(live.values()) == sum(counted.values()):
        return ""
    path = shorten(wrong[0], PATH_WIDTH)
    return (
        f"Spark would fail: the manifest list counts {count(counted[wrong[0]], 'live file')} in {path}, and "
        f"{live[wrong[0]]:,} {'is' if live[wrong[0]] == 1 else 'are'} live in it ('Replaced and created manifests "
        "must have the same number of active files'). icedive doctor TABLE has the remedy."
    )


def _listed(tree: MetadataTree, snapshot: Snapshot | None) -> Sequence[ManifestFile]:
    return tree.manifests(tree.metadata.current_snapshot if snapshot is None else snapshot)


def _live(manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    """LIVE_FILE_COUNTS, of one manifest."""
    number = int(pc.not_equal(stored["status"], DELETED).to_numpy().sum())
    row = {"manifest_path": manifest.manifest_path, "files": number, "content": manifest.content}
    return pa.Table.from_pylist([row], schema=LIVE_FILE_COUNTS)
