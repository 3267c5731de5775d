"""What all branches keep of the snapshots that they lead to (spec: "Snapshot Retention Policy"), in one pass.

From a branch's head back, the first snapshot that neither number nor age keeps ends what the branch keeps. Walking each
branch would take the product of branches and snapshots. Here snapshots are visited once, descendants first: each takes
over the branches that still keep its children, and lets go those that stop at it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from explorer.model.metadata import Ref, Snapshot
from explorer.progress import steps
from explorer.spec.snapshots.ancestors import Parents, parents_first

LISTED = 20
"""Branches of which it is said that they keep one snapshot, or let it go; of others, how many there are."""


@dataclass(frozen=True)
class BranchPolicy:
    """A branch that stays: it keeps its `least` youngest snapshots, and on from there all that are not older than
    `older_than_ms`."""

    ref: Ref
    least: int
    older_than_ms: int


@dataclass
class RetentionVerdict:
    """What branches say of one snapshot, each by its number: those that keep it by `number` or by `age`, those that
    `stop` at it, and those that stop `before` it. Of many the first are listed; `more_keep` and `more_stop` count the
    others."""

    number: list[int] = field(default_factory=list)
    age: list[int] = field(default_factory=list)
    stop: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    more_keep: int = 0
    more_stop: int = 0


@dataclass
class _Branches:
    """Branches on their way back: `counted` are still within their number, by the depth at which that ends, `aged` are
    beyond it, by their age; `stopped` keep nothing any more, the first of them listed."""

    counted: list[tuple[int, int]] = field(default_factory=list)
    aged: list[tuple[int, int]] = field(default_factory=list)
    stopped: list[int] = field(default_factory=list)
    stops: int = 0

    def join(self, other: _Branches) -> _Branches:
        """Return both together; the fewer go to the others."""
        few, many = sorted((self, other), key=lambda one: len(one.counted) + len(one.aged))
        for item in few.counted:
            heapq.heappush(many.counted, item)
        for item in few.aged:
            heapq.heappush(many.aged, item)
        many.stop([*few.stopped], few.stops)
        return many

    def stop(self, branches: Sequence[int], times: int) -> None:
        self.stopped = sorted([*self.stopped, *branches])[:LISTED]
        self.stops += times


def branch_verdicts(
    snapshots: Sequence[Snapshot], parents: Parents, branches: Sequence[BranchPolicy]
) -> dict[int, RetentionVerdict]:
    """Return what the branches say of each snapshot, by its id. Parents must not run in a circle."""
    by_id = {s.snapshot_id: s for s in snapshots}
    order = parents_first(parents)
    depth: dict[int | None, int] = {None: 0}
    for own in order:
        depth[own] = depth[parents[own]] + 1
    heads: dict[int, list[int]] = {}
    for number, branch in enumerate(branches):
        heads.setdefault(branch.ref.snapshot_id, []).append(number)
    on_the_way: dict[int, _Branches] = {}
    verdicts: dict[int, RetentionVerdict] = {}
    for own in steps(reversed(order), "snapshots", len(order)):
        here = on_the_way.pop(own, None) or _Branches()
        for number in heads.get(own, ()):
            heapq.heappush(here.counted, (branches[number].least - depth[own], number))
        verdicts[own] = _decide(by_id[own], depth[own], here, branches)
        parent = parents[own]
        if parent is not None:
            there = on_the_way.get(parent)
            on_the_way[parent] = here if there is None else there.join(here)
    return verdicts


def _decide(snapshot: Snapshot, depth: int, here: _Branches, branches: Sequence[BranchPolicy]) -> RetentionVerdict:
    """Decide of one snapshot; the branches that stop at it are let go."""
    time = snapshot.timestamp_ms
    while here.counted and -here.counted[0][0] >= depth:
        _, number = heapq.heappop(here.counted)
        heapq.heappush(here.aged, (-branches[number].older_than_ms, number))
    stop = []
    while here.aged and time is not None and time < -here.aged[0][0]:
        stop.append(heapq.heappop(here.aged)[1])
    keep = sorted(number for _, number in here.counted[:LISTED] + here.aged[:LISTED])[:LISTED]
    counted = {number for _, number in here.counted[:LISTED]}
    verdict = RetentionVerdict(
        number=[number for number in keep if number in counted],
        age=[number for number in keep if time is None or time >= branches[number].older_than_ms],
        stop=sorted(stop)[:LISTED],
        before=list(here.stopped),
        more_keep=len(here.counted) + len(here.aged) - len(keep),
        more_stop=len(stop) + here.stops - len(here.stopped) - min(len(stop), LISTED),
    )
    here.stop(stop, len(stop))
    return verdict
