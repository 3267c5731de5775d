"""Find the metadata file a person means: a catalog identifier, a metadata.json, or a table folder."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from explorer.errors import TableNotFound, UnreadableFile
from explorer.io import budget, catalogs
from explorer.io.metadata import parse_metadata
from explorer.io.paths import canonical, local_path, relocated, spelled
from explorer.io.storage import Storage

SAME_VERSION = 50
"""Metadata files of one version that are looked into to choose the newest."""
METADATA_NAME = re.compile(r"^(?:v(\d+)|(\d+)-[0-9a-fA-F-]+|.*?)(\.gz)?\.metadata\.json(\.gz)?$")


@dataclass(frozen=True)
class Location:
    """Where a table was found. `reason` says in words why this metadata file was chosen; `catalog` and `identifier`
    are None for a table opened by path; `properties` are the user's own, `given` those that the catalog's server adds
    for storage; `relocate` are the moves that the user knows of, (place that metadata names, where it is now); `asked`
    is what was looked for, so that it can be looked for again."""

    name: str
    metadata_location: str
    reason: str
    catalog: str | None = None
    identifier: str | None = None
    properties: Mapping[str, str] | None = field(default=None, repr=False)
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    asked: str = ""
    relocate: tuple[tuple[str, str], ...] = ()

    def renewed(self) -> Mapping[str, str]:
        """What the catalog's server gives now: credentials that it vends expire. Raises TableNotFound."""
        if self.catalog is None or self.identifier is None or not self.given:
            return {}
        return catalogs.pointer(self.catalog, self.identifier, self.properties).storage


def metadata_version(path: str) -> int | None:
    """The version in a metadata file's name: `v3.metadata.json` and `00003-<uuid>.metadata.json` are both 3."""
    match = METADATA_NAME.match(path.rsplit("/", 1)[-1])
    return int(match.group(1) or match.group(2)) if match and (match.group(1) or match.group(2)) else None


def locate(
    table: str,
    catalog: str | None = None,
    properties: Mapping[str, str] | None = None,
    relocate: Iterable[tuple[str, str]] = (),
) -> Location:
    """Find a table. `relocate` are (old place, new place), the longest of which counts: a catalog's pointer into an old
    place is followed to the new one. Raises TableNotFound, saying what was looked for and what is there instead."""
    moves = tuple(sorted(map(_move, relocate), key=lambda move: -len(move[0])))
    if not _is_path(table) or (catalog is None and _of_a_catalog(table)):
        named = _by_name(table, catalog, properties)
        return replace(named, metadata_location=relocated(named.metadata_location, moves), asked=table, relocate=moves)
    if catalog is not None:  # a path in its storage
        properties = catalogs.properties_of(catalog, properties)
    return replace(_by_path(table, properties or {}), asked=table, relocate=moves)


def located_again(old: Location) -> Location:
    """Where the same table is now. Raises as `locate` does."""
    catalog = old.catalog if old.identifier == old.asked else None
    return locate(old.asked, catalog, old.properties, old.relocate)


def moves(location: Location) -> bool:
    """Whether a table can have become another metadata file: not where one was opened by its own name."""
    return METADATA_NAME.match(location.asked.rsplit("/", 1)[-1]) is None


def parse_move(text: str) -> tuple[str, str]:
    """OLD=NEW, where both may have a = in them: NEW begins where an absolute path or a URI does. Raises
    TableNotFound."""
    match = re.fullmatch(r"(.+?)=((?:/|[a-z][a-z0-9+.-]*:/).*)", text, re.DOTALL)
    if match is None:
        raise TableNotFound(f"{text!r} is not OLD=NEW with an absolute path or a URI")
    return match[1], match[2]


def _move(pair: tuple[str, str]) -> tuple[str, str]:
    old, new = pair
    if not old or not new:
        raise TableNotFound(f"{old!r} was moved to {new!r}: both must name a place")
    local = local_path(new)
    if local is not None and not os.path.isabs(local):  # a URI of another machine too
        raise TableNotFound(f"{old!r} was moved to {new!r}, which is neither an absolute path nor a URI of a store")
    return spelled(old), new.rstrip("/") if local is None else os.path.normpath(local)


def _of_a_catalog(table: str) -> bool:
    """Whether what could be a path is nowhere, and begins with the name of a catalog: tables may have a / in theirs."""
    return table.partition(".")[0] in catalogs.configured() and not os.path.exists(table)


def _is_path(table: str) -> bool:
    return (
        "/" in table
        or os.sep in table
        or table.startswith(".")
        or table.endswith(".metadata.json")
        or os.path.isdir(table)
    )


def _by_name(table: str, catalog: str | None, properties: Mapping[str, str] | None) -> Location:
    name, identifier = catalogs.split(table, catalog)
    pointer = catalogs.pointer(name, identifier, properties)
    reason = f"the catalog {name!r} points to it"
    own = catalogs.properties(name, properties)
    return Location(f"{name}.{identifier}", pointer.metadata_location, reason, name, identifier, own, pointer.storage)


def _by_path(table: str, properties: Mapping[str, str]) -> Location:
    local = local_path(table)
    path = os.path.abspath(local) if local is not None else table.rstrip("/")
    if METADATA_NAME.match(path.rsplit("/", 1)[-1]):
        if local is not None and not os.path.isfile(path):
            raise TableNotFound(f"{table}: no such file")
        return Location(_folder_name(path), path, "this metadata file was named", properties=properties)
    if local is None:
        return _remote_folder(path, properties)
    if os.path.isfile(path):
        raise TableNotFound(f"{table}: a file, but not a metadata file (those are named *.metadata.json)")
    if not os.path.isdir(path):
        raise TableNotFound(f"{table}: no such folder")
    folder = os.path.join(path, "metadata")
    names = _names(folder) if os.path.isdir(folder) else []
    files = [name for name in names if METADATA_NAME.match(name)]
    if not files:
        inside = ", ".join(sorted(_names(path, 1000))[:5]) or "nothing"
        raise TableNotFound(
            f"{table}: not an Iceberg table folder: no metadata/*.metadata.json in it (it holds {inside})"
        )
    return _choose(path, files, "version-hint.text" in names, properties)


def _names(folder: str, most: int = budget.NAMES) -> list[str]:
    """Names in a folder, but no more than `most`."""
    with os.scandir(folder) as listed:
        return [entry.name for entry in itertools.islice(listed, most)]


def _remote_folder(path: str, properties: Mapping[str, str]) -> Location:
    try:
        names = Storage([path], properties).names(f"{path}/metadata")
    except UnreadableFile as error:
        raise TableNotFound(f"{path}: cannot list its metadata folder: {error.cause}") from error
    budget.within(len(names), budget.NAMES, path, "names in its metadata folder")
    files = [name for name in names if METADATA_NAME.match(name)]
    if not files:
        raise TableNotFound(f"{path}: not an Iceberg table folder: no metadata/*.metadata.json in it")
    return _choose(path, files, "version-hint.text" in names, properties)


def _choose(path: str, files: list[str], has_hint: bool, properties: Mapping[str, str]) -> Location:
    """The version hint if it names a file that is there, else the highest version, then the latest last-updated-ms."""
    folder = f"{path}/metadata"
    storage = Storage([folder], properties)
    note = ""
    if has_hint:
        try:
            hint = storage.read(f"{folder}/version-hint.text", limit=budget.HINT).decode("utf-8", "replace").strip()
        except UnreadableFile as error:
            hint = f"({error.cause})"
        named = [n for n in files if n.split(".")[0] in (f"v{hint}", hint) or n == hint]
        if named:
            return Location(
                _folder_name(path), f"{folder}/{named[0]}", f"version-hint.text says {hint}", properties=properties
            )
        note = f"; version-hint.text says {hint!r}, but no such file is there"
    best = max(metadata_version(name) or -1 for name in files)
    newest = sorted(name for name in files if (metadata_version(name) or -1) == best)
    if len(newest) == 1:
        reason = f"it has the highest version, {best}, of {len(files)} metadata files{note}"
        return Location(_folder_name(path), f"{folder}/{newest[0]}", reason, properties=properties)

    def updated(name: str) -> int:
        try:
            data = storage.read(f"{folder}/{name}", limit=budget.METADATA)
            return parse_metadata(data, name)[0].last_updated_ms or -1
        except UnreadableFile:
            return -2

    looked_at = newest[-SAME_VERSION:]
    chosen = max(looked_at, key=updated)
    reason = f"{len(newest)} metadata files have version {best}; this one has the latest last-updated-ms{note}"
    if len(looked_at) < len(newest):
        reason += f" of the last {SAME_VERSION} by name"
    return Location(_folder_name(path), f"{folder}/{chosen}", reason, properties=properties)


def _folder_name(path: str) -> str:
    parts = [p for p in canonical(path).split("/") if p]
    if "metadata" in parts and METADATA_NAME.match(parts[-1]):
        parts = parts[: len(parts) - 1 - parts[::-1].index("metadata")]
    return parts[-1] if parts else path
