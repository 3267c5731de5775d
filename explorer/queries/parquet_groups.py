"""What Spark makes of one Parquet file, from what the file holds: row groups that it skips, columns that it misreads.
This process and Spark's workers have it in common."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Protocol

from explorer.errors import UnreadableFile
from explorer.model.metadata import Schema, TableMetadata
from explorer.model.problem import Problem
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.filters.expressions import TRUE, BoundTerm, Expression, predicates
from explorer.spec.rows.row_diff import fields_by_path
from explorer.spec.scan.chunk_tests import ChunkPart, Unread
from explorer.spec.scan.row_groups import GroupVerdict, row_groups
from explorer.spec.schemas.column_places import taken_by_place
from explorer.spec.schemas.required_nulls import required_nulls
from explorer.spec.schemas.schema_fields import kinds_by_id
from explorer.spec.schemas.stored_types import TypeDifference, date_promotion, is_int96, type_differences
from explorer.storage.formats.parquet import read_footer
from explorer.storage.formats.parquet_chunks import read_parts
from explorer.storage.rows import table_mapping
from explorer.storage.storage import Storage


class TableFiles(Protocol):
    """Where a table's files are, and its metadata: storage.reader.TableReader, storage.file_rows.FileRows."""

    @property
    def storage(self) -> Storage: ...

    @property
    def metadata(self) -> TableMetadata: ...


Note = Callable[[Sequence[Problem]], None]
"""Takes what could not be read."""


def _footer(files: TableFiles, path: str, columns: Sequence[int] = ()) -> dict[str, Any]:
    """A footer, with the field ids that Iceberg Java gives to columns of a file without. Raises UnreadableFile."""
    return read_footer(files.storage, path, columns, {"mapping": table_mapping(files.metadata)})


def row_groups_of_file(
    files: TableFiles, path: str, residual: Expression, schema: Schema, note: Note
) -> list[GroupVerdict]:
    """Judge the row groups of one Parquet file by its footer, dictionaries, bloom filters and page indexes.

    Args:
        files: The table's.
        path: The file.
        residual: What must still be asked of the file's rows.
        schema: The schema that the filter was bound to.
        note: Takes what cannot be read of a row group.

    Returns:
        A verdict for each row group, in order.

    Raises:
        UnreadableFile: The footer cannot be read.
    """
    fields = fields_by_path(schema.raw["fields"]).values()
    defaults = {field["id"]: field.get("initial-default") for field in fields}
    field_ids = {p.term.column.field_id for p in predicates(residual) if isinstance(p.term, BoundTerm)}
    footer = _footer(files, path, sorted(field_ids))
    return row_groups(residual, path, footer, partial(_parts, files.storage, note, path, footer), defaults)


def columns_spark_cannot_rewrite(
    files: TableFiles, path: str, schema: Schema, sequence_number: int | None
) -> dict[str, TypeDifference]:
    """Find the columns of a Parquet file that Spark cannot write anew as they are: it fails on them, or takes their
    values for others.

    Args:
        files: The table's.
        path: The file.
        schema: The schema under which it is read.
        sequence_number: The file's own.

    Returns:
        How their types differ from the spec's, by their names.

    Raises:
        UnreadableFile: The footer cannot be read.
    """
    footer, kinds = _footer(files, path), kinds_by_id(schema)
    columns = footer["columns"]
    differences = dict(required_nulls(footer, schema))
    differences |= taken_by_place(footer, files.metadata, schema, sequence_number, is_strict=True)
    differences |= {name: d for name, d in type_differences(columns, kinds) if d.misread or d.fails}
    for column in columns:
        name, kind = kinds.get(column["field_id"], ("", None))
        if (date := date_promotion(column, kind)) is not None:
            differences[name] = date
    return differences


def misread_columns(
    files: TableFiles, data: LiveFile, schema: Schema
) -> tuple[dict[str, TypeDifference], tuple[str, ...]]:
    """Find the columns of a Parquet file that Spark or other readers take for other values than the file has.

    Args:
        files: The table's.
        data: The file.
        schema: The schema under which it is read.

    Returns:
        How the types of those that Spark misreads differ from the spec's, by their names; the names of those stored as
        INT96.

    Raises:
        UnreadableFile: The footer cannot be read.
    """
    footer = _footer(files, data.path)
    places = taken_by_place(footer, files.metadata, schema, data.file_sequence_number)
    types = list(type_differences(footer["columns"], kinds_by_id(schema)))
    differences = (*required_nulls(footer, schema), *places, *types)
    return {name: d for name, d in differences if d.misread}, tuple(name for name, d in types if is_int96(d))


@dataclass(frozen=True)
class SparkReading:
    """What Spark makes of a data file that a scan reads.

    Attributes:
        misread: Columns that it takes for other values than the file has, in words.
        int96: Columns of times of microseconds that the file stores as INT96, by their names.
        skipped: The row groups that it skips: the positions from the first to before the last, and why.
        problems: What could not be read to tell it.
    """

    misread: str = ""
    int96: Sequence[str] = ()
    skipped: Sequence[tuple[int, int, str]] = ()
    problems: Sequence[Problem] = ()

    def to_json(self) -> str:
        """As text, which `from_json` takes."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> SparkReading:
        """What a worker told."""
        values = json.loads(text)
        skipped = [(first, last, why) for first, last, why in values["skipped"]]
        return cls(values["misread"], values["int96"], skipped, [Problem(**problem) for problem in values["problems"]])


def spark_reading(files: TableFiles, data: LiveFile, residual: Expression, schema: Schema) -> SparkReading:
    """Look into a data file whose rows were read.

    Args:
        files: The table's.
        data: The file.
        residual: What must still be asked of its rows.
        schema: The schema under which it is read.

    Returns:
        What Spark makes of it; of a file that is not Parquet nothing is known.
    """
    if data.file_format != "PARQUET":
        return SparkReading()
    problems: list[Problem] = []
    skipped: list[tuple[int, int, str]] = []
    misread, first = "", 0
    int96: tuple[str, ...] = ()
    try:
        differences, int96 = misread_columns(files, data, schema)
        misread = "; ".join(f"{name}, {difference.words}" for name, difference in differences.items())
        groups = [] if residual == TRUE else row_groups_of_file(files, data.path, residual, schema, problems.extend)
        for group in groups:
            if not group.keeps:
                why = f"row group {group.ordinal}, by its {group.by}: {group.reason}"
                skipped.append((first, first + group.rows, why))
            first += group.rows
    except UnreadableFile as error:  # its rows were read all the same
        problems.append(Problem(error.path, error.cause, severity="warning"))
    return SparkReading(misread, int96, skipped, problems)


def _parts(
    storage: Storage,
    note: Note,
    path: str,
    footer: Mapping[str, Any],
    part: ChunkPart,
    chunks: Sequence[tuple[int, int]],
) -> Iterator[Any]:
    for (group, column), parts_of in zip(chunks, read_parts(storage, path, part, chunks, footer), strict=True):
        if isinstance(parts_of, Unread):
            where = f"row group {group}, {part} of {footer['columns'][column]['path']}"
            note([Problem(path, parts_of.cause, where, unaffected="the row group is kept")])
        yield parts_of
