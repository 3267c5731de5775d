"""Find the metadata file a person means: a catalog identifier, a metadata.json, or a table folder."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from explorer.errors import ExplorerError, TableNotFound, UnreadableFile
from explorer.model.problem import Problem
from explorer.spec.text.names import shorten
from explorer.storage import limits
from explorer.storage.allowed_roots import metadata_folder
from explorer.storage.catalogs.sandbox_entries import SANDBOX, catalog_entries, other_sandbox, sandbox_properties
from explorer.storage.data_dirs import sandbox_home
from explorer.storage.folder_state import (
    HINT,
    METADATA_NAME,
    FolderState,
    folder_state,
    state_of_catalog,
    state_of_named,
)
from explorer.storage.paths import canonical, is_written_once, local_path, move_path, normal_path
from explorer.storage.storage import Storage
from explorer.storage.stores import EMPTY_SEGMENT


@dataclass(frozen=True)
class Location:
    """Where a table was found. `reason` says in words why this metadata file was chosen; `catalog` and `identifier`
    are None for a table opened by path; `properties` are the user's own, `given` those that the catalog's server adds
    for storage; `relocate` are the moves that the user knows of, (place that metadata names, where it is now);
    `request` is what was looked for, so that it can be looked for again; `beside` says in a sentence what else the
    folder contains, `problems` what other readers stumble over there; `folder` is the table's folder, where one was
    named; `of_session` says that a person's own Spark has loaded it, whose catalogs nobody else knows."""

    name: str
    metadata_location: str
    reason: str
    catalog: str | None = None
    identifier: str | None = None
    properties: Mapping[str, str] | None = field(default=None, repr=False)
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    request: str = ""
    relocate: tuple[tuple[str, str], ...] = ()
    beside: str = ""
    problems: tuple[Problem, ...] = ()
    folder: str = ""
    of_session: bool = False

    def renew(self) -> Mapping[str, str]:
        """What the catalog's server gives now: credentials that it vends expire. Raises TableNotFound."""
        if self.catalog is None or self.identifier is None or not self.given:
            return {}
        from explorer.storage.catalogs import catalogs

        return catalogs.pointer(self.catalog, self.identifier, self.properties).storage


def locate(
    table: str,
    catalog: str | None = None,
    properties: Mapping[str, str] | None = None,
    relocate: Iterable[tuple[str, str]] = (),
) -> Location:
    """Find a table. `relocate` are (old place, new place), the longest of which counts: a catalog's pointer into an old
    place is followed to the new one. Raises TableNotFound, saying what was looked for and what is there instead."""
    if not (names_a_path(table) if catalog is None else _is_path(table) and not _is_in_no_folder(table)):
        return locate_named(table, catalog, properties, relocate)
    moves = _sort_moves(relocate)
    if catalog is not None:  # a path in its storage
        from explorer.storage.catalogs import catalogs

        properties = catalogs.properties_of(catalog, properties)
    return replace(_by_path(table, properties or {}), request=table, relocate=moves)


def locate_named(
    identifier: str,
    catalog: str | None = None,
    properties: Mapping[str, str] | None = None,
    relocate: Iterable[tuple[str, str]] = (),
) -> Location:
    """Find a table by its name in a catalog, whatever the name looks like. Raises TableNotFound."""
    moves = _sort_moves(relocate)
    named = _by_name(identifier, catalog, properties)
    path = move_path(named.metadata_location, moves)
    return _with_neighbours(replace(named, metadata_location=path, request=identifier, relocate=moves))


def locate_again(old: Location) -> Location:
    """Where the same table is now. Raises as `locate` does."""
    catalog = old.catalog if old.identifier == old.request else None  # else it is named in what was asked for
    again = locate if old.identifier is None else locate_named
    return again(old.request, catalog, old.properties, old.relocate)


def moves(location: Location) -> bool:
    """Whether a table can have become another metadata file: not where one was opened by its own name."""
    return METADATA_NAME.match(location.request.rsplit("/", 1)[-1]) is None


def parse_move(text: str) -> tuple[str, str]:
    """OLD=NEW, where both may have a = in them: NEW begins where an absolute path or a URI does. Raises
    TableNotFound."""
    match = re.fullmatch(r"(.+?)=((?:/|[a-z][a-z0-9+.-]*:/).*)", text, re.DOTALL)
    if match is None:
        raise TableNotFound(f"{text!r} is not OLD=NEW with an absolute path or a URI")
    return match[1], match[2]


def _sort_moves(relocate: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The moves, checked, the longest old place first. Raises TableNotFound."""
    return tuple(sorted(map(_move, relocate), key=lambda move: -len(move[0])))


def _move(pair: tuple[str, str]) -> tuple[str, str]:
    old, new = pair
    if not old or not new:
        raise TableNotFound(f"{old!r} was moved to {new!r}: both must name a place")
    local = local_path(new)
    if local is not None and not os.path.isabs(local):  # a URI of another machine too
        raise TableNotFound(f"{old!r} was moved to {new!r}, which is neither an absolute path nor a URI of a store")
    return normal_path(old), new.rstrip("/") if local is None else os.path.normpath(local)


def names_a_path(table: str) -> bool:
    """Say whether `locate` takes a table, for which no catalog is named, for a path rather than a name in a catalog."""
    return _is_path(table) and not _of_a_catalog(table)


def _of_a_catalog(table: str) -> bool:
    """Whether what could be a path is nowhere, and begins with the name of a catalog: tables may have a / in theirs."""
    if os.path.exists(table):
        return False
    from explorer.storage.catalogs import catalogs

    return table.partition(".")[0] in catalogs.catalog_names()


def _is_in_no_folder(table: str) -> bool:
    """Whether what could be a relative path is nowhere, and could be a name: tables may have a / in theirs."""
    return "." in table.strip(".") and not re.match(r"[./\\~]|[A-Za-z][\w+.-]*:", table) and not os.path.exists(table)


def _is_path(table: str) -> bool:
    return (
        "/" in table
        or os.sep in table
        or table.startswith(".")
        or METADATA_NAME.match(table) is not None
        or os.path.isdir(table)
    )


def _by_name(table: str, catalog: str | None, properties: Mapping[str, str] | None) -> Location:
    if catalog in (None, SANDBOX) and not properties and (location := _in_sandbox(table)) is not None:
        return location
    from explorer.storage.catalogs import catalogs

    name, identifier, pointer = catalogs.find(table, catalog, properties)
    reason = f"the catalog {name!r} points to it"
    own = catalogs.properties(name, properties)
    check_is_not_ours(name, identifier, pointer.metadata_location, own)
    return Location(f"{name}.{identifier}", pointer.metadata_location, reason, name, identifier, own, pointer.storage)


def _in_sandbox(table: str) -> Location | None:
    """A table of the sandbox with a plain name, found without pyiceberg, which takes longer to load than the table;
    None for any other."""
    home, identifier = sandbox_home(), table.removeprefix(f"{SANDBOX}.")
    if not re.fullmatch(r"\w+\.\w+", identifier) or identifier.startswith(f"{SANDBOX}."):
        return None
    metadata_location = catalog_entries(home).get(identifier)
    if metadata_location is None or other_sandbox(home, metadata_location) is not None:
        return None
    reason = f"the catalog {SANDBOX!r} points to it"
    own = sandbox_properties(home)
    return Location(f"{SANDBOX}.{identifier}", metadata_location, reason, SANDBOX, identifier, own)


def check_is_not_ours(name: str, identifier: str, location: str, own: Mapping[str, str]) -> None:
    """See that a catalog names no file of this machine, unless its tables lie here.

    Args:
        name: The catalog.
        identifier: The table or view.
        location: Where the catalog says that its metadata is.
        own: The catalog's properties.

    Raises:
        TableNotFound: It does.
    """
    from explorer.storage.catalogs import catalogs

    if local_path(location) is not None and not catalogs.keeps_tables_here(own):
        raise TableNotFound(
            f"the catalog {name!r} says that the metadata of {identifier!r} is a file of this machine, "
            f"{shorten(location, 200)}: a server may not choose what is opened here. If its tables do "
            f"lie on this disk, say where (-p warehouse=/folder, or `warehouse` in .pyiceberg.yaml)"
        )


def _with_neighbours(named: Location, compare: Callable[..., FolderState] = state_of_catalog) -> Location:
    """What else a local folder contains beside the metadata file that a catalog points to, or that was named."""
    path = local_path(named.metadata_location)
    if path is None:  # `pointer` lists the folder in a store: opening a table takes no request for it
        return named
    folder = metadata_folder(path)
    storage = Storage([folder])
    try:
        names = _names(folder)
        state = compare(path, names, lambda name: storage.read(f"{folder}/{name}", limit=limits.METADATA))
    except (ExplorerError, OSError):  # whoever opens the file says what is wrong
        return named
    return replace(named, beside=state.beside, problems=state.problems)


def _by_path(table: str, properties: Mapping[str, str]) -> Location:
    local = local_path(table)
    path = os.path.abspath(local) if local is not None else table.rstrip("/")
    if METADATA_NAME.match(path.rsplit("/", 1)[-1]) and not (local is not None and os.path.isdir(path)):
        if local is not None and not os.path.isfile(path):
            raise TableNotFound(f"{table}: no such file")
        named = Location(_folder_name(path), path, "this metadata file was named", properties=properties)
        return _with_neighbours(named, state_of_named)
    if local is None:
        return _open_folder(path, _remote_names(path, properties), properties)
    if os.path.isfile(path):
        raise TableNotFound(f"{table}: a file, but not a metadata file (those are named *.metadata.json)")
    if not os.path.isdir(path):
        raise TableNotFound(f"{table}: no such folder")
    return _open_folder(path, lambda folder: _names(folder) if os.path.isdir(folder) else [], properties)


def _names(folder: str, most: int = limits.NAMES) -> list[str]:
    """Names in a folder, but no more than `most`."""
    with os.scandir(folder) as listed:
        return [entry.name for entry in itertools.islice(listed, most)]


def _remote_names(path: str, properties: Mapping[str, str]) -> Callable[[str], list[str]]:
    def names(folder: str) -> list[str]:
        try:
            listed = Storage([path], properties).names(folder)
        except UnreadableFile as error:
            instead = ". Name its metadata.json instead" if EMPTY_SEGMENT in error.cause else ""
            raise TableNotFound(f"{path}: cannot list its metadata folder: {error.cause}{instead}") from error
        limits.within(len(listed), limits.NAMES, path, "names in its metadata folder")
        return listed

    return names


def _open_folder(path: str, names: Callable[[str], list[str]], properties: Mapping[str, str]) -> Location:
    """The state of the table in a folder: its metadata is in `metadata` below, or in the folder itself, or in `data`
    below. Raises TableNotFound."""
    inside: list[str] = []
    for folder in (f"{path}/metadata", path, f"{path}/data"):
        listed = names(folder)
        inside = listed if folder == path else inside
        files = [name for name in listed if METADATA_NAME.match(name)]
        if files:
            return _in_folder(path, folder, files, HINT in listed, properties)
    shown = ", ".join(sorted(inside[:1000])[:5]) or "nothing"
    raise TableNotFound(
        f"{path}: not an Iceberg table folder: no *.metadata.json in its metadata folder, in itself or in its data "
        f"folder (it holds {shown})"
    )


def _in_folder(path: str, folder: str, files: list[str], has_hint: bool, properties: Mapping[str, str]) -> Location:
    storage = Storage([folder], properties)

    def read(name: str) -> bytes:
        where = f"{folder}/{name}"
        return (storage.read_through_cache if is_written_once(where) else storage.read)(where, limit=limits.METADATA)

    state = folder_state(folder, files, _hint(storage, folder) if has_hint else None, read)
    reason = state.reason if folder == f"{path}/metadata" or folder == path else f"{state.reason}, in its data folder"
    return Location(
        _folder_name(path), f"{folder}/{state.name}", reason, properties=properties, beside=state.beside,
        problems=state.problems, folder=path,
    )  # fmt: skip


def _hint(storage: Storage, folder: str) -> str:
    """The first line of the version hint, as Java reads it; what is wrong with it where it cannot be read."""
    try:
        text = storage.read(f"{folder}/{HINT}", limit=limits.HINT).decode("utf-8", "replace")
    except UnreadableFile as error:
        return f"({error.cause})"
    return re.split("\r|\n", text, maxsplit=1)[0]


def _folder_name(path: str) -> str:
    parts = [p for p in canonical(path).split("/") if p]
    if "metadata" in parts and METADATA_NAME.match(parts[-1]):
        parts = parts[: len(parts) - 1 - parts[::-1].index("metadata")]
    elif parts[-1:] == ["metadata"]:
        parts = parts[:-1]
    return parts[-1] if parts else path
