"""Write a small table into the catalog `lake`, as a first thing to look at: two appends and a delete.

`docker compose up` runs it once (compose.yaml). It takes the catalog from pyiceberg's settings, and leaves a table that
is there as it is."""

from __future__ import annotations

import pyarrow as pa
from pyiceberg.catalog import load_catalog

NAME = "shop.orders"
SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("item", pa.string())])


def main() -> None:
    catalog = load_catalog("lake")
    catalog.create_namespace_if_not_exists("shop")
    if catalog.table_exists(NAME):
        print(f"{NAME} is there already")
        return
    table = catalog.create_table(NAME, SCHEMA)
    table.append(pa.table({"id": [1, 2, 3], "item": ["apple", "pear", "fig"]}, SCHEMA))
    table.append(pa.table({"id": [4], "item": ["plum"]}, SCHEMA))
    table.delete("id = 2")
    print(f"{NAME}: {len(table.snapshots())} snapshots")


if __name__ == "__main__":
    main()
