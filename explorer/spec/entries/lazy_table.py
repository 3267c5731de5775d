"""Tables too large to hold: made of manifests, a part of each, here or on Spark; read a part at a time, each time
anew."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TypeVar

import pyarrow as pa

from explorer.model.manifest import ManifestFile
from explorer.model.problem import Problem
from explorer.spec.entries.manifest_run import ManifestRun
from explorer.spec.values.values import fields_left_out, no_rows

T = TypeVar("T")
Change = Callable[[pa.Table], pa.Table]
MakePart = Callable[[ManifestFile, pa.Table], pa.Table]
"""Makes a part of a table of one manifest's stored entries; can be pickled."""
PartOfRun = Callable[[ManifestRun, pa.Table], pa.Table]
"""The same of several manifests whose entries follow each other."""


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
    of_run: PartOfRun | None = None
    """Makes what `part` makes of each, of several manifests in one call."""

    def map(self, change: Change) -> Parts:
        """What a change of each part makes of the table; of nothing, nothing."""
        if not self.schema.names:
            return self
        return replace(
            self,
            part=partial(_apply_change, self.part, change),
            of_run=self.of_run and partial(_apply_change, self.of_run, change),
            schema=change(no_rows(self.schema)).schema,
        )

    def make(
        self, stored: Iterable[tuple[ManifestFile, pa.Table]]
    ) -> Iterator[tuple[list[ManifestFile], pa.Schema, pa.Table]]:
        """All parts, each with the manifests that it is made of and the schema of their stored entries. Manifests that
        follow each other are made a part of together where that may be: a call for many small ones costs hardly more
        than one for one."""
        alike = self.alike or (all_alike if self.of_run else None)
        if alike is None:
            yield from (([manifest], entries.schema, self.part(manifest, entries)) for manifest, entries in stored)
            return
        for (_, schema), group in groupby(stored, lambda pair: (alike(pair[0]), pair[1].schema)):
            for some in _runs(group):
                yield [manifest for manifest, _ in some], schema, self._together(some)

    def _together(self, read: Sequence[tuple[ManifestFile, pa.Table]]) -> pa.Table:
        entries = pa.concat_tables([table for _, table in read])
        return self.of_run(ManifestRun.of(read), entries) if self.of_run else self.part(read[0][0], entries)


def _runs(read: Iterable[tuple[ManifestFile, pa.Table]]) -> Iterator[list[tuple[ManifestFile, pa.Table]]]:
    """Manifests of together TOGETHER entries, about. The first alone, and few after it: who waits for the first rows is
    not kept waiting for many."""
    held: list[tuple[ManifestFile, pa.Table]] = []
    rows, enough = 0, 1
    for pair in read:
        held.append(pair)
        rows += pair[1].num_rows
        if rows >= enough:
            yield held
            held, rows, enough = [], 0, min(TOGETHER, 4 * max(rows, enough))
    if held:
        yield held


def all_alike(_: ManifestFile) -> Hashable:
    """Say the same of all manifests: what is made of their entries does not go by the manifest."""
    return None


def _apply_change(part: Callable[[T, pa.Table], pa.Table], change: Change, of: T, stored: pa.Table) -> pa.Table:
    return change(part(of, stored))


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
