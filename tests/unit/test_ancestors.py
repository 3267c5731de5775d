"""Descent and retention of many branches, in one pass, against a walk for each."""

from __future__ import annotations

import random

from explorer.model.metadata import TableMetadata
from explorer.spec.snapshots.ancestors import Ancestors, parents_of, reachable_snapshots
from explorer.spec.snapshots.branch_retention import LISTED
from explorer.spec.snapshots.lineage import ancestry
from explorer.spec.snapshots.retention import retention
from tests.support.paper_tables import HOUR, on_paper

NOW = 1_000 * HOUR


def test_descent_is_what_a_walk_says_in_circles_too() -> None:
    draw = random.Random(1)
    for _ in range(300):
        n = draw.randrange(1, 9)
        metadata = on_paper([draw.choice([None, *range(1, n + 3)]) for _ in range(n)], {})
        ancestors, parents = Ancestors(metadata.snapshots), parents_of(metadata.snapshots)
        lines = {i: ancestry(metadata, i) for i in range(1, n + 3)}
        for one in range(1, n + 1):
            assert {other for other in range(1, n + 1) if ancestors.has(one, other)} == set(lines[one])
        assert not ancestors.has(n + 1, 1)
        heads = [draw.randrange(1, n + 3) for _ in range(3)]
        assert reachable_snapshots(parents, heads) == {i for head in heads for i in lines[head]}


def walked(metadata: TableMetadata, older_than_ms: int) -> list[list[tuple[str, str | None]]]:
    """The rules that keep each snapshot, by a walk for each branch (as Iceberg's RemoveSnapshots has it)."""
    kept: dict[int, list[tuple[str, str | None]]] = {s.snapshot_id: [] for s in metadata.snapshots}
    referenced: set[int] = set()
    for ref in metadata.refs:
        kept[ref.snapshot_id].append(("ref", ref.name))
        referenced.add(ref.snapshot_id)
        if ref.type != "branch":
            continue
        line = ancestry(metadata, ref.snapshot_id)
        referenced |= set(line)
        limit = older_than_ms if ref.max_snapshot_age_ms is None else NOW - ref.max_snapshot_age_ms
        for i, own in enumerate(line):
            time = metadata.snapshot(own).timestamp_ms  # type: ignore[union-attr]
            numbered, young = i < (ref.min_snapshots_to_keep or 0), time is None or time >= limit
            kept[own] += [("youngest", ref.name)] * numbered + [("age", ref.name)] * young
            if not numbered and not young:
                break
    for s in metadata.snapshots:
        if s.snapshot_id not in referenced and (s.timestamp_ms is None or s.timestamp_ms >= older_than_ms):
            kept[s.snapshot_id].append(("unreferenced", None))
    return [kept[s.snapshot_id] for s in metadata.snapshots]


def test_retention_is_what_a_walk_for_each_branch_says() -> None:
    draw = random.Random(2)
    for _ in range(300):
        n = draw.randrange(1, 9)
        order = draw.sample(range(1, n + 1), n)  # a snapshot's parent comes before it here, not in the file
        place = {own: i for i, own in enumerate(order)}
        parents = [draw.choice([None, *order[: place[own]]]) for own in range(1, n + 1)]
        refs = {
            name: {"snapshot-id": draw.randrange(1, n + 1), "type": draw.choice(["branch", "branch", "tag"]),
                   "min-snapshots-to-keep": draw.randrange(0, 5)}
            | ({"max-snapshot-age-ms": draw.randrange(0, 10) * HOUR} if draw.random() < 0.7 else {})
            for name in ("main", "a", "b", "c")
        }  # fmt: skip

        def without_time(data: dict[str, object], n: int = n) -> None:
            if draw.random() < 0.3:
                del data["snapshots"][draw.randrange(n)]["timestamp-ms"]  # type: ignore[index]

        metadata = on_paper(parents, refs, None, NOW, without_time)
        older = NOW - draw.randrange(0, 10) * HOUR
        found = retention(metadata, NOW, older, None)
        assert [[(k.rule, k.ref) for k in s.keepers] for s in found.snapshots] == walked(metadata, older)
        assert all(s.is_kept or s.expired_because for s in found.snapshots)


def test_many_branches_are_counted() -> None:
    branch = {"snapshot-id": 3, "type": "branch"}
    ages = [{"max-snapshot-age-ms": 0, "min-snapshots-to-keep": 2}, {"max-snapshot-age-ms": 0}]
    refs = {"main": branch} | {f"b{i}": branch | ages[i >= 50] for i in range(100)}
    found = retention(on_paper([None, 1, 2], refs, None, NOW), NOW, NOW, 1)
    first, second, third = (s.reason for s in found.snapshots)
    assert "20 more branches" not in third
    assert f"{101 - LISTED} more branches and tags point to it" in third
    assert f"{101 - LISTED} more branches keep it" in third
    assert f"{50 - LISTED} more branches keep it" in second
    assert first.startswith("expired: branch ")
    assert f"{101 - LISTED - LISTED} more branches let it go" in first
