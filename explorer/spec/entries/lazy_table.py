"""Tables too large to hold: made of manifests, a part of each, here or on Spark; read a part at a time, each time
anew."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

import pyarrow as pa

from explorer.model.manifest import ManifestFile
from explorer.model.problem import Problem
from explorer.spec.values.values import fields_left_out, no_rows

Change = Callable[[pa.Table], pa.Table]
MakePart = Callable[[ManifestFile, pa.Table], pa.Table]
"""Makes a part of a table of one manifest's stored entries; can be pickled."""


@dataclass(frozen=True)
class Parts:
    """A table to be made of manifests: `part` makes a part, of `schema`, of the stored entries of one (with counts and
    bounds if `metrics`). It reads nothing, and can be pickled."""

    manifests: Sequence[ManifestFile]
    metrics: bool
    part: MakePart
    schema: pa.Schema
    alike: Callable[[ManifestFile], Hashable] | None = None
    """Manifests of which it says the same may be made a part of together, as the first of them."""
    folded: bool = False
    """Whether a part is small beside its manifest, so that all of them may come from Spark at once."""

    def map(self, change: Change) -> Parts:
        """What a change of each part makes of the table; of nothing, nothing."""
        if not self.schema.names:
            return self
        return replace(self, part=partial(_apply_change, self.part, change), schema=change(no_rows(self.schema)).schema)


def _apply_change(part: MakePart, change: Change, manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    return change(part(manifest, stored))


def together(parts: Parts, stored: Iterable[tuple[ManifestFile, pa.Table]]) -> Iterator[tuple[ManifestFile, pa.Table]]:
    """Manifests and their entries, those that are alike and follow each other as one: a call for many small ones costs
    hardly more than one for one."""
    alike = parts.alike
    if alike is None:
        yield from stored
        return
    for _, group in groupby(stored, lambda pair: (alike(pair[0]), pair[1].schema)):
        held: list[tuple[ManifestFile, pa.Table]] = []
        for pair in group:
            held.append(pair)
            if sum(table.num_rows for _, table in held) >= TOGETHER:
                yield held[0][0], pa.concat_tables(table for _, table in held)
                held = []
        if held:
            yield held[0][0], pa.concat_tables(table for _, table in held)


TOGETHER = 20_000
"""Entries of which a part is made together, about."""


def omissions(manifest: ManifestFile, stored: pa.Schema, part: pa.Schema) -> list[Problem]:
    """What a part does not say of its manifest: partition fields that no other manifest of its spec has."""
    unknown = fields_left_out(stored, part)
    cause = f"partition fields {', '.join(unknown)} are in no other manifest of its spec: left out of rows"
    return [Problem(manifest.manifest_path, cause, severity="warning")] if unknown else []


@dataclass(frozen=True)
class Batches:
    """A table in parts. `schema` is that of every part; `read` begins a reading of them, in order."""

    schema: pa.Schema
    read: Callable[[], Iterator[pa.Table]]

    def map(self, change: Change) -> Batches:
        """What a change of each part makes of the table. Of a table without rows it gives the new schema."""
        return Batches(change(no_rows(self.schema)).schema, lambda: map(change, self.read()))


AT_ONCE = 200_000
"""Rows that are held before they are combined."""


def combine_rows(rows: Batches, combine: Change) -> pa.Table:
    """What `combine` makes of all rows, some at a time: it takes its own rows too."""
    held = [no_rows(rows.schema)]
    limit = AT_ONCE
    for part in rows.read():
        held.append(part)
        if sum(table.num_rows for table in held) > limit:
            held = [combine(pa.concat_tables(held))]
            limit = max(AT_ONCE, 2 * held[0].num_rows)
    return combine(pa.concat_tables(held))
