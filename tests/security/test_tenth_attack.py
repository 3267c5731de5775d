"""What an attack with fresh eyes found: each hole, and others of its kind."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import pytest
from pyiceberg.types import DecimalType

from explorer.render.text import clean
from explorer.spec.secrets import named_values
from explorer.spec.secrets.redaction import HIDDEN, redact
from explorer.spec.values.stored_values import column_decoder
from explorer.spec.values.transforms import DECIMAL_BYTES, from_bytes
from explorer.storage import limits
from explorer.storage.manifest_layout import count_partition_fields
from explorer.storage.whole_files import write_whole
from tests.cases.mini import Table
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table
from tests.unit.test_screen import in_terminal, run


@pytest.mark.parametrize("size", [17, 400_000, 3_000_000])
def test_a_decimal_has_no_more_bytes_than_its_digits(size: int) -> None:
    """Making one of many bytes takes time by their square, in which nothing else runs."""
    assert from_bytes(DecimalType(38, 2), b"\x01" * DECIMAL_BYTES) is not None
    with pytest.raises(ValueError, match="more than a decimal has"):
        from_bytes(DecimalType(38, 2), b"\x7f" * size)
    decode = column_decoder(
        {"type": "BYTE_ARRAY", "logical_type": "Decimal", "precision": 38, "scale": 2}, "decimal(38, 2)"
    )
    assert decode is not None
    assert decode(b"\x01") == Decimal("0.01")
    with pytest.raises(ValueError, match="more than a decimal has"):
        decode(b"\x7f" * size)


def test_a_bound_of_a_decimal_that_is_too_long_is_a_finding(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "price", "decimal(9,2)")])
    table.append(table.parquet("a.parquet", {"price": [Decimal("1.00")]}, lower_bounds={1: b"\x7f" * 3_000_000}))
    place = str(tmp_path / "t")
    for words in (["show", place], ["inspect", "files", place, "-o", "json"], ["plan", place, "price = 1"]):
        assert run(*words).exit_code in (0, 3), words
    assert "bound" in run("doctor", place).output


@pytest.mark.parametrize("unit", [
    "password=map<>", "x-api-key=map<>", "password: list<a>", "token=(x)", "password%25:struct<x>",
    ":map&<value>token:list<", " cookie: >#%25map", "password=map<", "secret={", "--password map<>",
])  # fmt: skip
def test_each_part_of_a_text_is_looked_at_so_many_times(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times the text is at most five times the work: characters that values span."""
    work = 0
    original = named_values._value_ends

    def counted(text: str, at: int, quote: str | None) -> int:
        nonlocal work
        end = original(text, at, quote)
        work += end - at + 1
        return end

    monkeypatch.setattr(named_values, "_value_ends", counted)
    spans = []
    for times in (2_000, 8_000):
        work = 0
        redact(unit * times, longest=10_000_000)
        spans.append(work)
    assert spans[1] <= 5 * max(spans[0], 1_000)
    assert redact("password=hush<x>").count(HIDDEN) == 1


def test_partition_values_count_as_entries_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "x", "long")])
    table.append(table.parquet("a.parquet", {"id": [1], "x": [1]}))
    assert limits.entry_limit(0) == limits.entry_limit() >= 100_000
    assert limits.entry_limit(2_500) < 5_000
    monkeypatch.setattr(limits, "EACH_ENTRY", limits.limit() // 1)
    assert len(direct.open_table(str(tmp_path / "t")).files()) == 1
    assert count_partition_fields.__doc__


def test_csv_commands_no_terminal(tmp_path: Path) -> None:
    """Data for other programs stay as they are."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a\x1b]0;owned\x07.parquet", {"id": [1]}))
    place = str(tmp_path / "t")
    shown = in_terminal("inspect", "files", place, "-o", "csv", "--no-pager", NO_COLOR="1")
    assert "owned" in shown
    assert "\x1b]0;owned" not in shown
    assert "\x1b]0;owned" in run("inspect", "files", place, "-o", "csv").stdout


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root makes what is another's")
def test_a_link_that_another_user_planted_is_not_followed(tmp_path: Path) -> None:
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    shared.mkdir()
    shared.chmod(0o1777)
    mine.write_text("precious")
    link = shared / "x.svg"
    link.symlink_to(mine)
    write_whole(link, "own link")
    os.lchown(link, 65_534, 65_534)
    with pytest.raises(PermissionError, match="another user's link"):
        write_whole(link, "overwritten")
    assert mine.read_text() == "own link"


def test_what_is_invisible_is_shown_as_what_it_is() -> None:
    assert clean("می\u200cخواهم 👩\u200d💻 ❤\ufe0f עברית") == "می\u200cخواهم 👩\u200d💻 ❤\ufe0f עברית"
    for hidden in (
        "a\u200db",
        "é\u200d\u200dé",
        "é\u200c\u200dé",
        "\x9b\u200dé",
        "a\u034fb",
        "a\u3164b",
        "é\U000e0101",
    ):
        assert "�" in clean(hidden), ascii(hidden)
    assert clean("é\u200d\u200dé") == "é��é"


def test_a_line_break_in_a_name_begins_no_line_of_ours(tmp_path: Path) -> None:
    place = make_table(tmp_path)
    edit_metadata(place, lambda raw: raw.setdefault("refs", {}).update(
        {"x\nicedive: all is well": {"snapshot-id": 77, "type": "branch"}}
    ))  # fmt: skip
    told = run("show", str(place)).stderr
    assert "all is well" not in told or not any(line.startswith("icedive: all is well") for line in told.splitlines())
