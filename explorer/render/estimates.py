"""Estimates of what changes would make of filters, and reads by Spark beside their plans, as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from explorer.render.blocks import Block, FoldedBlocks, Notice, Rows, Statement, Text
from explorer.render.text import clean, render_table
from explorer.spec.layout.estimates import Estimates, LayoutChange, Reads, spares
from explorer.spec.text.units import count, human_bytes

TWO_STATEMENTS = (
    "The first statement is for files that are written from now on: only the second writes those anew that are there."
)


def estimates_json(estimates: Estimates) -> dict[str, Any]:
    """The filters, those that read the most bytes first, and the changes, the best first, each labelled an estimate."""
    rows = {"filters": filter_rows(estimates), "estimates": change_rows(estimates)}
    whole = estimates.whole
    table = {"data_files": whole.files, "rows": whole.rows, "bytes": whole.bytes, "weight": whole.weight}
    return {"table": table, **rows, "assumed": list(estimates.assumed)}


def filter_rows(estimates: Estimates) -> list[dict[str, Any]]:
    """A filter each: what its plan reads, the share of the table's bytes, the columns it asks for, or what is wrong;
    and the change that helps it the most, as an estimate."""
    rows = []
    for filter_reads in estimates.filters:
        row: dict[str, Any] = {"where": filter_reads.where, "error": filter_reads.error or None}
        if filter_reads.plan:
            row |= _reads_json(filter_reads.now)
            row |= {"share": _share(filter_reads.now, estimates.whole), "columns": filter_reads.plan.columns}
            helps = [
                (r.all_bytes, r.weight, at)
                for at, r in enumerate(filter_reads.reads)
                if r and spares(filter_reads.now, r, "all_bytes") and not estimates.heavier(at)
            ]
            size, _, at = min(helps, default=(None, 0, None))
            row |= {"helped_most_by": None if at is None else estimates.changes[at].text, "estimated_bytes": size}
        rows.append(row)
    return rows


def change_rows(estimates: Estimates) -> list[dict[str, Any]]:
    """The present first, then a change each: what all filters would read together, how that differs from now, how many
    files there would be, and what the estimate rests on beside what all rest on."""
    now = estimates.total() or Reads()
    rows = [{"change": "as it is", **_reads_json(now), "of_now": "100%", "files_then": estimates.whole.files,
             "estimate": False, "because": "by the plans", "statements": []}]  # fmt: skip
    ranked = estimates.ranking
    for at in (*ranked, *(at for at in range(len(estimates.changes)) if at not in ranked)):
        change, then = estimates.changes[at], estimates.total(at)
        because = change.because
        if times := estimates.heavier(at):
            because = f"not offered, since the whole table would weigh {times:,.0f} times as much: {because}"
        rows.append(
            {
                "change": change.text, **_reads_json(then),
                "of_now": f"{then.all_bytes / now.all_bytes:,.0%}" if then and now.all_bytes else None,
                "files_then": change.whole.files if change.whole else None, "estimate": True, "because": because,
                "statements": list(change.statements),
            }
        )  # fmt: skip
    return rows


def _reads_json(reads: Reads | None) -> dict[str, Any]:
    names = {"data_files": "files", "rows": "rows", "bytes": "bytes", "weight": "weight",
             "delete_files": "delete_files", "delete_bytes": "delete_bytes"}  # fmt: skip
    return {shown: getattr(reads, name, None) for shown, name in names.items()}


def _share(reads: Reads, whole: Reads) -> str | None:
    return f"{reads.bytes / whole.bytes:.0%}" if whole.bytes else None


def estimates_lines(estimates: Estimates) -> Iterator[str]:
    """The same as text."""
    yield from (
        clean(f"{filter_reads.where}: {filter_reads.error}") for filter_reads in estimates.filters if filter_reads.error
    )
    fitting = [
        row for row, filter_reads in zip(short_filters(estimates), estimates.filters, strict=True) if filter_reads.plan
    ]
    if not fitting:
        return
    yield from render_table(fitting, 200).splitlines()
    yield ""
    yield from verdicts(estimates)
    yield ""
    yield from render_table(short_changes(estimates), 200).splitlines()
    yield ""
    yield from map(clean, assumptions(estimates))


def verdicts(estimates: Estimates) -> Iterator[str]:
    """The change that spares the most bytes, and the one that makes what is read weigh the least, in sentences."""
    for sentence, change in _proposals(estimates):
        yield sentence
        yield from _how(change) if change else ()


def _proposals(estimates: Estimates) -> Iterator[tuple[str, LayoutChange | None]]:
    """What is read now, and each change that is proposed, with a sentence about it."""
    number = sum(1 for a in estimates.filters if a.plan)
    if not number:
        return
    who = "the filter reads" if number == 1 else f"{number:,} filters together read"
    reading = _reading(estimates.total())
    yield f"Now {who} {reading}. A file weighs its bytes, or what opening it costs if that is more.", None
    best, lightest = estimates.best, estimates.lightest
    if best is None:
        yield "By estimate no single change spares bytes.", None
    else:
        change, then = estimates.changes[best], _reading(estimates.total(best))
        yield clean(f"By estimate '{change.text}' spares the most bytes: {then}."), change
    if lightest is not None and lightest != best:
        change, then = estimates.changes[lightest], _reading(estimates.total(lightest))
        yield clean(f"By estimate what is read weighs the least after '{change.text}': {then}."), change


def _how(change: LayoutChange) -> Iterator[str]:
    """How a change is made."""
    if len(change.statements) > 1:
        yield TWO_STATEMENTS
    yield from (f"  {clean(statement)}" for statement in change.statements)


def _reading(reads: Reads | None) -> str:
    reads = reads or Reads()
    deletes = f" and {human_bytes(reads.delete_bytes)} of {count(reads.delete_files, 'delete file')}"
    data = f"{human_bytes(reads.bytes)} of {count(reads.files, 'file')}{deletes if reads.delete_files else ''}"
    return f"{data} (weight {human_bytes(reads.weight)})"


def assumptions(estimates: Estimates) -> list[str]:
    """What the estimates rest on: what all do, then each other assumption once with the changes that make it."""
    by: dict[str, list[str]] = {}
    for row in change_rows(estimates)[1:]:
        by.setdefault(row["because"], []).append(row["change"])
    return [
        *(f"All estimates: {assumption}." for assumption in estimates.assumed),
        *(f"{', '.join(changes)}: {because}." for because, changes in by.items()),
    ]


def _short_filter(row: dict[str, Any]) -> dict[str, Any]:
    if row["error"]:
        nothing = dict.fromkeys(("of the table", "columns", "helped most by", "then (estimate)"), "")
        return {"filter": row["where"], "reads": row["error"], **nothing}
    helped = row["helped_most_by"]
    return {
        "filter": row["where"] or "(all rows)",
        "reads": f"{_files(row)}, {human_bytes(row['bytes'] + row['delete_bytes'])}",
        "of the table": row["share"] or "", "columns": ", ".join(row["columns"]),
        "helped most by": helped or "nothing here",
        "then (estimate)": human_bytes(row["estimated_bytes"]) if helped else "",
    }  # fmt: skip


def _files(row: dict[str, Any]) -> str:
    return f"{count(row['data_files'], 'file')}{_deletes(row)}"


def _deletes(row: dict[str, Any]) -> str:
    return f" and {row['delete_files']:,} of deletes" if row["delete_files"] else ""


def short_filters(estimates: Estimates) -> list[dict[str, Any]]:
    """The filters as a person reads them."""
    return [_short_filter(row) for row in filter_rows(estimates)]


def short_changes(estimates: Estimates) -> list[dict[str, Any]]:
    """The changes that can be estimated, as a person reads them."""
    return [
        {
            "change": row["change"], "is": "an estimate" if row["estimate"] else "the plan",
            "bytes read": human_bytes(row["bytes"] + row["delete_bytes"]), "of now": row["of_now"] or "",
            "files read": f"{row['data_files']:,}{_deletes(row)}", "weight": human_bytes(row["weight"]),
            "files then": f"{row['files_then']:,}",
        }
        for row in change_rows(estimates)
        if row["bytes"] is not None
    ]  # fmt: skip


def estimates_blocks(estimates: Estimates) -> list[Block]:
    """Return the blocks of a page: the proposals with their statements, the changes, the filters, the assumptions."""
    blocks: list[Block] = [
        Notice(clean(f"{one.where}: {one.error}"), "warning") for one in estimates.filters if one.error
    ]
    for sentence, change in _proposals(estimates):
        blocks.append(Notice(sentence))
        if change and len(change.statements) > 1:
            blocks.append(Text((TWO_STATEMENTS,)))
        blocks += [Statement(clean(statement)) for statement in change.statements] if change else []
    fitting = [row for row, one in zip(short_filters(estimates), estimates.filters, strict=True) if one.plan]
    blocks += [Rows(short_changes(estimates), "What all filters would read together"), Rows(fitting, "Each filter")]
    blocks.append(FoldedBlocks("What the estimates rest on", (Text(tuple(map(clean, assumptions(estimates)))),)))
    return blocks
