"""Of rule 63: paths in object stores that have an empty segment (`a//b`)."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.spec.doctor.findings import Finding, finding
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.remedy_cases import EMPTY_SEGMENT, SLASH_AT_END
from explorer.spec.text.path_segments import has_empty_segment, is_of_key_store
from explorer.spec.text.units import count

SHOWN = 3


def segment_rules(lists: Lists) -> Iterator[Finding]:
    """Yield one finding about all paths of a table that have an empty segment.

    Args:
        lists: The manifest lists, and what their manifests hold.

    Returns:
        The finding; none of a table in another place than S3 and GCS.
    """
    meta = lists.meta
    if not is_of_key_store(meta.stored_location):
        return
    manifest_lists = [s for s in lists.snapshots if has_empty_segment(s.manifest_list or "")]
    manifests = [path for path in lists.held if has_empty_segment(path)]
    entries = {path: number for path, held in lists.held.items() if (number := held.one("empty_segments"))}
    ends = meta.stored_location.endswith("/")
    mask = 0
    for path in (*manifests, *entries):
        mask |= lists.masks[path]
    for snapshot in manifest_lists:
        mask |= lists.bit(snapshot.snapshot_id)
    number, of_lists, of_manifests = sum(entries.values()), len(manifest_lists), len(manifests)
    kinds = {"data or delete file": number, "manifest": of_manifests, "manifest list": of_lists}
    parts = [count(some, kind) for kind, some in kinds.items() if some]
    examples = (
        *(lists.held[path].one("empty_segment_path") for path in list(entries)[:SHOWN]), *manifests[:SHOWN],
        *(s.manifest_list or "" for s in manifest_lists[:SHOWN]),
    )  # fmt: skip
    where = "/location" if ends or has_empty_segment(meta.stored_location) else ""
    if parts:
        cause = "; the table's location ends in a slash" if ends else ""
        yield finding(
            "readers-differ", f"{', '.join(parts)} with an empty segment in the path: {EMPTY_SEGMENT}{cause}",
            meta.metadata_location, where, found=meta.stored_location if ends else None,
            count=sum(kinds.values()), examples=examples[:SHOWN], snapshots=lists.listing(mask),
            node=("metadata", meta.metadata_location),
        )  # fmt: skip
    elif ends:
        yield finding(
            "readers-differ", SLASH_AT_END, meta.metadata_location, where, found=meta.stored_location, severity="info",
            node=("metadata", meta.metadata_location),
        )  # fmt: skip
