"""Questions about rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from explorer.questions.answers import Answer
from explorer.questions.parameters import ColumnNames, Count, EngineName, Filter, Least, Side, SnapshotRef, Sql
from explorer.questions.registry import question

if TYPE_CHECKING:
    from explorer.queries.collection import Rows
    from explorer.queries.row_history import Fate
    from explorer.spec.rows.live_rows import LiveRows
    from explorer.spec.rows.row_diff import RowDiff
    from explorer.table import Table

FIRST_ROWS = 100


@question("rows")
def rows(
    table: Table,
    *,
    where: Filter = "",
    column: ColumnNames = (),
    limit: Count = FIRST_ROWS,
    provenance: bool = False,
    snapshot: SnapshotRef = None,
) -> Rows:
    """Read rows of any version through Spark.

    Args:
        where: A filter such as "name = 'jack'": only rows that match.
        column: Read only this column. May be given several times.
        limit: The largest number of rows; `all` reads all.
        provenance: Also show each row's file, position, partition and, in version 3, row id.

    Returns:
        The rows; `cut` says whether there are more, `reports` has the scan reports.
    """
    return table.rows(snapshot, column, table.sql_condition(where, snapshot), limit, provenance)


@question("sql")
def sql(table: Table, query: Sql, *, limit: Count = FIRST_ROWS) -> Rows:
    """Run a read-only query through Spark.

    Args:
        query: The query. `t` is the table, `t@snapshot-1` and `db.other@tag` are versions.
        limit: The largest number of rows; `all` reads all.

    Returns:
        The rows; `cut` says whether there are more, `reports` has the scan reports.
    """
    return table.sql(query, limit)


@question("count")
def count(table: Table, *, snapshot: SnapshotRef = None) -> Answer[LiveRows]:
    """Count the visible rows, and the rows that each delete hides.

    It needs no Spark. It opens only delete files, and data files with position or equality deletes.

    Returns:
        The number of visible rows, beside the recorded one, and the rows that each delete hides.
    """
    from explorer.render.doctor import live_rows_object, render_live_rows
    from explorer.reports.row_count import live_rows

    counted = live_rows(table, snapshot)
    return Answer(counted, lambda: live_rows_object(counted), lambda: (render_live_rows(counted),))


@question("diff", "data")
def diff(
    table: Table, before: Side, after: Side, *, key: ColumnNames = (), engine: EngineName = "auto"
) -> Answer[RowDiff]:
    """Show the rows that differ between two snapshots; only files that differ are read.

    Rows are inserted, deleted or updated; keys that several rows of one side have are named. It needs no Spark
    while the rows fit in memory; beyond that Spark's workers run the same code.

    Args:
        before: The older snapshot, or `none`: the table before its first snapshot.
        after: The newer snapshot.
        key: A column that identifies a row, so that updates are recognized. May be given several times.

    Returns:
        Counts of rows inserted, deleted and updated, and the rows.
    """
    from explorer.render.row_views import render_row_diff, row_diff_object
    from explorer.spec.snapshots.snapshot_names import find_side

    change = table.row_diff(find_side(before, table.metadata), after, key, engine)
    return Answer(change, lambda: row_diff_object(change), lambda: (render_row_diff(change),))


@question("history", "data")
def history(
    table: Table,
    where: Filter,
    *,
    key: ColumnNames = (),
    every_file: bool = False,
    explain: Least = 100,
    snapshot: SnapshotRef = None,
    engine: EngineName = "auto",
) -> Answer[Fate]:
    """Show what happened to the rows that match a filter, and why they are visible or not.

    It says when matching rows appeared, changed or were deleted, by what, and which statistic hides a row from
    scans. If older snapshots have expired, it says that rows existed before. Bounds may be wrong, so it also
    reads skipped files: up to 200 files of 64 MiB together. It needs no Spark while the entries fit in memory.

    Args:
        where: A filter such as "name = 'jack'".
        key: A column that identifies a row, so that updates are recognized. May be given several times.
        every_file: Also read the data files that the filter excludes by partition values, counts or bounds, which may
            be wrong, however many they are.
        explain: The largest number of rows that are explained one by one.

    Returns:
        The events of each matching row, and sentences that say why it is visible or not.
    """
    from explorer.render.row_views import fate_object, render_fate, version_rows
    from explorer.spec.text.names import snapshot_ordinals

    fate = table.fate(where, key, engine, every_file, snapshot)
    at = table.resolve(snapshot).snapshot
    sentences = fate.explain(at, explain)
    columns = [f.name for f in fate.schema.fields]

    def json() -> Any:
        ordinals = snapshot_ordinals(table.metadata)
        names = [f"snapshot-{n}" for n in sorted(ordinals[s.snapshot_id] for s in table.metadata.snapshots)]
        return fate_object(fate.events, {str(at.snapshot_id): sentences}, version_rows(fate.versions, names))

    return Answer(fate, json, lambda: (render_fate(fate.events, columns, sentences),))
