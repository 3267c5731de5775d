"""Commits that a table does not have, though their manifest lists lie in its folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.text.names import base_name, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count

LIST_NAME = re.compile(r"snap-(-?\d{1,19})-(\d{1,9})-[^/]*\.avro", re.ASCII)
"""How the libraries name manifest lists: by the snapshot's id, and the attempt."""
PYICEBERG = "0"
"""The attempt in the names that pyiceberg gives; Iceberg Java counts from 1."""
FOLDER_NAME = re.compile(r"v\d+\.", re.ASCII)
CommitPlace = Literal["beside", "after"]


def is_of_pyiceberg(path: str) -> bool:
    """Return whether pyiceberg wrote a manifest list, by its name."""
    match = LIST_NAME.fullmatch(base_name(path))
    return match is not None and match[2] == PYICEBERG


KILLED = "A writer of Iceberg Java whose commit fails removes its list. This one was killed before that"


def is_of_folder(metadata: TableMetadata) -> bool:
    """Return whether a table's folder is its catalog, by the names of its metadata files (v3.metadata.json)."""
    return FOLDER_NAME.match(base_name(metadata.metadata_location)) is not None


@dataclass(frozen=True)
class UnnamedList:
    """A manifest list that no metadata names, as it is stored.

    Attributes:
        path: Its path.
        snapshot_id: The snapshot that it is of.
        parent_id: That snapshot's parent, where the list's header has it.
        sequence_number: That snapshot's sequence number; None where it is not recorded, as in format version 1.
        manifests: What it lists.
    """

    path: str
    snapshot_id: int
    parent_id: int | None
    sequence_number: int | None
    manifests: Sequence[ManifestFile]

    @property
    def own(self) -> list[ManifestFile]:
        """The manifests that its commit wrote."""
        return [manifest for manifest in self.manifests if manifest.added_snapshot_id == self.snapshot_id]

    def total(self, name: str) -> int | None:
        """The sum of a count over the commit's own data manifests; None where one is not recorded."""
        numbers = [getattr(manifest, name) for manifest in self.own if not manifest.content]
        return None if None in numbers else sum(numbers)


@dataclass(frozen=True)
class UnnamedCommit:
    """A commit that the table does not have.

    Attributes:
        listed: Its manifest list.
        place: Whether a commit of the table has its place (`beside`), or it comes after the table's last one.
        twin: The id of the snapshot that has its place.
        added_files: The data files that it added and that nothing in the table names; None where nobody looked.
        missing: How many of its manifests, and of those data files, are not there.
    """

    listed: UnnamedList
    place: CommitPlace
    twin: int | None
    added_files: tuple[str, ...] | None
    missing: int

    @property
    def is_pyiceberg(self) -> bool:
        """Whether pyiceberg wrote its list, which versions before 0.12 leave where a commit fails."""
        return is_of_pyiceberg(self.listed.path)

    def words(self, metadata: TableMetadata) -> str:
        """Say what the commit is, and how it may have come about."""
        what = f"{base_name(self.listed.path)} is the manifest list of a commit that the table does not have"
        return f"{what}: {self.brief(metadata)}. {self._origin(is_of_folder(metadata))}"

    def brief(self, metadata: TableMetadata) -> str:
        """Say what the commit is."""
        listed, ordinals = self.listed, snapshot_ordinals(metadata)
        parts = [f"snapshot {listed.snapshot_id}"]
        if listed.parent_id is not None:
            parts.append(f"on top of {snapshot_name(listed.parent_id, ordinals)}")
        if listed.sequence_number:
            parts.append(f"with sequence number {listed.sequence_number:,}")
        if self.place == "beside":
            place = f"{snapshot_name(self.twin, ordinals)} has its place"
        else:
            place = f"the table's last commit has sequence number {metadata.last_sequence_number or 0:,}"
        return f"{' '.join(parts)} ({place}). It {self._contents()}"

    def _contents(self) -> str:
        files, rows = self.listed.total("added_files_count"), self.listed.total("added_rows_count")
        added = f"added {count(files, 'data file')} with {count(rows, 'row')}" if files is not None else "added files"
        if self.added_files is None:
            return f"{added}; whether another commit has them was not looked for"
        there = "which are in no snapshot" if files != 1 else "which is in no snapshot"
        lost = f"; of its files {count(self.missing, 'file')} {'is' if self.missing == 1 else 'are'} missing"
        return f"{added}, {there}{lost if self.missing else ', and all of its files are there'}"

    def _origin(self, is_of_folder: bool) -> str:
        if self.is_pyiceberg:
            return (
                "pyiceberg before 0.12 leaves such a list where a commit fails; its writer may have committed the rows "
                "again"
            )
        if self.place == "after":
            back = "the version in the folder" if is_of_folder else "the catalog's pointer"
            whole = (
                f"Its list has {count(len(self.listed.manifests), 'manifest')}: the table as it was after this commit"
            )
            return f"{KILLED}, or was told that it had succeeded: then {back} went back behind it. {whole}"
        if is_of_folder:
            return (
                f"{KILLED}, or was told that it had succeeded: then two writers replaced one metadata file, as where "
                "the folder has no atomic rename (apache/iceberg#970)"
            )
        return (
            f"{KILLED}, did not learn whether the catalog had refused it (CommitStateUnknownException), or was told "
            "that it had succeeded, and the catalog's pointer was set back"
        )
