"""A table with enough rows to show what bin-packing, sorting and z-ordering cost and save, and the exercise that
chooses between them (notebook 07)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from explorer.lab.exercises.entries import RowsEntry, TextEntry
from explorer.lab.exercises.exercise import Exercise, ExerciseResult
from explorer.lab.exercises.tables import note_table
from explorer.lab.observe import observe
from explorer.lab.sandbox import Bench
from explorer.lab.scenarios.build import LAB
from explorer.spark_engine.sql_guard.quoting import literal
from explorer.spec.scan.plan import Amount
from explorer.spec.text.units import count, human_bytes
from explorer.storage.catalogs.sandbox_entries import SANDBOX
from explorer.storage.locate import locate
from explorer.storage.reader import TableReader
from explorer.table import Table

ROWS, FILES, VALUES = 20_000, 32, 200
"""The rows of the table, its data files, and the values of x and of y."""
FILTERS = ("x BETWEEN 40 AND 59", "y BETWEEN 40 AND 59")
"""A tenth of the values of each."""
TARGET, MOST = 12_000, 0.75
"""Bytes of a file after the compaction, and the part of the bytes that a filter may read."""


def points_table(bench: Bench) -> str:
    """Make a table of points (id, x, y), in no order, in many small files.

    Args:
        bench: The bench, in whose sandbox the table is.

    Returns:
        The name of the table.
    """
    name, spark = f"points_{uuid.uuid4().hex[:8]}", bench.engine.session()
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {SANDBOX}.{LAB}")
    spark.sql(
        f"CREATE TABLE {SANDBOX}.{LAB}.{name} (id INT, x INT, y INT) USING iceberg "
        f"LOCATION '{bench.engine.sandbox}/warehouse/{LAB}/{name}' "
        "TBLPROPERTIES ('format-version' = '2', 'write.distribution-mode' = 'none')"
    )
    spark.sql(
        f"INSERT INTO {SANDBOX}.{LAB}.{name} SELECT /*+ REPARTITION({FILES}) */ CAST(id AS INT), "
        f"CAST(pmod(xxhash64(id), {VALUES}) AS INT), CAST(pmod(xxhash64(id, 1), {VALUES}) AS INT) FROM range({ROWS})"
    )
    return note_table(f"{LAB}.{name}")


def _amount(of: Amount) -> str:
    return f"{count(of.files, 'file')}, {human_bytes(of.bytes)}"


def _judge_compaction(bench: Bench, answer: Sequence[str]) -> ExerciseResult:
    """Compact the points as the answer says, and plan both filters."""
    strategy, sort_order = (text.strip() for text in answer)
    sort_argument = f", sort_order => {literal(sort_order)}" if sort_order else ""
    call = (
        f"CALL {SANDBOX}.system.rewrite_data_files(table => '{{name}}', strategy => {literal(strategy)}"
        f"{sort_argument}, options => map('rewrite-all', 'true', 'target-file-size-bytes', '{TARGET}'))"
    )
    done = observe(Table(TableReader(locate(points_table(bench)))), call, bench.engine)
    table = done.table
    plans = [table.plan(where) for where in FILTERS]
    written = table.plan().left
    reads = [(plan.left.bytes or 0) / (written.bytes or 1) for plan in plans]
    costs = "; ".join(f"{where} reads {_amount(plan.left)}" for where, plan in zip(FILTERS, plans, strict=True))
    verdict = f"It took {done.seconds:.1f} s and wrote {_amount(written)}; {costs}."
    worst = reads.index(max(reads))
    picture = table.plan_pictures(plans[worst])
    if max(reads) <= MOST:
        return ExerciseResult(True, verdict, plan=picture)
    hint = (
        "Fewer files alone leave every value in each of them."
        if min(reads) > MOST
        else f"The order helps one filter alone: {FILTERS[worst].split()[0]} is in no order within it."
    )
    return ExerciseResult(False, f"{verdict} {hint}", plan=picture)


COMPACTION_STRATEGY = Exercise(
    f"A table of points (id, x, y) has {ROWS:,} rows in {FILES} files; x and y are between 0 and {VALUES - 1}, in no "
    f"order. Compact it so that each of {' and '.join(FILTERS)} reads at most three quarters of the bytes. Which "
    "arguments do you give to rewrite_data_files? Leave sort_order empty if there is none.",
    _judge_compaction,
    ("sort", "zorder(x, y)"),
    RowsEntry(("strategy", "sort_order"), (TextEntry(), TextEntry())),
    nudge="Which of the strategies gives every file a small range of x, and a small range of y too?",
    look="`icedive maintain preview demo.compaction_z_order compact-z-order --sort-by name,favorite_color`: the call.",
    reason="Bin-packing only makes fewer files. After a sort by x, each file has few values of x and all of y. A "
    "z-order interleaves the bits of both, so each file has a part of the values of each. It is slower to write than "
    "a bin-pack, and a filter of one column reads more than after a sort by that column.",
    needs_lab=True,
)
