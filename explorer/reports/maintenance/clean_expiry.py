"""Trino's statement for the expiry that also drops the schemas and partition specs that no snapshot uses."""

from __future__ import annotations

from explorer.reports.maintenance.procedure_calls import catalog_and_name
from explorer.spec.maintenance.engine_statements import clean_expiry, engine_table_name
from explorer.spec.text.identifiers import split_identifier
from explorer.table import Table


def words_for_trino(table: Table) -> str:
    """Return the statement with what is to be known of it; empty where Trino reads the table's name in another way."""
    in_sql = engine_table_name(split_identifier(catalog_and_name(table)[1]), is_lower=True)
    has = clean_expiry(table.metadata)
    return f"{has.words} {has.statement.replace('{table}', in_sql)}" if in_sql else ""
