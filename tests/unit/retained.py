"""Metadata of tables that exist on paper only: a tree of snapshots with refs and a policy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

HOUR = 3600 * 1000


def table_metadata(
    parents: Sequence[int | None], refs: Mapping[str, Mapping[str, Any]], properties: Mapping[str, str], now: int
) -> str:
    """A metadata.json: snapshot n (1, 2...) has the parent `parents[n - 1]`; the last one is as old as `now`, each
    earlier one an hour older. What `main` points to is current."""
    snapshots = []
    for n, parent in enumerate(parents, 1):
        snapshots.append(
            {
                "snapshot-id": n,
                **({} if parent is None else {"parent-snapshot-id": parent}),
                "sequence-number": n,
                "timestamp-ms": now - (len(parents) - n) * HOUR,
                "manifest-list": f"/t/metadata/snap-{n}.avro",
                "summary": {"operation": "append"},
                "schema-id": 0,
            }
        )
    return json.dumps(
        {
            "format-version": 2,
            "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
            "location": "/t",
            "last-sequence-number": len(parents),
            "last-updated-ms": now,
            "last-column-id": 1,
            "current-schema-id": 0,
            "schemas": [
                {
                    "type": "struct",
                    "schema-id": 0,
                    "fields": [{"id": 1, "name": "id", "type": "long", "required": False}],
                }
            ],
            "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": []}],
            "last-partition-id": 999,
            "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}],
            "properties": dict(properties),
            "current-snapshot-id": refs["main"]["snapshot-id"] if "main" in refs else -1,
            "snapshots": snapshots,
            "snapshot-log": [{"timestamp-ms": now, "snapshot-id": refs["main"]["snapshot-id"]}]
            if "main" in refs
            else [],
            "refs": {name: dict(ref) for name, ref in refs.items()},
        }
    )
