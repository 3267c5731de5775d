"""Filters over rows and files: which rows match, and which data files may hold some.

Fields inside structs go by their path (`address.city = 'x'`); lists, maps and types that are not known here can be
asked for nulls. A comparison with null holds for no row, as in SQL."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import NotFoundInTable, NotNow, UnreadableFile
from explorer.model import metadata as model
from explorer.model.manifest import METRIC_FIELDS, ManifestFile
from explorer.queries.parquet_groups import spark_reading
from explorer.spec.deletes.delete_pairs import live_in
from explorer.spec.entries.live_files import LiveFile, live_files
from explorer.spec.filters.binding import bind
from explorer.spec.filters.calendar_numbers import with_stored_numbers
from explorer.spec.filters.display_values import with_stored_values
from explorer.spec.filters.expressions import (
    TRUE,
    And,
    BoundTerm,
    Constant,
    Expression,
    FilterColumn,
    Or,
    Predicate,
    rebuilt,
)
from explorer.spec.filters.filter_text import FilterError, UnquotedText, parse
from explorer.spec.rows.row_diff import column_at, field_places, fields_by_path
from explorer.spec.scan.pruning import judge
from explorer.spec.scan.ranges import file_ranges
from explorer.spec.scan.scan import READ, Scan
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.spec.values.transforms import transform_function
from explorer.spec.values.values import primitive_type
from explorer.storage import limits
from explorer.storage.file_rows import FileRows, ipc

Columns = Mapping[str, FilterColumn]


def filter_columns(schema: model.Schema, required: bool = False) -> dict[str, FilterColumn]:
    """A schema as filters see it: every column and every field inside a struct, under its path. With `required`,
    columns that the schema promises to be never null are."""
    named = fields_by_path(schema.raw["fields"])
    places: dict[str, list[str]] = {}
    for names, field in field_places(schema.raw["fields"]):
        words = f"{'.'.join(f'`{name}`' for name in names)} (field {field['id']})"
        places.setdefault(".".join(names), []).append(words)
    return {
        path: FilterColumn(
            field["id"], path, field["type"], required and _is_required(path, named),
            same_name=tuple(places[path]) if len(places[path]) > 1 else (),
        )
        for path, field in named.items()
    }  # fmt: skip


def _is_required(path: str, named: Mapping[str, Mapping[str, Any]]) -> bool:
    around = [named[path[:at]] for at, sign in enumerate(path) if sign == "." and path[:at] in named]
    return all(field.get("required") is True for field in (named[path], *around))


def arrow_columns(schema: pa.Schema) -> dict[str, FilterColumn]:
    """A table's own columns, and fields inside structs, as filters see them."""
    fields = enumerate(_arrow_fields("", schema), 1)
    return {path: FilterColumn(i, path, _kind(path, kind)) for i, (path, kind) in fields}


def _arrow_fields(above: str, fields: Iterable[pa.Field]) -> Iterator[tuple[str, pa.DataType]]:
    for field in fields:
        yield above + field.name, field.type
        if pa.types.is_struct(field.type):
            yield from _arrow_fields(f"{above}{field.name}.", field.type)


def _kind(path: str, kind: pa.DataType) -> Any:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not pa.types.is_nested(kind):
        from pyiceberg.io.pyarrow import pyarrow_to_schema  # it brings pandas, which no other command needs

        field = pa.field(path, kind, metadata={"PARQUET:field_id": "1"})
        with contextlib.suppress(TypeError, ValueError):
            return str(pyarrow_to_schema(pa.schema([field]), format_version=3).fields[0].field_type)
    return {"type": str(kind)}


def parse_filter(where: str | Expression, columns: Columns, null_too: bool = False, what: str = "") -> Expression:
    """A filter's text, or an expression, bound to columns; of nothing, TRUE. `null_too`: what all values do, null does
    too, as Iceberg's planner has it. Over a list of `what` values may be written as they are displayed. Raises
    NotFoundInTable when it does not fit."""
    try:
        expression = with_stored_numbers(parse(where)) if isinstance(where, str) else where
        return bind(with_stored_values(expression, what) if what else expression, columns, null_too)
    except FilterError as error:
        if isinstance(where, str) and error.position is None and error.column in where:
            error.position = where.index(error.column)
        raise NotFoundInTable(f"the filter does not fit: {error}") from error


def fold_like_spark(bound: Expression, schema: model.Schema) -> tuple[Expression, str]:
    """Give what Spark makes of a bound filter: for columns that the schema promises to be never null it takes IS NULL
    for false, and IS NOT NULL for true, and looks at no value.

    Args:
        bound: The filter, bound to columns that may be null.
        schema: By which it is read.

    Returns:
        The filter as Spark asks it, and in words what it does ("takes …"); empty where that is nothing.
    """
    columns = filter_columns(schema, required=True)
    taken: dict[str, None] = {}

    def leaf(predicate: Predicate) -> Expression:
        term = predicate.term
        if predicate.op not in ("is-null", "not-null") or not isinstance(term, BoundTerm):
            return predicate
        if not columns[term.column.name].required:
            return predicate
        value = Constant(predicate.op == "not-null")
        too = ", also where a file has a null in it" if value.value else ""
        taken[f"takes {predicate} for {value}, since {term.column.name} is required{too}"] = None
        return value

    return rebuilt(bound, leaf), ", and ".join(taken)


def filter_for(
    metadata: model.TableMetadata, where: str | Expression, columns: Columns, null_too: bool = False
) -> Expression:
    """Bind a filter to a table's columns, as `parse_filter` does.

    Args:
        metadata: The table's.
        where: The filter.
        columns: The columns of the schema that it is read by.
        null_too: As `parse_filter` has it.

    Returns:
        The filter, bound.

    Raises:
        NotFoundInTable: It does not fit. If it fits the current schema, or that of a snapshot, the words say so.
    """
    try:
        return parse_filter(where, columns, null_too)
    except NotFoundInTable as error:
        if isinstance(error.__cause__, UnquotedText):
            words = (
                "Spark takes the number too, but then it converts the column for each row, skips no file by it, "
                "and may fail on a text that is no number"
            )
            raise NotFoundInTable(f"{error}. {words}") from error.__cause__
        if _fits(metadata.schema(metadata.current_schema_id), where):
            words = f"{error}. It fits schema {metadata.current_schema_id}, by which the table is read without -s"
            raise NotFoundInTable(words) from error
        if (fits := _fitting(metadata, where)) is None:
            raise
        name = snapshot_name(fits.snapshot_id, snapshot_ordinals(metadata))
        words = f"{error}. It fits schema {fits.schema_id}, by which -s {name} is read"
        raise NotFoundInTable(words) from error


def _fitting(metadata: model.TableMetadata, where: str | Expression) -> model.Snapshot | None:
    """The newest snapshot whose schema a filter fits."""
    ordinals, tried = snapshot_ordinals(metadata), set[int | None]()
    for snapshot in sorted(metadata.snapshots, key=lambda s: -ordinals[s.snapshot_id]):
        schema = metadata.schema(snapshot.schema_id)
        if snapshot.schema_id not in tried and _fits(schema, where):
            return snapshot
        tried.add(snapshot.schema_id)
    return None


def _fits(schema: model.Schema | None, where: str | Expression) -> bool:
    if schema is None:
        return False
    try:
        parse_filter(where, filter_columns(schema))
    except (NotFoundInTable, KeyError, TypeError):  # a schema may be damaged
        return False
    return True


def matching(rows: pa.Table, bound: Expression) -> pa.Table:
    """The rows of a table that match a bound filter. Raises NotFoundInTable for a literal that its types cannot
    hold."""
    try:
        return rows if bound == TRUE else rows.filter(_mask(rows, bound))
    except (pa.ArrowInvalid, OverflowError) as error:
        raise NotFoundInTable(f"the filter {bound} cannot be asked of these rows: {str(error)[:200]}") from error


def _mask(rows: pa.Table, node: Expression) -> Any:
    """Of each row whether it matches; null where a comparison with null decides."""
    if isinstance(node, (And, Or)):
        combine = pc.and_kleene if isinstance(node, And) else pc.or_kleene
        return combine(_mask(rows, node.left), _mask(rows, node.right))
    if isinstance(node, Constant):
        return pa.repeat(node.value, rows.num_rows)
    assert isinstance(node, Predicate)
    assert isinstance(node.term, BoundTerm)
    return _compare(_column(rows, node.term), node)


def _column(rows: pa.Table, term: BoundTerm) -> Any:
    column = column_at(rows, term.column.name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    column = column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column
    if term.transform == "identity":
        return column
    primitive = primitive_type(term.column.kind)
    assert primitive is not None  # binding saw to it
    apply = transform_function(term.transform, primitive)
    if pa.types.is_timestamp(column.type) and column.type.unit in ("s", "ms"):
        column = column.cast(pa.timestamp("us", column.type.tz))
    plain = column.cast(_width(column.type)) if pa.types.is_temporal(column.type) else column
    result = pa.int32() if term.kind in ("int", "date") else plain.type
    return pa.chunked_array([pa.array([None if v is None else apply(v) for v in plain.to_pylist()], result)])


def _width(kind: pa.DataType) -> pa.DataType:
    return pa.int32() if kind.bit_width == 32 else pa.int64()


def _compare(column: Any, node: Predicate) -> Any:
    tests: dict[str, Callable[..., Any]] = {
        "is-null": pc.is_null, "not-null": pc.is_valid, "is-nan": pc.is_nan,
        "not-nan": lambda c: pc.invert(pc.is_nan(c)),
    }  # fmt: skip
    if node.op in tests:
        return tests[node.op](column)
    if node.op.endswith("starts-with"):
        begins = pc.starts_with(column, node.literals[0])
        return begins if node.op == "starts-with" else pc.invert(begins)
    values = [_scalar(value, column.type) for value in node.literals]
    if node.op in ("in", "not-in"):
        among = pc.is_in(column, value_set=pa.array(values, values[0].type))
        return among if node.op == "in" else pc.if_else(pc.is_null(column), None, pc.invert(among))
    if node.op in ("gt", "gt-eq") and pa.types.is_floating(column.type):  # Spark orders NaN above all numbers
        return pc.or_(_ORDERS[node.op](column, values[0]), pc.is_nan(column))
    return _ORDERS[node.op](column, values[0])


_ORDERS: Mapping[str, Callable[..., Any]] = {
    "eq": pc.equal, "not-eq": pc.not_equal, "lt": pc.less, "lt-eq": pc.less_equal, "gt": pc.greater,
    "gt-eq": pc.greater_equal,
}  # fmt: skip


def _scalar(value: Any, kind: pa.DataType) -> pa.Scalar:
    """An internal value as a column stores it."""
    if pa.types.is_timestamp(kind) and kind.unit != "ns":
        return pa.scalar(value, pa.int64()).cast(pa.timestamp("us", kind.tz)).cast(kind, safe=False)
    if pa.types.is_temporal(kind):
        return pa.scalar(value, _width(kind)).cast(kind)
    return pa.scalar(value) if pa.types.is_decimal(kind) else pa.scalar(value, kind)


def may_match(bound: Expression, file: LiveFile) -> bool:
    """Whether a data file's counts and bounds allow a match of a bound filter (spec: "Scan Planning")."""
    if bound == TRUE:
        return True
    if file.record_count == 0 and file.values and not any(file.values.values()):
        return False
    names = {"value_counts": "values", "null_value_counts": "nulls", "nan_value_counts": "nans",
             "lower_bounds": "lower", "upper_bounds": "upper"}  # fmt: skip
    columns = {
        field.name: pa.array([list(getattr(file, names[field.name]).items())], field.type)
        for field in METRIC_FIELDS
        if field.name in names
    }
    entries = pa.table(columns)
    verdicts = judge(bound, 1, lambda term: file_ranges(entries, term.column.field_id, term.column.kind, True).of(term))
    return bool(verdicts.may[0])


def scan_of(metadata: model.TableMetadata, schema: model.Schema, columns: Columns, bound: Expression) -> Scan:
    """A bound filter, ready to be put to manifests and files of a table under a schema."""
    top = {field["id"] for field in schema.raw["fields"]}
    return Scan(metadata, bound, frozenset(c.field_id for c in columns.values() if c.field_id not in top))


MATCHES = pa.schema(
    [
        ("manifest_path", pa.string()), ("file_path", pa.string()), ("rows", pa.binary()), ("reading", pa.string()),
        ("unreadable", pa.string()), ("in_scan", pa.bool_()),
    ]
)  # fmt: skip
"""Rows that match, of each data file of a manifest that has some, as a stream of Arrow's; and of one that a scan reads
what Spark makes of it, see queries.parquet_groups.SparkReading. Of a file that cannot be read why, and no rows."""


def matching_or_cause(
    files: FileRows, data: LiveFile, schema: model.Schema, lineage: bool, bound: Expression, in_scan: bool
) -> pa.Table | str:
    """The rows of a data file that match, or why it cannot be read. Raises NotNow for a file that a scan reads."""
    try:
        return matching(files.rows(data, schema, lineage), bound)
    except UnreadableFile as error:
        if in_scan and isinstance(error, NotNow):
            raise
        return str(error)


def matches_in(
    files: FileRows,
    scan: Scan,
    schema: model.Schema,
    lineage: bool,
    every_file: bool,
    manifest: ManifestFile,
    stored: pa.Table,
) -> pa.Table:
    """The rows that match, deleted or not (see storage.file_rows.FileRows.rows), in the live data files of a manifest,
    or in those of them that a scan reads, as MATCHES: a part, as spec.entries.lazy_table has them. Raises NotNow for
    a file that a scan reads, and UnreadableFile for too many rows."""
    live = live_in(manifest, stored)[0]
    judged = scan.files(manifest, live)
    reads = judged.outcome == READ
    places = np.arange(live.num_rows) if every_file else np.flatnonzero(reads)
    matches: list[dict[str, Any]] = []
    rows_so_far = 0
    some = live_files(live.take(pa.array(places)), manifest.partition_spec_id, manifest.manifest_path)
    listed = files.storage.read_ahead(some, lambda data: (data.path, data.size))
    for data, at in zip(listed, places.tolist(), strict=True):
        in_scan = bool(reads[at])
        found = {"manifest_path": manifest.manifest_path, "file_path": data.path, "in_scan": in_scan}
        rows = matching_or_cause(files, data, schema, lineage, scan.bound, in_scan)
        if isinstance(rows, str):
            matches.append(found | {"unreadable": rows})
            continue
        if rows.num_rows:
            rows_so_far += rows.num_rows
            limits.within(
                rows_so_far, limits.MAX_NAMED_ROWS, data.path, "matching rows with the files before it", "match fewer"
            )
            reading = spark_reading(files, data, judged.residual(at), schema).to_json() if reads[at] else None
            matches.append(found | {"rows": ipc(rows), "reading": reading})
    return pa.Table.from_pylist(matches, MATCHES)
