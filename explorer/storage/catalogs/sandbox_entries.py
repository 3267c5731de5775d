"""Entries of the sandbox's catalog that point into another sandbox: its folder was moved, or is a copy."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from explorer.errors import NotPossible, UnreadableFile
from explorer.storage.data_dirs import HOME_VARIABLE, private
from explorer.storage.paths import below, canonical, local_path

NAMESPACE = "demo"
"""Where the sandbox has the teaching tables."""
SANDBOX = "sandbox"
"""The name of the embedded catalog."""
Entry = tuple[str, "str | None"]
"""A table's metadata file, and the one before it."""
WAIT_S = 60
"""Seconds to wait for another process that writes to the catalog."""
_INSIDE = "/sandbox/warehouse/"
_TABLES = (
    """CREATE TABLE IF NOT EXISTS iceberg_tables (
        catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
        metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5),
        PRIMARY KEY (catalog_name, table_namespace, table_name))""",
    """CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
        catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255),
        property_value VARCHAR(1000), PRIMARY KEY (catalog_name, namespace, property_key))""",
)
"""Of org.apache.iceberg.jdbc.JdbcUtil."""


def sandbox_properties(sandbox: Path) -> dict[str, str]:
    """Return the connection properties of the sandbox's catalog.

    Args:
        sandbox: The folder of the sandbox.
    """
    return {"type": "sql", "uri": f"sqlite:///{sandbox / 'catalog.db'}", "warehouse": str(sandbox / "warehouse")}


def other_sandbox(sandbox: Path, metadata_location: str) -> str | None:
    """The folder of another sandbox that a metadata file lies in; None for one of this sandbox, or of none."""
    folder, separator, _ = metadata_location.rpartition(_INSIDE)
    try:
        if not separator or below(canonical(metadata_location), canonical(str(sandbox))):
            return None
    except UnreadableFile:
        return None
    return f"{folder}/sandbox"


def catalog_entries(sandbox: Path) -> dict[str, str]:
    """By table, the metadata file that the catalog points to."""
    catalog = sandbox / "catalog.db"
    if not catalog.is_file():
        return {}
    query = "SELECT table_namespace || '.' || table_name, metadata_location FROM iceberg_tables"
    with contextlib.closing(sqlite3.connect(f"{catalog.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            return dict(connection.execute(f"{query} WHERE metadata_location IS NOT NULL").fetchall())
        except sqlite3.Error:  # no catalog yet, or another program holds it: whoever opens it says so
            return {}


def is_here(sandbox: Path, metadata_location: str | None) -> bool:
    """Whether an entry of the catalog points to a metadata file that is there, and in no other sandbox."""
    return (
        metadata_location is not None
        and other_sandbox(sandbox, metadata_location) is None
        and os.path.isfile(local_path(metadata_location) or "")
    )


def stray_entries(sandbox: Path) -> dict[str, str]:
    """By table, the other sandbox that its entry in the catalog points into."""
    others = {name: other_sandbox(sandbox, location) for name, location in catalog_entries(sandbox).items()}
    return {name: other for name, other in others.items() if other is not None}


def add_entries(sandbox: Path, entries: Mapping[str, Entry]) -> None:
    """Have the catalog point to metadata files. The catalog is made where there is none, as Iceberg's JdbcCatalog makes
    it.

    Args:
        sandbox: The folder of the sandbox.
        entries: By table (`namespace.name`).
    """
    private(sandbox)
    with _writing(sandbox) as connection:
        for statement in _TABLES:
            connection.execute(statement)
        for name, (metadata, previous) in entries.items():
            namespace, _, own = name.rpartition(".")
            connection.execute(
                "INSERT OR IGNORE INTO iceberg_namespace_properties VALUES (?, ?, 'exists', 'true')",
                (SANDBOX, namespace),
            )
            connection.execute(
                "INSERT OR REPLACE INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, "
                "previous_metadata_location, iceberg_type) VALUES (?, ?, ?, ?, ?, 'TABLE')",
                (SANDBOX, namespace, own, metadata, previous),
            )


@contextlib.contextmanager
def _writing(sandbox: Path) -> Iterator[sqlite3.Connection]:
    """Write to the catalog, all or nothing. Raises NotPossible."""
    file = sandbox / "catalog.db"
    try:
        with contextlib.closing(sqlite3.connect(file, timeout=WAIT_S)) as connection, connection:
            yield connection
    except sqlite3.Error as error:
        raise NotPossible(
            f"{file}: {error}; free some room, or choose another folder for the sandbox with ${HOME_VARIABLE}"
        ) from error


def forget_entries(sandbox: Path, names: Iterable[str]) -> None:
    """Remove tables from the catalog; no file is touched."""
    with _writing(sandbox) as connection:
        where = "table_namespace || '.' || table_name = ?"
        connection.executemany(f"DELETE FROM iceberg_tables WHERE {where}", [(name,) for name in names])


def forget_other_places(sandbox: Path) -> str:
    """Remove what the catalog of a sandbox that was moved or copied has of the place it came from.

    Returns:
        A sentence that says so; nothing if there is nothing to remove.
    """
    if not (strays := stray_entries(sandbox)):
        return ""
    forget_entries(sandbox, strays)
    others = ", ".join(sorted(set(strays.values())))
    return f"the sandbox was moved or copied from {others}: entries removed of {', '.join(sorted(strays))}"


def explain_move(other: str) -> str:
    """What to say of a sandbox whose catalog points into another."""
    return (
        f"this sandbox was moved or copied: its catalog still points into {other}, where nothing is read or written. "
        "Run `icedive demo`: it removes those entries and unpacks the teaching tables here; a table's folder "
        "in the warehouse can be opened by its path"
    )
