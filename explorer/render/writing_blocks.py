"""What statements, maintenance and operations on refs do or would do, and what conflicts with a commit, as blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from explorer.render.blocks import Block, Fact, FactTable, Link, LinkList, Notice, Picture, Rows, Statement, Text
from explorer.render.lab_runs import report_rows
from explorer.render.layouts import head_lines, layout_rows, layouts_svg
from explorer.render.text import cell, clean, clean_lines
from explorer.spec.commits.commit import Decision
from explorer.spec.commits.operations import PROTECTS
from explorer.spec.commits.statement_effects import Effects
from explorer.spec.layout.layout_comparison import LayoutComparison
from explorer.spec.maintenance.all_procedures import NO_STATEMENT, ProcedureLine
from explorer.spec.maintenance.file_stay import FileStay
from explorer.spec.maintenance.reachability import Holdings
from explorer.spec.snapshots.refs import RefPreview
from explorer.spec.snapshots.table_copy import CopyCheck
from explorer.spec.text.names import base_name, snapshot_name
from explorer.spec.text.units import count, human_bytes


def conflict_blocks(decision: Decision, isolation: str, validations: Sequence[str], note: str = "") -> list[Block]:
    """Return what Iceberg would answer to a commit.

    Args:
        decision: The answer.
        isolation: The isolation level of the operation.
        validations: The validations that are on.
        note: What is to be known of its filter.
    """
    rows = [
        {
            "snapshot": one.snapshot, "check": one.check, "file_path": path, "partition": ", ".join(one.partitions),
            "reason": PROTECTS.get(one.check, ""),
        }
        for one in decision.conflicts
        for path in one.files or ("",)
    ]  # fmt: skip
    facts = FactTable((Fact("isolation", isolation), Fact("validations", ", ".join(validations) or "none")))
    level = "warning" if decision.outcome == "refused" else "ok"
    told = [Notice(clean(decision.words), level), *(Notice(clean(one)) for one in (*decision.notes, note) if one)]
    return [*told, *([Rows(rows, "Conflicts")] if rows else []), facts]


def preview_blocks(
    sentences: Sequence[str], refusal: str, call: str, tables: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[Block]:
    """Return what a maintenance procedure would do.

    Args:
        sentences: The answer in words.
        refusal: The sentence that says why it must not be run, if so.
        call: The statement that does it; empty if there is none.
        tables: Groups, files, manifests or snapshots, each with its reason.
    """
    notes = [Notice(clean(text), "error" if text == refusal else "ok") for text in sentences]
    statement = [Statement(clean(call))] if call else []
    return [*notes, *statement, *(Rows(rows, name.capitalize()) for name, rows in tables.items())]


def procedure_blocks(words: Sequence[str], lines: Sequence[ProcedureLine]) -> list[Block]:
    """Return what all procedures would do, and the statements of those that have something to do, in their order."""
    rows = [
        {"step": number, "operation": line.operation, "does": line.does, "reason": _reason(line)}
        for number, line in enumerate(lines, 1)
    ]
    links = [
        Link(f"Preview {line.operation}", "question", "maintain preview", {"operation": line.operation})
        for line in lines
    ]
    notes = [Notice(clean(text)) for text in words]
    statements: list[Block] = []
    for line in lines:
        statements += [Notice(clean(line.warning), "warning")] if line.warning else []
        statements += [Notice(clean(line.note))] if line.note else []
        statements += [Statement(clean(line.statement))] if line.statement else []
    return [*notes, *statements, Rows(rows, "Procedures"), LinkList(tuple(links))]


def _reason(line: ProcedureLine) -> str:
    """Why a procedure is run in its place, or why it is not."""
    return line.refusal or (line.why if line.does == NO_STATEMENT else line.reason)


def copy_blocks(check: CopyCheck) -> list[Block]:
    """Return what a copy has of a table, and where its metadata leads."""
    notes = [Notice(clean(text), "warning" if is_bad else "ok") for text, is_bad in check.sentences]
    rows = [
        {"what": what, "path": path}
        for what, paths in (*(check.copied.examples.items() if check.copied else ()), ("absent", check.absent_examples))
        for path in paths
    ]
    statement: list[Block] = [Statement(clean(check.statement))] if check.statement else []
    return [*notes, *statement, *([Rows(rows, "Files")] if rows else [])]


def file_stay_blocks(stay: FileStay) -> list[Block]:
    """Return why a file is still there, and when it can go."""
    size = "missing" if stay.bytes is None else human_bytes(stay.bytes)
    facts = FactTable((Fact("file", clean(stay.file)), Fact("kind", stay.kind), Fact("size", size)))
    notes = [Notice(clean(text)) for text in stay.words]
    return [*notes, *([Statement(clean(stay.statement))] if stay.statement else []), facts]


def outcome_blocks(sql: str, before: Holdings, after: Holdings, answer: Iterable[Mapping[str, Any]]) -> list[Block]:
    """Return what a maintenance procedure did: the statement, the table before and after, the procedure's answer."""
    later = asdict(after)

    def amount(name: str, value: int) -> str:
        return human_bytes(value) if name.endswith("bytes") else f"{value:,}"

    changes = [
        {"of the table": name.replace("_", " "), "before": amount(name, value), "after": amount(name, later[name])}
        for name, value in asdict(before).items()
    ]
    told = [Fact(clean(str(name)), cell(value)) for row in answer for name, value in row.items()]
    facts: list[Block] = [FactTable(tuple(told))] if told else []
    return [Notice("It was carried out."), Statement(clean(sql)), Rows(changes, "Before and after"), *facts]


def ref_blocks(preview: RefPreview, ordinals: dict[int, int], statement: str, was_run: bool) -> list[Block]:
    """Return what an operation on branches, tags or the current snapshot does.

    Args:
        preview: What it does.
        ordinals: The number of each snapshot, by its id.
        statement: The statement that does it; empty if there is none.
        was_run: Whether it was carried out.
    """

    def name_of(snapshot_id: int | None) -> str:
        return "" if snapshot_id is None else snapshot_name(snapshot_id, ordinals)

    names = dict.fromkeys([*preview.before, *preview.after])
    rows = [
        {"ref": name, "before": name_of(preview.before.get(name)), "after": name_of(preview.after.get(name))}
        for name in names
    ]
    if preview.current is None:
        rows = [row | ({"after": "a new snapshot"} if row["ref"] == "main" else {}) for row in rows]
    level = "ok" if preview.allowed else "error"
    words = preview.words or ("Nothing else changes.",)
    blocks: list[Block] = [Notice("It was carried out.")] if was_run else []
    blocks += [Notice(clean(text), level) for text in words]
    blocks += [Statement(clean(statement))] if statement else []
    blocks += [Rows(rows, "Branches and tags")] if rows else []
    files = [{"file_path": path} for path in preview.files]
    return [*blocks, *([Rows(files, "Files that no branch or tag would lead to")] if files else [])]


def observation_blocks(done: Effects) -> list[Block]:
    """Return what one statement did: the files in order, the swap, Iceberg's report, and what metadata says of it."""
    return [*_swap(done), *_files(done), *_report(done)]


def _swap(done: Effects) -> Iterator[Block]:
    swap = "nothing was committed"
    if done.swapped:
        swap = f"the catalog swapped {base_name(done.swapped[0])} for {base_name(done.swapped[1])}"
    gone = f"; {count(len(done.removed), 'file')} removed" if done.removed else ""
    yield Notice(clean(f"{done.seconds:.1f} s, {count(done.commits, 'commit')}: {swap}{gone}."))


def _files(done: Effects) -> Iterator[Block]:
    rows = [
        {
            "n": str(at), "what": one.what, "file": one.path, "size": human_bytes(one.size),
            "after": f"{one.after_ms:,.0f} ms",
        }
        for at, one in enumerate(done.files, 1)
    ]  # fmt: skip
    rows += [{"n": "", "what": "removed", "file": path, "size": "", "after": ""} for path in done.removed]
    if rows:
        yield Rows(rows, "Files in the order of writing")
    else:
        yield Notice("No file was written or removed.")
    if done.swapped:
        old, new = map(clean, done.swapped)
        yield FactTable((Fact("the catalog pointed to", old), Fact("the catalog points to", new)))


def _report(done: Effects) -> Iterator[Block]:
    if done.report is not None:
        facts = [Fact(clean(row["of the commit"]), clean(row[""])) for row in report_rows(done.report)]
        yield Rows([{"CommitReport": fact.name, "value": fact.value} for fact in facts], "Iceberg's commit report")
    if done.cost is not None:
        counted = [{"counted from metadata": k.replace("_", " "), "value": cell(v)} for k, v in vars(done.cost).items()]
        yield Rows(counted, "What the commit cost")


def layout_blocks(comparison: LayoutComparison) -> list[Block]:
    """Return the same rows in several layouts: a picture and a table."""
    lines = tuple(clean_lines(line) for line in head_lines(comparison))
    return [Text(lines), Picture(layouts_svg(comparison)), Rows(layout_rows(comparison), "Layouts")]
