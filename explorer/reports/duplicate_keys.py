"""Keys that several rows have: Spark counts them, and their history says since when and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.errors import ExplorerError, NotFoundInTable
from explorer.progress import steps
from explorer.queries.row_history import RowHistory
from explorer.queries.row_reader import pairing_keys
from explorer.spark_engine.sql_guard import quoting
from explorer.spec.rows.duplicate_keys import DuplicateKey, DuplicateKeys, duplicate_key, key_filter, remedy_of
from explorer.spec.rows.row_versions import RowPlace
from explorer.spec.snapshots.lineage import ancestry
from explorer.spec.text.names import snapshot_name
from explorer.storage.rows import read_schema
from explorer.table import Table

LONGEST_KEY = 10_000
"""Characters of a key, as a filter, up to which it is explained."""
TOO_LONG = "its values are too long to be looked for"
ROWS = "icedive_rows"
"""The name of a count of rows in a query: no table of Iceberg's has such a column by chance."""


def find_duplicate_keys(
    table: Table, keys: Sequence[str], snapshot: str | int | None, limit: int, explain: int
) -> DuplicateKeys:
    """Find the keys that several visible rows of a snapshot have.

    Args:
        table: The table.
        keys: The columns of the key; the identifier fields of the schema, if none are named.
        snapshot: The snapshot; None is the current one.
        limit: How many keys are listed, those with the most rows first.
        explain: How many of them are explained.

    Returns:
        The answer.

    Raises:
        NotFoundInTable: There is no such column or snapshot, or no key is known.
        EngineError, StatementFailed: Spark is not available, or cannot read the table.
    """
    at = table.resolve(snapshot).snapshot
    schema = read_schema(table.metadata, table.reading(snapshot).schema_id)
    columns = pairing_keys(schema, keys, False)
    if not columns:
        raise NotFoundInTable("the schema has no identifier fields: name the columns of the key (--key)")
    named = ", ".join(quoting.column(column.split(".")) for column in columns)
    grouped = f"SELECT {named}, count(*) AS {ROWS} FROM t@{at.snapshot_id} GROUP BY {named} HAVING count(*) > 1"
    [totals] = list(table.sql(f"SELECT count(*) AS n, coalesce(sum({ROWS}), 0) AS rows FROM ({grouped})", None))
    rows = table.sql(f"{grouped} ORDER BY {ROWS} DESC, {named} LIMIT {limit}", None).to_arrow() if totals["n"] else None
    counted: list[tuple[Mapping[str, Any], int]] = []
    for number in range(rows.num_rows if rows else 0):
        values = [column[number].as_py() for column in rows.columns] if rows else []
        counted.append((dict(zip(columns, values[:-1], strict=True)), values[-1]))
    name = snapshot_name(at.snapshot_id, table.metadata.ordinals)
    chosen = [(values, rows) for values, rows in counted[:explain] if len(key_filter(values)) <= LONGEST_KEY]
    told = {key_filter(one.values): one for one in explain_keys(table, chosen, columns, snapshot)}
    first = [
        told.get(key_filter(values)) or DuplicateKey(values, rows, why=TOO_LONG if number < explain else "")
        for number, (values, rows) in enumerate(counted)
    ]
    number, is_current = int(totals["n"]), at.snapshot_id == table.metadata.current_snapshot_id
    remedy = remedy_of(list(told.values()), len(told) == number, columns, named, table.metadata) if is_current else ""
    return DuplicateKeys(columns, name, number, int(totals["rows"]), tuple(first), not keys, remedy if number else "")


def explain_keys(
    table: Table, counted: Sequence[tuple[Mapping[str, Any], int]], columns: Sequence[str], snapshot: str | int | None
) -> list[DuplicateKey]:
    """Say of keys since when they have several rows, and why.

    Args:
        table: The table.
        counted: The keys, by column, and how many rows have each.
        columns: The columns of the key.
        snapshot: The snapshot; None is the current one.

    Returns:
        The keys; of what cannot be read it is said that it cannot be told.
    """
    if not counted:
        return []
    where = " OR ".join(f"({key_filter(values)})" for values, _ in counted)
    try:
        history = table.row_history(where, columns, snapshot=snapshot)
    except ExplorerError as error:
        return [DuplicateKey(values, rows, why=f"it cannot be told: {error}") for values, rows in counted]
    meta = table.metadata
    line = ancestry(meta, table.resolve(snapshot).snapshot.snapshot_id)
    shown = (entry for one in line for entry in history.by_snapshot[one].entries.values())
    partitions = {entry.data.path: entry.data.place for entry in shown}
    visible = [(one, _places_by_key(history, one)) for one in steps(line, "snapshots")]
    at_once: dict[str, set[int]] = {}
    for snapshot_id, place in history.hidden_at_once:
        at_once.setdefault(_key(history.matching.keyed.get(place.row_key, {})), set()).add(snapshot_id)
    return [
        duplicate_key(
            values, rows, [(one, places.get(_key(values), [])) for one, places in visible],
            history.events, meta, partitions, at_once.get(_key(values), set()),
        )
        for values, rows in counted
    ]  # fmt: skip


def _places_by_key(history: RowHistory, snapshot_id: int) -> dict[str, list[RowPlace]]:
    """The visible rows of a snapshot, by their keys."""
    by_key: dict[str, list[RowPlace]] = {}
    for place in sorted(history.by_snapshot[snapshot_id].visible):
        by_key.setdefault(_key(history.matching.keyed.get(place.row_key, {})), []).append(place)
    return by_key


def _key(values: Mapping[str, Any]) -> str:
    return repr(list(values.values()))
