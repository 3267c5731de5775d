"""A table's health as blocks: the verdict, what is beyond its threshold and what helps, then everything by section."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.render.bar_picture import bars_svg
from explorer.render.blocks import (
    Block,
    Fact,
    FactTable,
    FindingCard,
    FindingCards,
    FoldedBlocks,
    Link,
    Notice,
    Picture,
)
from explorer.render.health import amount, beyond_words, level_word, verdict
from explorer.render.text import clean
from explorer.spec.health.measures import Health, HealthSection, MeasuredValue


def health_blocks(health: Health) -> list[Block]:
    """Return the blocks of a table's health.

    Args:
        health: The health.

    Returns:
        The verdict; a finding for each measure beyond its threshold; a group for each section, open where one of its
        measures is beyond.
    """
    blocks: list[Block] = [Notice(clean(f"{health.snapshot}: {verdict(health)}"), health.worst)]
    if health.beyond:
        blocks.append(FindingCards(tuple(map(_finding, health.beyond))))
    return [*blocks, *(_group(section) for section in health.sections)]


def _finding(measured: MeasuredValue) -> FindingCard:
    about = measured.about
    why = tuple(clean(line) for line in (measured.words, about.why) if line)
    title = f"{about.title}: {beyond_words(measured)}"
    return FindingCard(measured.level, title, about.id, why, about.remedy, tuple(_previews(about.preview)))


def _previews(procedure: str) -> Iterator[Link]:
    """A link to the preview of a procedure with its options."""
    operation, *options = procedure.split(" -O ")
    if operation:
        given = {"option": dict(option.split("=") for option in options)} if options else {}
        yield Link(f"Preview {operation}", "question", "maintain preview", {"operation": operation, **given})


def _group(section: HealthSection) -> FoldedBlocks:
    facts = [
        Fact(m.about.title, amount(m.value, m.about.unit), amount(m.threshold, m.about.unit), level_word(m))
        for m in section.measures
    ]
    facts += [Fact(clean(n.name), amount(n.value, n.unit)) for n in section.numbers]
    is_beyond = any(m.level != "ok" for m in section.measures)
    return FoldedBlocks(
        section.title, (FactTable(tuple(facts)), *_pictures(section)), is_beyond, f"of {_scope(section.scope)}"
    )


def _scope(scope: str) -> str:
    """The scope of a section; a snapshot that was asked about by its name."""
    return scope if scope.startswith("snapshot-") else f"the {scope}"


def _pictures(section: HealthSection) -> Iterator[Picture]:
    bars = section.bars
    if bars is not None and bars.labels:
        unit = bars.unit
        drawn = bars_svg(
            bars.title, bars.labels, bars.series, lambda value: amount(value, unit), bars.marked, bars.mark
        )
        yield Picture(drawn)
