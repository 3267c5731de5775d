"""Questions about rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from explorer.questions.answers import Answer
from explorer.questions.parameters import (
    ColumnNames,
    Count,
    EngineName,
    Filter,
    Least,
    Positive,
    Side,
    SnapshotRef,
    Sql,
)
from explorer.questions.registry import question

if TYPE_CHECKING:
    from explorer.queries.collection import SparkRows
    from explorer.queries.row_history import RowHistory
    from explorer.spec.rows.duplicate_keys import DuplicateKeys
    from explorer.spec.rows.live_rows import LiveRows
    from explorer.spec.rows.row_diff import RowDiff
    from explorer.table import Table

FIRST_ROWS = 100
DUPLICATES, EXPLAINED = 20, 5


@question("rows")
def rows(
    table: Table,
    *,
    where: Filter = "",
    column: ColumnNames = (),
    limit: Count = FIRST_ROWS,
    provenance: bool = False,
    snapshot: SnapshotRef = None,
) -> SparkRows:
    """Read rows of any version through Spark.

    Args:
        where: A filter such as "name = 'jack'": only rows that match.
        column: Read only this column. May be given several times.
        limit: The largest number of rows; `all` reads all.
        provenance: Also show each row's file, position, partition and, in version 3, row id.

    Returns:
        The rows; `cut` says whether there are more, `reports` has the scan reports.

    Raises:
        NotFoundInTable: There is no such snapshot or column.
        EngineError: Spark or Java is not available.
        StatementFailed: Spark cannot read the rows; the message names the reason.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> sorted(row["fruit"] for row in table.rows(where="fruit > 'b'"))
        ['banana', 'cherry']
    """
    return table.rows(snapshot, column, table.sql_condition(where, snapshot), limit, provenance)


@question("sql")
def sql(table: Table, query: Sql, *, limit: Count = FIRST_ROWS) -> SparkRows:
    """Run a read-only query through Spark.

    Args:
        query: The query. `t` is the table, `t@snapshot-1` and `db.other@tag` are versions.
        limit: The largest number of rows; `all` reads all.

    Returns:
        The rows; `cut` says whether there are more, `reports` has the scan reports.

    Raises:
        AccessRefused: The query writes, or reads what it must not.
        EngineError: Spark or Java is not available.
        StatementFailed: Spark refuses the query; the message is its reason.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> table.sql("SELECT count(*) AS fruits FROM t").to_json()
        [{'fruits': 3}]
    """
    return table.sql(query, limit)


@question("count")
def count(table: Table, *, snapshot: SnapshotRef = None) -> Answer[LiveRows]:
    """Count the visible rows, and the rows that each delete hides.

    It needs no Spark. It opens only delete files, and data files with position or equality deletes.

    Returns:
        The number of visible rows, beside the recorded one, and the rows that each delete hides.

    Raises:
        NotFoundInTable: There is no such snapshot.
        UnreadableFile: A delete file or a data file that it needs cannot be read.

    Example:
        >>> table = explorer.open_table("demo.position_deletes")
        >>> count = table.count().value
        >>> count.recorded, count.rows
        (4, 3)
    """
    from explorer.render.doctor import live_rows_json, render_live_rows
    from explorer.render.row_blocks import count_blocks
    from explorer.reports.row_count import live_rows

    counted = live_rows(table, snapshot)
    return Answer(
        counted,
        lambda: live_rows_json(counted),
        lambda: (render_live_rows(counted),),
        parts=lambda: count_blocks(counted),
    )


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

    Raises:
        NotFoundInTable: There is no such snapshot or column.
        UnreadableFile: A file that differs cannot be read.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> table.data.diff("snapshot-1", "main").to_json()["counts"]
        {'inserted': 2, 'deleted': 0, 'updated': 0}
    """
    from explorer.queries.collection import Collection
    from explorer.render.row_blocks import row_diff_blocks
    from explorer.render.row_views import change_table, render_row_diff, row_diff_json
    from explorer.spec.snapshots.snapshot_names import find_side

    change = table.row_diff(find_side(before, table.metadata), after, key, engine)
    return Answer(
        change,
        lambda: row_diff_json(change),
        lambda: (render_row_diff(change),),
        parts=lambda: row_diff_blocks(change, Collection(change_table(change), "rows")),
    )


@question("duplicates", "data", rows=True)
def duplicates(
    table: Table,
    *,
    key: ColumnNames = (),
    most: Positive = DUPLICATES,
    explain: Least = EXPLAINED,
    snapshot: SnapshotRef = None,
) -> Answer[DuplicateKeys]:
    """Find keys that several rows have: since which commit, in which files, and why.

    Spark counts the rows of each key. The history of the first keys then says how their rows came together.

    Args:
        key: A column of the key; the schema's identifier fields if none is named. May be given several times.
        most: The largest number of keys that are listed, those with the most rows first.
        explain: The largest number of rows that are explained one by one.

    Returns:
        How many keys have several rows. A row for each of the first: the key, rows, since, files and why.

    Raises:
        NotFoundInTable: There is no such column or snapshot, or no key is known.
        EngineError: Spark or Java is not available.
        StatementFailed: Spark cannot read the rows; the message names the reason.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> table.data.duplicates(key=["fruit"]).value.words
        'At snapshot-3, no two rows have the same fruit.'
    """
    from explorer.queries.collection import Collection
    from explorer.render.duplicate_keys import (
        duplicate_blocks,
        duplicate_rows,
        duplicates_json,
        render_duplicates,
    )
    from explorer.reports.duplicate_keys import find_duplicate_keys

    found = find_duplicate_keys(table, key, snapshot, most, explain)
    return Answer(
        found,
        lambda: duplicates_json(found),
        lambda: render_duplicates(found, table.name),
        lambda: Collection.of_rows(duplicate_rows(found), "keys"),
        parts=lambda: duplicate_blocks(found),
    )


@question("history", "data", picture=True)
def history(
    table: Table,
    where: Filter,
    *,
    key: ColumnNames = (),
    every_file: bool = False,
    explain: Least = 100,
    snapshot: SnapshotRef = None,
    engine: EngineName = "auto",
) -> Answer[RowHistory]:
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

    Raises:
        NotFoundInTable: The filter or the key does not fit the schema, or there is no such snapshot.
        UnreadableFile: A file that may have such rows cannot be read.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.equality_deletes")
        >>> [event.what for event in table.data.history("name = 'jack'").value.events]
        ['appeared', 'appeared', 'deleted', 'appeared']
    """
    from explorer.render.row_blocks import row_history_blocks
    from explorer.render.row_picture import row_history_svg
    from explorer.render.row_views import render_row_history, row_history_json, version_rows
    from explorer.render.text import clean_lines, pre
    from explorer.reports.own_commit import identifier_statement
    from explorer.spec.text.names import snapshot_ordinals

    rows = table.row_history(where, key, engine, every_file, snapshot)
    at = table.resolve(snapshot).snapshot
    sentences = [*rows.explain(at, explain), *identifier_statement(table, rows, at.snapshot_id)]
    columns = [f.name for f in rows.schema.fields]

    def json() -> Any:
        ordinals = snapshot_ordinals(table.metadata)
        names = [f"snapshot-{n}" for n in sorted(ordinals[s.snapshot_id] for s in table.metadata.snapshots)]
        return row_history_json(rows.events, {str(at.snapshot_id): sentences}, version_rows(rows.versions, names))

    def picture() -> str:
        return row_history_svg(rows.versions, rows.snapshots, at.snapshot_id)

    def text() -> str:
        return render_row_history(rows.events, columns, sentences)

    return Answer(
        rows,
        json,
        lambda: (text(),),
        picture=picture,
        html=lambda: pre(clean_lines(text())),
        parts=lambda: row_history_blocks(rows.events, columns, sentences, picture()),
    )
