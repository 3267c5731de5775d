"""Partitioning, schema and format evolution, branches and tags: Part 1, figure 17, and the walk-through
(docs/texts.md)."""

from __future__ import annotations

from datetime import date

from explorer.lab.scenarios.claims import Scenario, SnapshotClaim
from explorer.lab.scenarios.workshop import Workshop


def _hidden_partitioning(w: Workshop) -> None:
    # Only in version 1 does dropping a partition field leave a void transform.
    w.create(
        (
            "id INT, category STRING, name STRING, born TIMESTAMP, joined TIMESTAMP, paid TIMESTAMP, seen TIMESTAMP, "
            "note STRING"
        ),
        version=1,
        partitioned=(
            "category, bucket(4, id), truncate(3, name), years(born), months(joined), days(paid), hours(seen), note"
        ),
    )
    times = (
        "TIMESTAMP '1990-05-17 08:00:00', TIMESTAMP '2024-03-05 09:30:00', TIMESTAMP '2024-03-06 10:45:00', "
        "TIMESTAMP '2024-03-06 {}:15:00'"
    )
    for i, (category, name) in enumerate((("toy", "teddy"), ("toy", "terrier"), ("animal", "koala"))):
        w.insert(f"{i}, '{category}', '{name}', {times.format(11 + i)}, 'n{i}'")
    w.sql("ALTER TABLE {t} DROP PARTITION FIELD note")
    w.insert(f"3, 'animal', NULL, {times.format(14)}, 'n3'")


def _partition_evolution(w: Workshop) -> None:
    w.create("id INT, ts TIMESTAMP", partitioned="hours(ts)")
    for i in range(3):
        w.insert(f"{i}, TIMESTAMP '2024-06-01 0{i}:10:00'")
    w.sql("ALTER TABLE {t} REPLACE PARTITION FIELD ts_hour WITH days(ts)")
    for i in range(3, 5):
        w.insert(f"{i}, TIMESTAMP '2024-06-0{i} 12:00:00'", f"{i + 10}, TIMESTAMP '2024-06-0{i} 20:00:00'")
    w.sql("CALL sandbox.system.compute_partition_stats(table => '{name}')")


def _schema_evolution(w: Workshop) -> None:
    w.create("id INT, name STRING, price FLOAT, place STRUCT<lat: FLOAT>", codec="gzip")
    w.insert("1, 'apple', CAST(1.5 AS FLOAT), named_struct('lat', CAST(48.1 AS FLOAT))")
    w.sql("ALTER TABLE {t} ADD COLUMN color STRING")
    w.insert("2, 'banana', CAST(0.5 AS FLOAT), named_struct('lat', CAST(52.5 AS FLOAT)), 'yellow'")
    w.sql("ALTER TABLE {t} RENAME COLUMN name TO fruit")
    w.sql("ALTER TABLE {t} DROP COLUMN color")
    w.sql("ALTER TABLE {t} ADD COLUMN color STRING")
    w.sql("ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT")
    w.sql("ALTER TABLE {t} ALTER COLUMN price TYPE DOUBLE")
    w.sql("ALTER TABLE {t} ALTER COLUMN color AFTER id")
    w.sql("ALTER TABLE {t} ADD COLUMN place.lon FLOAT")
    w.insert("3L, 'red', 'cherry', 3.25D, named_struct('lat', CAST(40.0 AS FLOAT), 'lon', CAST(-3.5 AS FLOAT))")


def _events(w: Workshop) -> None:
    w.create("event_id STRING, user_id BIGINT, event_time TIMESTAMP", partitioned="months(event_time)")
    w.insert("'e1', 7L, TIMESTAMP '2024-01-15 09:00:00'", "'e2', 8L, TIMESTAMP '2024-01-31 18:30:00'")
    w.sql("ALTER TABLE {t} ADD COLUMN source STRING")
    w.sql("ALTER TABLE {t} REPLACE PARTITION FIELD event_time_month WITH days(event_time)")
    for n, (kind, source) in enumerate((("orc", "web"), ("avro", "app")), 3):
        w.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('write.format.default' = '{kind}')")
        w.insert(f"'e{n}', 7L, TIMESTAMP '2024-02-0{n} 12:00:00', '{source}'")


def _orders(w: Workshop) -> None:
    # Only in version 3 has a column an initial default, which old files need if the column is required.
    w.create(
        "customer_id INT NOT NULL, name STRING NOT NULL, order_date DATE NOT NULL",
        version=3,
        partitioned="months(order_date), customer_id",
    )
    w.insert("1, 'Koala', DATE '2024-01-15'", "2, 'Teddy', DATE '2024-01-20'")
    w.sql("ALTER TABLE {t} DROP COLUMN name")
    unknown = w.iceberg("expressions.Literal").of("unknown")
    text = w.iceberg("types.Types$StringType").get()
    w.java().updateSchema().addRequiredColumn("name", text, None, unknown).commit()
    w.sql("ALTER TABLE {t} WRITE ORDERED BY order_date, name DESC NULLS LAST")
    w.insert("1, DATE '2024-02-01', 'Koala'", "1, DATE '2024-02-01', 'Wombat'", "1, DATE '2024-02-03', 'Polar'")


def _branches_and_tags(w: Workshop) -> None:
    w.create("fruit STRING")
    w.insert("'apple'")
    w.sql("ALTER TABLE {t} CREATE TAG opening")
    w.sql("ALTER TABLE {t} CREATE BRANCH audit")
    w.insert("'banana'", target="{t}.branch_audit")
    w.sql("ALTER TABLE {t} SET TBLPROPERTIES ('write.wap.enabled'='true')")
    w.spark.conf.set("spark.wap.id", "night-load")
    try:
        w.insert("'cherry'")
    finally:
        w.spark.conf.unset("spark.wap.id")
    staged = w.snapshot_ids()[-1]
    w.insert("'damson'")
    w.sql(f"CALL sandbox.system.cherrypick_snapshot('{{name}}', {staged})")
    w.insert("'a mistake'")
    w.sql(f"CALL sandbox.system.rollback_to_snapshot('{{name}}', {w.snapshot_ids()[4]})")


def _format_upgrade(w: Workshop) -> None:
    w.create("id INT, name STRING", version=1)
    w.insert("1, 'one'", "2, 'two'")
    w.insert("3, 'three'")
    w.sql("ALTER TABLE {t} SET TBLPROPERTIES ('format-version'='2', 'write.delete.mode'='merge-on-read')")
    w.sql("DELETE FROM {t} WHERE id = 2")
    w.sql("ALTER TABLE {t} SET TBLPROPERTIES ('format-version'='3')")
    w.insert("4, 'four'", "5, 'five'")
    w.sql("DELETE FROM {t} WHERE id = 5")


SCENARIOS = (
    Scenario(
        "hidden_partitioning",
        "Every partition transform, and the void one that dropping a field leaves in version 1",
        "17",
        _hidden_partitioning,
        format_version=1,
        snapshots=tuple(SnapshotClaim("append", rows=n) for n in (1, 2, 3, 4)),
        counts={"data_files": 4, "specs": 2},
    ),
    Scenario(
        "partition_evolution",
        "From hours to days without rewriting: old files keep the old spec",
        "17",
        _partition_evolution,
        snapshots=tuple(SnapshotClaim("append", rows=n) for n in (1, 2, 3, 5, 7)),
        counts={"data_files": 5, "specs": 2, "partitions": 5},
    ),
    Scenario(
        "schema_evolution",
        "Columns are found by field id: added, renamed, dropped and re-added, promoted, moved, nested",
        "none: the walk-through, Schema Evolution",
        _schema_evolution,
        snapshots=tuple(SnapshotClaim("append", rows=n) for n in (1, 2, 3)),
        counts={"data_files": 3, "schemas": 9},
    ),
    Scenario(
        "events",
        "Months become days, a column comes, Parquet becomes ORC and Avro: no file is rewritten",
        "none: The hierarchy's table of events, its layer 1, Schema Evolution and Partition Evolution",
        _events,
        snapshots=tuple(SnapshotClaim("append", rows=n) for n in (2, 3, 4)),
        counts={"data_files": 3, "specs": 2, "schemas": 2, "partitions": 3},
    ),
    Scenario(
        "orders",
        "A required column dropped and added again is another column; a sort order, and two partition fields",
        "none: the walk-through, Schema Evolution and Hidden Partitions",
        _orders,
        format_version=3,
        snapshots=tuple(SnapshotClaim("append", rows=n) for n in (2, 5)),
        rows=(
            *((customer, date(2024, 1, day), "unknown") for customer, day in ((1, 15), (2, 20))),
            *((1, date(2024, 2, day), name) for day, name in ((1, "Wombat"), (1, "Koala"), (3, "Polar"))),
        ),
        counts={"data_files": 3, "schemas": 3, "partitions": 3},
    ),
    Scenario(
        "branches_and_tags",
        "A tag, a branch, a staged write (WAP) that is cherry-picked, and a rollback",
        "none: the walk-through, Time Travel",
        _branches_and_tags,
        snapshots=tuple(SnapshotClaim("append", rows=n) for n in (1, 2, 2, 2, 3, 4)),
        rows=(("apple",), ("cherry",), ("damson",)),
        refs={"main": 5, "opening": 1, "audit": 2},
        current=5,
    ),
    Scenario(
        "upgraded_v1",
        "A version 1 table upgraded to 2 and 3: old manifests read with sequence number 0",
        "none: format versions",
        _format_upgrade,
        format_version=3,
        snapshots=(
            SnapshotClaim("append", rows=2),
            SnapshotClaim("append", rows=3),
            SnapshotClaim("delete", rows=2),
            SnapshotClaim("append", rows=4),
            SnapshotClaim("delete", rows=3),
        ),
        rows=((1, "one"), (3, "three"), (4, "four")),
        counts={"snapshots": 5},
    ),
)
