"""Pictures stand on the page's own ground: nothing in them is for a white page only, and their text stands out by day
and night."""

from __future__ import annotations

import re

import pytest

from explorer.render.lab_runs import COLORS, race_svg, sequence_svg
from explorer.render.state_graph import WRITER_COLORS, state_svg
from explorer.render.svg_colors import SHARE
from explorer.spec.commits.lab_runs import Event, Interleavings, Lap, WriterState
from explorer.spec.commits.operations import Operation
from tests.unit.test_state_graph import OPERATIONS, outcome

LEAST = 4.5
GROUNDS = {"day": ((255, 255, 255), (0, 0, 0)), "night": ((18, 18, 18), (255, 255, 255))}
"""The page's ground and its text."""


def sequence() -> str:
    events = [
        Event(n, "A", step, ended, "words", files=("data/a.parquet",), short="why")
        for n, (step, ended) in enumerate([("load", "ok"), ("apply", "refused"), ("swap", "lost"), ("kill", "killed")])
    ]  # type: ignore[misc]
    return sequence_svg(events, [WriterState("A", Operation("append"))])


def pictures() -> dict[str, str]:
    ends = ("committed", "committed")
    orders = Interleavings(OPERATIONS, (outcome("ABAB", ends, ((1, "a", "p"),), ("AB",)),), {})
    laps = [Lap(1.0, 3, 1, 0, {"java-1": 2, "pyiceberg-1": 1})]
    return {
        "sequence": sequence(), "race": race_svg(laps, 4), "orders": state_svg(orders),
    }  # fmt: skip


@pytest.mark.parametrize("name", pictures())
def test_no_picture_has_a_ground_of_its_own(name: str) -> None:
    drawn = pictures()[name]
    assert "background" not in drawn
    shapes = re.findall(r"<(?:rect|circle|polygon|path|svg)[^>]*>", drawn)
    assert shapes
    assert not [s for s in shapes if re.search(r'fill="(#f\w\w|#f\w{5}|white)"', s)]
    on_page = [t for t in re.findall(r"<text[^>]*>", drawn) if 'fill="#fff"' not in t]  # which is on a disc
    assert all("color-mix" in t for t in on_page if 'fill="#' in t)
    assert not on_page or 'fill="currentColor"' in drawn[: drawn.index(">")]


def light(colour: tuple[float, ...]) -> float:
    parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    dark, bright = sorted([light(a), light(b)])
    return (bright + 0.05) / (dark + 0.05)


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


@pytest.mark.parametrize("time", GROUNDS)
def test_coloured_text_stands_out(time: str) -> None:
    ground, text = GROUNDS[time]
    for colour in {*COLORS.values(), *WRITER_COLORS}:
        mixed = tuple((SHARE * c + (100 - SHARE) * t) / 100 for c, t in zip(rgb(colour), text, strict=True))
        assert contrast(mixed, ground) >= LEAST, colour


def test_numbers_stand_out_on_their_discs() -> None:
    assert all(contrast(rgb(colour), (255, 255, 255)) >= LEAST for colour in COLORS.values())
