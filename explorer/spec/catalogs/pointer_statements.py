"""Statements that make a catalog point to another metadata file, each tried on a real server. Those for SQL and Glue
change nothing where the entry was changed since. A name or path with any unusual sign is in none: then only words say
what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.spec.catalogs.entries import CatalogRecord
from explorer.spec.secrets.redaction import redact

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}")
_PATH = re.compile(r"[A-Za-z0-9_/][A-Za-z0-9_./:@=+-]{0,1999}")
"""What no shell, no SQL and no Python takes for anything but itself between single or double quotes."""
DATABASES = ("sqlite", "postgresql")
"""Databases of SQL catalogs on which the statement was tried."""
SPARK = (
    "Spark's DROP TABLE and register_table do not help: both load the table first, and fail while the entry names a "
    "file that is gone (tried with Spark 4.1 and Iceberg 1.12)"
)
_WORDS = {
    "sql": "Set metadata_location to that file in the table's row of iceberg_tables, where it still names the file "
    f"that is gone. {SPARK}.",
    "rest": "Drop the entry without its files (purgeRequested=false), then register that file under the same name. "
    f"Stop writers first, and ask whether your server removes files all the same. {SPARK}.",
    "glue": "Set the parameter metadata_location of the table's entry to that file: glue:UpdateTable, with all that is "
    "in the entry beside, and its version. Dropping the entry would lose its versions and permissions.",
    "hive": "Drop the entry without its files (deleteData=false), then register that file under the same name; or set "
    "the table's parameter metadata_location to it. Stop writers first: no lock is held meanwhile.",
}


@dataclass(frozen=True)
class Target:
    """A table whose entry is to be changed: its catalog, the names that lead to it, the catalog's own properties (never
    shown but for a region and an endpoint), the file that its entry names, and the one that it is to name. If it is not
    configured so, but given by options, no program finds it by its name."""

    catalog: str
    identifier: Sequence[str]
    properties: Mapping[str, str]
    gone: str
    wanted: str
    is_configured: bool = True


def pointer_statement(record: CatalogRecord, target: Target) -> tuple[str, tuple[str, ...], str]:
    """Return the statement that makes a catalog point to another metadata file.

    Args:
        record: What the catalog stores now.
        target: The table, and the files.

    Returns:
        What the statement is written in; its lines, none where it was not tried for such a catalog or name; and what to
        do in words.
    """
    make = {"sql": _sql, "rest": _python, "hive": _python, "glue": _glue}[record.kind]
    language = {"sql": "SQL", "rest": "Python", "hive": "Python", "glue": "shell"}[record.kind]
    is_plain = all(map(_PATH.fullmatch, (target.gone, target.wanted))) and all(
        map(_NAME.fullmatch, (target.catalog, *target.identifier))
    )
    lines = make(record, target) if is_plain else ()
    if any(redact(line) != line for line in lines):
        lines = ()
    return language, lines, _WORDS[record.kind]


def _sql(record: CatalogRecord, target: Target) -> tuple[str, ...]:
    *levels, table = target.identifier
    own = record.row.get("catalog_name") or ""
    if record.database not in DATABASES or not _NAME.fullmatch(own):
        return ()
    return (
        f"UPDATE iceberg_tables SET metadata_location = '{target.wanted}'",
        f"WHERE catalog_name = '{own}' AND table_namespace = '{'.'.join(levels)}' AND table_name = '{table}'",
        f"AND metadata_location = '{target.gone}';",
    )


def _python(record: CatalogRecord, target: Target) -> tuple[str, ...]:
    names = repr(tuple(target.identifier))
    if not target.is_configured:
        return ()
    return (
        "from pyiceberg.catalog import load_catalog",
        f"catalog = load_catalog({target.catalog!r})",
        f"catalog.drop_table({names})  # the entry alone, no file",
        f"catalog.register_table({names}, {target.wanted!r})",
    )


def _glue(record: CatalogRecord, target: Target) -> tuple[str, ...]:
    version, own = record.row.get("VersionId") or "", target.properties
    if not version.isdecimal() or len(target.identifier) != 2 or "glue.id" in own:
        return ()
    options = {"region": own.get("glue.region") or own.get("client.region"), "endpoint-url": own.get("glue.endpoint")}
    given = [(name, value) for name, value in options.items() if value]
    if not all(_PATH.fullmatch(value) for _, value in given):
        return ()
    aws = "".join(("aws", *(f" --{name} {value}" for name, value in given), " glue"))
    database, table = target.identifier
    changed = json.dumps({"metadata_location": target.wanted, "previous_metadata_location": target.gone})
    kept = [f"{name}: {name}" for name in record.fields if name != "Parameters"]
    query = f"Table.{{{', '.join(kept)}, Parameters: merge(Parameters, `{changed}`)}}"
    return (
        f"{aws} get-table --database-name {database} --name {table} --output json --query '{query}' > entry.json",
        f"{aws} update-table --database-name {database} --version-id {version} --table-input file://entry.json",
    )
