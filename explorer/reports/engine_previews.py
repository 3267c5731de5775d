"""What other engines than Spark would do to a table, by statements of their own."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from explorer.queries.collection import Collection
from explorer.reports.maintenance.previews import Preview, preview
from explorer.reports.maintenance.procedure_calls import catalog_and_name
from explorer.reports.readers import find_readers
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.maintenance.engine_statements import MOST_IDS, OTHER_ENGINES, OtherEngine, engine_table_name
from explorer.spec.text.identifiers import split_identifier
from explorer.spec.text.names import first_of
from explorer.spec.text.units import count
from explorer.table import Table

METADATA_FEATURES = ("format-version-", "type-", "fault-")
"""Features that matter to an engine that reads metadata alone."""


@dataclass(frozen=True)
class EnginePreview:
    """What an engine would do for an operation.

    Attributes:
        seen: The preview of Spark's procedure with the options that do the same, with the engine's statement.
        words: How the engine differs, or why it has no statement.
        has_statement: Whether it has a statement for the operation.
        is_counted: Whether the preview counts what the engine takes; else the engine goes by rules of its own.
    """

    seen: Preview
    words: str
    has_statement: bool = True
    is_counted: bool = True


def preview_by(table: Table, seen: Preview, name: str, engine: Engine) -> EnginePreview:
    """Say what another engine would do for an operation that Spark's preview shows.

    Args:
        table: The table.
        seen: The preview of Spark's procedure with its defaults.
        name: The engine, one of OTHER_ENGINES.
        engine: What decodes manifests.
    """
    other, operation = OTHER_ENGINES[name], seen.operation
    has = other.of(operation, table.metadata, int(time.time() * 1000))
    if not has.statement:
        return EnginePreview(seen, has.words, has_statement=False)
    if has.options:
        seen = preview(table, operation, engine=engine, options=has.options)
    if operation == "rewrite-manifests":
        seen = _all_of_data(seen)
    if has.options is None:  # whether Spark would act says nothing of it
        seen = replace(seen, call=operation)
    if not seen.call:
        return EnginePreview(seen, "")
    call = _filled(table, other, has.statement, seen)
    if not call:
        why = f"It would be too long, or {other.title} would read the table's name in another way."
        return EnginePreview(seen, f"No statement is printed. {why}", has_statement=False)
    return EnginePreview(replace(seen, call=call), has.words, is_counted=has.options is not None)


def engine_refusal(table: Table, name: str, engine: Engine) -> str:
    """Say why an engine cannot maintain a table; nothing where it can, as far as is known.

    Args:
        table: The table.
        name: The engine, one of OTHER_ENGINES.
        engine: What decodes manifests.
    """
    other = OTHER_ENGINES[name]
    if not table.metadata.location.startswith(other.store):
        return f"{other.title} reads only tables in {other.store}"
    [verdict] = [one for one in find_readers(table, engine=engine).verdicts if one.reader.id == name]
    if verdict.answer not in ("no", "wrong"):
        return ""
    because = [one.feature for one in verdict.because if other.needs_data or one.feature.startswith(METADATA_FEATURES)]
    if not because:
        return ""
    return f"{other.title} cannot read the table, because of {first_of(because, 3)} (icedive readers shows who can)"


def _filled(table: Table, other: OtherEngine, statement: str, seen: Preview) -> str:
    """A statement with the table's name, or with the snapshots that expire; empty where that cannot be written."""
    if "{ids}" in statement:
        expired = [row["snapshot_id"] for row in seen.tables["snapshots"] if row["becomes"] == "expired"]
        return statement.replace("{ids}", str(expired)) if len(expired) <= MOST_IDS else ""
    if not other.has_sql:
        return statement
    _, full = catalog_and_name(table)
    in_sql = engine_table_name(split_identifier(full), is_lower=True)
    return statement.replace("{table}", in_sql) if in_sql else ""


def _all_of_data(seen: Preview) -> Preview:
    """A rewrite of all manifests of data files, whatever their spec and size; of one that is alone, none."""
    rows = [{**row, "becomes": "rewritten"} for row in seen.tables.get("manifests", ()) if row["content"] == "data"]
    if len(rows) < 2:
        return replace(seen, call="", words=(*seen.words, f"There is {count(len(rows), 'manifest')} of data files."))
    return replace(seen, call=seen.operation, tables={"manifests": Collection.of_rows(rows, "manifests")})
