"""Previews of maintenance, and why a file is still there, as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from explorer.render.text import clean, render_table
from explorer.spec.maintenance.all_procedures import IDLE, NO_STATEMENT, ProcedureLine
from explorer.spec.maintenance.file_stay import FileStay
from explorer.spec.text.units import human_bytes

SHOWN = 20
SIZES = ("bytes", "expected_file_bytes")
PATHS = ("file", "manifest_path")


def render_preview(
    sentences: Sequence[str], call: str, tables: Mapping[str, Iterable[Mapping[str, Any]]], location: str
) -> str:
    """The sentences, the statement, and the first rows of each table; paths below the table's location."""
    parts = [*map(clean, sentences), *(["", clean(call)] if call else [])]
    for name, rows in tables.items():
        some = list(islice(rows, SHOWN + 1))
        more = f"… more {name}: --output json has all\n" if len(some) > SHOWN else ""
        shown = [display_row(row, location) for row in some[:SHOWN]]
        parts += ["", f"{name}:", render_table(shown).rstrip("\n"), *([more] if more else [])]
    return "\n".join(parts)


def plan_rows(lines: Sequence[ProcedureLine]) -> list[dict[str, Any]]:
    """A row for each procedure."""
    return [{"step": number, **asdict(line)} for number, line in enumerate(lines, 1)]


def render_plan(words: Sequence[str], lines: Sequence[ProcedureLine]) -> str:
    """How to carry all out, then each procedure with its statement and the reason for its place."""
    parts = [*words]
    telling = [line for line in lines if line.statement or line.refusal]
    for number, line in enumerate(telling, 1):
        parts += ["", f"{number}. {line.operation}: {line.does}."]
        parts += [f"   {text}" for text in (line.refusal, line.warning, line.reason, line.note, line.statement) if text]
    if idle := [line for line in lines if line.does == IDLE]:
        parts += ["", "Nothing to do:", *(f"   {line.operation}: {line.why}" for line in idle)]
    without = [line for line in lines if line.does == NO_STATEMENT]
    if without and len(without) < len(lines):
        whys = {why: [line.operation for line in without if line.why == why] for why in (one.why for one in without)}
        parts += ["", "No statement:", *(f"   {', '.join(names)}: {why}" for why, names in whys.items())]
    return "\n".join(map(clean, [*parts, "", "icedive maintain preview TABLE OPERATION shows the details of each."]))


def render_file_stay(stay: FileStay) -> str:
    """The file, what it is, the sentences and the statement."""
    size = "missing" if stay.bytes is None else human_bytes(stay.bytes)
    lines = [f"{stay.file}", f"{stay.kind}, {size}", "", *stay.words, *(["", stay.statement] if stay.statement else [])]
    return "\n".join(map(clean, lines))


def display_row(row: Mapping[str, Any], location: str) -> dict[str, Any]:
    """A row as people read it: bytes in words, paths below the table's location."""
    prefix = location.rstrip("/") + "/"
    cells = dict(row)
    for name in SIZES:
        if name in cells:
            cells[name] = "" if cells[name] is None else human_bytes(cells[name])
    for name in PATHS:
        cells |= {name: str(cells[name]).replace(prefix, "", 1)} if cells.get(name) else {}
    return cells
