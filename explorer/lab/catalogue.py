"""What happens to each operation when each other one commits between its base and its own commit: run on real
Iceberg."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.lab.interleave import outcome, serial_rows
from explorer.lab.planning import KEY, PARTITION
from explorer.lab.sandbox import Bench
from explorer.lab.stepper import Run
from explorer.lab.writers import Writer
from explorer.reports.conflicts import decided, file_filter, line_to
from explorer.spec.commits.commit import Decision, Intent
from explorer.spec.commits.lab_runs import Outcome
from explorer.spec.commits.operations import CATALOGUED, CLASSES, ISOLATION, KINDS, PROTECTS, Operation, titled
from explorer.table import Table


@dataclass(frozen=True)
class Pair:
    """Writer A loads and applies; writer B commits whole; then A comes to swap. `decision` is what spec.commits.commit
    said beforehand."""

    late: Operation
    early: Operation
    outcome: Outcome
    decision: Decision


def operations() -> Iterator[Operation]:
    """Each kind of the catalogue, under both isolation levels where they differ."""
    for kind in CATALOGUED:
        yield Operation(kind)
        if KINDS[kind].serializable:
            yield Operation(kind, "snapshot")


def intent(writer: Writer) -> Intent:
    """What a writer wants, from the files it planned with."""
    assert writer.plan is not None
    assert writer.table is not None
    files = {f.path: f for f in writer.table.row_reader.applicability(writer.table.metadata.current_snapshot).data}
    replaced = tuple(files[p] for p in writer.plan.replaced)
    referenced = tuple(files[p] for p in writer.plan.referenced)
    operation = writer.operation
    what = operation.what
    whole = what.decided_by == "filter"
    filtered = whole or "conflictDetectionFilter" in operation.validations
    concerns = (
        file_filter(writer.table, f"p = '{PARTITION}'" if whole else f"id = {KEY}") if filtered else lambda _: True
    )
    if whole and what.api == "newOverwrite" and writer.attempts:  # what its first attempt replaced must be there still
        replaced = tuple(f for f in files.values() if concerns(f))
    vectors = writer.table.metadata.format_version >= 3 and bool(referenced)
    return Intent(what, frozenset(operation.validations), replaced, referenced, concerns, vectors, operation.engine)


def predicted(run: Run, table: Table, name: str = "A") -> Decision:
    """What spec.commits.commit says of a writer that has planned, given `table` as it is now."""
    writer = run.writer(name)
    assert writer.table is not None
    base = writer.table.metadata
    line = line_to(table, table.metadata.current_snapshot_id)
    before = {s.snapshot_id for s in base.snapshots}
    earlier = [s for s in line if s.snapshot_id in before]
    since = [s for s in line if s.snapshot_id not in before]
    moved = table.metadata.metadata_location != base.metadata_location
    known = base.current_snapshot_id in {s.snapshot_id for s in line}
    return decided(table, intent(writer), since, earlier, moved, known)


def pair(bench: Bench, late: Operation, early: Operation, version: int = 2) -> Pair:
    """Run one pair, and predict it before A goes on."""
    serial = serial_rows(bench, [late, early], version)
    run = Run(bench, [late, early], version)
    for _ in range(3):
        run.step("A")  # load, write, apply
    while not run.writer("B").over:
        run.step("B")
    decision = predicted(run, run.table())
    run.play("")
    happened = outcome(run, "AABBAB", serial)
    run.close()
    return Pair(late, early, happened, decision)


Wanted = tuple[Operation, Operation, int]


@dataclass(frozen=True)
class Catalogue:
    """The pairs of the usual operations; the same with deletion vectors; those of the other operations; and of
    pyiceberg's."""

    usual: tuple[Pair, ...]
    vectors: tuple[Pair, ...]
    others: tuple[Pair, ...]
    pyiceberg: tuple[Pair, ...]


def catalogue(bench: Bench, progress: Callable[[int, int], Any] = lambda *_: None) -> Catalogue:
    """Run every pair."""
    more = [k for k in KINDS if k not in CATALOGUED]
    theirs = [
        Operation("append", engine="pyiceberg"),
        *(Operation("cow-delete", level, "pyiceberg") for level in ISOLATION),
    ]
    wanted: list[list[Wanted]] = [
        [(late, Operation(early), 2) for late in operations() for early in CATALOGUED],
        [(late, Operation(early), 3) for late in operations() for early in CATALOGUED],
        [(Operation(late), Operation(early), 2) for late in more for early in KINDS],
        [(late, Operation(early), 2) for late in theirs for early in CATALOGUED],
    ]
    total, groups = sum(map(len, wanted)), list[list[Pair]]()
    for group in wanted:
        groups.append([])
        for late, early, version in group:
            groups[-1].append(pair(bench, late, early, version))
            progress(sum(map(len, groups)), total)
    return Catalogue(*map(tuple, groups))


def _matrix(pairs: Sequence[Pair]) -> list[str]:
    """Late writers by early ones."""
    kinds = list(dict.fromkeys(p.early.kind for p in pairs))
    by_late: dict[Operation, dict[str, Pair]] = {}
    for one in pairs:
        by_late.setdefault(one.late, {})[one.early.kind] = one
    lines = ["| late \\ early | " + " | ".join(kinds) + " |", "|---|" + "---|" * len(kinds)]
    return lines + [
        f"| **{late}** | " + " | ".join(_cell(row[k]) for k in kinds) + " |" for late, row in by_late.items()
    ]


READERS = """## Readers

A reader (`read` in the lab) is no party to any of this: it asks the catalog once, plans the snapshot it found, and
reads its files, whatever is committed meanwhile. Only expiry harms it, by removing what it has planned:
`docs/replays/expired-reader.json`. (Expiry in the lab removes at once what nothing reaches, as Spark's procedure
does. Iceberg's own default for a table without branches leaves a file that was replaced until the snapshot that
replaced it expires.) A query over two tables (`read-both`) finds each as it was when that one was loaded: a commit in
between is seen in the second alone, `docs/replays/two-tables.json`. Where the table is a folder, a commit may be
lost, and a listing is old when it is read: `docs/replays/lost-rename.json`, `docs/replays/stale-listing.json`.
"""


def render_catalogue(run: Catalogue) -> str:
    """The catalogue as Markdown."""
    lines = [
        "# What happens when two commits meet",
        "",
        (
            "Generated by `iceberg-explorer lab-catalogue`: every pair was run on Iceberg itself, on a small table of "
            "two data files in two"
        ),
        (
            "partitions. The late writer (rows) loads the table and applies its changes; the early one (columns) "
            "commits in full; then the"
        ),
        (
            "late one comes to swap, loses, refreshes, validates again, and commits or is refused. All but "
            "`compaction` are about id 1, MERGE also about a new id 4."
        ),
        "",
        (
            "- **retry**: the lost swap is all that happens; it applies its changes on the new metadata and commits. "
            "`=AB` or `=BA` says"
        ),
        "  which serial order the rows equal (A is the late writer).",
        "- **refused**: a validation found a conflict; the check is named.",
        (
            "- **anomaly**: it commits, and the rows equal no serial order. `docs/replays/` keeps a replay for `lab "
            "--replay` of each that"
        ),
        (
            "  Iceberg shows. Under snapshot isolation a merge-on-read DELETE hides the old version of a row by its "
            "position, while an UPDATE"
        ),
        (
            "  committed in between has written the new version to another file, which stays (not with deletion "
            "vectors, below). And a DELETE"
        ),
        (
            "  of whole files passes over files that are gone, unless `validateFilesExist` is set: what was rewritten "
            "meanwhile stays."
        ),
        "",
    ]
    kinds = list(CATALOGUED)
    lines += _matrix(run.usual)
    lines += ["", "## Which validations are set", ""]
    lines += ["| operation | validations | under serializable also |", "|---|---|---|"]
    for kind in kinds:
        always = ", ".join(Operation(kind, "snapshot").validations) or "none"
        lines.append(f"| {titled(kind)} | {always} | {', '.join(KINDS[kind].serializable)} |")
    lines += [
        "",
        (
            "Spark sets them so (SparkWrite and SparkPositionDeltaWrite): `write.delete.isolation-level`, "
            "`write.update.isolation-level`"
        ),
        (
            "and `write.merge.isolation-level` choose the level (serializable if not set); the conflict detection "
            "filter is what Spark pushed"
        ),
        (
            "down of the condition. `validateDeletedFiles` and `validateNoConflictingDeleteFiles` are set for UPDATE "
            "and MERGE in"
        ),
        (
            "merge-on-read, not for DELETE: two deletes of one row do no harm. Equality deletes (Flink) and appends "
            "validate nothing: they can"
        ),
        (
            "always be applied on newer metadata, and their sequence numbers then say what they hit. INSERT OVERWRITE "
            "of Spark sets no"
        ),
        "isolation unless the write option `isolation-level` asks for it.",
        "",
        (
            "Each validation can be switched off on its own (`lab --without`, or *Validations* in the Lab). What it "
            "protects from:"
        ),
        "",
        *(f"- `{name}` {protects}." for name, protects in PROTECTS.items()),
        "",
        READERS,
        "## From operation to class",
        "",
        (
            "What each operation is in Iceberg's Java API: the method of `Table`, the interface that it returns "
            "(module `iceberg-api`), the class"
        ),
        (
            "behind it (`iceberg-core`), whose `commit` is `SnapshotProducer`'s where it makes a snapshot. Spark "
            "appends batches by `newAppend`"
        ),
        "and streams by `newFastAppend`. `iceberg-explorer lab OPERATION` runs one alone.",
        "",
        "| operation | method | interface | class |",
        "|---|---|---|---|",
        *(f"| {titled(name)} | {kind.api} | {' | '.join(CLASSES[kind.api])} |" for name, kind in KINDS.items()),
        "",
        "## With deletion vectors (format version 3)",
        "",
        (
            "Only what differs from the table above. A data file has one deletion vector at most, so two commits that "
            "add one for the same"
        ),
        "file cannot both go in, whatever validations are set: Iceberg checks it always (`validateAddedDVs`).",
        "",
        "| late | early | format version 2 | format version 3 |",
        "|---|---|---|---|",
        *(
            f"| {v2.late} | {v2.early.kind} | {_cell(v2)} | {_cell(v3)} |"
            for v2, v3 in zip(run.usual, run.vectors, strict=True)
            if _cell(v2) != _cell(v3)
        ),
        "",
        "## The other operations",
        "",
        (
            "MERGE validates as UPDATE does, but by no filter: of `ON t.id = s.id` Spark pushes nothing down, so that "
            "a file of any partition,"
        ),
        "added meanwhile, stands against it under serializable isolation (`AND t.p = 'a'` beside it is pushed down).",
        (
            "A change of schema or spec is not retried: `SchemaUpdate.commit` and `BaseUpdatePartitionSpec.commit` "
            "hand the base that they"
        ),
        (
            "loaded to the catalog once, and the person must try again. Expiry and rewriting of manifests decide anew "
            "at each attempt."
        ),
        "",
        *_matrix(run.others),
        "",
        "## pyiceberg as the late writer",
        "",
        (
            "pyiceberg holds its requirements (the branch is where it was) against the table before it writes "
            "metadata.json, and validates"
        ),
        "only when it tries again, with the isolation level of the table's properties.",
        "",
        *_matrix(run.pyiceberg),
        "",
    ]
    return "\n".join(lines)


def _cell(pair: Pair) -> str:
    state = pair.outcome.writers[0]
    if state == "refused":
        checks = sorted({c.check for c in pair.decision.conflicts}) or ["?"]
        return f"refused: {', '.join(checks)}"
    if pair.outcome.anomaly:
        return f"**anomaly: {pair.outcome.anomaly}**"
    serial = "=" + "=".join(pair.outcome.serial)
    return f"{'retry' if state == 'retried' else 'commits'} ({serial})"
