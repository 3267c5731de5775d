"""Questions about what is wrong with a table, and whether a commit to it would succeed."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from explorer.questions.answers import Answer
from explorer.questions.parameters import (
    NOTHING,
    EngineName,
    Filter,
    Kind,
    Limits,
    OtherTable,
    Pairs,
    Side,
    SnapshotRef,
    TableAt,
    Texts,
)
from explorer.questions.registry import question
from explorer.spec.commits.operations import KINDS, NO_ISOLATION, default_isolation, operation_without

if TYPE_CHECKING:
    from explorer.queries.collection import Collection
    from explorer.render.doctor import ShownReport
    from explorer.render.health import ShownHealth
    from explorer.spec.commits.commit import Decision
    from explorer.spec.snapshots.table_copy import CopyCheck
    from explorer.table import Table

BranchName: TypeAlias = Annotated[str, Kind(metavar="BRANCH")]
OperationKind: TypeAlias = Annotated[str, Kind("choice", "OPERATION", choices=tuple(KINDS))]


@question("doctor", rows=True)
def doctor(
    table: TableAt,
    *,
    files: bool = False,
    deep: bool = False,
    each: bool = False,
    skip: Texts = (),
    severity: Pairs = NOTHING,
    snapshot: SnapshotRef = None,
    engine: EngineName = "auto",
) -> Answer[ShownReport]:
    """Check a table against the spec and itself.

    Each finding has the file, both values, the affected snapshots, what Spark cannot do, and a remedy. It also
    works on tables that cannot be opened. icedive docs doctor has the rules.

    Args:
        files: Also check that each file exists and is as long as recorded, and look for files that nothing refers to.
        deep: Also read footers, deletes and data. It includes --files.
        each: Also list each finding that one stands for or explains.
        skip: Leave a rule out, by id or number. May be given several times.
        severity: Give a rule another severity: fatal, error, warning or info.
        snapshot: The snapshot: an id, branch, tag, snapshot-N or time. All snapshots if left out.

    Returns:
        The report. A row for each finding: rule, severity, title, what, file, found, expected, remedy
        and more.

    Raises:
        TableNotFound: No table has that name.
        NotFoundInTable: There is no such rule or snapshot.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> print(table.doctor().to_text().splitlines()[0])
        sandbox.demo.three_inserts: nothing wrong was found (3 snapshots, 3 manifests, 3 entries)
    """
    from explorer.errors import UnreadableFile
    from explorer.reports.doctor import diagnose, report_unreadable

    try:
        opened = table.open()
    except UnreadableFile as error:
        report = report_unreadable(table.full_name(), error, skip, severity)
    else:
        report = diagnose(
            opened, snapshot=snapshot, files=files, deep=deep, skip=skip, severity=severity, engine=engine
        )
    return report_answer(report, each)


def report_answer(report: ShownReport, each: bool = False) -> Answer[ShownReport]:
    """Return a report as an answer; `each` also lists the findings that one stands for."""
    from explorer.queries.collection import Collection
    from explorer.render.blocks import Text
    from explorer.render.doctor import finding_row, render_report
    from explorer.render.doctor_blocks import doctor_blocks

    return Answer(
        report,
        lambda: report.to_json(each),
        lambda: (render_report(report, each),),
        lambda: Collection.of_rows([finding_row(finding) for finding in report.findings], "findings"),
        html=report._repr_html_,
        level=lambda: report.level,
        metadata_file=report.metadata_file,
        parts=lambda: [
            *doctor_blocks(report, report.level),
            Text(tuple(render_report(report, each).split("\n")), True),
        ],
    )


@question("rules", "check", columns=("number", "id", "severity", "depth", "title"))
def rules() -> Collection:
    """List the doctor's rules: what each is called, how bad it is, where it is written, what it reads.

    Returns:
        A row for each rule: number, id, severity, title, source, depth.

    Example:
        >>> from explorer.questions import check
        >>> check.rules()[0]["id"]
        'metadata-unreadable'
    """
    from explorer.queries.collection import Collection
    from explorer.spec.doctor.rules import RULES

    return Collection.of_rows(list(map(vars, RULES)), "rules")


@question("health", rows=True)
def health(
    table: Table,
    *,
    threshold: Limits = NOTHING,
    clustering: bool = False,
    snapshot: SnapshotRef = None,
    engine: EngineName = "auto",
) -> Answer[ShownHealth]:
    """Measure a table's health, each number against a threshold.

    It measures file sizes, partitions, deletes, manifests, commits, snapshots and the metadata file.

    Args:
        threshold: The value above which a measure matters (icedive docs health). May be given several times.
        clustering: Also measure how files are clustered by column, which reads all bounds.

    Returns:
        A row for each measure: measure, level, title, value, unit, threshold, words, why, helps.

    Raises:
        NotFoundInTable: There is no such measure or snapshot.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.long_history")
        >>> {m["measure"]: m["level"] for m in table.health().to_json()["measures"]}["small-files"]
        'warning'
    """
    from explorer.queries.collection import Collection
    from explorer.render.blocks import Text
    from explorer.render.health import render_health
    from explorer.render.health_blocks import health_blocks
    from explorer.reports.health import checkup

    at = None if snapshot is None else table.resolve(snapshot).snapshot.snapshot_id
    checked = checkup(table, limits=threshold, clustering=clustering, snapshot_id=at, engine=engine)
    data = checked.to_json()
    return Answer(
        checked,
        lambda: data,
        lambda: (render_health(checked),),
        lambda: Collection.of_rows(data["measures"], "measures"),
        html=checked._repr_html_,
        level=lambda: "incomplete" if checked.not_read else checked.worst,
        parts=lambda: [*health_blocks(checked), Text(tuple(render_health(checked).split("\n")), folded=True)],
    )


MERGE_WITH = (
    "The filter counts where it stands in the condition of the MERGE, with columns of the target: ON t.id = s.id AND …"
)
OVERWRITES = (
    "INSERT OVERWRITE of Spark checks nothing: rows that others committed meanwhile to what it overwrites are gone. "
    "The write option isolation-level (serializable or snapshot) sets checks; --isolation shows their answer"
)
MERGE_WITHOUT = (
    "A MERGE ON t.id = s.id pushes no filter down, so that every file added meanwhile counts. A condition on the "
    "target's columns beside it (--where) makes fewer count: by their partition, and data files by their bounds too. "
    "Position deletes and deletion vectors have no bounds of the table's columns: among these only partitions tell "
    "writers apart. commit.retry properties do not help: what is refused has to be run again"
)

MERGE_OF_INSERTS = (
    "A MERGE with WHEN NOT MATCHED alone is an append to Spark, which no check refuses: two that begin at one snapshot "
    "both insert a key that is new. With a WHEN MATCHED clause Spark's second one is refused under serializable; Trino "
    "from 471 on may commit both (trino#31072)"
)
MERGE_SNAPSHOT = (
    "With write.merge.isolation-level = snapshot nobody looks for rows that were added meanwhile (--isolation snapshot "
    "shows the answer)"
)


@question("copy", "check")
def copy(table: Table, other: OtherTable, *, check_files: bool = False) -> Answer[CopyCheck]:
    """Say whether a copy or a backup of a table is whole, and whether it stands alone.

    It compares the histories, and the live files of the newest snapshot that both have, by their paths below each
    one's folder. A copy does not stand alone while its metadata names files of the original.

    Args:
        other: The copy: its folder, its metadata.json, or its name in a catalog.
        check_files: Also look whether each file that the copy's current snapshot needs is there, as long as recorded.

    Returns:
        How far the copy is behind, how many files are missing, extra or different, how many paths lead elsewhere, and
        the statement that writes metadata for the copy's folder.

    Raises:
        NotFoundInTable: There is no such copy.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> table.check.copy("demo.three_inserts").value.history.relation
        'same'
    """
    from explorer.render.writing_blocks import copy_blocks
    from explorer.reports.table_copy import check_copy
    from explorer.reports.timings import other_table

    found = check_copy(table, other_table(table, other), check_files)
    lines = [*found.words, *(["", found.statement] if found.statement else [])]
    places = [{"kind": kind, "outside": outside, "paths": of} for kind, (outside, of) in found.elsewhere.items()]
    data = asdict(found) | {"elsewhere": places, "is_whole": found.is_whole, "stands_alone": found.stands_alone}
    data["words"] = list(found.words)
    bad = not found.is_whole or not found.stands_alone
    return Answer(
        found, lambda: data, lambda: lines, parts=lambda: copy_blocks(found),
        level=lambda: "warning" if bad else "ok",
    )  # fmt: skip


@question("conflict", "check")
def conflict(
    table: Table,
    base: Side,
    operation: OperationKind,
    *,
    isolation: Literal["", "serializable", "snapshot"] = "",
    without: Texts = (),
    also: Texts = (),
    where: Filter = "",
    branch: BranchName = "main",
) -> Answer[Decision]:
    """Say what Iceberg would answer to a commit that began at an older snapshot: commit, retry or refuse, and why.

    If the isolation level is left out, it is that of the table's property, else serializable. INSERT OVERWRITE
    (replace-partitions, overwrite-filter) has none then, as in Spark.

    Args:
        base: The snapshot at which the commit began; `null` is that of a writer that names none to Iceberg.
        operation: The operation.
        isolation: The isolation level.
        without: Switch a validation off, by its name in Iceberg's API. May be given several times.
        also: Switch a validation on that the isolation level does not set. May be given several times.
        where: The rows that the operation is about.
        branch: The branch that it is committed to.

    Returns:
        The decision, the check that refuses, and the files that conflict.

    Raises:
        NotFoundInTable: There is no such snapshot, branch, operation or validation, or the filter does not fit.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> table.check.conflict("snapshot-1", "append").value.outcome
        'retry'
    """
    from explorer.render.rows import plain
    from explorer.render.writing_blocks import conflict_blocks
    from explorer.reports.conflicts import explain_conflict, names_no_start
    from explorer.spec.snapshots.branches import MAIN, about_main

    begins: str | None = base
    if names_no_start(table, base):
        begins, without = None, (*without, "validateFromSnapshot")
    level = isolation or default_isolation(operation, table.metadata.properties)
    asked = operation_without(operation, level, without, also=also)
    asked.check()
    checks = asked.validations
    decision = explain_conflict(table, begins, operation, checks, where, branch)
    if branch == MAIN and (main := about_main(table.metadata, "The answer is")):
        decision = replace(decision, notes=(*decision.notes, main))
    lines = [decision.words, *decision.notes, f"isolation: {level}", f"validations: {', '.join(checks) or 'none'}"]
    lines += [f"  {c.check}: {c.snapshot}: {path}" for c in decision.conflicts for path in c.files]
    note = ""
    if KINDS[operation].statement == "merge":
        note = f"{MERGE_WITH if where.strip() else MERGE_WITHOUT}. {MERGE_SNAPSHOT}. {MERGE_OF_INSERTS}"
    note = OVERWRITES if level == NO_ISOLATION else note
    lines += [note] if note else []
    told = {name: value for name, value in asdict(decision).items() if name != "usual_ms"}  # which the words have
    data = plain(told) | {"words": decision.words, "isolation": level, "validations": list(checks)}
    return Answer(decision, lambda: data, lambda: lines, parts=lambda: conflict_blocks(decision, level, checks, note))
