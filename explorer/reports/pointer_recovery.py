"""Find the way back for a table whose catalog points to a metadata file that is gone: the newest other metadata file of
its folder whose manifest lists and manifests are there. Data files are not looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from explorer.errors import MISSING, ExplorerError, UnreadableFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.progress import steps
from explorer.queries.unnamed_commits import read_unnamed_list
from explorer.spec.catalogs.entries import CatalogRecord
from explorer.spec.catalogs.pointer_statements import Target, pointer_statement
from explorer.spec.catalogs.recovery import LostSnapshot, Recovery, SkippedFile, WayBack
from explorer.spec.commits.unnamed_commits import LIST_NAME
from explorer.spec.text.identifiers import split_identifier
from explorer.spec.text.names import base_name
from explorer.spec.text.units import count, parse_int64, whole
from explorer.storage.allowed_roots import metadata_folder
from explorer.storage.catalogs import catalogs
from explorer.storage.folder_state import METADATA_NAME, metadata_version
from explorer.storage.locate import Location
from explorer.storage.paths import canonical
from explorer.storage.reader import TableReader, read_metadata
from explorer.storage.storage import Storage

TRIED = 20
"""Metadata files that are looked at, from the newest on."""
HEADS, MANIFESTS, LISTS = 50, 10_000, 50
"""Branches and tags, and manifests, of which a file is whole if they are there; and lists that are looked at for lost
snapshots."""
_SUMMARY = ("added-data-files", "added-records", "deleted-data-files", "deleted-records")


def recovery(place: Location, stored: CatalogRecord, names: Sequence[str], roots: Sequence[str] = ()) -> Recovery:
    """Find the way back for a table whose metadata file is gone.

    Args:
        place: The table, and the file.
        stored: What its catalog stores of it.
        names: The names of the files in the folder of the file.
        roots: Folders that may be read beside the table's own.

    Returns:
        The way back, if there is one.
    """
    search = _Search(place, stored, names, roots)
    way = search.way_back()
    if way is None:
        return Recovery(None, search.skipped, search.unread, advice=_no_way(search))
    gone = stored.row.get("metadata_location") or stored.row.get("metadata-location") or ""
    wanted = (
        way.metadata_location if gone == place.metadata_location else ""
    )  # else it is elsewhere than the entry says
    names_of = split_identifier(place.identifier or "")
    own, is_configured = place.properties or {}, catalogs.properties(place.catalog or "") == place.properties
    target = Target(place.catalog or "", names_of, own, gone, wanted, is_configured)
    language, statement, advice = pointer_statement(stored, target)
    return Recovery(way, search.skipped, search.unread, statement, language if statement else "", advice)


def _no_way(search: _Search) -> str:
    if not search.files:
        return (
            "No metadata file is left in its folder: restore one from a backup of the store, or an older version of it."
        )
    return "No metadata file that was looked at is a way back: restore one from a backup of the store."


class _Search:
    """Looks through the metadata files of a folder, from the highest version on."""

    def __init__(self, place: Location, stored: CatalogRecord, names: Sequence[str], roots: Sequence[str]) -> None:
        self.place, self.roots, self.names = place, roots, frozenset(names)
        self.folder = metadata_folder(place.metadata_location)
        self.gone = base_name(place.metadata_location)
        self.known = dict(self._named_by(stored))
        self.files = sorted(filter(METADATA_NAME.match, self.names), key=self._rank, reverse=True)
        self.unread = max(len(self.files) - TRIED, 0)
        self.skipped: list[SkippedFile] = []
        self.newer: list[TableMetadata] = []
        self.uuid = stored.row.get("uuid") or stored.row.get("metadata.table-uuid") or ""

    def _named_by(self, stored: CatalogRecord) -> Iterator[tuple[str, str]]:
        """Names of metadata files that the catalog itself names, and where."""
        for version in reversed(stored.versions):
            if version.metadata_location and metadata_folder(version.metadata_location) == self.folder:
                yield base_name(version.metadata_location), f"version {version.version[:20]} of the entry names it"
        previous = stored.row.get("previous_metadata_location")
        if previous and metadata_folder(previous) == self.folder:
            yield base_name(previous), "the entry names it as previous_metadata_location"

    def _rank(self, name: str) -> tuple[int, bool, str]:
        version = metadata_version(name)
        return -1 if version is None else version, name in self.known, name

    def way_back(self) -> WayBack | None:
        """The newest metadata file that is whole; others that were looked at are in `skipped` then."""
        self.uuid = self.uuid or self._uuid_of_known()
        for name in steps(self.files[:TRIED], "metadata files"):
            path = f"{self.folder}/{name}"
            try:
                reader = TableReader(replace(self.place, metadata_location=path, problems=(), beside=""), self.roots)
            except ExplorerError as error:
                self._skip(path, str(getattr(error, "cause", error)))
                continue
            is_later = self.gone in {base_name(entry.metadata_file) for entry in reader.metadata.metadata_log}
            if reason := self._stranger(name, reader.metadata, is_later):
                self._skip(path, reason)
                continue
            if reason := self._fault(reader):
                self._skip(path, reason)
                self.newer.append(reader.metadata)
                continue
            return self._way(reader, name, is_later)
        return None

    def _uuid_of_known(self) -> str:
        """The table UUID of a metadata file that the catalog names."""
        storage = Storage([self.folder], self.place.properties, self.place.given, self.place.renew)
        for name in list(self.known)[:1]:
            with contextlib.suppress(ExplorerError):
                return read_metadata(storage, f"{self.folder}/{name}")[0].table_uuid or ""
        return ""

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(SkippedFile(path, reason))

    def _stranger(self, name: str, metadata: TableMetadata, is_later: bool) -> str:
        """Why a file is not of the same history."""
        own, gone = metadata_version(name), metadata_version(self.gone)
        if self.uuid and metadata.table_uuid != self.uuid:
            return "it is of another table"
        if is_later or name in self.known:
            return ""
        if own is not None and gone is not None and own >= gone:
            return "it is no earlier version than the file that is gone, and its log does not name that"
        twins = [other for other in self.files if other in self.known and metadata_version(other) == own]
        return f"{twins[0]} is the file of this version that the catalog names" if own is not None and twins else ""

    def _fault(self, reader: TableReader) -> str:
        """What of the metadata below a file is not there."""
        metadata, listed = reader.metadata, 0
        for snapshot in steps(_heads(metadata), "snapshots"):
            if snapshot.manifest_list and (cause := self._missing(reader, snapshot.manifest_list)):
                return f"the manifest list of snapshot {snapshot.snapshot_id}: {cause}"
            read = reader.manifests(snapshot)
            if errors := [problem for problem in read.problems if problem.severity == "error"]:
                return f"{base_name(errors[0].file)}: {errors[0].cause}"
            for manifest in read.value:
                listed += 1
                if listed > MANIFESTS:
                    return ""
                if cause := self._missing(reader, manifest.manifest_path):
                    return (
                        f"the manifest {base_name(manifest.manifest_path)} of snapshot {snapshot.snapshot_id}: {cause}"
                    )
        return ""

    def _missing(self, reader: TableReader, path: str) -> str:
        """Why a file is not there; the list of the folder says it, not this machine's cache."""
        try:
            resolved = reader.storage.resolve(path)
            if canonical(metadata_folder(resolved)) == canonical(self.folder):
                return "" if base_name(path) in self.names else MISSING
            reader.storage.size(path)
        except ExplorerError as error:
            return str(getattr(error, "cause", error))
        return ""

    def _way(self, reader: TableReader, name: str, is_later: bool) -> WayBack:
        metadata = reader.metadata
        current = metadata.current_snapshot
        lost, unread = ([], 0) if is_later else self._lost(reader)
        return WayBack(
            metadata.metadata_location, self._evidence(name, is_later), metadata.last_updated_ms,
            current.snapshot_id if current else None,
            whole(current.summary.get("total-records")) if current else None, is_later, lost, unread,
        )  # fmt: skip

    def _evidence(self, name: str, is_later: bool) -> str:
        if is_later:
            return "its log names the file that is gone: it is of a later commit"
        if name in self.known:
            return self.known[name]
        own, gone = metadata_version(name), metadata_version(self.gone)
        twins = [other for other in self.files if other != name and metadata_version(other) == own is not None]
        if twins:
            return f"{count(len(twins), 'other file')} of its version is there: nothing says which was committed"
        if own is None or gone is None:
            return "nothing but its folder"
        return f"its version is {own}, that of the file that is gone {gone}"

    def _lost(self, reader: TableReader) -> tuple[list[LostSnapshot], int]:
        """The snapshots after those of a metadata file: of newer metadata files, by their summaries, and those whose
        manifest lists are in the folder."""
        metadata = reader.metadata
        ids = {match[1]: name for name in sorted(self.names) if (match := LIST_NAME.fullmatch(name))}
        strange = {own: name for text, name in ids.items() if (own := parse_int64(text)) and not metadata.snapshot(own)}
        parents: dict[int, int | None] = {}
        order: dict[int, int] = {}
        found: dict[int, LostSnapshot] = {}
        for own, name in steps(list(strange.items())[:LISTS], "manifest lists"):
            path = f"{self.folder}/{name}"
            try:
                listed = read_unnamed_list(reader.storage, path, own)
            except UnreadableFile:
                continue
            parents[own], order[own] = listed.parent_id, listed.sequence_number or 0
            counts = (f"{kind}_{what}_count" for kind in ("added", "deleted") for what in ("files", "rows"))
            found[own] = LostSnapshot(own, *map(listed.total, counts))
        for snapshot in (snapshot for newer in self.newer for snapshot in newer.snapshots):
            own = snapshot.snapshot_id
            if own not in found and metadata.snapshot(own) is None:
                parents[own], order[own] = snapshot.parent_snapshot_id, snapshot.sequence_number or 0
                found[own] = LostSnapshot(own, *(whole(snapshot.summary.get(name)) for name in _SUMMARY))
        known = metadata.last_sequence_number or 0
        after = [own for own in found if order[own] > known or _leads_to(own, parents, metadata)]
        after.sort(key=lambda own: (order[own], own))
        return [found[own] for own in after], max(len(strange) - LISTS, 0)


def _leads_to(own: int, parents: dict[int, int | None], metadata: TableMetadata) -> bool:
    """Whether the parents of a snapshot that is lost lead to the current one of a metadata file."""
    seen: set[int] = set()
    at: int | None = own
    while at is not None and at not in seen:
        seen.add(at)
        at = parents.get(at)
        if at is not None and at == metadata.current_snapshot_id:
            return True
    return False


def _heads(metadata: TableMetadata) -> list[Snapshot]:
    """The current snapshot, and those of branches and tags."""
    ids = dict.fromkeys([metadata.current_snapshot_id, *(ref.snapshot_id for ref in metadata.refs)])
    return [snapshot for own in list(ids)[:HEADS] if own is not None and (snapshot := metadata.snapshot(own))]


def _sum(counts: Sequence[int | None]) -> int | None:
    return None if None in counts else sum(number or 0 for number in counts)
