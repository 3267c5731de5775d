"""Types of columns that changed: by a promotion, or because the table was replaced (spec: "Schema Evolution")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from explorer.model.metadata import TableMetadata

_PAIRS = {frozenset(p) for p in (("int", "long"), ("float", "double"), ("date", "timestamp"), ("date", "timestamp_ns"))}
_DECIMAL = re.compile(r"decimal\(\s*\d+\s*,\s*(\d+)")


PROMOTED_DATE = (
    "a column of dates became one of timestamps: Spark 4.1 and pyiceberg 0.12 cannot read it in older files, and "
    "Iceberg Java skips these wrongly by their bounds"
)
"""What rule 63 says of files from before such a promotion, by the schemas of snapshots, by bounds or by footers."""
PROMOTED_TO = ("timestamp", "timestamp_ns")
"""Types that dates are promoted to."""


def kind_of(kind: Any) -> str:
    """The name of a type's JSON."""
    return kind if isinstance(kind, str) else str(kind.get("type"))


def is_promotion(old: Any, new: Any) -> bool:
    """Whether one is the other, or a promotion leads between them, either way: rollbacks bring old ones back."""
    one, other = kind_of(old), kind_of(new)
    if one == other or "unknown" in (one, other):
        return True
    decimals = [_DECIMAL.match(k) for k in (one, other)]
    same_scale = bool(decimals[0] and decimals[1] and decimals[0][1] == decimals[1][1])
    return frozenset((one, other)) in _PAIRS or same_scale


def rebound(meta: TableMetadata) -> frozenset[int]:
    """The field ids that stand for columns of several types, as after CREATE OR REPLACE TABLE."""
    ids: set[int] = set()
    types: dict[int, Any] = {}
    for schema in meta.schemas:
        for own, field in schema.by_id.items():
            if own in types and not is_promotion(types[own], field.type):
                ids.add(own)
            types.setdefault(own, field.type)
    return frozenset(ids)


def kinds_then(meta: TableMetadata, ids: frozenset[int]) -> dict[int, Mapping[int, str | None]]:
    """By snapshot: what of some field ids was written then; None where that is no plain type."""
    if not ids:
        return {}
    by_schema: dict[int, Mapping[int, str | None]] = {}
    for schema in meta.schemas:
        fields = {i: schema.by_id[i].type for i in ids if i in schema.by_id}
        by_schema[schema.schema_id] = {i: k if isinstance(k, str) else None for i, k in fields.items()}
    return {s.snapshot_id: by_schema.get(s.schema_id, {}) for s in meta.snapshots if s.schema_id is not None}
