"""The statement that ends deletes of a commit's own rows where the table's identifier fields cause them."""

from __future__ import annotations

from explorer.queries.row_history import RowHistory
from explorer.reports.maintenance.procedure_calls import is_printable, table_in_sql
from explorer.spark_engine.sql_guard import quoting
from explorer.spec.deletes.own_commit import identifier_names
from explorer.table import Table


def identifier_statement(table: Table, rows: RowHistory, snapshot_id: int) -> list[str]:
    """Say how the identifier fields are dropped, where a snapshot has rows that were added and hidden at once.

    Args:
        table: The table.
        rows: The history of some of its rows.
        snapshot_id: The snapshot.

    Returns:
        A line with the statement for Spark; nothing where no such row is there, or the table has no such fields.
    """
    names = identifier_names(table.metadata.schema(table.metadata.current_schema_id))
    if not names or not rows.by_snapshot[snapshot_id].hidden_at_once:
        return []
    fields = ", ".join(quoting.identifier(name.split(".")) for name in names)
    statement = f"ALTER TABLE {table_in_sql(table)} DROP IDENTIFIER FIELDS {fields}"
    return [f"To drop the identifier fields: {statement}"] if is_printable(table, statement) else []
