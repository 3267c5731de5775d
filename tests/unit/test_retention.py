"""The spec's "Snapshot Retention Policy" on small trees; tests/spark holds the same rule against Iceberg's answer."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.model.metadata import TableMetadata
from explorer.spec.snapshots.retention import MAX_REF_AGE, MAX_SNAPSHOT_AGE, MIN_SNAPSHOTS, Retention, retention
from tests.support.paper_tables import HOUR, on_paper

NOW = 1_000 * HOUR
LINE: list[int | None] = [None, 1, 2, 3, 4]  # one hour apart; the fifth is as old as NOW


def kept(metadata: TableMetadata, *arguments: int | None) -> list[int]:
    return [s.snapshot_id for s in retention(metadata, NOW, *arguments).snapshots_to_keep]


def line(main: dict[str, Any] | None = None, properties: dict[str, str] | None = None, **refs: Any) -> TableMetadata:
    return on_paper(LINE, {"main": {"snapshot-id": 5, "type": "branch"} | (main or {})} | refs, properties, NOW)


def tag(at: int, **more: Any) -> dict[str, Any]:
    return {"snapshot-id": at, "type": "tag", **more}


def branch(at: int, **more: Any) -> dict[str, Any]:
    return {"snapshot-id": at, "type": "branch", **more}


def test_without_any_policy_five_days_stay_and_the_head() -> None:
    assert kept(line()) == [1, 2, 3, 4, 5]
    assert [s.snapshot_id for s in retention(line(), NOW + 200 * HOUR).snapshots_to_keep] == [5]
    edge = 5 * 24 * HOUR
    assert [s.snapshot_id for s in retention(line(), NOW - HOUR + edge).snapshots_to_keep] == [
        4,
        5,
    ]  # "older than" is strict
    assert [s.snapshot_id for s in retention(line(), NOW - HOUR + edge + 1).snapshots_to_keep] == [5]


def test_the_table_says_its_own_age_and_number() -> None:
    assert kept(line(properties={MAX_SNAPSHOT_AGE: str(2 * HOUR)})) == [3, 4, 5]
    assert kept(line(properties={MAX_SNAPSHOT_AGE: "1", MIN_SNAPSHOTS: "4"})) == [2, 3, 4, 5]
    assert kept(line(properties={MAX_SNAPSHOT_AGE: "1", MIN_SNAPSHOTS: "0"})) == [5]  # main's head stays anyhow


def test_arguments_stand_in_for_the_table_but_not_for_a_branch() -> None:
    table = {MAX_SNAPSHOT_AGE: str(100 * HOUR), MIN_SNAPSHOTS: "4"}
    assert kept(line(properties=table), NOW, 2) == [4, 5]
    assert kept(line(properties=table), NOW, None) == [2, 3, 4, 5]
    own = {"min-snapshots-to-keep": 3}
    assert kept(line(own, table), NOW, 1) == [3, 4, 5]
    aged = {"max-snapshot-age-ms": HOUR}
    assert kept(line(aged, table), NOW - 100 * HOUR, 1) == [4, 5]


def test_a_tag_keeps_its_snapshot_and_none_before_it() -> None:
    assert kept(line(v1=tag(2)), NOW, 1) == [2, 5]
    found = retention(line(v1=tag(2)), NOW, NOW, 1)
    assert found.snapshots[1].reason == "kept: tag v1 points to it"
    assert not found.snapshots[0].is_kept
    assert "lets a descendant of it go" in found.snapshots[0].reason


def test_a_ref_goes_when_its_time_is_over_but_main_never() -> None:
    def refs(found: Retention) -> list[str]:
        return [r.ref.name for r in found.refs if r.kept]

    old = line({"max-ref-age-ms": 1}, None, a=branch(3, **{"max-ref-age-ms": 2 * HOUR}), b=branch(2), t=tag(1))
    assert refs(retention(old, NOW)) == ["main", "a", "b", "t"]
    assert refs(retention(old, NOW + 1)) == ["main", "b", "t"]
    limited = line({}, {MAX_REF_AGE: str(3 * HOUR)}, a=branch(1, **{"max-ref-age-ms": 9 * HOUR}), b=branch(2), t=tag(1))
    found = retention(limited, NOW)
    assert refs(found) == ["main", "a", "b"]
    assert "its max-ref-age-ms is over" in found.refs[3].reason


def test_snapshots_that_no_ref_leads_to_stay_while_they_are_young() -> None:
    forked: list[int | None] = [None, 1, 1, 3]  # 2 is a staged snapshot, or of a branch that is gone
    fork = on_paper(forked, {"main": branch(4)}, None, NOW)
    assert kept(fork, NOW - 2 * HOUR, 1) == [2, 3, 4]
    assert kept(fork, NOW - 2 * HOUR + 1, 1) == [3, 4]
    found = retention(fork, NOW, NOW - 2 * HOUR, 1)
    assert [k.rule for k in found.snapshots[1].keepers] == ["unreferenced"]
    # so does what only a tag's snapshot descends from
    assert kept(on_paper([None, 1, None], {"main": branch(3), "t": tag(2)}, None, NOW), NOW - 2 * HOUR, 1) == [1, 2, 3]


def test_what_a_branch_keeps_ends_with_the_first_that_goes() -> None:
    def swapped(data: dict[str, Any]) -> None:  # the oldest was written by a clock that ran ahead
        data["snapshots"][0]["timestamp-ms"] = NOW + HOUR

    metadata = on_paper(LINE, None, None, NOW, swapped)
    assert kept(metadata, NOW - HOUR, 1) == [4, 5]
    assert kept(metadata, NOW - HOUR, 4) == [1, 2, 3, 4, 5]


def test_every_rule_that_keeps_a_snapshot_is_told() -> None:
    found = retention(line({"min-snapshots-to-keep": 2}, None, v=tag(5)), NOW, NOW - HOUR)
    assert [[(k.rule, k.ref) for k in s.keepers] for s in found.snapshots] == [
        [],
        [],
        [],
        [("youngest", "main"), ("age", "main")],
        [("ref", "main"), ("youngest", "main"), ("age", "main"), ("ref", "v")],
    ]
    assert "not among its 2 youngest snapshots" in found.snapshots[2].reason
    assert [s.snapshot_id for s in found.snapshots_to_expire] == [1, 2, 3]


def test_what_is_in_doubt_stays() -> None:
    def timeless(data: dict[str, Any]) -> None:
        del data["snapshots"][3]["timestamp-ms"]

    assert kept(on_paper(LINE, None, None, NOW, timeless), NOW + 1, 1) == [4, 5]


def test_a_dangling_ref_goes() -> None:
    found = retention(line(lost=branch(99)), NOW)
    assert not found.refs[1].kept
    assert "is not there" in found.refs[1].reason
    assert all(s.is_kept for s in found.snapshots)


@pytest.mark.parametrize(
    ("properties", "retain_last", "reason"),
    [
        ({"gc.enabled": "FALSE"}, 1, "gc.enabled"),
        ({MIN_SNAPSHOTS: "two"}, 1, "'two', which is no whole number"),
        ({}, 0, "at least 1"),
    ],
)
def test_refusals(properties: dict[str, str], retain_last: int, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        retention(line({}, properties), NOW, NOW, retain_last)
    assert kept(line({}, {"gc.enabled": "TRUE"}), NOW, 1) == [5]
