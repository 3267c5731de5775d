"""What the doctor finds, as blocks: the verdict, then the findings, the worst first."""

from __future__ import annotations

from explorer.render.blocks import Block, FindingCard, FindingCards, Link, LinkList, Notice
from explorer.render.doctor import lines, not_looked_at, summary
from explorer.render.text import clean
from explorer.spec.doctor.findings import Finding, Report
from explorer.spec.doctor.rules import Level
from explorer.spec.text.names import base_name

SHOWN = 200
"""Findings that are shown; the rows have all."""
SNAPSHOTS = 5
"""Snapshots of one finding that are links."""


def doctor_blocks(report: Report, level: Level) -> list[Block]:
    """Return the blocks of a report.

    Args:
        report: The report.
        level: How good its news are.

    Returns:
        The verdict, the findings, and links to deeper checks.
    """
    blocks: list[Block] = [Notice(clean(summary(report)), level)]
    if report.findings:
        blocks.append(FindingCards(tuple(map(_card, report.findings[:SHOWN]))))
        if len(report.findings) > SHOWN:
            blocks.append(Notice(f"{len(report.findings) - SHOWN:,} more findings are in the rows.", "warning"))
    if not_looked_at(report):
        blocks.append(LinkList((
            Link("Check that each file exists", "question", "doctor", {"files": True}),
            Link("Read footers, deletes and data, too", "question", "doctor", {"deep": True}),
        )))  # fmt: skip
    return blocks


def _card(finding: Finding) -> FindingCard:
    said = [line for line in lines(finding) if not line.startswith("what would help: ")]
    links = [Link(f"Show {base_name(finding.file)}", "file", finding.file)] if finding.file else []
    links += [Link(f"Snapshot {one}", "snapshot", str(one)) for one in finding.snapshots[:SNAPSHOTS]]
    name = f"{finding.rule} ({finding.about.number})"
    return FindingCard(finding.severity, finding.about.title, name, tuple(said), clean(finding.remedy), tuple(links))
