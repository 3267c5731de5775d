"""Equality deletes whose rows, by their own bounds, are of another partition than the one that they are recorded in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.model.metadata import PartitionField, TableMetadata
from explorer.spec.deletes.deletes import nulls_of
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.values.transforms import from_bytes, transform_function
from explorer.spec.values.values import comparable_bound, internal_value, partition_value, primitive_type, source_type

ORDERED = ("identity", "truncate", "year", "month", "day", "hour")
"""Transforms that keep order."""


def contradicted_fields(metadata: TableMetadata, delete: LiveFile) -> list[tuple[PartitionField, str]]:
    """Find the partition fields of an equality delete that its own bounds contradict.

    Args:
        metadata: The table's.
        delete: The delete, with its bounds.

    Returns:
        Each such field of a column that the delete goes by, and both values in words.
    """
    spec = metadata.spec(delete.spec_id)
    if delete.kind != "equality_deletes" or spec is None:
        return []
    contradictions = [(part, _contradiction(metadata, delete, part)) for part in spec.fields]
    return [(part, words) for part, words in contradictions if words]


def _contradiction(metadata: TableMetadata, delete: LiveFile, part: PartitionField) -> str:
    """Both values, where the partition's lies outside of the bounds; else empty."""
    own = delete.partition.get(str(part.field_id))
    if len(part.source_ids) != 1 or own is None or not part.transform.startswith(ORDERED):
        return ""
    source, kind = part.source_ids[0], source_type(metadata, part.source_ids)
    primitive = primitive_type(kind)
    if source not in delete.equality_ids or primitive is None or str(kind) in ("uuid", "float", "double"):
        return ""
    here = f"its partition {part.name}={partition_value(own, part.transform, kind)}"
    if nulls_of(delete.nulls.get(source), delete.values.get(source)) == "all":
        return f"its {part.name} is null, and {here}"
    try:
        apply = transform_function(part.transform, primitive)
        value = _comparable(internal_value(own))
        ends = [_end(bound, kind, apply, primitive) for bound in (delete.lower.get(source), delete.upper.get(source))]
        outside = (ends[0] is not None and value < ends[0][0]) or (ends[1] is not None and value > ends[1][0])
    except Exception:  # a transform that is not known, bounds that are no values of the type
        return ""
    if not outside:
        return ""
    shown = dict.fromkeys(str(partition_value(end[1], part.transform, kind)) for end in ends if end is not None)
    made = "" if part.transform == "identity" else f" by {part.transform}"
    return f"its {part.name} is {' to '.join(shown)}{made}, and {here}"


def _end(bound: bytes | None, kind: Any, apply: Callable[[Any], Any], primitive: Any) -> tuple[Any, Any] | None:
    """What a transform makes of a bound, to be compared and as it is; None where there is none."""
    if bound is None or comparable_bound(bound, kind) is None:
        return None
    result = apply(internal_value(from_bytes(primitive, bound)))
    return None if result is None else (_comparable(internal_value(result)), result)


def _comparable(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value
