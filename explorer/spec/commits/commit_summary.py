"""What one commit made of its parent's manifests, in a sentence, from the two manifest lists.

spec.snapshots.diff says it exactly, by the entries of all manifests on both sides; here none is read that is not given.
A list tells how many entries of each status a manifest has, and rewriting keeps a manifest's content and spec: a
manifest with EXISTING or DELETED entries came of those with its content and spec that are gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.entries.entries import DELETED
from explorer.spec.snapshots.diff import only
from explorer.spec.text.names import file_label, manifest_names, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count

NAMED = 3
"""So many manifests or files are named; of more their number is told."""
FILES = ("data file", "delete file")


@dataclass(frozen=True)
class RewrittenManifests:
    """Manifests of the parent that are gone, those that came of them, and what files these say were removed: their
    names where they are few and known."""

    sources: tuple[str, ...]
    into: tuple[str, ...]
    added: str
    removed: str


@dataclass(frozen=True)
class Step:
    """What a snapshot made of its parent's manifests, which go by their names. `added` has with each what is in it.
    `dropped` are manifests that held only DELETED entries, `left` others that nothing came of, `taken` those that an
    unrelated snapshot wrote. Of an expired parent it is not known what became (`orphaned`)."""

    snapshot: str
    added: tuple[tuple[str, str], ...] = ()
    rewritten: tuple[RewrittenManifests, ...] = ()
    dropped: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    orphaned: bool = False

    @property
    def words(self) -> str:
        """The sentence."""
        parts = [_rewrite_words(part) for part in self.rewritten]
        if self.added:
            parts.insert(0 if not any(p.removed for p in self.rewritten) else len(parts), _addition_words(self.added))
        if self.dropped:
            parts.append(f"dropped {_names(self.dropped)}, which held only DELETED entries")
        if self.left:
            parts.append(f"no longer lists {_names(self.left)}")
        if self.taken:
            parts.append(f"lists {_names(self.taken)}, which another snapshot wrote")
        changes = "; ".join(parts) or "changed no manifest"
        return f"{self.snapshot} {changes}" + (" (its parent has expired)" if self.orphaned else "")


def with_few_removals(manifests: Iterable[ManifestFile]) -> list[ManifestFile]:
    """Those of a snapshot's new manifests whose entries say which files it removed, where these are few."""
    return [m for m in manifests if 0 < (m.deleted_files_count or 0) <= NAMED]


def step(
    metadata: TableMetadata,
    snapshot: Snapshot,
    before: Sequence[ManifestFile],
    here: Sequence[ManifestFile],
    entries: Mapping[str, pa.Table],
) -> Step:
    """A snapshot against its parent, by their manifest lists. `entries` has the stored entries of some manifests."""
    ordinals, own = snapshot_ordinals(metadata), snapshot.snapshot_id
    name, parent = snapshot_name(own, ordinals), snapshot.parent_snapshot_id
    orphaned = parent is not None and metadata.snapshot(parent) is None
    gone, new = only(before, here), only(here, before)
    own_manifests = [m for m in new if m.added_snapshot_id == own]
    taken = [] if orphaned else [m for m in new if m.added_snapshot_id != own]
    fresh = [m for m in own_manifests if m.existing_files_count == 0 == m.deleted_files_count]  # None: not known
    groups: dict[tuple[int, int], tuple[list[ManifestFile], list[ManifestFile]]] = {}
    dead = [m for m in gone if m.added_files_count == 0 == m.existing_files_count]
    for side, manifests in enumerate(
        ([m for m in gone if m not in dead], [m for m in own_manifests if m not in fresh])
    ):
        for manifest in manifests:
            groups.setdefault((manifest.content, manifest.partition_spec_id), ([], []))[side].append(manifest)

    every = {m.manifest_path: m.added_snapshot_id for m in (*before, *here)}
    name_of = manifest_names(every.items(), ordinals)

    def names(manifests: Iterable[ManifestFile]) -> tuple[str, ...]:
        return tuple(name_of[m.manifest_path] for m in manifests)

    rewritten = [
        RewrittenManifests(names(sources), names(into), _count_words(into, "ADDED"), _removal_words(into, entries))
        for sources, into in groups.values()
        if into
    ]
    left = [m for sources, into in groups.values() if not into for m in sources]
    return Step(
        name, tuple((name_of[m.manifest_path], _holds(m)) for m in fresh), tuple(rewritten), names(dead), names(left),
        names(taken), orphaned,
    )  # fmt: skip


def _holds(manifest: ManifestFile) -> str:
    return count(manifest.added_files_count, FILES[manifest.content]) if manifest.added_files_count is not None else ""


def _count_words(into: Sequence[ManifestFile], status: str) -> str:
    """How many files of a status they have, as their list tells."""
    numbers = [m.added_files_count if status == "ADDED" else m.deleted_files_count for m in into]
    total = sum(n or 0 for n in numbers)
    return f"{count(total, FILES[into[0].content])} {status}" if total else ""


def _removal_words(into: Sequence[ManifestFile], entries: Mapping[str, pa.Table]) -> str:
    total = sum(m.deleted_files_count or 0 for m in into)
    if not 0 < total <= NAMED or any(m.manifest_path not in entries for m in into if m.deleted_files_count):
        return _count_words(into, "DELETED")
    paths: list[str] = []
    for manifest in into:
        if manifest.deleted_files_count:
            table = entries[manifest.manifest_path]
            paths += table.filter(pc.equal(table["status"], DELETED))["file_path"].to_pylist()
    return f"{_join_with_and([file_label(path) for path in paths[:NAMED]])} DELETED"


def _rewrite_words(part: RewrittenManifests) -> str:
    merged = len(part.sources) > 1 and len(part.into) == 1
    files = ", ".join(text for text in (part.removed, part.added) if text)
    head = f"{'merged' if merged else 'rewrote'} {_names(part.sources)} as {_names(part.into)}"
    return (head if part.sources else f"wrote {_names(part.into)}") + (f": {files}" if files else "")


def _addition_words(added: Sequence[tuple[str, str]]) -> str:
    held = ", ".join(dict.fromkeys(text for _, text in added if text))
    same = len({text for _, text in added}) == 1
    each = " each" if len(added) > 1 and same else ""
    if same or len(added) > NAMED:
        return f"added {_names([name for name, _ in added])}" + (f" with {held}{each}" if held and same else "")
    return "added " + _join_with_and([f"{name} with {text}" if text else name for name, text in added])


def _names(names: Sequence[str]) -> str:
    return _join_with_and(names) if len(names) <= NAMED else f"{len(names):,} manifests"


def _join_with_and(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)
