"""Tables of public reports of the thirteenth round: tests/spark/test_thirteenth_reports.py and tests/unit/
test_thirteenth_reports.py ask of them."""

from __future__ import annotations

from pathlib import Path

from tests.cases.mini import Table


def upsert_beside(folder: Path) -> Path:
    """apache/iceberg-python#3758: an upsert rewrote a file without the row that it replaces, and its commit did not
    find the file that it was to remove, though the summary counts it."""
    table = Table(folder, [(1, "k", "string"), (2, "v", "int")], location=str(folder))
    table.append(table.parquet("1.parquet", {"k": ["a", "b"], "v": [1, 1]}))
    summary = {"deleted-data-files": "1", "deleted-records": "2", "added-data-files": "1", "added-records": "1"}
    before = table.lists[table.md["current-snapshot-id"]]
    rest = table.manifest("rest.avro", [(1, table.parquet("rest.parquet", {"k": ["b"], "v": [1]}))])
    counted = {"total-data-files": "1", "total-records": "1"}
    table.snapshot("overwrite", [*before, rest], summary | counted)
    new = table.manifest("new.avro", [(1, table.parquet("new.parquet", {"k": ["a"], "v": [2]}))])
    counted = {"total-data-files": "2", "total-records": "2"}
    table.snapshot("append", [*before, rest, new], {"added-data-files": "1", "added-records": "1"} | counted)
    return folder


def upsert_under_a_newer_spec(folder: Path) -> Path:
    """apache/iceberg#8979: a table was partitioned later, and equality deletes do not reach its older rows."""
    table = Table(folder, [(1, "id", "long"), (2, "region", "string"), (3, "v", "string")], location=str(folder))
    table.append(table.parquet("old.parquet", {"id": [1, 2], "region": ["eu", "us"], "v": ["old", "old"]}))
    table.set_spec([(2, 1000, "region", "identity")])
    of_eu = {"region": "eu"}
    new = table.parquet("new.parquet", {"id": [1], "region": ["eu"], "v": ["new"]}, partition=of_eu)
    table.delta([new], [table.equality_delete("e.parquet", {"id": [1]}, partition=of_eu)])
    return folder


def without_parents(folder: Path) -> Path:
    """apache/iceberg-python#3068: a writer recorded no parents, and kept all files."""
    table = Table(folder, [(1, "id", "long")], location=str(folder))
    for number in range(1, 4):
        table.append(table.parquet(f"{number}.parquet", {"id": [number]}), parent=None)
    return folder


def null_default(folder: Path, default: str, later: bool = False) -> Path:
    """apache/iceberg#15932: a default that is null in JSON, in the current schema or in one before it."""
    table = Table(folder, [(1, "id", "long")], location=str(folder), version=3)
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.set_schema([(1, "id", "long"), (2, "x", "int")])
    table.md["schemas"][-1]["fields"][1][default] = None
    table.save()
    if later:
        table.set_schema([(1, "id", "long"), (2, "x", "int"), (3, "y", "int")])
        table.save()
    return folder
