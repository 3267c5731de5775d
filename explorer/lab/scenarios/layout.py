"""Where rows lie: compaction and sorting, Part 1, figures 15 and 16 (docs/texts.md)."""

from __future__ import annotations

from collections.abc import Callable

from explorer.lab.scenarios.claims import Scenario, SnapshotClaim
from explorer.lab.scenarios.workshop import Workshop

_NAMES = ("jack", "anna", "zoe", "tom", "sarah", "ben", "mia", "leo", "eve", "paul", "uma", "carl")
_UNSORTED = (("jack", "anna", "zoe"), ("tom", "ben", "mia"), ("leo", "eve", "paul"), ("uma", "carl", "sarah"))
"""Each tuple has names before and after jack."""
_BADGES = ("b07", "f31", "m18", "y52", "a44", "h90", "p25", "x63", "c12", "k77", "q39", "z05")
"""Each file gets four of these, on both sides of k77."""
_COLORS = ("red", "blue", "green", "yellow", "purple", "orange")


def _compaction(arguments: str) -> Callable[[Workshop], None]:
    def build(w: Workshop) -> None:
        w.create("id INT, name STRING, favorite_color STRING", delete_mode="merge-on-read")
        for start in range(0, 12, 4):
            w.insert(*(f"{i}, '{_NAMES[i]}', '{_COLORS[i % 6]}'" for i in range(start, start + 4)))
        w.sql("DELETE FROM {t} WHERE name IN ('zoe', 'leo')")
        w.sql(
            f"CALL sandbox.system.rewrite_data_files(table => '{{name}}', {arguments}, options => "
            "map('rewrite-all', 'true'))"
        )

    return build


def _files(sort: bool) -> Callable[[Workshop], None]:
    def build(w: Workshop) -> None:
        w.create("name STRING, favorite_color STRING", distribution="none")
        ordered = sorted(_NAMES)
        table = w.java()
        append = table.newAppend()
        for i in range(4):
            names = ordered[i * 3 : i * 3 + 3] if sort else _UNSORTED[i]
            rows = [{"name": n, "favorite_color": _COLORS[_NAMES.index(n) % 6]} for n in names]
            append.appendFile(w.data_file(table, f"data-{i + 1}.parquet", rows))
        append.commit()
        w.sql("CALL sandbox.system.compute_table_stats(table => '{name}')")

    return build


def _statistics(w: Workshop) -> None:
    w.create("id INT, place STRING, reading DOUBLE, remark STRING, note STRING")
    w.sql("ALTER TABLE {t} SET TBLPROPERTIES ('write.metadata.metrics.column.note' = 'counts')")
    nan, no_remark = "CAST('NaN' AS DOUBLE)", "CAST(NULL AS STRING)"
    w.insert(f"1, 'weather station Bern', 1.5D, {no_remark}, 'a'", f"2, 'weather station Chur', 2.5D, {no_remark}, 'b'")
    w.insert(f"3, 'weather station Davos', {nan}, {no_remark}, 'x'")
    w.insert(f"4, 'harbour', {nan}, 'moved', 'y'", f"5, 'zoo', 7D, {no_remark}, 'z'")


def _wide(w: Workshop) -> None:
    columns = [f"c{i}" for i in range(1, 111)]
    w.create(", ".join(["id INT", *(f"{c} INT" for c in columns)]))
    for start in (0, 100):
        w.sql(
            f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ {', '.join(['id', *(f'id AS {c}' for c in columns)])} "
            f"FROM (SELECT CAST(id AS INT) AS id FROM range({start}, {start + 10}))"
        )


def _bloom(w: Workshop) -> None:
    w.create("id INT, badge STRING")
    w.sql(
        "ALTER TABLE {t} SET TBLPROPERTIES ('write.parquet.bloom-filter-enabled.column.badge' = 'true', "
        "'write.parquet.bloom-filter-max-bytes' = '1024')"
    )
    for start in range(0, 12, 4):
        w.insert(*(f"{i}, '{_BADGES[i]}'" for i in range(start, start + 4)))


_before = (
    SnapshotClaim("append", rows=4),
    SnapshotClaim("append", rows=8),
    SnapshotClaim("append", rows=12),
    SnapshotClaim("delete", rows=10),
    SnapshotClaim("replace", rows=10),
)
_rows_left = tuple((i, n, _COLORS[i % 6]) for i, n in enumerate(_NAMES) if n not in ("zoe", "leo"))


def _compaction_scenario(name: str, teaches: str, arguments: str) -> Scenario:
    counts = {"data_files": 1, "snapshots": 5}
    return Scenario(name, teaches, "15", _compaction(arguments), snapshots=_before, rows=_rows_left, counts=counts)


SCENARIOS = (
    _compaction_scenario(
        "compaction_bin_pack", "Compaction rewrites small files and their deletes as one file", "strategy => 'binpack'"
    ),
    _compaction_scenario(
        "compaction_sort",
        "Compaction that sorts rows, so that bounds can prune",
        "strategy => 'sort', sort_order => 'name ASC NULLS LAST'",
    ),
    _compaction_scenario(
        "compaction_z_order",
        "Compaction by z-order, for predicates on several columns",
        "strategy => 'sort', sort_order => 'zorder(name, favorite_color)'",
    ),
    Scenario(
        "unsorted_files",
        "Unsorted files: every file's bounds hold 'jack', so none can be pruned",
        "16, left",
        _files(sort=False),
        snapshots=(SnapshotClaim("append", rows=12),),
        counts={"data_files": 4},
    ),
    Scenario(
        "sorted_files",
        "Sorted files: bounds do not overlap, so one file answers name = 'jack'",
        "16, right",
        _files(sort=True),
        snapshots=(SnapshotClaim("append", rows=12),),
        counts={"data_files": 4},
    ),
    Scenario(
        "column_statistics",
        "What bounds cannot tell: texts cut at 16 letters, a column of NaN or of nulls, a column without bounds",
        "hidden in Part 1's figure 16: the metrics that planning goes by (spec: Manifests, metrics)",
        _statistics,
        snapshots=(SnapshotClaim("append", rows=2), SnapshotClaim("append", rows=3), SnapshotClaim("append", rows=5)),
        counts={"data_files": 3},
    ),
    Scenario(
        "wide_table",
        "More than a hundred columns: those that come later have no statistics, and a filter on them reads everything",
        "Iceberg's write.metadata.metrics.max-inferred-column-defaults",
        _wide,
        snapshots=(SnapshotClaim("append", rows=10), SnapshotClaim("append", rows=20)),
        counts={"data_files": 2},
    ),
    Scenario(
        "bloom_filter",
        "A bloom filter: the bounds of all files hold a badge that one has; the filter tells before rows are read",
        "Parquet's bloom filters, Iceberg's write.parquet.bloom-filter-enabled.column",
        _bloom,
        snapshots=(SnapshotClaim("append", rows=4), SnapshotClaim("append", rows=8), SnapshotClaim("append", rows=12)),
        counts={"data_files": 3},
    ),
)
