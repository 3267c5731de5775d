"""Who can read a table, as text, JSON, rows and blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from explorer.render.blocks import Block, FoldedBlocks, Notice, Rows, Statement, Text
from explorer.render.text import clean
from explorer.spec.readers.reader_support import (
    ReaderAnswer,
    ReaderVerdict,
    Support,
    TableReaders,
    Upgrade,
    join_names,
    reason,
)
from explorer.spec.readers.table_features import TableFeature

ANSWERS: Mapping[ReaderAnswer, str] = {"yes": "yes", "no": "no", "wrong": "wrong values", "unknown": "unknown"}
GROUPS: Mapping[ReaderAnswer, str] = {
    "yes": "Can read it", "no": "Cannot read it", "wrong": "Show wrong values", "unknown": "Unknown",
}  # fmt: skip


def render_readers(found: TableReaders) -> Iterator[str]:
    """Return the answer as lines of text."""
    yield clean(found.words)
    yield from map(clean, found.notes)
    yield ""
    for title, some in _by_kind(found.features):
        yield f"{title}:"
        yield from (f"  {clean(feature_words(one))}" for one in some)
    yield from _groups(found.verdicts)
    yield ""
    yield f"As of {found.as_of}. Tried: by us, on a small table of each feature. --output json has every cell."
    yield "Data files were not opened: icedive doctor --deep TABLE finds what is in them."
    if found.upgrade:
        yield from _upgrade_lines(found.upgrade)


def _by_kind(features: Sequence[TableFeature]) -> Iterator[tuple[str, list[TableFeature]]]:
    """Faults apart from what the table uses."""
    faults = [one for one in features if one.spark is not None]
    yield from [("The doctor finds (icedive doctor has the remedies)", faults)] if faults else []
    yield "The table uses", [one for one in features if one.spark is None]


def feature_words(feature: TableFeature) -> str:
    """Say that a table uses a feature, and where."""
    return f"{'' if feature.is_certain else 'maybe '}{feature.title}: {feature.where}"


def _groups(verdicts: Sequence[ReaderVerdict]) -> Iterator[str]:
    """Readers by what they can, each with its reasons and their sources."""
    for answer, title in GROUPS.items():
        if some := [one for one in verdicts if one.answer == answer]:
            yield ""
            yield f"{title}:"
            yield from (f"  {clean(line)}" for one in some for line in verdict_lines(one))


def verdict_lines(verdict: ReaderVerdict) -> list[str]:
    """Say why a reader can or cannot read a table, with the sources."""
    name = verdict.reader.title
    if verdict.answer == "yes":
        limits = [f"{feature.title}: {known.words}" for feature, known in verdict.cells if known.words]
        return [f"{name} ({verdict.known_from}{''.join(f'; {one}' for one in limits)})"]
    same: dict[tuple[str, str], list[str]] = {}
    for feature, known in verdict.cells:
        if known.reads in ("no", "wrong"):
            title = feature.title if feature.is_certain else f"{feature.title}, if files have it"
            same.setdefault((known.words, source_words(known)), []).append(title)
    lines = [f"{name}, {join_names(titles)}: {words} ({source})" for (words, source), titles in same.items()]
    nothing = [feature.title for feature, known in verdict.cells if known.reads == "unknown"]
    if nothing and verdict.answer == "unknown":
        reads_rest = all(known.reads in ("yes", "unknown") for _, known in verdict.cells)
        rest = f"; reads the rest ({verdict.known_from})" if reads_rest and len(nothing) < len(verdict.cells) else ""
        unknown = [(feature, known) for feature, known in verdict.cells if known.reads == "unknown" and known.words]
        words = [f"; {feature.title}: {known.words}" for feature, known in unknown]
        lines.append(f"{name}: not known for {join_names(nothing)}{rest}{''.join(words)}")
    return lines


def _upgrade_lines(upgrade: Upgrade) -> Iterator[str]:
    yield ""
    yield f"After an upgrade to format version {upgrade.version}:"
    yield f"  {clean(upgrade_words(upgrade))}"
    yield from (f"  {clean(line)}" for line in upgrade_reasons(upgrade))
    yield ""
    yield "What changes:"
    yield from (f"  {clean(change)}" for change in upgrade.changes)
    yield from (f"  new: {clean(feature_words(one))}" for one in upgrade.new_features)
    if upgrade.statement:
        yield f"  {clean(upgrade.statement)}"


def upgrade_words(upgrade: Upgrade) -> str:
    """Say whom an upgrade locks out."""
    lost, refusing, doubtful = (
        join_names(reader.title for reader in some) for some in (upgrade.locked_out, upgrade.refusing, upgrade.doubtful)
    )
    said = [
        f"The upgrade locks out {lost}, which can read the table now."
        if lost
        else "Every reader that is known to read the table now is known to read it then."
        if not doubtful
        else "No reader that can read the table now is known to be locked out."
    ]
    if refusing:
        said.append(f"{refusing} cannot read it then; whether it can read the table now is unknown.")
    if doubtful:
        said.append(f"{doubtful} can read the table now; whether it can read it then is unknown.")
    return " ".join(said)


def upgrade_reasons(upgrade: Upgrade) -> list[str]:
    """Say why, of each reader for which something changes."""
    changed = {*upgrade.locked_out, *upgrade.refusing, *upgrade.doubtful}
    return [line for one in upgrade.verdicts if one.reader in changed for line in verdict_lines(one)]


def source_words(known: Support) -> str:
    """Where a cell is known from."""
    return f"tried on {known.date}" if known.is_tried else ", ".join(filter(None, (known.source, known.date)))


def feature_rows(features: Sequence[TableFeature]) -> list[dict[str, Any]]:
    """Return a row for each feature."""
    return [
        {"feature": one.title, "where": one.where, "certain": "yes" if one.is_certain else "maybe"} for one in features
    ]


def verdict_rows(verdicts: Sequence[ReaderVerdict]) -> list[dict[str, Any]]:
    """Return a row for each reader."""
    return [
        {
            "reader": one.reader.title, "can read": ANSWERS[one.answer], "because of": reason(one),
            "known from": one.known_from,
        }
        for one in verdicts
    ]  # fmt: skip


def cell_rows(verdicts: Sequence[ReaderVerdict]) -> list[dict[str, Any]]:
    """Return a row for each reader and feature, with its source."""
    return [
        {
            "reader": verdict.reader.name, "version": verdict.reader.version, "feature": feature.title,
            "reads": known.reads, "words": known.words, "source": known.source, "date": known.date,
        }
        for verdict in verdicts
        for feature, known in verdict.cells
    ]  # fmt: skip


def matrix_rows(verdicts: Sequence[ReaderVerdict]) -> list[dict[str, Any]]:
    """Return a row for each reader, with a column for each feature that the table uses."""
    return [
        {"reader": one.reader.title, **{feature.title: ANSWERS[known.reads] for feature, known in one.cells}}
        for one in verdicts
    ]


def readers_json(found: TableReaders) -> dict[str, Any]:
    """Return the answer as JSON data."""
    own: dict[str, Any] = {
        "words": found.words, "format_version": found.format_version, "snapshot": found.snapshot or None,
        "as_of": found.as_of, "features": _features(found.features), "readers": _verdicts(found.verdicts),
        "cells": cell_rows(found.verdicts), "notes": list(found.notes), "upgrade": None,
    }  # fmt: skip
    if upgrade := found.upgrade:
        own["upgrade"] = {
            "version": upgrade.version, "words": upgrade_words(upgrade), "changes": list(upgrade.changes),
            "statement": upgrade.statement, "features": _features(upgrade.features),
            "readers": _verdicts(upgrade.verdicts),
            **{
                name: [reader.title for reader in some]
                for name, some in (
                    ("locked_out", upgrade.locked_out), ("refusing", upgrade.refusing), ("doubtful", upgrade.doubtful)
                )
            },
        }  # fmt: skip
    return own


def _features(features: Sequence[TableFeature]) -> list[dict[str, Any]]:
    return [
        {"feature": one.feature, "title": one.title, "where": one.where, "certain": one.is_certain} for one in features
    ]


def _verdicts(verdicts: Sequence[ReaderVerdict]) -> list[dict[str, Any]]:
    return [
        {
            "reader": one.reader.name, "version": one.reader.version, "answer": one.answer,
            "because": [feature.feature for feature in one.because], "known_from": one.known_from,
        }
        for one in verdicts
    ]  # fmt: skip


def readers_blocks(found: TableReaders) -> list[Block]:
    """Return the blocks of a page: the answer, the features, the readers, then what is known of each."""
    blocks: list[Block] = [Notice(clean(found.words))]
    blocks += [Notice(clean(note), "warning") for note in found.notes]
    if found.upgrade:
        blocks.append(_upgrade_block(found.upgrade))
    blocks += [Rows(feature_rows(some), title) for title, some in _by_kind(found.features)]
    blocks.append(Rows(verdict_rows(found.verdicts), f"Readers, as of {found.as_of}"))
    refusing = [one for one in found.verdicts if one.answer in ("no", "wrong")]
    if reasons := tuple(clean(line) for one in refusing for line in verdict_lines(one)):
        blocks.append(FoldedBlocks("Why not", (Text(reasons),), True))
    blocks.append(FoldedBlocks("Each reader and feature", (Rows(matrix_rows(found.verdicts)),)))
    blocks.append(FoldedBlocks("The same with words, sources and dates", (Rows(cell_rows(found.verdicts)),)))
    return blocks


def _upgrade_block(upgrade: Upgrade) -> Block:
    statement = (Statement(clean(upgrade.statement)),) if upgrade.statement else ()
    level = "warning" if upgrade.locked_out or upgrade.doubtful else "ok"
    inside: tuple[Block, ...] = (
        Notice(clean(upgrade_words(upgrade)), level),
        Text(tuple(map(clean, (*upgrade_reasons(upgrade), *upgrade.changes)))), *statement,
        Rows(feature_rows(upgrade.new_features), "Features that are new then"),
        Rows(verdict_rows(upgrade.verdicts), "Readers then"),
    )  # fmt: skip
    return FoldedBlocks(f"After an upgrade to format version {upgrade.version}", inside, True)
