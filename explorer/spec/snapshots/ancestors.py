"""Which snapshots descend from which, answered at once for each of many questions.

Walking from a snapshot to the first one takes as many steps as there are snapshots. Whoever asks for each line of a log
or for each branch would take the product of both, and a table's author chooses both numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from explorer.model.metadata import Snapshot
from explorer.progress import steps

Parents = Mapping[int, int | None]
NO_PARENTS: Parents = {}


def parents_of(snapshots: Iterable[Snapshot]) -> dict[int, int | None]:
    """Return the parent of each snapshot; None where it has expired or never was."""
    named = {s.snapshot_id: s.parent_snapshot_id for s in snapshots}
    return {own: parent if parent in named else None for own, parent in named.items()}


def with_former_parents(snapshots: Iterable[Snapshot], former: Parents) -> Parents:
    """Return the parent of each snapshot as parents_of does, with those that older metadata files have, also of
    snapshots that have expired since."""
    named = {s.snapshot_id: s.parent_snapshot_id for s in snapshots}
    named = {**former, **{own: former.get(own) if parent is None else parent for own, parent in named.items()}}
    return {own: parent if parent in named else None for own, parent in named.items()}


def reachable_snapshots(parents: Parents, heads: Iterable[int]) -> set[int]:
    """Return the snapshots that any of these heads descends from, with those heads that are there."""
    reachable: set[int] = set()
    for head in steps(heads, "branches and tags"):
        at: int | None = head
        while at is not None and at in parents and at not in reachable:
            reachable.add(at)
            at = parents[at]
    return reachable


def parents_first(parents: Parents) -> list[int]:
    """Return the snapshots whose ancestry ends, each after its parent: not those whose parents run in a circle."""
    children: dict[int | None, list[int]] = {}
    for own, parent in parents.items():
        children.setdefault(parent, []).append(own)
    order: list[int] = []
    todo = list(children.get(None, ()))
    while todo:
        own = todo.pop()
        order.append(own)
        todo += children.get(own, ())
    return order


class Ancestors:
    """Answers whether one snapshot is another, or descends from it.

    Each snapshot gets the interval in which the descendants come when all are visited depth first. Parents may run in
    a circle, which only a damaged table has: there each descends from each. `former` are parents by older metadata
    files."""

    def __init__(self, snapshots: Sequence[Snapshot], former: Parents = NO_PARENTS) -> None:
        parents = with_former_parents(snapshots, former)
        self._circle = _circles(parents)
        children: dict[int | None, list[int]] = {}
        for own, parent in parents.items():
            children.setdefault(None if own in self._circle else parent, []).append(own)
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._root: dict[int, int] = {}
        for root in steps(children.get(None, ()), "snapshots"):
            self._visit(root, children)

    def _visit(self, root: int, children: Mapping[int | None, Sequence[int]]) -> None:
        todo = [(root, False)]
        while todo:
            own, done = todo.pop()
            if done:
                self._last[own] = len(self._first)
                continue
            self._first[own] = len(self._first)
            self._root[own] = root
            todo.append((own, True))
            todo += [(child, False) for child in children.get(own, ())]

    def has(self, snapshot: int, ancestor: int) -> bool:
        """Return whether `ancestor` is the snapshot itself or one that it descends from; both must be there."""
        if snapshot not in self._first or ancestor not in self._first:
            return False
        if ancestor in self._circle:
            return self._circle.get(self._root[snapshot]) == self._circle[ancestor]
        return self._first[ancestor] <= self._first[snapshot] < self._last[ancestor]


def _circles(parents: Parents) -> dict[int, int]:
    """Return the snapshots whose parents run in a circle, each with the one at which its circle is known."""
    circles: dict[int, int] = {}
    settled: set[int] = set()
    for start in parents:
        walk: dict[int, None] = {}
        at: int | None = start
        while at is not None and at not in settled and at not in walk:
            walk[at] = None
            at = parents[at]
        while at in walk and at not in circles and at is not None:
            circles[at] = start
            at = parents[at]
        settled.update(walk)
    return circles
