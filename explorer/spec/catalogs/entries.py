"""What a catalog stores of a table, beside the metadata file that was opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from explorer.spec.catalogs.recovery import Recovery

FileState = Literal["there", "gone", "not known"]
CatalogKind = Literal["sql", "rest", "glue", "hive"]


@dataclass(frozen=True)
class EntryVersion:
    """A version of a table's entry in Glue: its number, when it was written, and the metadata file that it names."""

    version: str
    updated_ms: int | None
    metadata_location: str | None


@dataclass(frozen=True)
class CatalogRecord:
    """What a catalog stores of a table, by its own names: `where` says what holds it. No secret is in it. `versions`
    are those that Glue keeps, the newest first, with the current one; `is_cut` says that it has more, `unlisted` why
    they could not be listed. `database` is what has an SQL catalog's row, `fields` are the names of what an entry in
    Glue has that an update must repeat."""

    kind: CatalogKind
    where: str
    row: Mapping[str, str | None]
    versions: Sequence[EntryVersion] = ()
    is_cut: bool = False
    unlisted: str = ""
    database: str = ""
    fields: Sequence[str] = ()


@dataclass(frozen=True)
class KeptVersion:
    """A version of an entry that the catalog keeps, and whether the metadata file that it names is there. It is not
    known where its folder cannot be listed."""

    entry: EntryVersion
    state: FileState


@dataclass(frozen=True)
class CatalogEntry:
    """What the catalog stores now, and the metadata file that was opened: whether it is there (it may be gone, and
    opened from this machine's cache), and the one before by its metadata-log. `beside` says in a sentence what else its
    folder contains, if that is worth a word; `unreadable` why the metadata file could not be opened; `versions` are the
    entry's versions that the catalog keeps, the newest first; `recovery` is what helps where the metadata file is
    gone; `refused` why Iceberg Java cannot load it, though it is there and was opened."""

    stored: CatalogRecord
    metadata_location: str
    state: FileState
    previous: str | None
    beside: str = ""
    unreadable: str = ""
    versions: Sequence[KeptVersion] = ()
    recovery: Recovery | None = None
    refused: str = ""

    @property
    def newer(self) -> bool:
        """Whether a commit came after the table was opened."""
        row = self.stored.row
        return row.get("metadata_location", row.get("metadata-location")) != self.metadata_location
