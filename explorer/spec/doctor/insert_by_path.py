"""What helps where a manifest list counts no live file in a manifest that has some, which the next commit loses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.doctor.remedy_cases import LOSES
from explorer.spec.text.names import file_in_sql, in_backticks, name_in_sql

COMMITS = re.compile(
    r"\.system\.(?:rewrite_data_files|rewrite_position_delete_files|rewrite_manifests|add_files|cherrypick_snapshot)\("
    r"|INSERT (?:INTO|OVERWRITE)|DELETE FROM|UPDATE |MERGE INTO|CREATE OR REPLACE|rewrite_data_files with rewrite-all"
    r"|rewrite_manifests"
)
"""In the text of a remedy that leads to a commit of files."""
FIRST = (
    "First mend manifest-counts, and let nobody commit until then: a manifest list counts no live file in a manifest "
    f"that has some, and {LOSES} by Iceberg Java leaves that manifest out."
)
"""What comes before any remedy that commits."""
PLAIN = ("boolean", "int", "long", "float", "double", "date", "timestamp", "timestamptz", "string", "binary")
"""Types that Spark reads of a Parquet file by its path as it reads them of the table; decimals too."""
ASK_DEEP = " Where the list cannot be replaced, icedive doctor TABLE --deep prints an INSERT if that keeps the rows."
OTHER_COLUMNS = "a file has not all columns of the table with their names and field ids, so its values may be others"
NOT_BY_PATH = " Do not insert the rows by the paths of their files instead: {}."
OF_NEW_FILES = (
    " Where the list cannot be replaced, this writes the rows of these files anew, in one commit that leaves the "
    "manifest out; they get new row ids, and older snapshots still lack them: {}."
)


def keeping_insert(
    paths: Sequence[str] | None, metadata: TableMetadata, listed: Sequence[ManifestFile], table: str, opened: bool,
    has_columns: bool,
) -> str:  # fmt: skip
    """Say whether an INSERT keeps the rows of files that a manifest list does not count, and print it.

    Args:
        paths: All such data files; None where not all are known.
        metadata: The table's.
        listed: The current snapshot's manifests.
        table: The table's name in SQL.
        opened: Whether data files were opened, and Spark reads their values as they are.
        has_columns: Whether all of these files have the columns of the table, by name and field id.

    Returns:
        A sentence, with a space before it; empty where no data file is such.
    """
    if paths is not None and not paths:
        return ""
    if reason := _hindrance(paths, metadata, listed):
        return NOT_BY_PATH.format(reason)
    if not opened:
        return ASK_DEEP
    if not has_columns:
        return NOT_BY_PATH.format(OTHER_COLUMNS)
    schema = metadata.schema(metadata.current_schema_id)
    columns = ", ".join(name_in_sql(field.name) for field in (schema.fields if schema else ()))
    rows = " UNION ALL ".join(f"SELECT {columns} FROM parquet.{in_backticks(path)}" for path in paths or ())
    return OF_NEW_FILES.format(f"INSERT INTO {table} ({columns}) {rows}")


def rewriting_by_path(path: str, metadata: TableMetadata, listed: Sequence[ManifestFile], table: str) -> str:
    """Say how the rows of a file are written anew with the values that the file has, where Spark shows others.

    Args:
        path: The first of such files; empty where none is known.
        metadata: The table's.
        listed: The current snapshot's manifests.
        table: The table's name in SQL.

    Returns:
        A sentence: statements for the first file, or why none are printed.
    """
    schema = metadata.schema(metadata.current_schema_id)
    reason = _hindrance([path] if path else None, metadata, listed, takes_values=False)
    if not reason and schema and (schema.schema_id or metadata.last_column_id != max(schema.by_id)):
        reason = "the columns were changed, and a file may have one by a name that another column has now"
    if reason or schema is None:
        return (
            "If the files are, no statement is safe on this table, since Spark would read such a file by its path: "
            f"{reason}. Write its rows again from where they came."
        )
    columns = ", ".join(name_in_sql(field.name) for field in schema.fields)
    return (
        "If the files are, for each of them, before any snapshot expires and while nobody else writes: INSERT INTO "
        f"{table} ({columns}) SELECT {columns} FROM parquet.{in_backticks(path)}, and then DELETE FROM {table} "
        f"WHERE concat(_file, '') = '{file_in_sql(path)}'. If the INSERT fails, do not run the DELETE. The DELETE "
        "goes by the file, since other rows may have the value that Spark shows."
    )


def has_columns(columns: Sequence[Mapping[str, Any]], metadata: TableMetadata) -> bool:
    """Return whether a Parquet file has each column of the table with its name and its field id, so that Spark reads
    the same of it by its path.

    Schemas expire, and with them that a column was dropped and one of its name added.

    Args:
        columns: Those of the file's footer, with `path` and `field_id`.
        metadata: The table's.
    """
    schema = metadata.schema(metadata.current_schema_id)
    places = Counter(column["path"].lower() for column in columns)
    ids = {column["path"]: column["field_id"] for column in columns}
    return schema is not None and all(
        ids.get(field.name) == field.id and places[field.name.lower()] == 1 and "." not in field.name
        for field in schema.fields
    )


def _hindrance(
    paths: Sequence[str] | None, metadata: TableMetadata, listed: Sequence[ManifestFile], takes_values: bool = True
) -> str:
    """Why rows that are read by the path of their file may be others than the table's; empty where they are not.
    `takes_values`: what the table takes from the partition is right."""
    if any(m.content for m in listed):
        return "deletes of the table may hide some of them, and hide nothing of new files"
    schema = metadata.schema(metadata.current_schema_id)
    if schema is None or any(other.fields != schema.fields for other in metadata.schemas):
        return "the columns were changed, and a file may have others than the table has now"
    if takes_values and any(f.transform == "identity" for spec in metadata.partition_specs for f in spec.fields):
        return "the table takes values from the partition, which the files may lack"
    kinds = [field.type for field in schema.fields]
    names = [name_in_sql(field.name) for field in schema.fields]
    if not all(kind in PLAIN or str(kind).startswith("decimal(") for kind in kinds) or not all(names):
        return "Spark may read some columns of a file by its path otherwise than of the table"
    if paths is None or not all(file_in_sql(path) and path.endswith(".parquet") for path in paths):
        return "the files are too many to be named, or not all in Parquet, or a path has signs of a pattern"
    return ""
