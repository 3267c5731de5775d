"""What plans, estimates, deletes and histories left unsaid, or said wrongly, on tables that are built here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases.mini import Table
from tests.unit.test_cli import run


# -- bounds that are cut, and bounds that are not ----------------------------------------------------------------------
def texts(folder: Path, values: list[list[Any]], bounds: int | None, kind: str = "string", **properties: str) -> str:
    """A table of a file for each list of texts, whose stored bounds have so many characters at most."""
    table = Table(folder, [(1, "id", "long"), (2, "k", kind)], properties=properties)
    for number, own in enumerate(values):
        file = table.parquet(f"{number}.parquet", {"id": list(range(len(own))), "k": own})
        encoded = [v.encode() if isinstance(v, str) else v for v in (min(own), max(own))]
        if bounds is not None:
            low, high = min(own)[:bounds], max(own)[:bounds]
            if isinstance(low, str):
                high = high[:-1] + chr(ord(high[-1]) + 1) if len(max(own)) > bounds else high
                encoded = [low.encode(), high.encode()]
            else:
                encoded = [low, high[:-1] + bytes([high[-1] + 1])]
        file["lower_bounds"][2], file["upper_bounds"][2] = encoded
        table.append(file)
    return str(table.folder)


MODE = "write.metadata.metrics.column.k"
ALIKE = [[f"order-of-2026-prefix-{number}"] * 2 for number in range(3)]
WIDE = [["a-text-that-is-far-too-long", "z-text-that-is-far-too-long"]] * 3


def advice(table: str, where: str) -> str:
    [line] = [line for line in run("plan", table, where).output.splitlines() if "no file is skipped by" in line]
    return line


def test_a_cut_is_blamed_where_bounds_show_it(tmp_path: Path) -> None:
    where = "k = 'order-of-2026-prefix-2'"
    cut = advice(texts(tmp_path / "cut", ALIKE, 16), where)
    assert "k: bounds keep its first 16 characters, and the filter asks for 22; where values begin alike" in cut
    assert f"{MODE} = truncate(22), and a rewrite" in cut
    whole = advice(texts(tmp_path / "whole", WIDE, None), "k = 'order-of-2026-prefix-2'")
    assert "16" not in whole
    assert "each file has bounds of it (the longest has 27 characters) that span what is asked for" in whole


def test_a_cut_is_not_blamed_where_bounds_are_apart_before_it(tmp_path: Path) -> None:
    told = advice(texts(tmp_path / "t", WIDE, 16), "k = 'order-of-2026-prefix-2'")
    assert "its bounds keep 16 characters, and these already span what is asked for: longer ones would skip no" in told
    assert "truncate(" not in told


def test_short_bounds_of_a_table_that_now_keeps_more(tmp_path: Path) -> None:
    told = advice(texts(tmp_path / "t", ALIKE, 16, **{MODE: "truncate(40)"}), "k = 'order-of-2026-prefix-2'")
    assert "bounds keep its first 16 characters, and the filter asks for 22. Writers keep 40 of them now" in told
    assert f"{MODE} = truncate(22)" not in told


def test_bytes_are_no_characters(tmp_path: Path) -> None:
    """Sixteen characters of two bytes each are a cut after sixteen."""
    alike = [["é" * 16 + f"{number}"] for number in (1, 1, 2)]
    told = advice(texts(tmp_path / "t", alike, 16), f"k = '{'é' * 16}2'")
    assert "bounds keep its first 16 characters, and the filter asks for 17" in told


@pytest.mark.parametrize(("bounds", "told"), [(None, "stored bounds have up to 22"), (16, "first 16 characters")])
def test_columns_say_how_long_stored_bounds_are(bounds: int | None, told: str, tmp_path: Path) -> None:
    table = texts(tmp_path / "t", ALIKE, bounds)
    output = run("inspect", "columns", table, "-o", "json").output
    assert told in output
    assert ("of up to 22 characters, more than the mode keeps" in output) == (bounds is None)
