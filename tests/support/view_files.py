"""Metadata of views, for tests."""

from __future__ import annotations

from typing import Any


def version(own_id: int, sql: str = "SELECT id FROM fruits", **others: Any) -> dict[str, Any]:
    """A version with SQL of Spark."""
    return {
        "version-id": own_id, "timestamp-ms": 1_795_953_600_000 + own_id, "schema-id": min(own_id, 2),
        "summary": {"engine-name": "spark", "engine-version": "4.1.0"}, "default-namespace": ["db"],
        "representations": [{"type": "sql", "dialect": "spark", "sql": sql}], **others,
    }  # fmt: skip


def column(own_id: int, name: str, kind: str = "long") -> dict[str, Any]:
    return {"id": own_id, "name": name, "required": False, "type": kind}


def sound() -> dict[str, Any]:
    """A view of three versions without a fault."""
    return {
        "view-uuid": "fa6506c3-7681-40c8-86dc-e36561f83385", "format-version": 1, "location": "s3://b/db/top",
        "current-version-id": 3,
        "schemas": [
            {"schema-id": 1, "type": "struct", "fields": [column(1, "id")]},
            {"schema-id": 2, "type": "struct", "fields": [column(1, "id", "string"), column(2, "n")]},
        ],
        "versions": [
            version(1), version(2, "SELECT id,\n  count(*) AS n\nFROM fruits"),
            version(3, "SELECT id,\n  count(*) AS n\nFROM fruits\nGROUP BY id", **{"default-catalog": "prod"}),
        ],
        "version-log": [{"timestamp-ms": 1_795_953_600_000 + n, "version-id": n} for n in (1, 2, 3)],
        "properties": {"comment": "the best", "password": "hush"},
    }  # fmt: skip
