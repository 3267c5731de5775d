"""Fields of partition specs as the doctor's rules need them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PartField:
    """A field of a partition spec, with what its values come from and are; None where nobody knows."""

    field_id: int
    name: str
    transform: str
    source_id: int | None
    source: str | None
    result: str | None
