"""Sort orders that go by columns that were dropped."""

from __future__ import annotations

from explorer.model.metadata import SortOrder, TableMetadata
from explorer.spec.text.names import first_of

SHOWN = 3
"""Orders, and columns of one, that are named."""


def dropped_columns(order: SortOrder, metadata: TableMetadata) -> list[str]:
    """Return the columns of a sort order that the current schema does not have, with their ids."""
    schema = metadata.schema(metadata.current_schema_id)
    if schema is None:
        return []
    gone = [i for field in order.fields for i in field.source_ids if i not in schema.by_id]
    names = {i: column.name if (column := metadata.field(i)) else "a column" for i in gone}
    return [f"{name} (field {i})" for i, name in names.items()]


def words_for_writers(metadata: TableMetadata) -> str:
    """Say which Iceberg cannot write a table whose older sort orders go by dropped columns; empty without any."""
    orders = [
        f"sort order {order.order_id} goes by {first_of(gone, SHOWN)}"
        for order in metadata.sort_orders
        if order.order_id != metadata.default_sort_order_id and (gone := dropped_columns(order, metadata))
    ]
    if not orders:
        return ""
    told = first_of(orders, SHOWN)
    return (
        f"{told[0].upper()}{told[1:]}, which the schema has no more. The spec allows that of an order that is not the "
        "table's now, and nothing in the table has to be mended. But writes of Spark with Iceberg 1.11.0, compaction "
        "among them, fail with 'Cannot find source column for sort field'. Iceberg 1.10.1 and 1.12 write the table "
        "(apache/iceberg#16519). Iceberg up to 1.1.0 cannot load it, with the same words (apache/iceberg#8614)."
    )
