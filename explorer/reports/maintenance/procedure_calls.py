"""Spark's procedures: what each operation calls, which options it takes, and the statement to paste."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from explorer.errors import NotFoundInTable, NotPossible
from explorer.queries.filters import filter_columns, parse_filter
from explorer.spark_engine.sql_guard import quoting
from explorer.spec.filters.expressions import TRUE, Expression
from explorer.spec.maintenance.rewrite_options import OPTIONS, Strategy
from explorer.spec.text.identifiers import split_identifier
from explorer.spec.text.names import NOWHERE, is_one_statement, name_in_sql
from explorer.table import Table

Argument = Literal["timestamp", "int", "ids", "boolean", "text", "map", "texts"]
PROCEDURES: Mapping[str, str] = {
    "compact": "rewrite_data_files",
    "compact-sort": "rewrite_data_files",
    "compact-z-order": "rewrite_data_files",
    "rewrite-manifests": "rewrite_manifests",
    "rewrite-position-deletes": "rewrite_position_delete_files",
    "expire": "expire_snapshots",
    "remove-orphans": "remove_orphan_files",
}
"""Each operation, and the procedure that carries it out."""
LOOKS = ("next-append", "dangling-deletes")
"""What can only be looked at: no procedure does it, or none does only that."""
DROPS_SPENT: Mapping[str, str] = {"rewrite-all": "true"}
"""The option of rewrite-position-deletes for what remove-dangling-deletes leaves."""
DROPS_DANGLING: Mapping[str, str] = {"remove-dangling-deletes": "true"}
"""The options with which a compaction drops deletes that apply to no data file."""
STRATEGIES: Mapping[str, Strategy] = {
    "compact": "binpack", "compact-sort": "sort", "compact-z-order": "zorder",
    "rewrite-position-deletes": "position-deletes",
}  # fmt: skip
ARGUMENTS: Mapping[str, Mapping[str, Argument]] = {
    "rewrite-manifests": {"use_caching": "boolean", "spec_id": "int", "sort_by": "texts"},
    "expire": {
        "older_than": "timestamp", "retain_last": "int", "snapshot_ids": "ids", "clean_expired_metadata": "boolean",
        "max_concurrent_deletes": "int", "stream_results": "boolean",
    },
    "remove-orphans": {
        "older_than": "timestamp", "location": "text", "dry_run": "boolean", "max_concurrent_deletes": "int",
        "equal_schemes": "map", "equal_authorities": "map", "prefix_mismatch_mode": "text",
        "prefix_listing": "boolean", "stream_results": "boolean",
    },
}  # fmt: skip
"""The arguments of procedures that have no options of their own."""


@dataclass(frozen=True)
class OperationRequest:
    """An operation with all that it was given. `options` are those of the procedure's map, or its own arguments, as
    text; `where` is a filter (docs/filters.md), `columns` what to sort by, `readers` those that an expiry must not
    break."""

    operation: str
    options: Mapping[str, str]
    where: str = ""
    columns: str = ""
    readers: Sequence[str] = ()

    def values(self) -> dict[str, Any]:
        """The arguments, parsed. Raises NotFoundInTable for one that there is not, or that does not fit."""
        kinds = ARGUMENTS.get(self.operation, {})
        return {name: _value(name, kinds[name], text) for name, text in self.options.items()}


def named_operation(name: str) -> str:
    """Return the operation that a procedure of Iceberg's carries out, by the procedure's name; else the name."""
    return next((operation for operation, procedure in PROCEDURES.items() if procedure == name), name)


def check_request(
    table: Table,
    operation: str,
    options: Mapping[str, str],
    where: str = "",
    columns: str = "",
    retain_last: int | None = None,
    readers: Sequence[str] = (),
) -> OperationRequest:
    """What is asked for, checked. An expiry goes by the policy of the table and its refs (spec.snapshots.retention),
    unless `options` or `retain_last` say otherwise. Raises NotFoundInTable for what there is not."""
    operation = named_operation(operation)
    if operation not in (*PROCEDURES, *LOOKS):
        raise NotFoundInTable(f"no operation {operation!r}: there are {', '.join((*PROCEDURES, *LOOKS))}")
    strategy = STRATEGIES.get(operation)
    names: Sequence[str] = sorted(OPTIONS[strategy] if strategy else ARGUMENTS.get(operation, {}))
    if unknown := [name for name in options if name not in names]:
        there = f"there are {', '.join(names)}" if names else "there are none"
        raise NotFoundInTable(f"no option {unknown[0]!r} of {operation}: {there}")
    if where.strip() and not strategy:
        raise NotFoundInTable(f"{operation} takes no filter")
    if readers and operation != "expire":
        raise NotFoundInTable(f"{operation} takes no readers: only expire breaks them")
    given = dict(options)
    if operation == "expire" and retain_last is not None:
        given = {"retain_last": str(retain_last), **given}
    request = OperationRequest(operation, given, where, columns, readers)
    request.values() if not strategy else None
    if strategy in ("sort", "zorder"):
        _sort_columns(table, columns)
    return request


def call(table: Table, request: OperationRequest) -> str:
    """The statement that carries an operation out; empty where no procedure does. Raises NotPossible for a filter that
    Spark has no words for."""
    if request.operation not in PROCEDURES:
        return ""
    arguments = [f"table => {name_argument(table)}"]
    strategy = STRATEGIES.get(request.operation)
    if strategy in ("sort", "zorder"):
        arguments.append("strategy => 'sort'")
        listed = ", ".join(quoting.identifier([c]) for c in named_columns(table, request))
        order = f"zorder({listed})" if strategy == "zorder" else listed
        arguments += [f"sort_order => {quoting.literal(order)}"] if listed else []
    if strategy:
        if request.options:
            pairs = ", ".join(f"{quoting.literal(k)}, {quoting.literal(v)}" for k, v in request.options.items())
            arguments.append(f"options => map({pairs})")
        if request.where.strip():
            arguments.append(f"where => {quoting.literal(_condition(table, request.where))}")
    else:
        kinds = ARGUMENTS[request.operation]
        arguments += [f"{name} => {_literal(kinds[name], value)}" for name, value in request.values().items()]
    return procedure_call(table, PROCEDURES[request.operation], *arguments)


def named_columns(table: Table, request: OperationRequest) -> list[str]:
    """The columns that a sort's statement names: none where it goes by the table's own order."""
    has_own = request.operation == "compact-sort" and bool(table.metadata.default_sort_order_id)
    return [] if has_own and not request.columns.strip() else _sort_columns(table, request.columns)


def procedure_call(table: Table, procedure: str, *arguments: str) -> str:
    """A CALL of a procedure of the table's catalog, with arguments as SQL."""
    catalog, _ = catalog_and_name(table)
    return f"CALL {quoting.identifier([catalog, 'system', procedure])}({', '.join(filter(None, arguments))})"


def is_printable(table: Table, statement: str) -> bool:
    """Return whether a statement on a table does what it says where it is pasted (see `is_one_statement`), and no part
    of the table's name is too strange for it."""
    catalog, name = catalog_and_name(table)
    parts = [catalog, *split_identifier(name)]
    return all(map(name_in_sql, parts)) and is_one_statement(statement)


def name_argument(table: Table) -> str:
    """Return a table's name as an argument of CALL: a text in which each part that needs them has backticks."""
    _, name = catalog_and_name(table)
    return quoting.literal(quoting.identifier(split_identifier(name)))


def catalog_and_name(table: Table) -> tuple[str, str]:
    """Its catalog, and its name there; where no catalog holds it, what stands for them, whatever its folder is."""
    catalog = table.reader.location.catalog
    return NOWHERE if catalog is None else (catalog, table.name.removeprefix(f"{catalog}."))


def table_in_sql(table: Table) -> str:
    """Return a table's name with its catalog, as a part of a statement."""
    catalog, name = catalog_and_name(table)
    return quoting.identifier([catalog, *split_identifier(name)])


def bind_filter(table: Table, where: str) -> Expression:
    """A filter bound to the table's current schema. Raises NotFoundInTable."""
    schema = table.metadata.schema(table.metadata.current_schema_id)
    return parse_filter(where, filter_columns(schema), null_too=True) if where.strip() and schema else TRUE


def moment(text: str | int | None) -> int:
    """Milliseconds of a time given in ISO 8601 (UTC) or in milliseconds. Raises NotFoundInTable."""
    if re.fullmatch(r"[0-9]{1,18}", str(text)):
        return int(str(text))
    try:
        time = datetime.datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError as error:
        raise NotFoundInTable(
            f"{text!r} is no time: give milliseconds, or ISO 8601 such as 2026-11-21 05:00:00"
        ) from error
    return int((time if time.tzinfo else time.replace(tzinfo=datetime.timezone.utc)).timestamp() * 1000)


def _condition(table: Table, where: str) -> str:
    catalog, _ = catalog_and_name(table)
    schema = table.metadata.schema(table.metadata.current_schema_id)
    if schema is None:
        raise NotPossible("the table has no current schema to filter by")
    return quoting.condition(bind_filter(table, where), schema.raw["fields"], catalog, in_call=True)


def _sort_columns(table: Table, columns: str) -> list[str]:
    schema = table.metadata.schema(table.metadata.current_schema_id)
    names = [f.name for f in schema.fields] if schema else []
    wanted = [c.strip() for c in columns.split(",") if c.strip()] or names[:1]
    if unknown := [c for c in wanted if c not in names]:
        raise NotFoundInTable(f"no column {unknown[0]!r} to sort by: there are {', '.join(names)}")
    return wanted


def _value(name: str, kind: Argument, text: str) -> Any:
    if kind == "timestamp":
        return moment(text)
    if kind == "boolean":
        if text.lower() not in ("true", "false"):
            raise NotFoundInTable(f"{name} is {text!r}: there are true and false")
        return text.lower() == "true"
    if kind in ("int", "ids"):
        parts = [part.strip() for part in text.split(",")] if kind == "ids" else [text.strip()]
        if not all(re.fullmatch(r"-?[0-9]{1,19}", part) for part in parts):
            raise NotFoundInTable(
                f"{name} is {text!r}, which is no {'list of ids' if kind == 'ids' else 'whole number'}"
            )
        return list(map(int, parts)) if kind == "ids" else int(parts[0])
    if kind == "texts":
        return [part.strip() for part in text.split(",")]
    if kind == "map":
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
            raise NotFoundInTable(f'{name} is {text!r}: give JSON such as {{"s3a,s3n": "s3"}}')
        return values
    return text


def _literal(kind: Argument, value: Any) -> str:
    if kind == "timestamp":
        return quoting.timestamp(value)
    if kind == "ids":
        return f"array({', '.join(f'{v}L' for v in value)})"
    if kind == "texts":
        return f"array({', '.join(map(quoting.literal, value))})"
    if kind == "map":
        return f"map({', '.join(f'{quoting.literal(k)}, {quoting.literal(v)}' for k, v in value.items())})"
    return quoting.literal(value) if kind == "text" else str(value).lower()
