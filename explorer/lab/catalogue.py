"""For each pair of operations: what happens to one if the other commits between its base and its commit. Each pair runs
on real Iceberg."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.lab.interleave import outcome, serial_rows
from explorer.lab.planning import KEY, PARTITION
from explorer.lab.sandbox import Bench
from explorer.lab.stepper import Run
from explorer.lab.writers import Writer
from explorer.reports.conflicts import decision_of, file_filter, line_to
from explorer.spec.commits.commit import Decision, Intent
from explorer.spec.commits.lab_runs import OrderOutcome
from explorer.spec.commits.operations import CATALOGUED, CLASSES, ISOLATION, KINDS, PROTECTS, Operation, operation_title
from explorer.table import Table


@dataclass(frozen=True)
class Pair:
    """Two operations and their outcome. Writer A loads and applies, then writer B commits, then A tries to swap.
    `decision` is what spec.commits.commit predicts before A swaps."""

    late: Operation
    early: Operation
    outcome: OrderOutcome
    decision: Decision


def operations() -> Iterator[Operation]:
    """Each kind of the catalogue, under both isolation levels where they differ."""
    for kind in CATALOGUED:
        yield Operation(kind)
        if KINDS[kind].serializable:
            yield Operation(kind, "snapshot")


def intent(writer: Writer) -> Intent:
    """The change that a writer wants to commit, from the files that it planned with."""
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
    if (
        whole and what.api == "newOverwrite" and writer.attempts
    ):  # the files that its first attempt replaced must still exist
        replaced = tuple(f for f in files.values() if concerns(f))
    version, engine = writer.table.metadata.format_version, operation.engine
    vectors = version >= 3 and bool(referenced)
    checks = frozenset(operation.validations)
    others = not (what.refers or what.replaces)
    return Intent(what, checks, replaced, referenced, concerns, vectors, others, version, engine)


def predict(run: Run, table: Table, name: str = "A") -> Decision:
    """Predict with spec.commits.commit what happens to a writer that has planned, if the table is now `table`."""
    writer = run.writer(name)
    assert writer.table is not None
    base = writer.table.metadata
    line = line_to(table, table.metadata.current_snapshot_id)
    before = {s.snapshot_id for s in base.snapshots}
    earlier = [s for s in line if s.snapshot_id in before]
    since = [s for s in line if s.snapshot_id not in before]
    moved = table.metadata.metadata_location != base.metadata_location
    in_line = base.current_snapshot_id in {s.snapshot_id for s in line}
    return decision_of(table, intent(writer), since, earlier, moved, in_line)


def pair(bench: Bench, late: Operation, early: Operation, version: int = 2) -> Pair:
    """Run one pair, and predict the outcome before A goes on."""
    serial = serial_rows(bench, [late, early], version)
    run = Run(bench, [late, early], version)
    for _ in range(3):
        run.step("A")  # load, write, apply
    while not run.writer("B").over:
        run.step("B")
    decision = predict(run, run.table())
    run.play("")
    happened = outcome(run, "AABBAB", serial)
    run.close()
    return Pair(late, early, happened, decision)


WantedPair = tuple[Operation, Operation, int]


@dataclass(frozen=True)
class Catalogue:
    """Pairs of operations, in four groups: the usual operations, the same with deletion vectors, the other operations,
    and operations of pyiceberg."""

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
    wanted: list[list[WantedPair]] = [
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
    """A matrix with a row for each late writer and a column for each early one."""
    kinds = list(dict.fromkeys(p.early.kind for p in pairs))
    by_late: dict[Operation, dict[str, Pair]] = {}
    for one in pairs:
        by_late.setdefault(one.late, {})[one.early.kind] = one
    lines = ["| late \\ early | " + " | ".join(kinds) + " |", "|---|" + "---|" * len(kinds)]
    return lines + [
        f"| **{late}** | " + " | ".join(_cell(row[k]) for k in kinds) + " |" for late, row in by_late.items()
    ]


READERS = """## Readers

A reader (`read` in the lab) takes no part in this. It asks the catalog once, plans that snapshot, and reads its
files, whatever others commit meanwhile. Only expiry harms it, because it removes planned files:
`docs/replays/expired-reader.json`. Expiry in the lab removes unreachable files at once, as Spark's procedure does.
Iceberg's own default for a table without branches keeps a replaced file until the snapshot that replaced it expires.

A query over two tables (`read-both`) reads each as it was when the query loaded it. A commit in between is visible
only in the second table: `docs/replays/two-tables.json`. If the table is a folder, a commit may be lost:
`docs/replays/lost-rename.json`. A listing may be old when it is read: `docs/replays/stale-listing.json`.
"""


def render_catalogue(run: Catalogue) -> str:
    """The catalogue as Markdown."""
    lines = [
        "# What happens when two commits conflict",
        "",
        (
            "`icedive lab catalogue` generates this page. It ran every pair on Iceberg itself, on "
            "a small table of two data files in two"
        ),
        (
            "partitions. The late writer (rows) loads the table and applies its changes. The early one "
            "(columns) commits completely. Then the late"
        ),
        (
            "one tries to swap and loses. It refreshes, validates again, and commits or is refused. All "
            "operations but `compaction` are about id 1;"
        ),
        "MERGE is also about a new id 4.",
        "",
        (
            "- **retry**: only the swap is lost. The writer applies its changes to the new metadata and "
            "commits. `=AB` or `=BA` is the serial"
        ),
        "  order whose rows the result equals (A is the late writer).",
        "- **refused**: a validation found a conflict; the cell names it.",
        (
            "- **anomaly**: it commits, and the rows equal no serial order. `docs/replays/` has a replay "
            "for `lab run --replay` of each anomaly that"
        ),
        "  Iceberg shows. There are two causes:",
        (
            "  - Under snapshot isolation, a merge-on-read DELETE hides the old version of a row by its "
            "position. An UPDATE that committed in"
        ),
        "    between has written the new version to another file, and it stays (not with deletion vectors, below).",
        (
            "  - A DELETE of complete files ignores missing files, unless `validateFilesExist` is set. "
            "Files that were rewritten meanwhile stay."
        ),
        "",
    ]
    kinds = list(CATALOGUED)
    lines += _matrix(run.usual)
    lines += ["", "## Which validations are set", ""]
    lines += ["| operation | validations | under serializable also |", "|---|---|---|"]
    for kind in kinds:
        always = ", ".join(Operation(kind, "snapshot").validations) or "none"
        lines.append(f"| {operation_title(kind)} | {always} | {', '.join(KINDS[kind].serializable)} |")
    lines += [
        "",
        "Spark sets them as follows (SparkWrite and SparkPositionDeltaWrite):",
        "",
        (
            "- `write.delete.isolation-level`, `write.update.isolation-level` and "
            "`write.merge.isolation-level` set the level (default: serializable)."
        ),
        "- The conflict detection filter is the part of the condition that Spark pushed down.",
        (
            "- `validateDeletedFiles` and `validateNoConflictingDeleteFiles` are set for UPDATE and MERGE "
            "in merge-on-read. They are not set for"
        ),
        "  DELETE, because two deletes of one row do no harm.",
        (
            "- Equality deletes (Flink) and appends validate nothing. They always apply to newer metadata, "
            "and their sequence numbers then decide which"
        ),
        "  rows they hide.",
        "- INSERT OVERWRITE of Spark sets no isolation, unless the write option `isolation-level` sets it.",
        "",
        (
            "You can switch off each validation on its own (`lab run --without`, or *Validations* in the Lab). "
            "What each protects from:"
        ),
        "",
        *(f"- `{name}` {protects}." for name, protects in PROTECTS.items()),
        "",
        READERS,
        "## From operation to class",
        "",
        (
            "The table shows each operation in Iceberg's Java API: the method of `Table`, the interface "
            "that it returns (module `iceberg-api`), and the"
        ),
        (
            "class that implements it (`iceberg-core`). If it makes a snapshot, its `commit` is that of "
            "`SnapshotProducer`. Spark appends batches by"
        ),
        "`newAppend` and streams by `newFastAppend`. `icedive lab run OPERATION` runs one alone.",
        "",
        "| operation | method | interface | class |",
        "|---|---|---|---|",
        *(
            f"| {operation_title(name)} | {kind.api} | {' | '.join(CLASSES[kind.api])} |"
            for name, kind in KINDS.items()
        ),
        "",
        "## With deletion vectors (format version 3)",
        "",
        (
            "This table has only the differences from the table above. A data file has at most one deletion "
            "vector. So two commits that add one for"
        ),
        (
            "the same file cannot both succeed, whatever validations are set. Iceberg always checks this "
            "(`validateAddedDVs`)."
        ),
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
            "MERGE validates as UPDATE does, but without a filter. Spark pushes nothing of `ON t.id = s.id` "
            "down. So under serializable isolation it"
        ),
        (
            "conflicts with every file that was added meanwhile, in any partition. (Spark pushes down an "
            "additional `AND t.p = 'a'`.)"
        ),
        (
            "Iceberg does not retry a change of schema or spec. `SchemaUpdate.commit` and "
            "`BaseUpdatePartitionSpec.commit` give their loaded base to the"
        ),
        "catalog once, and the person must try again. Expiry and rewriting of manifests decide again at each attempt.",
        "",
        *_matrix(run.others),
        "",
        "## pyiceberg as the late writer",
        "",
        (
            "pyiceberg checks its requirements (the branch has not moved) before it writes metadata.json. "
            "It validates only when it tries again, with"
        ),
        "the isolation level of the table's properties.",
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
