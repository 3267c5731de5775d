"""Where a table's bytes are, as text, JSON, a picture and blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from explorer.render.blocks import Block, FoldedBlocks, Notice, Picture, Rows, Statement, Text
from explorer.render.pictures import WIDTH, svg_head, text, title_tag
from explorer.render.text import clean, render_table
from explorer.spec.layout.storage_ledger import LedgerGroup, StorageLedger, sentence
from explorer.spec.layout.stored_files import GROUPS, StorageGroup
from explorer.spec.text.names import shorten
from explorer.spec.text.units import count, human_bytes

COLOURS: Mapping[StorageGroup, str] = {
    "current": "#1565c0", "kept": "#6b4fa0", "expired": "#b35900", "metadata": "#2e7d32", "unused": "#b3261e",
    "young": "#8d6e63", "hidden": "#6b7280", "others": "#00838f",
}  # fmt: skip
SHOWN = 20
"""Snapshots, partitions or months that the text has."""
DRAWN = 24
"""Of them the picture draws."""
LEFT, BAR, STEP = 150, 26, 34
"""Pixels: where bars begin, how high they are, and from one to the next."""


def render_ledger(ledger: StorageLedger) -> Iterator[str]:
    """Return the ledger as lines of text."""
    yield clean(sentence(ledger))
    yield from (f"Not all could be told. {clean(note)}" for note in ledger.notes)
    yield ""
    yield render_table(list(_text_rows(ledger))).rstrip("\n")
    for group in ledger.groups:
        if group.cleanup.words or group.cleanup.statement:
            yield ""
            yield f"{group.title}:"
            yield from (f"  {clean(words)}" for words in group.cleanup.words)
            if group.cleanup.statement:
                yield f"  frees {human_bytes(group.cleanup.frees)}: {clean(group.cleanup.statement)}"
    for title, rows in _details(ledger):
        yield ""
        yield f"{title}:"
        yield render_table([_in_words(row) for row in rows[:SHOWN]]).rstrip("\n")
        if len(rows) > SHOWN:
            yield f"… {len(rows) - SHOWN:,} more: --output json has all"


def _text_rows(ledger: StorageLedger) -> Iterator[dict[str, Any]]:
    for group in ledger.groups:
        yield _amounts(ledger, group.title, group.files, group.bytes, group.group != "missing")
        for line in group.lines if len(group.lines) > 1 or group.group != "missing" else ():
            yield _amounts(ledger, f"  {line.kind}", line.files, line.bytes, group.group != "missing")
    yield _amounts(ledger, "All", ledger.files, ledger.bytes, True)


def _amounts(ledger: StorageLedger, what: str, files: int, size: int, is_there: bool) -> dict[str, Any]:
    share = f"{size / ledger.bytes:.1%}" if ledger.bytes and is_there else ""
    row = {"what": what, "files": f"{files:,}", "bytes": human_bytes(size), "share": share}
    cost = ledger.cost(size) if is_there else None
    return row if ledger.price is None else {**row, "a month": "" if cost is None else f"{cost:,.2f}"}


def _details(ledger: StorageLedger) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    if ledger.snapshots:
        yield "What goes once an older snapshot, and all that need the same files, are expired", ledger.snapshots
    if ledger.origins:
        maybe = " (what could not be read may need some of them)" if ledger.notes else ""
        yield f"Where unused files probably come from{maybe}", ledger.origins
    if ledger.parts:
        yield f"By {next(iter(ledger.parts[0]))}", ledger.parts


def _in_words(row: Mapping[str, Any]) -> dict[str, Any]:
    sizes = {name: human_bytes(value) for name, value in row.items() if name == "bytes" or name in GROUPS}
    first = next(iter(row))
    return {**row, **sizes, first: "(none)" if row[first] is None else row[first]}


def ledger_rows(ledger: StorageLedger) -> list[dict[str, Any]]:
    """Return a row for each group and kind of files."""
    return [
        {
            "group": line.group, "title": group.title, "kind": line.kind, "files": line.files, "bytes": line.bytes,
            "share": round(line.bytes / ledger.bytes, 4) if ledger.bytes and line.group != "missing" else None,
            **({} if ledger.price is None else {"cost": ledger.cost(line.bytes)}),
        }
        for group in ledger.groups
        for line in group.lines
    ]  # fmt: skip


def ledger_json(ledger: StorageLedger) -> dict[str, Any]:
    """Return the ledger as JSON data."""
    return {
        "words": sentence(ledger), "folders": list(ledger.folders), "files": ledger.files, "bytes": ledger.bytes,
        "elsewhere_files": ledger.elsewhere[0], "elsewhere_bytes": ledger.elsewhere[1],
        **({} if ledger.price is None else {"price": ledger.price, "cost": ledger.cost(ledger.bytes)}),
        "groups": [
            {
                "group": group.group, "title": group.title, "files": group.files, "bytes": group.bytes,
                "statement": group.cleanup.statement, "frees": group.cleanup.frees, "words": list(group.cleanup.words),
            }
            for group in ledger.groups
        ],
        "lines": ledger_rows(ledger), "snapshots": [dict(row) for row in ledger.snapshots],
        "origins": [dict(row) for row in ledger.origins], "parts": [dict(row) for row in ledger.parts],
        "notes": list(ledger.notes),
    }  # fmt: skip


def ledger_svg(ledger: StorageLedger) -> str:
    """Draw all bytes as a bar by group; below it the largest partitions, or the newest months."""
    whole = {group.group: group.bytes for group in ledger.stored}
    bars: list[tuple[str, Mapping[StorageGroup, int], float]] = [("All", whole, 1.0)]
    parts = ledger.parts if not ledger.parts or "month" not in ledger.parts[0] else ledger.parts[::-1]
    most = max((part["bytes"] for part in parts[:DRAWN]), default=1) or 1
    for part in parts[:DRAWN]:
        label = next(iter(part.values()))
        by_group = {name: part[name] for name in GROUPS if part.get(name)}
        bars.append(("(none)" if label is None else str(label), by_group, part["bytes"] / most))
    there = [name for name in COLOURS if whole.get(name)]
    top = 26
    height = top + STEP * len(bars) + 22 * len(there) + 12
    title = f"Where {human_bytes(ledger.bytes)} are"
    out = [svg_head(height, title), text(0, 14, title, 'font-weight="600"')]
    for at, (label, sizes, width) in enumerate(bars):
        out += _bar(top + STEP * at, label, sizes, (WIDTH - LEFT - 90) * width)
    below = top + STEP * len(bars) + 8
    for at, name in enumerate(there):
        y = below + 22 * at
        out.append(f'<rect x="{LEFT}" y="{y}" width="14" height="14" rx="2" fill="{COLOURS[name]}"/>')
        out.append(text(LEFT + 22, y + 11, f"{ledger.of(name).title}: {human_bytes(whole[name])}", 'font-size="12"'))
    return "\n".join([*out, "</svg>"])


def _bar(y: float, label: str, sizes: Mapping[StorageGroup, int], width: float) -> Iterator[str]:
    total = sum(sizes.values())
    yield text(LEFT - 8, y + BAR * 0.65, shorten(label, 22), 'text-anchor="end" font-size="12"')
    x = float(LEFT)
    for name, colour in COLOURS.items():
        size = sizes.get(name, 0)
        wide = width * size / total if total else 0.0
        if size:
            said = title_tag(f"{label}, {GROUPS[name]}: {human_bytes(size)}")
            shape = f'x="{x:.1f}" y="{y:.1f}" width="{max(wide, 0.5):.1f}" height="{BAR}"'
            yield f'<rect {shape} fill="{colour}">{said}</rect>'
        x += wide
    yield text(x + 8, y + BAR * 0.65, human_bytes(total), 'font-size="12"')


def ledger_blocks(ledger: StorageLedger) -> list[Block]:
    """Return the blocks of a page: the answer, the picture, a group for each statement, then the rows."""
    blocks: list[Block] = [Notice(clean(sentence(ledger)))]
    blocks += [Notice(f"Not all could be told. {clean(note)}", "warning") for note in ledger.notes]
    blocks.append(Picture(ledger_svg(ledger)))
    blocks += [_group_block(group) for group in ledger.groups if group.cleanup.words or group.cleanup.statement]
    blocks.append(Rows(ledger_rows(ledger), "Files by group and kind"))
    blocks += [Rows(rows, title) for title, rows in _details(ledger)]
    return blocks


def _group_block(group: LedgerGroup) -> Block:
    cleanup = group.cleanup
    frees = f"frees {human_bytes(cleanup.frees)}" if cleanup.statement else human_bytes(group.bytes)
    statement = (Statement(clean(cleanup.statement)),) if cleanup.statement else ()
    words = Text(tuple(map(clean, cleanup.words)))
    return FoldedBlocks(group.title, (words, *statement), bool(statement), f"{count(group.files, 'file')}, {frees}")
