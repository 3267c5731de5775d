"""A planned scan as blocks: what is read, in words and numbers; the funnel and the bounds; what else is to be known."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.render.blocks import Block, Notice, Picture, Text
from explorer.render.plans import summary_lines
from explorer.render.text import clean
from explorer.spec.filters.pushdown import Pushdown
from explorer.spec.scan.plan import Amount, Plan
from explorer.spec.text.units import count, human_bytes


def plan_blocks(
    plan: Plan, pictures: Iterable[str], lines: Iterable[str], more: Iterable[str] = (), pushed: Pushdown | None = None
) -> list[Block]:
    """Return the blocks of a plan.

    Args:
        plan: The plan.
        pictures: Its pictures.
        lines: All of it as text.
        more: The lines among them of what other planners answer, and of what runs took.
        pushed: What Spark handed to Iceberg of a condition in SQL, if it was SQL.

    Returns:
        The headline, warnings, pictures, and the plan as text.
    """
    told = [*summary_lines(plan, pushed)]
    warnings = [line.removeprefix("⚠ ") for line in told if line.startswith("⚠")]
    rest = [*more, *(line for line in told if not line.startswith("⚠"))]
    blocks: list[Block] = [Notice(clean(headline(plan)))]
    blocks += [Notice(clean(line), "warning") for line in warnings]
    blocks += [Picture(svg) for svg in pictures]
    if rest:
        blocks.append(Text(tuple(map(clean, rest))))
    return [*blocks, Text(tuple(map(clean, lines)), folded=True)]


def headline(plan: Plan) -> str:
    """Return what a plan reads of the table, in a sentence."""
    whole, left = plan.stages[0].left, plan.stages[-1].left
    if whole.files is None or left.files is None:
        return f"The scan reads {count(left.manifests, 'manifest')}; some of them do not say how many files they have."
    if not whole.files:
        return "The table has no data files at this snapshot."
    if not left.files:
        return f"No file can have a matching row: all {whole.files:,} are skipped."
    read = f"{left.files:,} of {count(whole.files, 'data file')} ({_share(left.files, whole.files)})"
    return f"The scan reads {read}{_size(left, whole)}."


def _size(left: Amount, whole: Amount) -> str:
    if left.bytes is None or whole.bytes is None:
        return ""
    return f", {human_bytes(left.bytes)} of {human_bytes(whole.bytes)}"


def _share(part: int, whole: int) -> str:
    share = part / whole
    return "all" if part == whole else f"{share:.0%}" if share >= 0.1 else f"{share:.2%}"
