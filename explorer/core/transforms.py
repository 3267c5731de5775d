"""Partition transforms and single-value serialization, as pyiceberg has them (spec: "Partition Transforms",
"Appendix D"). Its modules take half a second to import, so they are when the first value is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyiceberg.transforms import Transform
    from pyiceberg.types import PrimitiveType


def parse_transform(text: str) -> Transform[Any, Any]:
    """Return the transform of that name. Raises what pyiceberg raises for one that it does not know."""
    from pyiceberg.transforms import parse_transform as parsed

    return parsed(text)


def from_bytes(kind: PrimitiveType, data: bytes) -> Any:
    """Return a serialized single value as pyiceberg has it in Python. Raises what pyiceberg raises for other bytes."""
    from pyiceberg.conversions import from_bytes as decoded

    return decoded(kind, data)
