"""The tables that agents are offered as resources: teaching tables, and those of the catalogs and folders that the
command names."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import quote, unquote

from explorer.app.start import PREFIX, namespaces, tables, teaching_tables
from explorer.errors import ExplorerError, NotFoundInTable
from explorer.progress import steps
from explorer.render.text import clean
from explorer.serving import places
from explorer.storage.folder_state import METADATA_NAME
from explorer.storage.paths import local_path

SCHEME = "icedive://table/"
MOST_TABLES, MOST_FOLDERS, DEEPEST = 200, 5_000, 4
"""Tables that are listed, folders that are looked into for them, and how deep these are."""
LONGEST = 500
"""Characters of a name that is listed."""
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Offered:
    """What agents may open, beside the teaching tables.

    Args:
        catalogs: Catalogs, with all their tables.
        roots: Folders and URIs: tables below them.
    """

    catalogs: Sequence[str] = ()
    roots: Sequence[str] = ()

    def restrict(self) -> None:
        """From now on, open no other tables in this process."""
        places.restrict(self.roots, [PREFIX, *(f"{name}." for name in self.catalogs)])

    def tables(self) -> list[tuple[str, str]]:
        """Return tables by their names, each with a line about it, so many at most. Nothing says of a name in such a
        list that it is data: one with a space in it, which could be read as a sentence, is left out, and so is one that
        cannot be shown as it is. Who knows it opens it."""
        return [*islice((one for one in self._all() if _is_plain(one[0])), MOST_TABLES)]

    def _all(self) -> Iterator[tuple[str, str]]:
        for one in teaching_tables():
            yield one["table"], one["teaches"]
        for catalog in steps(self.catalogs, "catalogs"):
            try:
                for namespace in steps(namespaces(catalog), "namespaces"):
                    for name in tables(catalog, tuple(namespace)):
                        yield name, "A table of a catalog."
            except ExplorerError as error:  # the others are listed
                log.warning("the catalog %s cannot be listed: %s", catalog, error)
        for root in self.roots:
            if (folder := local_path(root)) is not None:
                yield from ((path, "A table's folder.") for path in _table_folders(folder))


def _is_plain(name: str) -> bool:
    return len(name) <= LONGEST and clean(name) == name and not any(map(str.isspace, name))


def _table_folders(root: str) -> Iterator[str]:
    """Return folders of tables at and below a folder, without following links."""
    left, looked = [(os.path.abspath(root), 0)], 0
    while left and looked < MOST_FOLDERS:
        path, depth = left.pop()
        looked += 1
        try:
            with os.scandir(path) as listed:
                folders = sorted((one.name for one in listed if one.is_dir(follow_symlinks=False)), reverse=True)
            if "metadata" in folders and any(METADATA_NAME.match(name) for name in os.listdir(f"{path}/metadata")):
                yield path
            elif depth < DEEPEST:
                left += [(f"{path}/{name}", depth + 1) for name in folders]
        except OSError:  # nobody may look into it
            continue


def uri_of(name: str) -> str:
    """Return the URI of a table."""
    return f"{SCHEME}{quote(name, safe='')}"


def name_of(uri: str) -> str:
    """Return the table that a URI names. Raises NotFoundInTable."""
    if not uri.startswith(SCHEME):
        raise NotFoundInTable(f"{clean(uri[:200])!r} is no resource: they begin with {SCHEME}")
    return unquote(uri.removeprefix(SCHEME))
