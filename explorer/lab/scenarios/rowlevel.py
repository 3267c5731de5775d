"""Row-level changes: copy-on-write and the three kinds of delete files, Part 1, figures 9 to 14 (docs/texts.md)."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.lab.scenarios.claims import ManifestClaim, Scenario, SnapshotClaim
from explorer.lab.scenarios.lifecycle import ADDED, DELETED
from explorer.lab.scenarios.workshop import Workshop

_PEOPLE = ("'jack', 'red'", "'sarah', 'blue'", "'tom', 'green'")
_AFTER = (("jack", "yellow"), ("sarah", "blue"), ("tom", "green"))
_UPDATE = "UPDATE {t} SET favorite_color = 'yellow' WHERE name = 'jack'"
_first = ManifestClaim(1, ((ADDED, "data-1"),))
_upserts = tuple(ManifestClaim(number, ((ADDED, f"data-{number}"),)) for number in (1, 2, 3))
_keys = (
    ManifestClaim(1, ((ADDED, "delete-1"),), "deletes"),
    ManifestClaim(2, ((ADDED, "delete-2"), (ADDED, "delete-3")), "deletes"),
    ManifestClaim(3, ((ADDED, "delete-4"),), "deletes"),
)


def _copy_on_write(w: Workshop) -> None:
    w.create("name STRING, favorite_color STRING", update_mode="copy-on-write")
    w.insert(*_PEOPLE)
    w.sql(_UPDATE)


def _position_deletes(w: Workshop) -> None:
    w.create("name STRING, favorite_color STRING", update_mode="merge-on-read")
    w.insert(*_PEOPLE)
    w.sql(_UPDATE)


def _equality_deletes(w: Workshop) -> None:
    w.create("name STRING, favorite_color STRING")
    table = w.java()

    def data(name: str, *rows: tuple[str, str]) -> object:
        return w.data_file(table, name, [{"name": n, "favorite_color": c} for n, c in rows])

    table.newAppend().appendFile(data("data-1.parquet", ("jack", "red"), ("sarah", "blue"), ("tom", "green"))).commit()
    delete = w.equality_delete_file(table, "delete-1.parquet", [{"name": "jack"}])
    table.newRowDelta().addRows(data("data-2.parquet", ("jack", "yellow"))).addDeletes(delete).commit()
    table.newAppend().appendFile(data("data-3.parquet", ("jack", "purple"))).commit()


def _streaming_upserts(w: Workshop) -> None:
    """Write what Flink's sink writes when it upserts by a key. A new row deletes the old row of its key: by value if an
    earlier checkpoint may have written it, by position if this checkpoint did. Each checkpoint is one commit."""
    w.create("id INT NOT NULL, state STRING")
    w.sql("ALTER TABLE {t} SET IDENTIFIER FIELDS id")
    checkpoints: Sequence[tuple[Sequence[tuple[int, str]], Sequence[int], Sequence[int]]] = (
        (((1, "new"), (2, "new"), (3, "new")), (1, 2, 3), ()),
        (((1, "paid"), (4, "new"), (4, "paid"), (5, "new")), (1, 4, 5), (1, 3)),
        (((3, "sent"),), (2, 3), ()),
    )
    table, deletes = w.java(), 0
    for number, (rows, keys, positions) in enumerate(checkpoints, 1):
        data = w.data_file(table, f"data-{number}.parquet", [{"id": i, "state": state} for i, state in rows])
        by_key = w.equality_delete_file(table, f"delete-{deletes + 1}.parquet", [{"id": key} for key in keys])
        commit = table.newRowDelta().addRows(data).addDeletes(by_key)
        if positions:
            places = [(str(data.location()), position) for position in positions]
            commit.addDeletes(w.position_delete_file(table, f"delete-{deletes + 2}.parquet", places))
        commit.set("flink.max-committed-checkpoint-id", str(number)).commit()
        deletes += 2 if positions else 1


def _deletion_vectors(w: Workshop) -> None:
    w.create("name STRING, favorite_color STRING", version=3, update_mode="merge-on-read", delete_mode="merge-on-read")
    w.insert(*_PEOPLE)
    w.sql(_UPDATE)
    w.sql("DELETE FROM {t} WHERE name = 'sarah'")


def _mixed_modes(w: Workshop) -> None:
    w.create(
        "id INT, category STRING, name STRING",
        delete_mode="merge-on-read",
        update_mode="merge-on-read",
        merge_mode="copy-on-write",
        merge_isolation="snapshot",
    )
    w.insert("1, 'marsupial', 'Koala'", "2, 'toy', 'Teddy'", "3, NULL, 'Grizzly'", "4, NULL, 'Polar'")
    w.sql("DELETE FROM {t} WHERE id = 3")
    w.sql(
        "MERGE INTO {t} AS t USING (SELECT * FROM VALUES (4, 'bear', 'Polar'), (5, 'bear', 'Panda') AS s(id, category, "
        "name)) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )


SCENARIOS = (
    Scenario(
        "copy_on_write_update",
        "Updating one row rewrites its whole data file: data-1 is DELETED, data-2 ADDED",
        "9, 10",
        _copy_on_write,
        snapshots=(
            SnapshotClaim("append", (_first,), 3),
            SnapshotClaim(
                "overwrite", (ManifestClaim(2, ((ADDED, "data-2"),)), ManifestClaim(2, ((DELETED, "data-1"),))), 3
            ),
        ),
        rows=_AFTER,
        counts={"data_files": 1, "delete_files": 0},
    ),
    Scenario(
        "position_deletes",
        "Merge-on-read: data-1 stays, the old row is hidden by its position, the new one is in data-2",
        "11, 12",
        _position_deletes,
        snapshots=(
            SnapshotClaim("append", (_first,), 3),
            SnapshotClaim(
                "overwrite",
                (_first, ManifestClaim(2, ((ADDED, "data-2"),)), ManifestClaim(2, ((ADDED, "delete-1"),), "deletes")),
                3,
            ),
        ),
        rows=_AFTER,
        counts={"data_files": 2, "delete_files": 1},
    ),
    Scenario(
        "equality_deletes",
        "An equality delete hides rows by value, only in files with a lower data sequence number",
        "13, 14",
        _equality_deletes,
        snapshots=(
            SnapshotClaim("append", (_first,), 3),
            SnapshotClaim(
                "overwrite",
                (_first, ManifestClaim(2, ((ADDED, "data-2"),)), ManifestClaim(2, ((ADDED, "delete-1"),), "deletes")),
                3,
            ),
            SnapshotClaim(
                "append",
                (
                    _first,
                    ManifestClaim(2, ((ADDED, "data-2"),)),
                    ManifestClaim(2, ((ADDED, "delete-1"),), "deletes"),
                    ManifestClaim(3, ((ADDED, "data-3"),)),
                ),
                4,
            ),
        ),
        rows=(*_AFTER, ("jack", "purple")),
        counts={"data_files": 3, "delete_files": 1},
    ),
    Scenario(
        "streaming_upserts",
        "A stream that upserts: each checkpoint deletes by key what others wrote, by position what it wrote itself",
        "none: Part 1, Delete files; written as Flink's sink writes",
        _streaming_upserts,
        snapshots=(
            SnapshotClaim("overwrite", (_upserts[0], _keys[0]), 3),
            SnapshotClaim("overwrite", (*_upserts[:2], *_keys[:2]), 4),
            SnapshotClaim("overwrite", (*_upserts, *_keys), 3),
        ),
        rows=((1, "paid"), (3, "sent"), (4, "paid")),
        counts={"data_files": 3, "delete_files": 4},
    ),
    Scenario(
        "deletion_vectors",
        "Format version 3: one deletion vector a data file, in Puffin, and row ids that survive updates",
        "11, 12 in version 3",
        _deletion_vectors,
        format_version=3,
        snapshots=(
            SnapshotClaim("append", (_first,), 3),
            SnapshotClaim(
                "overwrite",
                (_first, ManifestClaim(2, ((ADDED, "data-2"),)), ManifestClaim(2, ((ADDED, "delete-1"),), "deletes")),
                3,
            ),
            SnapshotClaim(
                "delete",
                (
                    _first,
                    ManifestClaim(2, ((ADDED, "data-2"),)),
                    ManifestClaim(3, ((ADDED, "delete-2"),), "deletes"),
                    ManifestClaim(3, ((DELETED, "delete-1"),), "deletes"),
                ),
                2,
            ),
        ),
        rows=(("jack", "yellow"), ("tom", "green")),
        counts={"data_files": 2, "delete_files": 1},
    ),
    Scenario(
        "mixed_modes",
        "DELETE and UPDATE by merge-on-read, MERGE by copy-on-write: a property for each, and one for its isolation",
        "none: Part 1, Copy-on-write and merge-on-read; the walk-through's table, of which id 3 is deleted",
        _mixed_modes,
        snapshots=(
            SnapshotClaim("append", (_first,), 4),
            SnapshotClaim("delete", (_first, ManifestClaim(2, ((ADDED, "delete-1"),), "deletes")), 3),
            SnapshotClaim(
                "overwrite",
                (
                    ManifestClaim(3, ((ADDED, "data-2"),)),
                    ManifestClaim(3, ((DELETED, "data-1"),)),
                    ManifestClaim(2, ((ADDED, "delete-1"),), "deletes"),
                ),
                4,
            ),
        ),
        rows=((1, "marsupial", "Koala"), (2, "toy", "Teddy"), (4, "bear", "Polar"), (5, "bear", "Panda")),
        counts={"data_files": 1, "delete_files": 1},
    ),
)
