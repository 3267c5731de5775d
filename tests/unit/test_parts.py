"""A long run is in parts that together have each test once."""

from __future__ import annotations

import pytest

from tests.support.parts import part_of

TESTS = [f"test_{letter}" for letter in "gacfbed"]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 20])
def test_parts_together_have_each_test_once(count: int) -> None:
    parts = [part_of(TESTS, f"{part}/{count}") for part in range(1, count + 1)]
    assert sorted(name for part in parts for name in part) == sorted(TESTS)
    assert part_of(TESTS, "") == sorted(TESTS)
    assert [part_of(list(reversed(TESTS)), f"{part}/{count}") for part in range(1, count + 1)] == parts


@pytest.mark.parametrize("part", ["0/3", "4/3", "1", "1/0", "x/y", "1/2/3", "-1/3"])
def test_there_is_no_such_part(part: str) -> None:
    with pytest.raises(ValueError, match="say which part of how many"):
        part_of(TESTS, part)
